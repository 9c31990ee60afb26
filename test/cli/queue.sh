# seen queue: counts, dead letters, and what becomes of them.
cat >news.json <<'END2'
{"name": "news", "start": ["http://a.example/"]}
END2
printf '{"start": ["http://b.example/"]}' >blog.json
seen enqueue news.json blog.json --queue sqlite:q.db >/dev/null || cat news.json
# Move the messages to the dead letters, as five failures would.
cat >kill.py <<'END2'
import sqlite3
db = sqlite3.connect("q.db", isolation_level=None)
db.execute("INSERT INTO queue_dead SELECT n, queue, 5, CASE WHEN n % 2 THEN "
           "x'6f6e65' ELSE x'74770a6f' END, CAST('no ' || char(27) || '[31m' "
           "AS BLOB), CAST('{}' AS BLOB) FROM queue_messages")
db.execute("UPDATE queues SET inside = inside - 2")
db.execute("DELETE FROM queue_messages")
END2
ages() { sed 's/[0-9.]* s /age /; s/"oldest_ms": [0-9]*/"oldest_ms": N/'; }
session <<'END2'
seen queue stats --queue sqlite:q.db | ages
seen queue stats jobs --json --queue sqlite:q.db | ages
seen queue dead jobs --queue sqlite:q.db
python3 kill.py
seen queue stats --queue sqlite:q.db
seen queue dead jobs --queue sqlite:q.db | cat -v
seen queue dead jobs --queue sqlite:q.db --most 1 --json
seen queue retry jobs --queue sqlite:q.db
seen queue retry jobs one --all --queue sqlite:q.db
seen queue retry jobs one three --queue sqlite:q.db
seen queue stats --queue sqlite:q.db | ages
seen queue drop jobs --all --json --queue sqlite:q.db
seen queue drop jobs --all --queue sqlite:q.db
seen queue stats nobody --queue sqlite:q.db
seen queue dead nobody --queue sqlite:q.db

# Messages as lines.
printf 'one\ntwo\none\n' | seen queue put --queue sqlite:q.db lines
printf 'three' | seen queue put --queue sqlite:q.db lines --id 3
printf 'x\ny\n' | seen queue put --queue sqlite:q.db lines --id 4
seen queue put lines --queue sqlite:q.db </dev/null
seen queue take lines --queue sqlite:q.db >/dev/full
seen queue take lines --queue sqlite:q.db --most 1
seen queue take lines --queue sqlite:q.db --wait 1s
seen queue take lines --queue sqlite:q.db
seen queue stats lines --queue sqlite:q.db

# A reader that ends takes what it has read, and no more.
seq 150 | seen queue put --queue sqlite:q.db many
seen queue take many --queue sqlite:q.db --wait 0s | head -1
seen queue stats many --queue sqlite:q.db --json | grep -o '"ready": [0-9]*\|"taken": [0-9]*\|"done": [0-9]*'
seen queue take many --queue sqlite:q.db | tail -1
seen queue take many --queue sqlite:q.db --wait 0

# Trouble names the place, and never a password.
seen queue stats --queue sqlite:missing.db
ls missing.db
seen queue stats --queue mysql://me:geheim@127.0.0.1/x
seen queue stats --queue postgresql://me:geheim@127.0.0.1:1/x 2>&1 | grep -c geheim
seen queue stats --queue postgresql://me@127.0.0.1:1/x --password-file none
seen queue dead
seen queue stats a b
seen queue list
seen queue dead 'a b' --queue sqlite:q.db
END2
