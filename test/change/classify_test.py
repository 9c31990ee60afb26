"""seen classify: files, queues, results exactly once, bad records, full disks."""
import contextlib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from records import SEEN, classify, compare, read, record, visits, write

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "crawl"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fault"))
import schema  # noqa: E402
from injected import Fault, run as run_with  # noqa: E402


@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_kills_change_no_class_and_lose_no_record(tmp_path, options):
    compare(tmp_path, 300, 4, 6, options)


def test_killed_before_any_change_of_the_disk_it_loses_nothing(tmp_path):
    """From the first file of a state to the last, with two batches in between: every third one, to save time."""
    write(tmp_path / "pages.jsonl", visits(4, 2))
    words = ["classify", "--batch", "4", "--quiet", "--no-words", "-i", "pages.jsonl", "--state", "s", "-o", "r.jsonl"]
    assert run_with(words, str(tmp_path)).code == 0
    calm, at = sorted(open(tmp_path / "r.jsonl", "rb")), 0
    assert len(calm) == 8
    while True:
        shutil.rmtree(tmp_path / "s")
        os.remove(tmp_path / "r.jsonl")
        at += 3
        if run_with(words, str(tmp_path), Fault("change", at, "kill")).code != -9:
            break
        assert run_with(words, str(tmp_path)).code == 0
        assert sorted(open(tmp_path / "r.jsonl", "rb")) == calm, at
    assert at > 50, at


def test_a_killed_run_and_then_one_without_results_lose_no_line(tmp_path):
    """The run without -o has answers of its own, which are not for the file; it lacks none of the others."""
    write(tmp_path / "pages.jsonl", visits(4, 2))
    write(tmp_path / "other.jsonl", [record("other", "some words")])
    words = ["classify", "--batch", "4", "--quiet", "--no-words", "--state", "s"]
    whole, at = [*words, "-i", "pages.jsonl", "-o", "r.jsonl"], 5
    while run_with(whole, str(tmp_path), Fault("change", at, "kill")).code == -9:
        assert run_with([*words, "-i", "other.jsonl"], str(tmp_path)).code == 0
        assert run_with(whole, str(tmp_path)).code == 0
        assert len({one["_id"] for one in read(tmp_path / "r.jsonl")} - {"n@1 other"}) == 8, at
        assert len(read(tmp_path / "r.jsonl")) == 8, at
        shutil.rmtree(tmp_path / "s")
        os.remove(tmp_path / "r.jsonl")
        at += 8
    assert at > 50, at


