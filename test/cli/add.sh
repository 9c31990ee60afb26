# seen add: how many were new, the rate now, and when there is no room.
seq -f 'http://a.example/%.0f' 1000 >urls
head -1 urls >one
seen build --quiet -o f --kind bloom --rate 1e-9 --capacity 1100 urls
seen build --quiet -o fuse --kind fuse urls
norate() { sed -E 's/(rate now |"rate": |"entries": )[0-9.e-]+/\1X/g; s/[0-9.]+ % (full|of capacity)/N % \1/'; }
session <<'END'
seen add f http://a.example/1 http://b.example/1 2>&1 | norate
seen add f http://b.example/1 2>&1 | norate
seen check f http://b.example/1 http://b.example/2
printf 'http://b.example/2\n\nhttp://b.example/3\r\nhttp://b.example/2' | seen add f 2>&1 | norate
seen add -i urls f 2>&1 | norate
seen add --json f http://b.example/2 http://b.example/4 2>/dev/null | norate
seen add f </dev/null 2>&1 | norate
seen add --sync no f http://b.example/5 2>&1 | norate
seen add --sync everysec f http://b.example/6 2>&1 | norate
ls

# Acknowledged when safe.
seen add --ack f http://b.example/7 http://a.example/1 2>/dev/null
seen add --ack --json f http://b.example/8 http://a.example/1 2>/dev/null | norate
seen add --ack f http://b.example/9 2>&1 >/dev/null | norate

# Bad lines and operands.
printf 'http://c.example/1\nx\ty\nhttp://c.example/2\n' | seen add f 2>&1 | norate
printf 'http://c.example/3\nx\ty\nhttp://c.example/4\n' | seen add --strict f 2>&1 | norate
seen check f http://c.example/1 http://c.example/2 http://c.example/3 http://c.example/4
seen add f '' 2>&1 | norate

# Full: what fitted was added, the rest was not.
seq -f 'http://d.example/%.0f' 1000 | seen add --ack f >acknowledged 2>message; echo $?; sed -E 's/after [0-9]+/after N/' message | norate
seen check --count --only new f -i acknowledged
test $(wc -l <acknowledged) -lt 200 && echo some
seq -f 'http://d.example/%.0f' 1000 | seen add --over f 2>&1 | norate
seq -f 'http://d.example/%.0f' 1000 | seen check --count f

# What came through a pipe is added before it waits for more; order does not
# matter to what a filter of many gathered batches is.
seen build --quiet -o slow --capacity 300k urls; cp slow once; cp slow twice
mkfifo line; seen add slow <line >told & exec 3>line; echo http://e.example/1 >&3; until seen check slow http://e.example/1 >/dev/null; do sleep 0.05; done; echo http://e.example/2 >&3; exec 3>&-; wait; norate <told; seen check slow http://e.example/2
seq -f 'http://f.example/%.0f' 150000 >lots; seen add once -i lots | norate; while read -r n; do sed -n "$n" lots | seen add --ack twice 2>&1 >/dev/null | norate; done <<<$'1,149999p\n150000p'; cmp once twice
seen build --quiet -o some --capacity 70k --rate 0.1% --kind bloom urls; seen add some -i lots 2>&1 | grep -o 'the filter.*after\|go on.*over'; seen check --count some -i lots | grep -c 'seen.*[67]....$'
rm line told lots slow once twice some

# A filter that grows is never full.
seen build --quiet -o g --kind growing/bloom --capacity 100 urls
seq -f 'http://d.example/%.0f' 1000 | seen add g | norate
seq -f 'http://d.example/%.0f' 1000 | seen check --count g
seen build --quiet -o rg --kind routed:4/growing/bloom --capacity 100 urls
seen add rg http://d.example/1 | norate
seen build --quiet -o sg --kind spatial:2/growing:4/bloom --capacity 100 urls
seen add sg http://d.example/1 | norate

# Past the capacity, the rate may still be below the planned one.
seen build --quiet -o big --kind bloom --bits 100k --rate 0.01 --capacity 900 --over urls
seen add big http://d.example/1 2>&1 | norate

# What is advised can be built.
seen build --quiet -o d --kind dynamic:3/blocked --capacity 90 one
seen add d -i urls 2>&1 | grep -o 'go on with .*'
seen build --quiet -o r --kind routed:4/counting:8 --capacity 90 one
seen add r -i urls 2>&1 | grep -o 'go on with .*'
seen build --quiet -o d --kind growing/blocked urls
seen build --quiet -o r --kind growing/counting:8 urls

# Not everything can be added to.
seen add fuse http://b.example/1
seen add nonesuch/f http://b.example/1
seen add . http://b.example/1
seen add urls http://b.example/1
seen add f --profile nonsense http://b.example/1
END
