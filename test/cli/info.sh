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
