# seen info: what is this filter?
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --capacity 2000 --seed 7 --meta title='A crawl' urls
seen build --quiet -o b --kind bloom --capacity 2000 urls
seen build --quiet -o r --kind routed:16,md5/bloom --profile raw --capacity 2000 urls
seen build --quiet -o g --kind growing/bloom --capacity 300 urls
seen build --quiet -o u --kind fuse urls
seen build --quiet -o c --kind counting:32 --capacity 2000 --rate 1e-6 urls
seen build --quiet -o h --hostile --capacity 2000 urls
seen build --quiet -o o --over --capacity 100 urls
seen build --quiet -o rg --kind routed:4/growing/bloom --capacity 100 urls
seen build --quiet -o sg --kind spatial:2/growing:4/bloom --capacity 100 urls
seen build --quiet -o d --kind dynamic:16/bloom --capacity 2000 urls
seen build --quiet -o e --kind growing/bloom --capacity 1000 --allow-empty /dev/null
seen build --quiet -o p --kind bloom:md5 --profile raw --bits 1000 --capacity 50 --over urls
seen build --quiet -o x --bits 512 --capacity 10 --over urls
seen build --quiet -o y --kind bloom --bits 512 --probes 8 --capacity 200 --over urls
head -1 urls >1; seen build --quiet -o one --capacity 1 1
seen build --quiet -o one2 --kind dynamic:2/bloom --capacity 8 1
seen build --quiet -o l --meta title=$(head -c 9000 /dev/zero | tr '\0' x) 1
session <<'END'
seen info f
seen info --text f
seen info r | head -14
seen info g
seen info u | grep -e kind -e size -e rate
seen info c | grep pays
seen info --key-length 4 c | grep pays
seen info h | head -1
seen info o | grep -e kind -e entries

# What grows anywhere has no capacity to be a share of, and no final size.
seen info rg
seen info sg | grep -e entries -e size -e pays -e part
seen info --json rg | grep -o -e '"room": [^,]*' -e '"bits": [^,]*'
seen info d | grep -e entries -e size -e pays
seen info e | grep -e entries -e size -e pays
seen info --json e | grep -o -e '"bits_a_url": [^,]*'

# Bits are those of the plan, not of the lines that they lie in.
seen info p | grep -e size -e bits

# One that is full has no room, and one that always says yes does not pay.
seen info o | grep -e entries -e rate
seen info x | grep -e entries -e load -e pays
seen info y | grep -e entries -e load -e rate -e pays
seen info --json x | grep -o -e '"room": [^,]*' -e '"pays": [^,]*'

# One is not many, and long metadata is printed whole.
seen info one | grep -e ^capacity -e entries
seen info one2 | grep part
seen info l | tail -1 | wc -c

# The first hex digit of md5("https://haw.nsk.hr/en") is 3.
seen info --route https://haw.nsk.hr/en r
seen info --json --route https://haw.nsk.hr/en r
seen info --route '' r
seen info --route https://haw.nsk.hr/en f

seen info nonesuch
seen info .
seen info urls
seen info --text --json f
seen info --text --route x f
END
