# Short runs of seen bench aggregate: every line is JSON, and nothing is left
# behind.
bench=${SEEN%/*}/seen-bench
command -v "$bench" >/dev/null || { echo "no $bench"; exit 77; }
mkdir temp
export TMPDIR=$PWD/temp

measured() {
    python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    good = all(row[name] > 0 for name in row if name in sys.argv[1:])
    print(row.get("experiment", row.get("part")), row["lookup"], "measured" if good else row)
' list_s set_s bloom_s us_per_record ratio
}
seen bench aggregate --only 2 --most 5000 --json | measured
seen bench aggregate --only sizes --most 1000 --words 10 --json | measured
ls temp

session <<'END'
seen bench aggregate --most 1
seen bench aggregate --only 3
END
