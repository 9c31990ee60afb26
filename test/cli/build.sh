# seen build: reports, what is left out, what is kept.
seq -f 'http://a.example/%.0f' 1000 >urls
seq -f 'http://a.example/%.0f' 501 1500 >more
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/; s/"seconds": [0-9.e-]+/"seconds": TIME/'; }
session <<'END'
seen build -o f urls 2>&1 | notime
seen check --count f -i urls
seen build -o f urls more 2>&1 | notime
seen check --count f -i urls -i more
seen build --quiet -o f urls
seen build --json -o f --capacity 2000 urls urls | notime
seen info --text f

# No input, or nothing in it.
: >empty
seen build -o e --allow-empty empty 2>&1 | notime
seen check e http://a.example/
seen build -o e --allow-empty /dev/null 2>&1 | notime
seen info e | grep entries

# Exclude: exactly those, however many probes they share with others.
seq -f 'http://a.example/%.0f' 1 2 1000 >odd
seen build -o f --kind bloom --rate 1e-9 --exclude odd urls 2>&1 | notime
seen check --count f -i odd
seen check --count f -i urls
seen build -o f --exclude nonesuch urls

# A star stands for all that begins so; a folder's own page goes with it.
printf 'http://%s\n' b.example/members b.example/members/ b.example/members/ann b.example/membership b.example/ bb.example/ c.example/x c.example/y?z=1 d.example/1 >site
printf 'http://b.example/members/*\nhttps://www.c.example/*\nhttp://d.example/1\n' >never
seen build -o f --kind bloom --rate 1e-9 --exclude never site 2>&1 | notime
seen check f -i site
seen build -o f --profile raw --kind bloom --rate 1e-9 --exclude never site 2>&1 | notime
seen check f -i site

# Bad lines are counted by cause, and kept if wanted.
{ cat urls; printf 'http://a.example/\001\n'; head -c 9000 /dev/zero | tr '\0' x; echo; } >some
seen build -o f --rejects bad some 2>&1 | notime
wc bad
seen build -o f some urls some 2>&1 | notime
seen build -o f --rejects bad urls 2>&1 | notime; wc -c <bad
seen build -o f --rejects nonesuch/bad urls
seen build -o f --rejects /dev/full some 2>&1 | notime
rm f; seen build -o f --strict some; ls f
seen build -o f --strict --capacity 5000 urls some; ls f

# Metadata.
seen build --quiet -o f --meta title='A crawl' --meta holder=me urls && seen info f | tail -2
seen build --quiet -o f --meta title=a=b urls && seen info f | tail -1
seen build --quiet -o f --meta title= urls && seen info f | tail -1 | cat -A
seen build --quiet -o f --meta title urls
seen build --quiet -o f --meta =x urls
seen build --quiet -o f --meta kind=x urls
seen build --quiet -o f --meta 'a b=x' urls
seen build --quiet -o f --meta $'a=x\ny' urls

# Files that are not what they should be; what is written is not what is read.
seen build -o f nonesuch
seen build -o f urls nonesuch
seen build --partial -o urls .
seen build -o . urls
seen build -o nonesuch/f urls
seen build -o urls urls
seen build -o f --rejects urls urls
ln urls linked; seen build -o linked urls
wc -l <urls
mkdir closed; chmod 500 closed; [ $(id -u) = 0 ] && echo 'seen: closed/f: no file can be written there: Permission denied' || seen build -o closed/f urls || true

# A second build replaces the first, and leaves nothing else.
seen build --quiet -o g urls; seen build --quiet -o g more; ls g*
seen check g http://a.example/1 http://a.example/1500

# A filter that is almost empty has no bits per URL to speak of.
echo http://a.example/ >one; seen build -o e --capacity 1M one 2>&1 | sed 's/ in .* s$/ in TIME/'
END
