# seen check and seen info with several filters: who may hold it?
seq -f 'http://a.example/%.0f' 1 1000 >one
seq -f 'http://a.example/%.0f' 501 1500 >two
mkdir d empty
seen build --quiet -o d/haw.seen --kind bloom --rate 1e-9 --capacity 2000 --meta title='Croatian Web Archive' --meta as-of=2026-11-15 one
seen build --quiet -o d/ia.seen --rate 1e-9 --kind growing/bloom --capacity 500 two
seen build --quiet -o 'd/a,%41.seen' --kind bloom --rate 1e-9 --profile raw --capacity 2000 one
printf '%s\n' http://a.example/1 http://a.example/700 HTTP://A.example/1400 http://b.example/ >ask
session <<'END'
seen check d -i ask
seen check d/ http://a.example/1; seen check d http://b.example/
seen check -f d/haw.seen -f d/ia.seen http://a.example/600 http://a.example/1
seen check -f old=d/haw.seen -f new=d/ia.seen http://a.example/1500
seen check -f d/haw.seen http://a.example/1
seen check http://a.example/1 -f d
seen check --json d <ask
seen check --only new d <ask; seen check --only seen d <ask
seen check --count d <ask; seen check --count --json d <ask; seen check --count --only new d <ask
seen check --count d -i one -i two

# A profile that refuses a URL cannot answer; if all refuse it, it is bad.
printf '%s\n' http://a.example/1 '' http://a.example/2 'http://[::1/' | seen check -f d/haw.seen -f d/ia.seen
printf '%s\n' '' 'http://[::1/' | seen check --json d
seen check --only bad -f d/haw.seen -f d/ia.seen 'http://[::1/'

# One that cannot be read is unknown, unless it was named.
head -c 3000 d/haw.seen >d/cut.seen
seen check d http://a.example/1
seen check -f d/cut.seen -f d/ia.seen http://a.example/1
seen info d
rm d/cut.seen
head -c 16 /dev/urandom >key; chmod 600 key; seen build --quiet -o d/k.seen --kind bloom --keyed key --rate 1e-9 one
seen check d http://a.example/1
seen check --keyed key d http://a.example/1
rm d/k.seen

# What is refused.
seen check empty http://a.example/; seen info empty
seen check; seen check -f d/haw.seen -f nonesuch http://a.example/
seen check -f d -f d/haw.seen http://a.example/
seen check --keys trusted d http://a.example/
seen check --prefix d http://a.example/
seen info --text d; seen info --route http://a.example/ d/haw.seen d/ia.seen

seen info d
seen info d/ia.seen d/haw.seen | cut -c 1-40
seen info --json d | grep -o '"filter": [^,]*, "kind": [^,]*'

# A name cannot break a line into two.
cp d/haw.seen $'d/t\ta\nb.seen'; seen check d http://a.example/1; rm d/t*
END
