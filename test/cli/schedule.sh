# seen schedule: jobs from a folder of templates, by an injected clock.
mkdir t often
echo '{"name": "news", "start": "http://a.example/", "interval": "6h"}' >t/a.json
echo '{"start": "http://b.example/"}' >t/prices.json
echo '{"start":' >t/bad.json
echo '{"name": "news", "start": "http://c.example/"}' >t/z.json
echo 'not a template' >t/README
mkdir good
cp t/a.json t/prices.json good
session <<'END'
# A day of slots; one that has begun is published at once.
seen schedule --templates good --clock 2026-01-31T05:00:00Z --stop-after 1d --every 12h

# Without --every, a template without an interval is due each day.
seen schedule -t good --clock 2026-01-31T23:00:00Z --stop-after 2h --json

# After a restart the same slot has the same id.
seen schedule -t good --clock 2026-01-31T05:00:00Z --once
seen schedule -t good --clock 2026-01-31T05:59:59Z --once

# A file that is not valid costs only itself, and so does a second one with the same name.
seen schedule -t t --clock 2026-01-31T05:00:00Z --once
seen schedule -t t --clock 2026-01-31T05:00:00Z --stop-after 8h

# One that is named is due now, and that is what seen enqueue does.
seen schedule --once --visit-due 2026-01-31T05:30:00Z good/a.json
seen schedule --once --dry-run --visit-due 5 --name site http://a.example/ | cmp - <(seen enqueue --dry-run --visit-due 5 --name site http://a.example/)
seen schedule --dry-run -t good --visit-due 2026-01-31T05:30:00Z --once | grep -o '"visit": "[^"]*"'
seen enqueue --dry-run -t good --visit-due 2026-01-31T05:30:00Z | grep -o '"visit": "[^"]*"'

# 288 slots of five minutes, with both ends: 289.
echo '{"name": "often", "start": "http://a.example/", "interval": "5m"}' >often/o.json
seen schedule -t often --queue sqlite:often.db --clock 2026-01-31T00:00:00Z --stop-after 1d | sort -u | wc -l

# Mistakes.
seen schedule
seen schedule -t missing --once
seen schedule -t good --clock 2026-01-31T05:00:00Z
seen schedule -t good --clock soon --once
seen schedule -t good --every 0s
seen schedule -t good --shards 2000
seen schedule -t good --once --queue nonsense
seen schedule -t good --once --delay soon
seen schedule -t good extra
seen schedule -t good --once good/a.json
seen schedule --once
seen schedule --once --every 1h good/a.json
seen schedule -t good --messages
seen schedule -t good --visit-due 5
END
# It runs until a signal, which ends it at once.
for signal in TERM INT; do
    : >live.out # what the last one said does not count
    seen schedule -t good --queue sqlite:live.db >live.out &
    while [ "$(wc -l <live.out)" -lt 2 ]; do sleep 0.02; done
    kill -$signal $!
    wait $!
    echo "$signal: exit $?"
    sed 's/@.*/@SLOT/' live.out
done
# Two at once ask for the same visits.
for i in 1 2; do
    seen schedule -t often --queue sqlite:two.db --clock 2026-01-31T00:00:00Z \
        --stop-after 4h >ids.$i &
done
wait
cmp ids.1 ids.2 && wc -l <ids.1
seen queue stats --queue sqlite:two.db --json | grep -o '"ready": [0-9]*'
# New templates and changed ones are picked up while it runs.
: >live.out
seen schedule -t good --queue sqlite:live2.db >live.out 2>live.err &
while [ "$(wc -l <live.out)" -lt 2 ]; do sleep 0.02; done
printf '{"name": "half", ' >good/half.json
sleep 0.1   # when the folder is read meanwhile, it may say so
echo '"start": "http://d.example/"}' >>good/half.json
echo '{"name": "new", "start": "http://e.example/"}' >good/new.json
while [ "$(wc -l <live.out)" -lt 4 ]; do sleep 0.02; done
kill $!
wait $!
sed 's/@.*/@SLOT/' live.out | sort
sed '/half.json: /d' live.err
