# JSON is valid whatever bytes a URL has, and nothing of it is lost.
printf 'http://a.example/"\\\nhttp://a.example/\xc3\xb6\nhttp://a.example/\xe9x\n' >urls
printf 'http://a.example/\xed\xa0\x80\nhttp://a.example/\xf4\x90\x80\x80\n' >>urls
printf 'http://a.example/\xc0\xaf\nhttp://a.example/\xf0\x9f\x98\x80\nhttp://a.example/\xf0\x9f\n' >>urls
printf 'http://a.example/</script>\n' >>urls
seen build --quiet -o f --kind bloom --rate 1e-9 urls
cat >read.py <<'END'
import json, sys
for line in sys.stdin:
    answer = json.loads(line)
    url = bytes.fromhex(answer["url_hex"]) if "url_hex" in answer \
        else answer["url"].encode()
    sys.stdout.buffer.write(url + b"\n")
END
session <<'END'
seen check --json f -i urls
seen check --json f -i urls | python3 read.py | cmp - urls
seen dedup --json urls | python3 read.py | cmp - urls
seen info --json f | python3 -m json.tool | grep -v -e rate -e load -e bits -e wrong -e entries -e room
seen build --quiet -o f --meta title='"A" \ ö' urls; seen info --json f | python3 -c 'import json, sys; print(json.load(sys.stdin)["meta"])'
seen build --json -o g urls | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
seen merge --json -o m f f | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
seen build --quiet -o r --kind routed:4/bloom urls; seen info --json r | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["parts"]))'
seen build --quiet -o g --kind growing/bloom urls; seen info --json g | python3 -c 'import json, sys; print(json.load(sys.stdin)["room"])'
END
