# Short runs of seen bench crawl and seen bench frontier: every line is JSON,
# and nothing is left behind.
bench=${SEEN%/*}/seen-bench
command -v "$bench" >/dev/null || { echo "no $bench"; exit 77; }
PATH=$PATH:/usr/sbin command -v nginx >/dev/null ||
    { echo "no nginx"; exit 77; }
mkdir temp
export TMPDIR=$PWD/temp

measured() {
    python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if "shares" in row:
        continue
    good = all(row[name] > 0 for name in row if row[name] is not None
               and name in sys.argv[1:])
    print(row["bench"], row.get("crawler", ""), "measured" if good else row)
' pages_per_second links_per_second cpu_us_per_page memory
}
seen bench crawl --only seen --sites generated --pages 200 --turns 1 --json \
    2>errors | measured
grep -v perf errors
mkdir -p docs/sqlite3
echo '<a href=b.html>b</a>' >docs/sqlite3/index.html
echo '<a href=nowhere.html>404</a>' >docs/sqlite3/b.html
seen bench crawl --only seen --docs "$PWD/docs" --sites documentation \
    --turns 1 --json 2>errors | measured
grep -v perf errors
seen bench frontier --urls 20k --json | measured
seen bench frontier --rows --urls 20k --hosts 100 --json | measured
ls temp

session <<'END'
seen bench crawl --only nothing
seen bench crawl --sites nothing
seen bench crawl --pages 1
seen bench crawl --turns 26
seen bench frontier --urls 1
SEEN=/nowhere/seen seen bench crawl
END
