"""job_test.py - the schema of jobs and the program that reads them agree."""
import hashlib
import json
import os
import subprocess

import pytest

from schema import load, valid

SEEN = os.environ["SEEN"]
SCHEMA = load("job.schema.json")
TEMPLATE = '{"start": "http://a.example/"}'
HASH = hashlib.sha256(TEMPLATE.encode()).hexdigest()
URLS = {"v": 1, "visit": "a@5", "name": "a", "due": 5, "start": ["http://a.example/"]}
FILE = {"v": 1, "visit": "a@5", "name": "a", "due": 5, "template": TEMPLATE, "hash": HASH}


def read(message):
    text = message if isinstance(message, str) else json.dumps(message)
    return subprocess.run([SEEN, "enqueue", "--messages", "--dry-run", "-"],
                          input=text, capture_output=True, text=True, check=False)


def without(job, *names):
    return {name: value for name, value in job.items() if name not in names}


def settings(**values):
    return {**URLS, "settings": {n.replace("_", "-"): v for n, v in values.items()}}


GOOD = [
    URLS, FILE, {**FILE, "start": ["https://b.example/", "http://c.example"]},
    {**URLS, "shards": 1024}, {**URLS, "due": 0, "visit": "a@0"},
    {**URLS, "due": 253402300799, "visit": "a@253402300799"},
    {**URLS, "name": "A" * 100, "visit": "A" * 100 + "@5"},
    {**URLS, "name": "0._-", "visit": "0._-@5"}, {**URLS, "settings": {}},
    settings(domain=["b.example"], prefix=["http://c.example/x"], include=["a"],
             exclude=["b", "c"], everywhere=True, requisites=False, sitemaps=True,
             max_depth=1000000, max_queries=1),
    settings(pages=1, bytes=1000000000000000, time=316224000, host_pages=1,
             max_size=1073741824),
    settings(strategy="focused", words="a b", threshold="0.2", weights="1,1,1",
             order="priority", prefer=["a=1", "b=-5"]),
    settings(delay="0.5", timeout=86400, retries=100, pause=1, per_address=100),
]

BAD = [
    {}, [URLS], without(URLS, "v"), without(URLS, "visit"), without(URLS, "name"),
    without(URLS, "due"), without(URLS, "start"), without(FILE, "hash"),
    without(FILE, "template"), {**URLS, "hash": HASH}, {**URLS, "v": 2}, {**URLS, "v": "1"},
    {**URLS, "extra": 1}, {**URLS, "visit": 5}, {**URLS, "visit": "a"},
    {**URLS, "visit": "a@05"}, {**URLS, "name": "a b"}, {**URLS, "name": ".a"},
    {**URLS, "name": ""}, {**URLS, "due": -1}, {**URLS, "due": "5"},
    {**URLS, "due": 253402300800, "visit": "a@253402300800"}, {**URLS, "due": 5.5},
    {**URLS, "name": "A" * 101, "visit": "A" * 101 + "@5"},
    {**FILE, "hash": HASH.upper()}, {**FILE, "hash": HASH[1:]}, {**FILE, "template": ""},
    {**FILE, "template": {}}, {**URLS, "start": []}, {**URLS, "start": "http://a.example/"},
    {**URLS, "start": [1]}, {**URLS, "start": [""]}, {**URLS, "shards": 0},
    {**URLS, "shards": 1025}, {**URLS, "shards": "1"}, {**URLS, "settings": []},
    settings(into="x"), settings(allow="127.0.0.1:80"), settings(allow_private=True),
    settings(clock="2026-01-31T00:00:00Z"), settings(words_file="x"), settings(agent="x"),
    settings(contact="x"), settings(seed=1), settings(skip=["x"]), settings(nonsense=1),
    settings(pages=0), settings(pages="1"), settings(pages=1.5), settings(pages=True),
    settings(pages=1000000000000001), settings(time=316224001), settings(retries=101),
    settings(max_size=1073741825), settings(everywhere=1), settings(domain="b.example"),
    settings(domain=[1]), settings(domain=[""]), settings(order="best"), settings(order=1),
    settings(strategy="continuous"), settings(delay=1), settings(delay=""),
]

# Only the program knows these.
WORSE = [
    ({**URLS, "visit": "a@6"}, "visit: does not equal name@due"),
    ({**FILE, "hash": "0" * 64}, "hash: does not fit the template"),
    ({**FILE, "template": "{}", "hash": hashlib.sha256(b"{}").hexdigest()},
     "template: line 1: start is missing"),
    ({**URLS, "start": ["ftp://a.example/"]}, "start[0]: a start URL begins with http"),
    ({**URLS, "start": ["http://u:p@a.example/"]}, "start[0]: a URL with a user name"),
    (settings(include=["("]), "settings.include: not an extended regular expression"),
    (settings(delay="1x"), "--delay 1x: a time of at most an hour"),
    (settings(prefer=["x"]), "settings.prefer: expected REGEX=N"),
    (settings(strategy="focused"), "--strategy topical needs --words"),
]


@pytest.mark.parametrize("job", GOOD)
def test_schema_and_program_accept(job):
    assert valid(SCHEMA, job)
    done = read(job)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == job


@pytest.mark.parametrize("job", BAD)
def test_schema_and_program_refuse(job):
    assert not valid(SCHEMA, job)
    done = read(job)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("seen: -: line 1: ")


@pytest.mark.parametrize("job,text", WORSE)
def test_the_program_knows_more_than_the_schema(job, text):
    assert valid(SCHEMA, job)
    assert text in read(job).stderr


def test_what_is_written_fits_the_schema_and_its_settings_are_all_of_it(tmp_path):
    (tmp_path / "t.json").write_text(TEMPLATE, encoding="utf-8")
    words = {"domain": "b.example", "prefix": "http://c.example/", "include": "x",
             "exclude": "y", "max-depth": "3", "max-queries": "4", "pages": "5",
             "bytes": "6", "time": "7s", "host-pages": "8", "max-size": "9",
             "strategy": "focused", "order": "depth", "words": "a", "threshold": "0.5",
             "weights": "1,2,3", "prefer": "z=1", "delay": "2s", "timeout": "10s",
             "retries": "11", "pause": "12s", "per-address": "13", "accept-encoding": "gzip",
             "policy": "uniform", "revisit-every": "14s", "revisit-min": "15s", "revisit-max": "16s"}
    options = ["--everywhere", "--requisites", "--sitemaps", "--ignore-nofollow"]
    for name, value in words.items():
        options += ["--" + name, value]
    done = subprocess.run([SEEN, "enqueue", "--dry-run", "--shards", "2", *options,
                           str(tmp_path / "t.json")],
                          capture_output=True, text=True, check=True)
    job = json.loads(done.stdout)
    assert valid(SCHEMA, job)
    assert set(job["settings"]) == set(SCHEMA["properties"]["settings"]["properties"])
    assert read(job).returncode == 0
