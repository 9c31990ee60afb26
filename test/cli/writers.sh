# One writer at a time, any number of readers; who is killed blocks nobody.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --capacity 100k urls
mkfifo in
seen add --ack f <in >acknowledged 2>/dev/null &
writer=$!
exec 3>in
echo http://b.example/1 >&3
until grep -q b.example/1 acknowledged; do sleep 0.01; done
session <<'END'
seen add f http://b.example/2
seen build --quiet -o f urls
# Taken before anything is read: what is added meanwhile would be lost.
seen merge --quiet -o f f nonesuch
seen check f http://a.example/1 http://b.example/1
seen info f | grep kind
kill -KILL $writer; wait $writer 2>/dev/null
exec 3>&-
seen check f http://a.example/1 http://b.example/1
seen add f http://b.example/2 | sed 's/;.*//'
seen check f http://b.example/1 http://b.example/2
ls f*
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
