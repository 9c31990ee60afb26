# Lines: how they end, how long they are, and what is in them.
printf '%s\n' http://a.example/1 http://a.example/2 >urls
seen build --quiet -o f --kind bloom --rate 1e-9 --profile raw urls
# The answers, with long lines as their length.
lengths() { awk '{ print length < 80 ? $0 : length " bytes" }'; }
long() { head -c "$1" /dev/zero | tr '\0' x; }
session <<'END'
printf 'http://a.example/1\r\nhttp://a.example/2\r\n' | seen check f
printf 'http://a.example/1\nhttp://a.example/2' | seen check f
printf '\n\nhttp://a.example/1\n\r\n\nhttp://a.example/2\n\n' | seen check f
printf '\r\n' | seen check f
printf 'http://a.example/1\r' | seen check f
printf 'http://a.example/1 \n http://a.example/1\n' | seen check f
printf 'http://a.example/\xff\xc3\xb6\n' | seen check f | od -c | head -3

# Bad lines: told with their numbers, and the exit code is as without them.
printf 'http://a.example/1\nx\ty\nhttp://a.example/2\n\n\x7f\na\0b\n' | seen check f
printf 'http://a.example/1\nx\ty\nhttp://a.example/2\n' | seen check --strict f
printf 'x\ty\nhttp://b.example/\n' | seen check f
printf 'a\rb\n' | seen check f
for i in 1 2 3 4 5 6 7; do echo; printf '\001\n'; done | seen check f
printf '\001\n' >bad; seen check f -i bad -i urls -i bad --count

# Long lines, at the limit and beyond it; no memory is asked for them.
long 8192 | seen check f | wc -c
long 8193 | seen check f | lengths
(long 8192; echo; long 8193; echo; long 8194; printf '\r\n'; long 8192; printf '\r\n') | seen check --count f
(long 5000000; echo; cat urls; long 3000000) | seen check f | lengths
(long 1048575; echo; long 1048576; echo; long 1048577; echo; cat urls) | seen check f | lengths
(long 2097152; printf '\nhttp://a.example/1') | seen check f | lengths
(long 100000000; echo; cat urls) | seen check f | lengths
(long 5000000; echo; cat urls) >file; seen build --quiet -o g --profile raw file && seen check g -i urls

# No end of a line falls between two reads.
for n in 1 2 3 5 7 11 64 1000; do seq -f 'http://a.example/%.0f' 9000 | (if [ $n = 1000 ]; then cat; else dd bs=$n status=none; fi) | seen dedup --profile raw | md5sum; done | uniq -c
END
