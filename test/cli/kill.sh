# What was acknowledged is there, however often the writer is killed. A kill in
# the middle of a write leaves a torn record, which later commands may report.
torn='not a complete record and were left out: a change that was not acknowledged'
new() {
    seen check --only new f -i "$1" 2>errors
    grep -v "$torn" errors >&2
}
seen build --quiet -o f --capacity 2M --over --allow-empty /dev/null
for round in 1 2 3 4 5 6 7 8; do
    : >acknowledged
    seq -f "http://$round.example/%.0f" 20000000 |
        seen add --ack --sync no f >acknowledged 2>/dev/null &
    sleep 0.0$round
    [ $round -lt 8 ] || until [ -s acknowledged ]; do sleep 0.01; done
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    [ $? = 137 ] || echo "round $round: not killed"
    # The last line may be half a line.
    sed '$d' acknowledged >whole
    cat whole >>all
    new whole
done
new all
[ -s all ] || echo 'nothing was acknowledged'
seen add f http://z.example/ 2>/dev/null | sed 's/:.*//'
seen info f >/dev/null 2>errors && echo sound
grep -v "$torn" errors >&2
ls f*
