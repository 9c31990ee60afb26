# The same bytes whatever the number of threads, for every kind; 5 MB of
# input are several blocks.
seq -f 'http://www.host-of-many-pages.example/section/page-%.0f.html' 40000 >a
{ seq -f 'http://other.example/%.0f' 20000; tail -2000 a; } >b
for kind in blocked bloom counting:8 counting:8,minimal fuse fuse:16 ribbon layered:3 \
        growing/blocked dynamic:8/bloom routed:16/blocked routed:16,md5/bloom \
        spatial:2/blocked routed:4/fuse routed:4/ribbon spatial:2/routed:4/bloom; do
    for plan in '' '--capacity 100k'; do
        for threads in 1 2 3 8; do
            seen build --quiet -o $threads --threads $threads --kind $kind \
                $plan a b a b a || echo "$kind $plan $threads: exit $?"
            cmp 1 $threads && continue
            echo "$kind $plan: differs with $threads threads"
        done
        seen check --count 1 -i a -i b >sum || cat sum
    done
    echo "$kind: the same"
done
# Whatever the number of threads, the first bad line is the first.
for i in 1 2 3 4 5 6 7 8; do
    printf 'bad\001\n'; cat a
done >c
for threads in 1 2 8; do
    seen build -o f --strict --threads $threads --capacity 100k c 2>&1
    seen build -o f --threads $threads --capacity 100k c 2>&1 | grep left
    cat c b | seen build --quiet -o $threads --capacity 100k \
        --threads $threads - 2>/dev/null
    cmp 1 $threads
done
