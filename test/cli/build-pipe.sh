# A pipe is read once, as files are: its filter has the size of its URLs.
seq -f 'http://a.example/%.0f' 20000 >urls
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/'; }
session <<'END'
cat urls | seen build -o f - 2>&1 | notime
seen check --count f -i urls
cat urls | seen build -o f --quiet --kind fuse - && seen info f | head -1
cat urls | seen build -o f --quiet --capacity 30k - && seen info f | head -1
cat urls | seen build -o f --quiet --bits 1M --rate 1% - && seen info f | head -1
seen build --quiet -o f - <urls && seen info f | head -1

# A pipe and a file make the same filter, whether the capacity is known or not.
for plan in '--capacity 30k' '' '--kind bloom --memory 0' '--kind growing/bloom' '--kind layered:2 --memory 0' '--kind bloom:md5' '--bits 1M' '--kind counting:8 --threads 3'; do seen build --quiet -o one $plan urls; cat urls | seen build --quiet -o two $plan - && cmp one two && echo "${plan:-none}: $(seen info one | grep ^capacity)"; done
(head -c 100000 urls; sleep 0.1; tail -c +100001 urls) | seen build --quiet -o two --capacity 30k -
seen build --quiet -o one --capacity 30k urls && cmp one two
(head -c 100000 urls; sleep 0.1; tail -c +100001 urls) | seen build --quiet -o two -
seen build --quiet -o one <(cat urls) && cmp one two

# Nothing is left of the URLs that waited in a file, and nothing replaces a
# filter if the disk is full.
ls
(trap '' XFSZ; ulimit -f 100; cat urls | seen build --memory 0 --quiet -o one -); cmp one two; ls
END
