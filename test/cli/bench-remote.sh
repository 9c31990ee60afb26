# A short run of seen bench remote: every row is JSON, and nothing is left behind.
bench=${SEEN%/*}/seen-bench
for tool in "$bench" redis-server redis-cli; do
    command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }
done
mkdir temp
export TMPDIR=$PWD/temp
seen bench remote --keys 2k --turns 1 --megabytes 1 --json 2>errors |
    python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(row["row"], row["server"], "measured" if row["figure"] > 0 else row)
'
cat errors
ls temp
session <<'END'
seen bench remote --only none
seen bench remote --turns 26
END
