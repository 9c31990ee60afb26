# A short run of seen bench serve: every row of it is JSON, and nothing is
# left behind, not even when it is interrupted.
bench=${SEEN%/*}/seen-bench
for tool in "$bench" redis-benchmark redis-server; do
    command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }
done
PATH=$PATH:/usr/sbin command -v nginx >/dev/null ||
    { echo "no nginx"; exit 77; }
mkdir temp
export TMPDIR=$PWD/temp

# Names, and what is asked of them; figures are for a quiet machine.
names() {
    python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    asked = row.get("at_least", row.get("at_most"))
    good = row["ours"] >= 0 and (not row["peer"] or row["theirs"] >= 0)
    if row["ratio_low"]: # quartiles of pairs
        good = good and row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
    print(row["row"], row["peer"], asked, "measured" if good else row)'
}
short="--seconds 1 --turns 3 --capacity 1M --json"
seen bench serve $short --only http-16 | names
seen bench serve $short --only exists-64 | names
seen bench serve $short --only agg | names
seen bench serve $short --only reload >reload
names <reload
grep -o '"ours": [^,]*' reload

seen bench serve $short &
until [ "$(ls -A temp)" ]; do sleep 0.02; done; kill -TERM $!; wait $!
echo "ended with $?"
ls temp

session <<'END'
seen bench serve --only nothing
seen bench serve --seconds 0
seen bench serve --seconds
SEEN=/nowhere/seen seen bench serve
PATH=/nowhere "$SEEN" bench serve --only mexists --json
END
