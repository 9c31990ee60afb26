# seen enqueue: one job per template, once.
cat >news.json <<'END'
{
  "name": "news",
  "start": "http://a.example/[1-3]",
  "interval": "6h",
  "limits": {"pages": 100}
}
END
echo '{"start": "http://b.example/"}' >prices.json
echo '<template name="old"><start>http://c.example/</start></template>' >old.xml
printf '{\n"start": "http://a.example/",\n"dney": 1}' >bad.json
echo '{"start": "http://a.example/"}' >'odd name.json'
echo secret >password
chmod 600 password
session <<'END'
# The ids of the visits: the name of the template, or of its file, and the time.
seen enqueue --visit-due 2026-01-31T00:00:00Z news.json prices.json old.xml
ls
seen enqueue --visit-due 1769817600 news.json --json
# The same id again changed nothing.
seen queue stats --json | grep -o '"ready": [0-9]*'
seen enqueue --name site --visit-due 0 http://a.example/ https://b.example/
seen enqueue --name other --visit-due 5 --queue sqlite:other.db news.json -q
ls *.db
seen enqueue news.json | sed 's/[0-9]\{10,\}/NOW/'

# Times are in UTC, also where libc finds no file of the time zone.
for zone in Nowhere/None America/New_York ""; do TZ=$zone seen enqueue --dry-run --visit-due 2026-07-31T00:00:00Z news.json | grep -o '"due": [0-9]*\|@[0-9]*'; done

# The messages themselves.
seen enqueue --dry-run --visit-due 5 news.json
seen enqueue --dry-run --visit-due 5 --name site --shards 4 --delay 0.5 --pages 10 --domain c.example --include /a --include /b --requisites --time 1h HTTP://A.example
seen enqueue --dry-run --visit-due 5 - <prices.json --name stdin
seen enqueue --dry-run --visit-due 5 prices.json old.xml

# Messages that another program made.
seen enqueue --dry-run --visit-due 7 news.json prices.json >jobs.jsonl
seen enqueue --messages jobs.jsonl
sed 's/news/old/' jobs.jsonl | seen enqueue --messages -
seen enqueue --messages --dry-run /dev/null

# Private addresses are for the worker to refuse.
seen enqueue --dry-run --visit-due 5 --name own http://127.0.0.1:8080/

# If one template is not valid, nothing is published.
seen enqueue --queue sqlite:third.db news.json bad.json missing.json
ls third.db
seen enqueue 'odd name.json'
seen enqueue --visit-due 5 news.json news.json
seen enqueue --name x news.json prices.json
seen enqueue http://a.example/
seen enqueue --name x http://a.example/ news.json
seen enqueue --name 'a b' http://a.example/
seen enqueue --name x http://user:hidden@a.example/
seen enqueue --name x http://a.example:25/
seen enqueue
seen enqueue --visit-due yesterday news.json
seen enqueue --visit-due 2026-1-31 news.json
seen enqueue --visit-due 99999999999999 news.json
seen enqueue --shards 1025 news.json

# Settings that a job has not, and values that are not right.
seen enqueue --allow 127.0.0.1:80 news.json
seen enqueue --into x news.json
seen enqueue --strategy continuous news.json
seen enqueue --strategy focused news.json
seen enqueue --delay soon news.json
seen enqueue --delay 2h news.json
for delay in 2 0.5 500ms 2s 1m; do seen enqueue --dry-run --visit-due 5 --name x --delay $delay http://a.example/ | grep -o '"delay":"[^"]*"'; done
seen enqueue --include '(' news.json
seen enqueue --retries 1000 news.json

# The queue.
seen enqueue --queue nonsense news.json
seen enqueue --queue redis://user:hidden@a.example/ news.json
seen enqueue --queue sqlite:missing/x.db news.json
seen enqueue --jobs 'a b' news.json
seen enqueue --password-file password --visit-due 6 news.json
seen enqueue --password-file missing news.json
END
