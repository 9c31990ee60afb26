# seen bench urls: its rows.
bench=${SEEN%/*}/seen-bench
[ -x "$bench" ] || { echo "no $bench"; exit 77; }
seen bench urls --json | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    assert row["ns"] > 0 and row["bytes"] > 10, row
    print(row["urls"], "|", row["way"])
'
