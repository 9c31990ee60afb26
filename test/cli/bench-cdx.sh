# A short run of seen bench cdx: its rows, in a table and in JSON, and nothing is
# left behind.
bench=${SEEN%/*}/seen-bench
[ -x "$bench" ] || { echo "no $bench"; exit 77; }
command -v igzip >/dev/null || { echo "no igzip"; exit 77; }
mkdir temp
export TMPDIR=$PWD/temp

seen bench cdx --lines 6000 --capacity 10k --turns 1 2>/dev/null |
    sed -nE 's/^([a-z]+) +([0-9]+) .* (wc -l|igzip -d) .*%$/\1 \2 \3/p'

seen bench cdx --lines 6000 --capacity 10k --turns 3 --json | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    assert row["simd"] in ("avx512", "avx2", "portable")
    for name in ("", "peer_"):
        assert 0 <= row[name + "system_seconds"] <= row[name + "processor_seconds"]
    assert row["seconds"] > 0 and row["reading_seconds"] > 0
    assert 0 < row["ratio_low"] <= row["ratio"] <= row["ratio_high"], row
    print(row["input"], row["lines"], row["urls"], row["peer"])
'
ls temp
