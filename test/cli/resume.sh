# A build that is killed goes on, and ends with the same bytes.
seq 400000 | awk '{ print "hr,nsk)/" $1 " 20200101000000 http://nsk.hr/" $1 " text/html 200 ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 - - 812 1234567 NSK-20200101000000-00001.warc.gz" }' >a.cdx
sed -i '200000s/.*/bad/' a.cdx
split -l 30000 --filter='gzip -1nc' a.cdx >b.gz
for kind in 'blocked --capacity 2M' 'counting:8 --capacity 2M' 'growing/bloom --capacity 2M' 'routed:4/growing/blocked --capacity 2M' blocked; do
    plan="--quiet --kind $kind --checkpoint 0.001"
    seen build $plan -o whole --rejects bad a.cdx b.gz 2>told
    for wait in 0.05 0.15 0.4; do
        # Nothing of an earlier turn: one that was killed when f was whole and
        # its checkpoint still there has left that.
        rm -f f f.*
        seen build $plan -o f --rejects worse a.cdx b.gz 2>killed &
        sleep $wait; kill -KILL $! 2>/dev/null; wait $! 2>/dev/null
        [ ! -e f ] || continue
        seen build $plan -o f --rejects worse --resume a.cdx b.gz 2>again &&
            cmp whole f && cmp bad worse && cmp told again ||
            { echo "killed after $wait s:"; cat killed; echo "resumed:"; cat again; }
    done
    rm -f f f.*
    echo "$kind: the same"
done
ls f* 2>/dev/null
session <<'END'
cat told

# Nothing to go on from; and what is not the same any more.
seen build --resume -o f --capacity 2M a.cdx 2>&1 | head -1
for i in {1..20}; do seen build -o g --capacity 2M --quiet --checkpoint 0.001 a.cdx b.gz 2>>killed & until [ -e g.checkpoint ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done; kill -KILL $! 2>/dev/null; wait $! 2>/dev/null; rm -f g; [ ! -e g.checkpoint ] || break; done
seen build --resume -o g --capacity 3M a.cdx b.gz
seen build --resume -o g --capacity 2M a.cdx
touch a.cdx; seen build --resume -o g --capacity 2M a.cdx b.gz
ls g
seen build --resume -o g --kind fuse a.cdx
cat a.cdx | seen build --resume -o g -
END
