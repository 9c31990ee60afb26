# What changed, and what is refused.
cat > one.jsonl <<'END'
{"_id": "1", "_url": "http://a.example/", "Title": ["Prices"], "Text": ["apples 3 EUR pears 4 EUR"]}
{"_id": "2", "_url": "http://a.example/b", "Title": ["Prices"], "Text": ["apples 3 EUR pears 4 EUR"]}
END
cat > two.jsonl <<'END'
{"_id": "3", "_url": "http://a.example/", "Title": ["PRICES"], "Text": ["apples 3 EUR pears 5 EUR"]}
{"_id": "4", "_url": "http://a.example/b", "_status": 404}
not a record
END
session <<'END'
seen classify --state s -i one.jsonl --exact
seen classify --state s -i two.jsonl --exact --json
seen classify --state s -i one.jsonl
seen classify --state s --exact -i one.jsonl --quiet
seen classify --state p --rule published -i one.jsonl -i two.jsonl
ls p

# What does not fit together.
seen classify
seen classify --state s -i one.jsonl --queue sqlite:q.db
seen classify --state s --shard 2
seen classify --state s --results x
seen classify --state t --ignore 'a('
seen classify --state s -i missing --exact
END
