# One writer at a time, any number of readers; who is killed blocks nobody.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --capacity 100k urls
mkfifo in
seen add --ack f <in >acknowledged 2>/dev/null &
writer=$!
exec 3>in
echo http://b.example/1 >&3
until grep -qs b.example/1 acknowledged; do sleep 0.01; done
session <<'END'
seen add --wait 0 f http://b.example/2
seen add --wait 1 f http://b.example/2
seen remove --wait 0 f http://b.example/2
seen dedup --wait 0 --filter f urls
seen build --wait 0 --quiet -o f urls
# Taken before anything is read: what is added meanwhile would be lost.
seen merge --wait 0 --quiet -o f f nonesuch
seen check f http://a.example/1 http://b.example/1
seen info f | grep kind
kill -KILL $writer; wait $writer 2>/dev/null
exec 3>&-
seen check f http://a.example/1 http://b.example/1
seen add f http://b.example/2 | sed 's/;.*//'
seen check f http://b.example/1 http://b.example/2
ls f*
END

# Who writes for a moment makes nobody fail: others wait, in whatever order.
hold() {
    seen add --ack f <in >acknowledged 2>/dev/null &
    exec 3>in
    echo http://d.example/ >&3
    until grep -qs d.example acknowledged; do sleep 0.01; done
    (sleep 0.3) 3>&3 &
    exec 3>&-
}
seen build --quiet -o g --kind counting --capacity 2k urls
session <<'END'

# A writer that ends soon is waited for.
hold; seen add f http://d.example/1 | sed 's/;.*//'
hold; seen dedup --filter f --count urls
hold; seen merge --quiet -o f f && echo merged
hold; seen build --quiet -o f urls && echo built
for i in {1..8}; do seen add g http://e.example/$i >/dev/null & done; wait; seen check --count --only seen g http://e.example/{1..8}
END

# Of two who begin a filter, one does; who printed a URL remembers it.
sed s/a.example/c.example/ urls >more
both() {
    rm -f memory one two
    seen dedup --filter memory urls >one 2>/dev/null &
    seen dedup --filter memory more >two 2>/dev/null
    wait $!
    cat one two | seen check --count --only new memory
}
session <<'END'

# Of two who begin a memory, one does; what is printed is remembered.
for i in {1..20}; do both; done | sort -u
END
