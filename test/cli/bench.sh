# seen bench runs the program beside it, or in PATH, with all that follows.
mkdir here there
cp "$SEEN" here/seen
printf '#!/bin/sh\necho bench: "$@"\nexit 3\n' >there/seen-bench
chmod +x there/seen-bench
session <<'END'
PATH=/usr/bin:/bin here/seen bench
PATH=$PWD/there:$PATH here/seen bench --json blocked -- x
mv there/seen-bench here/
PATH=/usr/bin:/bin here/seen bench
PATH=/usr/bin:/bin here/seen bench --help
chmod -x here/seen-bench; PATH=/usr/bin:/bin here/seen bench
END