@pytest.mark.parametrize("left", [0, 0.5, 0.8])
def test_a_state_whose_database_has_lost_commits_is_refused(tmp_path, left):
    """SQLite takes a damaged log for one that ends there, and says nothing; the journal knows better."""
    with piped(tmp_path, "--batch", "10") as run:
        for one in visits(60, 1):
            run.stdin.write(json.dumps(one).encode() + b"\n")
        run.stdin.flush()
        assert len([run.stdout.readline() for _ in range(60)]) == 60
        run.kill()
    log = tmp_path / "s" / "state.db-wal"
    os.truncate(log, int(log.stat().st_size * left))
    done = subprocess.run([SEEN, "classify", "--state", tmp_path / "s"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"state.db has lost" in done.stderr


def test_results_are_valid_by_the_schema(tmp_path):
    pages = write(tmp_path / "pages.jsonl", [*visits(60, 3), "not json"])
    rules = schema.load("result.schema.json")
    for number, options in enumerate([[], ["--exact"], ["--confirm"], ["--no-words"]]):
        out = classify("--state", tmp_path / str(number), *options, "-i", pages, "--json", codes=(1,))
        results = [json.loads(line) for line in out.splitlines()]
        assert len(results) == 181
        assert all(schema.valid(rules, one) for one in results)
        assert not schema.valid(rules, {"_id": "1", "_url": "", "class": "odd", "wrong": 0, "changes": []})


def test_standard_output_repeats_the_same_bytes(tmp_path):
    pages = write(tmp_path / "pages.jsonl", visits(50, 3))
    words = ["--state", tmp_path / "s", "--json"]
    first = classify(*words, "-i", pages)
    again = classify(*words, given=pages.read_text())
    assert first == again
    assert len(set(first.splitlines())) == 150


def test_answers_do_not_depend_on_batches_or_on_what_is_read_ahead(tmp_path):
    """Words of new pages are added by a thread, and files are parsed by another."""
    pages = write(tmp_path / "pages.jsonl", visits(300, 4))
    expected = classify("--state", tmp_path / "s", "--json", given=pages.read_text())
    for batch in 1, 7, 100:
        out = classify("--state", tmp_path / str(batch), "--batch", batch, "-i", pages, "--json")
        assert out == expected, batch


def piped(tmp_path, *words):
    return subprocess.Popen([SEEN, "classify", "--state", tmp_path / "s", "--json", *words], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def test_a_pipe_that_is_slow_but_never_silent_gets_its_answers(tmp_path):
    with piped(tmp_path) as run:
        run.stdin.write(json.dumps(record("first", "some words")).encode() + b"\n")
        run.stdin.flush()
        assert run.stdout.readline()                # it runs, and was silent
        os.set_blocking(run.stdout.fileno(), False)
        for sent in range(2000):
            run.stdin.write(json.dumps(record(str(sent), "some words")).encode() + b"\n")
            run.stdin.flush()
            if run.stdout.read():
                break
            time.sleep(0.02)
        run.stdin.close()
        assert run.wait(60) == 0
    assert sent < 1500, sent


def test_a_signal_ends_it_while_it_waits_for_a_pipe(tmp_path):
    with piped(tmp_path) as run:
        run.stdin.write(json.dumps(record("1", "some words")).encode() + b"\n" + b'{"_v": 1, "_id"')
        run.stdin.flush()
        assert json.loads(run.stdout.readline())["class"] == "new"
        run.send_signal(signal.SIGTERM)
        assert run.wait(20) == 0


def test_a_batch_of_a_file_does_not_wait_for_the_pipe_behind_it(tmp_path):
    pages = write(tmp_path / "pages.jsonl", visits(10, 1))
    with piped(tmp_path, "--batch", "10", "-i", pages, "-i", "-") as run:
        assert len([run.stdout.readline() for _ in range(10)]) == 10
        run.stdin.write(json.dumps(record("more", "some words")).encode() + b"\n")
        run.stdin.close()
        assert json.loads(run.stdout.readline())["class"] == "new"
        assert run.wait(20) == 0


def test_what_is_read_before_a_file_that_is_missing_is_answered(tmp_path):
    pages = write(tmp_path / "pages.jsonl", visits(50, 1))
    words = ["--state", tmp_path / "s", "--batch", 10, "--json"]
    out = classify(*words, "-i", pages, "-i", tmp_path / "none", codes=(2,))
    assert len(out.splitlines()) >= 40


def test_a_results_file_that_was_cut_short_is_refused(tmp_path):
    pages = write(tmp_path / "pages.jsonl", visits(50, 1))
    words = ["--state", tmp_path / "s", "-o", tmp_path / "r", "-q", "-i", pages]
    classify(*words)
    classify(*words)
    assert len(read(tmp_path / "r")) == 50
    whole = (tmp_path / "r").read_bytes()
    os.truncate(tmp_path / "r", 100)
    assert "has 100 bytes and had %d" % len(whole) in refused(*words)
    assert "move it away" in refused(*words, "--again")
    os.remove(tmp_path / "r")
    assert "--again writes all answers" in refused(*words)
    assert not (tmp_path / "r").exists()
    classify(*words, "--again")
    assert (tmp_path / "r").read_bytes() == whole
    assert "--again begins" in refused(*words, "--again")
    classify(*words)
    assert (tmp_path / "r").read_bytes() == whole


def refused(*words):
    done = subprocess.run([SEEN, "classify", *map(str, words)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert done.returncode == 2, done
    return done.stderr.decode()


def test_killed_while_it_begins_a_file_again_it_loses_no_line(tmp_path):
    write(tmp_path / "pages.jsonl", visits(4, 2))
    words = ["classify", "--quiet", "--no-words", "-i", "pages.jsonl", "--state", "s", "-o", "r.jsonl"]
    assert run_with(words, str(tmp_path)).code == 0
    whole, at, code = open(tmp_path / "r.jsonl", "rb").read(), 0, -9
    while code == -9:
        os.remove(tmp_path / "r.jsonl")
        at += 1
        code = run_with([*words, "--again"], str(tmp_path), Fault("change", at, "kill")).code
        if code == -9 and run_with(words, str(tmp_path)).code == 2:     # nothing had begun
            assert not (tmp_path / "r.jsonl").exists() or run_with([*words, "--again"], str(tmp_path)).code == 0
        if (tmp_path / "r.jsonl").exists():
            assert open(tmp_path / "r.jsonl", "rb").read() == whole, at
        else:
            open(tmp_path / "r.jsonl", "wb").close()
    assert at > 10, at


def test_a_state_without_its_database_is_refused(tmp_path):
    """Filters of a state that was used, and none to say what they have: all pages would be new again."""
    pages = write(tmp_path / "pages.jsonl", visits(20, 1))
    for number, (options, spoil) in enumerate([
            ([], os.remove), (["--exact"], os.remove), (["--no-words"], lambda path: os.truncate(path, 0))]):
        state = tmp_path / str(number)
        classify("--state", state, *options, "-i", pages)
        before = {name: (state / name).read_bytes() for name in os.listdir(state) if name.endswith(".seen")}
        spoil(state / "state.db")
        for _ in range(2):
            assert "state.db is missing or empty" in refused("--state", state, *options, "-i", pages)
        assert {name: (state / name).read_bytes() for name in before} == before


def test_the_folder_of_another_program_is_refused(tmp_path):
    """A crawl has a state.db, too, with a table of the same name; a folder may have somebody's filters."""
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    with sqlite3.connect(crawl / "state.db") as db:
        db.execute("CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    before = (crawl / "state.db").read_bytes()
    assert "not that of seen classify" in refused("--state", crawl)
    assert (crawl / "state.db").read_bytes()[100:] == before[100:]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "urls.seen").write_text("a text of mine")
    assert "urls.seen" in refused("--state", mine)
    assert (mine / "urls.seen").read_text() == "a text of mine"


def near(url, words):
    return dict(record("x", " ".join("w%d" % i for i in range(words))), _id=url, _url="http://%s/" % url)


def test_near_pages_are_found_in_what_earlier_runs_and_versions_left(tmp_path):
    """Earlier versions kept them in another table."""
    words = ["--state", tmp_path / "s", "--near", tmp_path / "pairs"]
    said = classify(*words, given=json.dumps(near("a.example", 40)))
    assert "near          0 pages\n" in said
    said = classify(*words, given=json.dumps(near("b.example", 40)))
    assert "near          1 page\n" in said
    with sqlite3.connect(tmp_path / "s" / "state.db") as db:
        db.execute("CREATE TABLE near (url TEXT PRIMARY KEY, print INTEGER NOT NULL, b0 INTEGER NOT NULL, "
                   "b1 INTEGER NOT NULL, b2 INTEGER NOT NULL, b3 INTEGER NOT NULL) WITHOUT ROWID")
        db.execute("INSERT INTO near SELECT url, print, 0, 0, 0, 0 FROM near_pages WHERE url LIKE '%a.example/'")
        db.execute("DROP TABLE near_pages")
    db.close()
    classify(*words, given=json.dumps(near("c.example", 40)))
    assert [(one["_url"], one["near"], one["distance"]) for one in read(tmp_path / "pairs")] == [
        ("http://b.example/", "http://a.example/", 0), ("http://c.example/", "http://a.example/", 0)]
    with sqlite3.connect(tmp_path / "s" / "state.db") as db:
        assert [row[0] for row in db.execute("SELECT number FROM near_pages")] == [1, 2]
        assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'near'").fetchall()
        db.execute("DELETE FROM near_pages WHERE number = 1")
    db.close()
    assert "page 1 of those for --near is missing" in refused(*words)


def put(queue, name, records):
    for one in records:
        text = one if isinstance(one, str) else json.dumps(one)
        id = "x" if isinstance(one, str) else one["_id"]
        subprocess.run([SEEN, "queue", "put", "--queue", queue, name, "--id", id], input=text.encode() + b"\n",
                       check=True, stdout=subprocess.DEVNULL)


def test_records_of_a_queue_are_answered_and_done(tmp_path):
    queue = "sqlite:%s/q.db" % tmp_path
    end = {"_v": 1, "_id": "end", "_end": True, "_visit": "n@2", "_shard": 0, "_records": 1}
    put(queue, "pages.0", [record("a", "one two"), record("b", "three"), "not json",
                           record("a", "one four", "n@2"), end])
    classify("--state", tmp_path / "s", "--exact", "--queue", queue, "--drain", "--results", "changes", "-q",
             "-o", tmp_path / "r", codes=(1,))
    results = {(one["_url"], one.get("_visit")): one.get("class") for one in read(tmp_path / "r")}
    assert results == {("http://a.example/a", "n@1"): "new", ("http://a.example/b", "n@1"): "new", ("", None): None,
                       ("http://a.example/a", "n@2"): "updated", ("http://a.example/b", "n@2"): "removed"}
    stats = {one["queue"]: one for one in json.loads(
        subprocess.run([SEEN, "queue", "stats", "--queue", queue, "--json"], check=True,
                       stdout=subprocess.PIPE).stdout)}
    assert stats["pages.0"]["ready"] == 0 and stats["pages.0"]["dead"] == 1
    assert stats["changes"]["ready"] == 5


def test_draining_waits_for_records_of_a_consumer_that_was_killed(tmp_path):
    """They come back when its lease ends, here in 2 s."""
    queue = "sqlite:%s/q.db" % tmp_path
    put(queue, "pages.0", [record("a", "one two")])
    with contextlib.closing(sqlite3.connect(tmp_path / "q.db")) as db, db:
        dead, end = 5764607523034234880, int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000) + 2000
        db.execute("INSERT INTO queue_users SELECT ?, queue, 'dead:1', ?, n, 0, 0, 0 FROM queue_messages", (dead, end))
        db.execute("UPDATE queue_messages SET owner = ?, attempt = 1", (dead,))
    classify("--state", tmp_path / "s", "--queue", queue, "--drain", "-q", "-o", tmp_path / "r")
    assert [one["class"] for one in read(tmp_path / "r")] == ["new"]


def test_a_pattern_that_costs_too_much_is_named_and_the_rest_is_classified(tmp_path):
    """Each "a" of 16 kB is a match, and each is looked for to the end. Two classifiers come to the same answers."""
    def one(url, visit, text):
        return record(url, text, "n@%d" % visit, Title=["seen %d times" % visit])

    long = "a" * 15000
    write(tmp_path / "pages.jsonl", [one("x", 1, long), one("x", 2, long), one("x", 3, long + " c"), one("y", 1, "story 1"),
                                     one("y", 2, "story 2"), {"_id": "4", "_url": "http://a.example/x", "_status": 404}])
    words = ["-i", tmp_path / "pages.jsonl", "--ignore", "Text=a(.*b)?", "--ignore", "[0-9]+", "--json"]
    done = subprocess.run([SEEN, "classify", "--state", tmp_path / "s", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, check=True)
    results = [json.loads(line) for line in done.stdout.decode().splitlines()]
    rules = schema.load("result.schema.json")
    assert all(schema.valid(rules, result) for result in results)
    assert [result["class"] for result in results] == ["new", "unchanged", "updated", "new", "unchanged", "removed"]
    assert [result.get("costly") for result in results] == ["Text: a(.*b)?"] * 3 + [None] * 3
    assert results[2]["changes"][0]["parts"][0]["text"] == "c"
    warnings = done.stderr.decode().splitlines()
    assert len(warnings) == 3 and "http://a.example/x: nothing is ignored" in warnings[0]
    assert warnings[0].endswith("the pattern costs too much here: Text: a(.*b)?")
    assert done.stdout.decode() == classify("--state", tmp_path / "t", "--batch", 1, *words)


def test_what_a_template_ignores_is_not_compared(tmp_path):
    template = tmp_path / "t.json"
    content = json.dumps({
        "name": "t", "start": ["http://a.example/"], "pages": {"default": {"fields": {
            "Title": {"css": "h1"}, "Text": {"css": "p", "ignore": ["[0-9]+ views"]},
            "Clock": {"css": "time", "change": "off"}}}}}, sort_keys=True, separators=(",", ":"))
    template.write_text(content)
    hash = hashlib.sha1(content.encode()).hexdigest()  # of the canonical content
    more = {"_template": hash, "_type": "default"}
    pages = write(tmp_path / "p", [record("a", "one 17 views", "n@1", Clock=["12:00"], **more),
                                   record("a", "one 18 views", "n@2", Clock=["12:01"], **more)])
    for options, expected in (([], "updated"), (["--template", template], "unchanged")):
        out = classify("--state", tmp_path / expected, *options, "-i", pages, "--json")
        assert [json.loads(line)["class"] for line in out.splitlines()] == ["new", expected]


@pytest.fixture
def full(tmp_path):
    """A folder on a disk of 2 MB, if we may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], stderr=subprocess.DEVNULL)
    if done.returncode:
        pytest.skip("tmpfs cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_it_and_nothing_is_lost(full, tmp_path):
    pages = write(tmp_path / "pages.jsonl", visits(2000, 2))
    words = ["--batch", "100", "-q", "-i", pages]
    classify("--state", tmp_path / "calm", "-o", tmp_path / "calm.jsonl", *words)
    small = ["--state", full / "s", "-o", full / "r", *words]
    classify(*small, codes=(2,))
    classify(*small, codes=(2,))
    subprocess.run(["mount", "-o", "remount,size=100m", str(full)], check=True)
    classify(*small)
    assert sorted(open(full / "r", "rb")) == sorted(open(tmp_path / "calm.jsonl", "rb"))
