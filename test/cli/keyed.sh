# Keyed filters: with the key, without it, with another.
seq -f 'http://a.example/%.0f' 1000 >urls
umask 077
printf '0123456789abcdef' >key
printf '30313233343536373839616263646566\n' >hex
printf '30313233343536373839616263646566\r\n' >crlf
printf '30313233343536373839616263646566' >bare
printf 'fedcba9876543210' >other
printf '0123456789abcde' >short
printf '0123456789abcdef\n' >line
printf '3031323334353637383961626364656g\n' >nohex
head -c 16 /dev/zero >zero
: >empty
seen build --quiet -o plain urls
session <<'END'
seen build --quiet -o f --keyed key --capacity 2000 urls
seen build --quiet -o g --keyed hex --capacity 2000 urls; cmp f g && echo the same
seen check --keyed key --count f -i urls
seen check --keyed crlf f http://a.example/1
seen check --keyed bare f http://a.example/1 http://b.example/1
seen check f http://a.example/1
seen check --keyed other f http://a.example/1
seen check --keyed key plain http://a.example/1
seen add f http://b.example/1
seen add --keyed other f http://b.example/1
seen add --keyed key f http://b.example/1 | sed 's/;.*//'
seen check --keyed key f http://b.example/1
seen info f | head -1
seen info --text f | grep -c -e 3031 -e 0123456789abcdef
grep -c 0123456789abcdef f

# Routes of keyed filters need the key; md5 routing would give it away.
seen build --quiet -o r --keyed key --kind routed:4/bloom urls
seen info --route http://a.example/1 r
seen info --route http://a.example/1 --keyed key r >route && grep -c '^[0-3]$' route
seen build --quiet -o r --keyed key --kind routed:4,md5/bloom urls

# Merged without the key.
seen build --quiet -o h --keyed key --capacity 2000 urls; seen merge --quiet -o m h h; seen check --keyed key --count m -i urls
seen build --quiet -o i --keyed other --capacity 2000 urls; seen merge --quiet -o m h i

# Key files.
seen build --quiet -o x --keyed nonesuch urls
seen build --quiet -o x --keyed short urls
seen build --quiet -o x --keyed line urls
seen build --quiet -o x --keyed nohex urls
seen build --quiet -o x --keyed empty urls
seen build --quiet -o x --keyed zero urls
seen build --quiet -o x --keyed . urls
seen build --quiet -o x --keyed urls urls
ls x
chmod 644 key; seen check --keyed key f http://a.example/1
END
