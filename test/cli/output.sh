# A reader who leaves is no trouble; a disk that is full is.
seq -f 'http://a.example/%.0f' 200000 >urls
seen build --quiet -o f urls
set -o pipefail
session <<'END'
seen check f -i urls | head -1
seen check --json f -i urls | head -1
seen dedup urls | head -1
seen help check | head -1
seen help --man | true
seen check f -i urls >/dev/full
seen check f http://a.example/1 >/dev/full
seen dedup urls >/dev/full
seen info f >/dev/full
seen help >/dev/full
seen version >/dev/full
seen add f http://a.example/1 >/dev/full
seen build --json -o g urls >/dev/full
seen check f http://a.example/1 >&-
seen version >&-

# With standard output closed, nothing may end in the files that are opened.
cp f before; seen check f -i urls >&- 2>/dev/null; cmp f before
seen info nonesuch 2>&-

# The reader of acknowledgements may leave; the adding goes on.
seen build --quiet -o a --capacity 300k --allow-empty /dev/null; seen add --ack --sync no a -i urls 2>/dev/null | head -1
seen check --count a -i urls
END
