# seen becomes seen-all for what needs more than filters. It is found beside
# seen, or where `make install` puts it, also through a link.
seen build --quiet --profile raw --capacity 100 -o f - <<<http://a.example/1
mkdir alone && cp "$SEEN" alone/seen
mkdir -p there/bin there/libexec/seen && cp "$SEEN" there/bin/seen
cp "${SEEN%/*}/seen-all" there/libexec/seen && ln -s there/bin/seen link
PATH=/usr/bin:/bin
session <<'END'
alone/seen check f http://a.example/1
alone/seen robots
alone/seen help
PATH=$PWD/there/libexec/seen: alone/seen help
alone/seen check --help | head -1
./link help --commands | head -2
./link chekc f
./link --nothing
./link links /dev/null --base http://a.example/
alone/seen check redis://127.0.0.1:1/x http://a.example/1
alone/seen build -obf://127.0.0.1:1/x /dev/null
./link check redis://127.0.0.1:1/x http://a.example/1
END
# What takes long to load is not.
ldd "$SEEN" | grep -cE 'libssl|libcrypto|libcurl|libxml2'
# Neither one that may not be run, nor one of the current folder.
cp "$SEEN" alone/seen && printf '#!/bin/sh\necho hostile\n' >seen-all
chmod +x seen-all && cp there/libexec/seen/seen-all alone && chmod -x alone/seen-all
session <<'END'
PATH=: alone/seen help
rm alone/seen-all
PATH=: alone/seen help
ln -s seen alone/seen-all
alone/seen help
END
# As one process, under the name that it was started with, without the password.
mkfifo in
there/bin/seen links --base http://me:secret@a.example/ - <in &
exec 3>in
for i in $(seq 1200); do
    [[ $(readlink /proc/$!/exe) != */seen-all || $(cat /proc/$!/comm) != seen ||
       $(tr '\0' ' ' </proc/$!/cmdline) != *'***'* ]] || break
    sleep 0.05
done
readlink /proc/$!/exe | sed 's,.*/,,'
cat /proc/$!/comm
tr '\0' ' ' </proc/$!/cmdline; echo
exec 3>&-
wait
