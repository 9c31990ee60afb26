# A pipe is read once, so the filter grows; unless the capacity is known.
seq -f 'http://a.example/%.0f' 20000 >urls
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/; s/, [0-9.]+ [kM]B, [0-9.]+ bits per URL, rate .*/, SIZE/'; }
session <<'END'
cat urls | seen build -o f - 2>&1 | notime
seen check --count f -i urls
cat urls | seen build -o f --kind bloom - 2>&1 | notime
cat urls | seen build -o f --quiet --kind growing/bloom - && seen info f | head -1
cat urls | seen build -o f --quiet --kind fuse - && seen info f | head -1
cat urls | seen build -o f --quiet --capacity 30k - && seen info f | head -1
cat urls | seen build -o f --quiet --bits 1M --rate 1% - && seen info f | head -1
cat urls | seen build -o f --quiet --bits 1M -
seen build --quiet -o f <(cat urls) && seen info f | head -1
seen build --quiet -o f - <urls && seen info f | head -1

# A pipe and a file make the same filter when the capacity is known.
seen build --quiet -o one --capacity 30k urls
cat urls | seen build --quiet -o two --capacity 30k -
cmp one two
(head -c 100000 urls; sleep 0.1; tail -c +100001 urls) | seen build --quiet -o two --capacity 30k -
cmp one two
END
