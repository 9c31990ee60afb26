# seen dedup: each URL the first time only.
printf 'http://%s.example/\n' b a b c a d b >urls
seq -f 'http://a.example/%.0f' 100000 >many
session <<'END'
seen dedup urls
seen dedup <urls
seen dedup - <urls
seen dedup urls urls - <urls
seen dedup --count urls
seen dedup --json urls
seen dedup --count --json urls | sed 's/"lost": [^}]*/"lost": X/'
seen dedup --verbose urls 2>&1 | sed 's/about .* were/about X were/'
printf 'a\r\na\n\nb\na' | seen dedup --profile raw
printf 'http://a.example\nHTTP://A.example:80/#top\n' | seen dedup
printf 'a\nb\001\nc\n' | seen dedup --profile raw
printf 'a\nb\001\nc\n' | seen dedup --profile raw --strict
seen dedup </dev/null

# Many; the filter grows, and loses one in ten thousand at most.
seen dedup --seed 1 --capacity 100 many many | awk '!(/^http:\/\/a.example\/[0-9]+$/) { print "what is this? " $0 } { n++ } END { print (n > 99950 && n <= 100000) ? "well" : n " of 100000" }'
seen dedup --seed 1 many | cmp - <(seen dedup --seed 1 many many)
seen dedup --seed 1 --rate 1e-9 many many | cmp - many

# Past the first million, keys are in a temporary file, which needs a place; the
# order stays, with bad lines, too; no reader, no work.
seq -f 'http://a.example/%.0f' 1150000 >lots
seen dedup --seed 1 lots | diff - lots | awk '/^>/ { n++ } /^</ { print "what is this? " $0 } END { print (n > 0 && n < 230) ? "well" : n " lost" }'
TMPDIR=/nonesuch seen dedup --seed 1 --count lots; TMPDIR=/nonesuch seen dedup --seed 1 --count many
(trap '' XFSZ; ulimit -f 10; TMPDIR=$PWD seen dedup --seed 1 --count lots); ls .t* 2>/dev/null
sed '50000s/.*/b\x01/; 70000s/.*//' many >marred; seen dedup --rate 1e-9 --keep-bad marred marred | head -100000 | cmp - marred
(head -10000 many; sleep 0.1; tail -n +10001 many) | seen dedup --rate 1e-9 | cmp - many
seen dedup many | head -1; rm lots marred

# Across runs.
seen dedup --filter f --seed 1 urls
seen dedup --filter f urls
printf 'http://%s.example/\n' a e e | seen dedup --filter f
seen dedup --filter m --rate 1e-9 --count many; seen dedup --filter m --count many; rm m m.keys
seen dedup --filter f --capacity 5 urls
seen dedup --filter f --seed 5 urls
seen dedup --filter g --capacity 5 --rate 1% urls && seen info g | grep -e kind -e '^capacity' -e planned
ls

# Two visits lose the same URLs under one seed, and hardly any under two. A
# filter errs for 5 % when it is full, and for 1.2 % on the way there.
for s in 1 2; do seen dedup --seed $s --rate 5% --capacity 100k many | sort | comm -13 - <(sort many) >lost$s; done
seen dedup --seed 1 --rate 5% --capacity 100k many | sort | comm -13 - <(sort many) | cmp - lost1
wc -l lost1 lost2 | awk '$2 != "total" { print ($1 > 900 && $1 < 1500) ? "as planned" : $1 }'
comm -12 lost1 lost2 | wc -l | awk '{ print ($1 < 100) ? "few in both" : $1 }'
for n in 1 2; do seen dedup --filter s$n urls >/dev/null; seen info --json s$n | grep -o '"seed": [0-9]*'; done | sort -u | wc -l
seen dedup --filter s0 --seed 0 urls >/dev/null; seen info s0 | grep seed; rm s? s?.keys lost?

# Bad lines: left out, or passed on; a file of nothing else is not a list.
printf 'a\n\nb\001\na\n\nb\001\n' | seen dedup --profile raw
printf 'a\n\nb\001\na\n\nb\001\n' | seen dedup --profile raw --keep-bad | od -c
printf 'a\n\nb\001\n' | seen dedup --profile raw --keep-bad --json
printf 'b\001\n' | seen dedup
printf 'b\001\n' | seen dedup --keep-bad --count

# An index stays one: its legend is kept, if there is one legend.
printf ' CDX N b a\ncom,a)/ 2020 http://a.com/\ncom,a)/ 2021 http://a.com/\ncom,b)/ 2021 http://b.com/\n' >x.cdx
printf ' CDX N b a k\ncom,c)/ 2020 http://c.com/ AAA\n' >y.cdx
seen dedup --profile surt x.cdx x.cdx
seen dedup --profile surt x.cdx y.cdx
seen dedup --profile surt x.cdx | seen dedup --profile surt | cmp - <(seen dedup --profile surt x.cdx)
rm x.cdx y.cdx

# What goes wrong.
seen dedup nonesuch
seen dedup urls nonesuch
seen dedup --count --rate 1e-9 .
seen dedup --filter . urls
seen dedup --filter nonesuch/f urls
seen dedup --filter urls urls
seen dedup --rate 0 urls
seen dedup --profile nonsense urls
seen dedup --keyed key urls

# What could not be printed is not remembered.
seen dedup --filter h urls >/dev/full
seen dedup --filter h urls

# A filter that does not grow gets full: more are printed than remembered.
seen build --quiet -o k --capacity 100 --rate 1e-6 --kind bloom urls
head -1000 many >some; seen dedup --filter k some 2>&1 >printed; wc -l <printed
seen dedup --filter k --count some 2>&1

# One that cannot be added to is refused before anything is printed.
for k in fuse routed:4/fuse; do seen build --quiet -o k --kind $k urls; seen dedup --filter k some; done
END
