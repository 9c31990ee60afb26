# A short run of seen bench filters: which rows it has, in a table and in JSON.
bench=${SEEN%/*}/seen-bench
[ -x "$bench" ] || { echo "no $bench"; exit 77; }

# Figures become #, except for the number of keys and of keys per call.
figures='s/ +[0-9]+\.[0-9]+/ #/g; s/^[0-9]+ x .*/# x CPU/; s/^SIMD: .*;/SIMD: #;/'
seen bench filters --keys 25600 --simd portable | sed -E "$figures"

seen bench filters --keys 25600 --filter bloom --input key --threads 1 |
    sed -E "$figures"

seen bench filters --keys 25600 --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(sorted(found))
assert found["simd"] in ("avx512", "avx2", "portable")
assert found["xxh3_128_url_ns"] > 0
for row in found["batches"]:
    least, ns, most = row["least_ns"], row["ns"], row["most_ns"]
    assert 0 < least <= ns <= most and row["x_limit"] > 0, row
    assert row["who"] != "limit" or row["x_limit"] == 1, row
    print(row["keys"], row["what"], row["who"], row["batch"])
print(found["rows"])
'
session <<'END'
seen bench filters --keys 25599
seen bench filters --threads 3
seen bench filters --keys 25600 --simd mmx
END
