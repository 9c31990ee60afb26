# A build that is stopped leaves what was there, and nothing else.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o old urls
cp old before
mkfifo in
for signal in INT TERM KILL; do
    for out in old new; do
        env --default-signal=INT seen build --quiet -o $out --capacity 10k - \
            <in 2>/dev/null &
        exec 3>in
        for i in {1..10}; do cat urls; done >&3 # more than a pipe holds: it reads
        kill -$signal $!
        wait $! 2>/dev/null
        echo "$signal: exit $?"
        exec 3>&-
    done
done
cmp old before
ls
