# A copy of a filter in use has all that was acknowledged, or is refused.
seq -f 'http://a.example/%.0f' 100 >urls
mkfifo in
copies() {
    seen build --quiet -o live.seen --kind "$1" --capacity 1k urls
    seen add --ack live.seen <in >acknowledged 2>/dev/null &
    writer=$!
    exec 3>in
    echo http://b.example/1 >&3
    until grep -qs b.example/1 acknowledged; do sleep 0.01; done
    echo "# $1"
    # As cp, rsync and tar do.
    cp live.seen copy.seen
    seen check copy.seen http://b.example/1 2>&1; echo "[exit $?]"
    seen info copy.seen 2>/dev/null; echo "[exit $?]"
    seen add copy.seen http://c.example/ 2>/dev/null; echo "[exit $?]"
    # With its journal, as a snapshot of the disk does.
    cp live.seen.journal copy.seen.journal
    seen check copy.seen http://a.example/1 http://b.example/1
    # As the message says.
    seen merge --quiet -o merged.seen live.seen
    seen check merged.seen http://a.example/1 http://b.example/1
    # Killed: the journal completes the file. Closed: a copy is all of it.
    kill -KILL $writer; wait $writer 2>/dev/null
    exec 3>&-
    seen check live.seen http://b.example/1
    seen add live.seen http://b.example/2 >/dev/null
    cp live.seen closed.seen
    seen check closed.seen http://b.example/1 http://b.example/2
    rm -f *.seen *.journal *.lock acknowledged
}
for kind in blocked growing/bloom counting:8 routed:4/growing/blocked; do copies $kind; done
