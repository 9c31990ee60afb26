"""seen classify --report and --notify: what people see, and what programs get."""
import html.parser
import json
import os
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "crawl"))
from crawling import SEEN  # noqa: E402

TEXT = ("The museum of lost things is open from Monday to Sunday and shows hats gloves umbrellas and keys that "
        "nobody came back for since 1902")


def record(i, visit, text=TEXT, status=200, title="Room"):
    return {"_v": 1, "_id": "%s-%d" % (visit, i), "_url": "http://a.example/%d" % i, "_visit": "%d@%d" % (visit, visit),
            "_status": status, "_fetched_at": "2026-0%d-02T03:04:05.678Z" % visit,
            **({} if status != 200 else {"title": ["%s %d" % (title, i)], "text": ["%s Room %d" % (text, i)]})}


def classify(folder, records, *options, codes=(0,), **more):
    lines = b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in records)
    done = subprocess.run([SEEN, "classify", "--state", str(folder / "state"), "--exact", *options], input=lines,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert done.returncode in codes, done.stderr.decode()
    return done.stdout.decode()


def report(folder, before, after, *options, codes=(0,)):
    classify(folder, before)
    classify(folder, after, "--report", str(folder / "out" / "report"), *options, codes=codes)
    return [(folder / "out" / "report" / name).read_text() for name in ("index.html", "mail.txt")]


class Page(html.parser.HTMLParser):
    """The tags of a page, with their attributes, and what is inserted."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.new, self.text, self.depth = [], [], "", 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.depth += tag == "ins"
        if tag == "ins":
            self.new.append("")

    def handle_endtag(self, tag):
        self.depth -= tag == "ins"

    def handle_data(self, data):
        self.text += data
        if self.depth:
            self.new[-1] += data


@pytest.mark.parametrize("change, new, mail", [
    (("Monday", "Tuesday"), ["Tuesday"], "open from [+Tuesday+] to Sunday"),
    (("Monday to Sunday", "May to June"), ["May", "June"], "[+May+] to [+June+]"),
    (("shows hats", "shows fine red hats"), ["fine red"], "[+fine red+] hats"),
    (("hats gloves ", ""), [], "and shows [words removed] umbrellas"),
])
def test_new_words_are_marked_where_they_are(tmp_path, change, new, mail):
    page, text = report(tmp_path, [record(1, 1)], [record(1, 2, TEXT.replace(*change))])
    assert Page(page).new == new
    assert mail in " ".join(text.split())
    assert "Updated (1)" in page and "Updated (1)" in text


def test_classes_are_counted_and_pages_named(tmp_path):
    page, text = report(tmp_path, [record(i, 1) for i in range(6)],
                        [record(0, 2, "Other words altogether"), record(1, 2, status=410), record(7, 2, "A new page"),
                         *(record(i, 2) for i in range(2, 6))])
    for words in ("Updated (1)", "New (1)", "Removed (1)"):
        assert words in page and words in text
    assert "Unchanged</th><td class=\"n\">4" in page and "Unchanged (4)" in text
    assert "3 of 7 records are changes" in page and "3 of 7 records are changes" in text
    assert all(len(line) <= 76 or "http" in line for line in text.splitlines())


HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'-->]]>", "&lt;b&gt;", "\u202eevil",
           "\u2066x\u2069", "</style><style>*{display:none}", "\x07\x1b[31m", "javascript:alert(1)", "x" * 5000]


def test_texts_of_strangers_stay_text(tmp_path):
    after = record(1, 2, TEXT.replace("Monday", " ".join(HOSTILE)))
    after["<b onclick=x>"] = ["\"'><svg onload=alert(1)>"]
    after["_type"] = "<i>"
    page, text = report(tmp_path, [record(1, 1)], [after, b'{"_url": "<script>", "x": \xff}\n'], codes=(0, 1))
    parsed = Page(page)
    assert {tag for tag, _ in parsed.tags} <= {
        "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "p", "table", "thead",
        "tbody", "tr", "th", "td", "main", "section", "article", "span", "ins"}
    for tag, attributes in parsed.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")]
        assert attributes.get("href", "#").startswith(("#", "http://a.example/"))
    assert "<script>alert(1)</script>" in parsed.text
    for bad in "\u202e\u2066\x07\x1b":
        assert bad not in page and bad not in text
    policy = [a["content"] for tag, a in parsed.tags if tag == "meta" and "http-equiv" in a]
    assert policy and policy[0].startswith("default-src 'none'; style-src 'sha256-")


def test_the_policy_names_the_style_sheet(tmp_path):
    import base64
    import hashlib
    page, _ = report(tmp_path, [], [record(1, 1)])
    style = page.split("<style>")[1].split("</style>")[0]
    assert "'sha256-%s'" % base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in page


def test_many_pages_make_a_small_report(tmp_path):
    page, text = report(tmp_path, [], [record(i, 1, "page %d of many" % i) for i in range(1200)])
    assert page.count("<article>") == 500 and "and 700 more" in page and "New (1200)" in text
    assert len(page) < 1 << 20


def test_what_is_ignored_is_not_reported(tmp_path):
    before, after = record(1, 1), record(1, 2, TEXT.replace("Monday", "Tuesday") + " 4711 visitors")
    page, text = report(tmp_path, [before], [after], "--ignore", "[0-9]+ visitors")
    assert "Tuesday" in page and "4711" not in page and "4711" not in text


# --- programs ---

def program(folder, body):
    path = folder / "program"
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return str(path)


def notified(folder):
    path = folder / "log"
    return sorted(path.read_text().splitlines()) if path.exists() else []


FAST = "--notify-rate", "1000"


def test_a_program_gets_answer_record_and_environment(tmp_path):
    run = program(tmp_path, 'cat > "$0.$SEEN_ID"; echo "$SEEN_CLASS $SEEN_URL" >> %s/log; echo noise\n' % tmp_path)
    classify(tmp_path, [record(1, 1), record(2, 1)])
    out = classify(tmp_path, [record(1, 2, TEXT + " more"), record(2, 2), record(3, 2, "new"), record(2, 3, status=404)],
                   "--notify", run, "--json", *FAST)
    assert notified(tmp_path) == ["new http://a.example/3", "removed http://a.example/2", "updated http://a.example/1"]
    assert "noise" not in out and len(out.splitlines()) == 4
    answer, given = [json.loads(line) for line in open(run + ".2-1")]
    assert answer["class"] == "updated" and given == record(1, 2, TEXT + " more")


def test_a_program_does_not_get_the_passwords_of_our_servers(tmp_path):
    """Neither those of the environment, nor that of --password-file, which puts it there."""
    run = program(tmp_path, 'env >> %s/log\n' % tmp_path)
    (tmp_path / "password").write_text("in the file\n")
    (tmp_path / "password").chmod(0o600)
    names = "PGPASSWORD", "SEEN_AMQP_PASSWORD", "SEEN_REDIS_PASSWORD"
    classify(tmp_path, [record(1, 1)], "--notify", run, "--password-file", tmp_path / "password", *FAST,
             env=dict(os.environ, PGPASSFILE="/nowhere", MINE="yes", SEEN_URL="no", **dict.fromkeys(names, "in the environment")))
    got = dict(line.split("=", 1) for line in notified(tmp_path) if "=" in line)
    assert not set(names) & set(got) and not [one for one in got.values() if one.startswith("in the ")]
    assert (got["MINE"], got["PGPASSFILE"], got["SEEN_URL"]) == ("yes", "/nowhere", "http://a.example/1")


def test_classes_are_chosen(tmp_path):
    run = program(tmp_path, 'echo "$SEEN_CLASS" >> %s/log\n' % tmp_path)
    classify(tmp_path, [record(1, 1)], "--notify", run, "--notify-classes", "updated,unchanged", *FAST)
    classify(tmp_path, [record(1, 2), record(2, 2)], "--notify", run, "--notify-classes", "updated,unchanged", *FAST)
    assert notified(tmp_path) == ["unchanged"]
    classify(tmp_path, [], "--notify", run, "--notify-classes", "nonsense", codes=(2,))
    classify(tmp_path, [], "--notify-rate", "5", codes=(2,))


def test_data_is_not_a_command(tmp_path):
    run = program(tmp_path, 'echo "$SEEN_URL" >> %s/log\n' % tmp_path)
    evil = record(1, 1)
    evil["_url"] = "http://a.example/$(touch%20x);`id`|&"
    evil["_id"] = "'; touch y #"
    classify(tmp_path, [evil], "--notify", run, *FAST, cwd=tmp_path)
    assert len(notified(tmp_path)) == 1 and notified(tmp_path)[0].startswith("http://a.example/$(touch")
    assert not (tmp_path / "x").exists() and not (tmp_path / "y").exists()


def test_programs_that_fail_or_hang_are_counted(tmp_path):
    run = program(tmp_path, 'case $SEEN_URL in */1) exit 3;; */2) sleep 600 & sleep 600;; esac\n')
    out = classify(tmp_path, [record(i, 1, "page %d" % i) for i in range(6)], "--notify", run, "--notify-timeout", "4s",
                   *FAST)
    assert "notified      6, of which 1 failed, 1 killed after 4s" in out
    run = tmp_path / "stranger"
    run.write_text("#!/none/such\n")
    run.chmod(0o755)
    out = classify(tmp_path, [record(9, 1, "x")], "--notify", str(run))
    assert "1 could not be started" in out


def test_a_program_that_is_not_there_is_refused_before_anything_is_classified(tmp_path):
    (tmp_path / "plain").write_text("not a program")
    for name in str(tmp_path / "none"), str(tmp_path / "plain"), str(tmp_path), "no-such-program":
        done = subprocess.run([SEEN, "classify", "--state", tmp_path / "s", "--notify", name, "-i", "/dev/null"],
                              stderr=subprocess.PIPE)
        assert done.returncode == 2 and b"--notify" in done.stderr, (name, done)


def test_the_rate_is_bounded(tmp_path):
    run = program(tmp_path, 'exit 0\n')
    began = time.monotonic()
    classify(tmp_path, [record(i, 1, "page %d" % i) for i in range(11)], "--notify", run, "--notify-rate", "20")
    assert time.monotonic() - began >= 0.5


def test_a_large_record_for_a_program_that_does_not_read(tmp_path):
    big = record(1, 1, "word " * 400000)
    out = classify(tmp_path, [big], "--notify", program(tmp_path, "exit 0\n"), *FAST)
    assert "notified      1\n" in out


def test_after_a_kill_every_change_is_notified_at_least_once(tmp_path):
    run = program(tmp_path, 'echo "$SEEN_URL" >> %s/log\n' % tmp_path)
    classify(tmp_path, [record(0, 1, "page 0")], "--notify", run, *FAST)
    pages = [record(i, 1, "page %d" % i) for i in range(1, 41)]
    (tmp_path / "pages").write_text("".join(json.dumps(one) + "\n" for one in pages))
    command = [SEEN, "classify", "--state", str(tmp_path / "state"), "--exact", "--notify", run, "--notify-rate", "50",
               "-i", str(tmp_path / "pages"), "--batch", "10"]
    for kill in range(4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        n = len(notified(tmp_path))
        end = time.monotonic() + 240
        while len(notified(tmp_path)) < n + 3 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    urls = notified(tmp_path)
    assert set(urls) == {"http://a.example/%d" % i for i in range(41)}
    assert len(urls) <= 41 + 5 * 20


# --- near duplicates ---

def test_pages_of_other_sites_with_almost_the_same_text(tmp_path):
    text = " ".join("word%d" % (i * i % 1009) for i in range(500))
    first, copy, same_site, other = record(1, 1, text), record(2, 1, text + " edited"), record(3, 1, text + " x"), \
        record(4, 1, "Nothing of this is in any of the others " + " ".join("t%d" % i for i in range(300)))
    copy["_url"], other["_url"] = "http://b.example/copy", "http://c.example/other"
    for one in (first, copy, same_site):
        one["title"] = ["Title"]
    pairs = tmp_path / "pairs"
    for _ in range(2):                      # the second time nothing is new
        classify(tmp_path, [first, same_site, copy, other], "--near", str(pairs))
        found = [json.loads(line) for line in pairs.read_text().splitlines()]
        assert [(one["_url"], one["near"] in ("http://a.example/1", "http://a.example/3"), one["distance"] <= 3)
                for one in found] == [("http://b.example/copy", True, True)]
    assert "1 to 3" in classify_error(tmp_path, "--near", str(pairs), "--near-distance", "4")
    assert "--near" in classify_error(tmp_path, "--near-distance", "2")


def classify_error(folder, *options):
    done = subprocess.run([SEEN, "classify", "--state", str(folder / "state"), *options], input=b"",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2
    return done.stderr.decode()
