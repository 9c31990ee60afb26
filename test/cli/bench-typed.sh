# A short run of seen bench typed: its rows, in a table and in JSON, and nothing is
# left behind.
bench=${SEEN%/*}/seen-bench
[ -x "$bench" ] || { echo "no $bench"; exit 77; }
command -v igzip >/dev/null || { echo "no igzip"; exit 77; }
mkdir temp
export TMPDIR=$PWD/temp

seen bench typed --urls 1000 --turns 1 --only list |
    sed -E 's/^[0-9]+ x .*/# x CPU/; s/ +[0-9]+(\.[0-9]+)?/ #/g'

seen bench typed --urls 1000 --turns 1 --json | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    assert row["seconds"] > 0 and row["x_clock"] > 0 and row["memory"] > 1e6, row
    print(row["input"], row["command"], "|", row["peer"], row["bits_per_url"] is not None)
'
ls temp
session <<'END'
seen bench typed --turns 26
END
