# seen meta: metadata lives, without touching the cells.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f.seen --capacity 2000 --meta title='A crawl' --meta as-of=2020-06-01 urls
today=$(date -u +%F)
# What does not depend on the day of the test.
dated() { sed "s/$today/TODAY/"; }
session <<'END'
seen meta f.seen
tail -c +4097 f.seen | head -c 2496 >cells
seen meta f.seen title='Another crawl' holder=NSK x.y-1='a=b'
seen meta f.seen
cmp cells <(tail -c +4097 f.seen | head -c 2496) && seen check --count f.seen -i urls
seen meta f.seen x.y-1= nonesuch=
seen meta --json f.seen
seen meta --json f.seen holder=nsk
seen meta f.seen title as-of
seen meta f.seen nonesuch
seen meta --json f.seen title nonesuch

# All or nothing.
seen meta f.seen title=no kind=no
seen meta f.seen title=no $'holder=a\nb'
seen meta f.seen title=no 'a b=c'
seen meta f.seen title=no holder
seen meta f.seen title
seen meta nonesuch a=b
seen meta nonesuch
seen meta urls a=b
seen meta redis://127.0.0.1:1/x a=b

# A journal is taken over; a writer is not disturbed.
mkfifo in; seen add --ack f.seen <in >acked 2>&1 & p=$!; exec 3>in; echo http://a.example/new >&3; until test -e acked && grep -q new acked; do sleep 0.02; done
seen meta --wait 0 f.seen title=no
seen meta f.seen title
kill -9 $p; wait $p 2>/dev/null; exec 3>&-; ls f.seen*
seen meta f.seen title=Yes; ls f.seen*; seen check f.seen http://a.example/new
seen meta f.seen as-of | dated

# as-of follows adds, to its own unit, and never back. What is not a date stays.
for d in 2020 2020-06 2020-06-01 2020-06-01T10:00:00Z 9999-01-01 'spring 2020' 2020-6-1; do seen meta f.seen "as-of=$d"; seen add f.seen http://a.example/$d >/dev/null; seen meta f.seen as-of; done | sed "s/^${today%-*-*}$/YEAR/; s/^${today%-*}$/MONTH/" | dated
seen meta f.seen as-of=; seen add f.seen http://a.example/none >/dev/null; seen meta f.seen as-of
seen meta f.seen as-of=2020-06-01; seen check f.seen http://a.example/1; seen meta f.seen as-of
printf 'http://a.example/d\n' | seen dedup --filter f.seen; seen meta f.seen as-of | dated
for k in counting growing/bloom routed:4/blocked; do seen build --quiet -o k.seen --kind $k --meta as-of=2020-06-01 urls; seen meta k.seen title=$k; seen meta k.seen; seen add k.seen http://a.example/x >/dev/null; seen meta k.seen as-of; seen check k.seen http://a.example/x; done | dated
seen build --quiet -o k.seen --kind fuse urls; seen meta k.seen title=fuse && seen meta k.seen && seen check --count k.seen -i urls
head -c 16 /dev/urandom >key; chmod 600 key; seen build --quiet -o k.seen --keyed key urls; seen meta k.seen title=keyed && seen check --count --keyed key k.seen -i urls

# The union is as new as the newest; other metadata is of the first.
for y in 2021 2023 2022; do seen build --quiet -o $y.seen --capacity 2000 --meta as-of=$y-01-31 --meta title=$y urls; done
seen merge --quiet -o m.seen 2021.seen 2023.seen 2022.seen; seen meta m.seen
END
