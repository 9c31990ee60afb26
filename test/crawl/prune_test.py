"""seen crawl prune: pages that are gone leave the records and the index, whatever happens meanwhile."""
import json
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fault"))
from crawling import SEEN, Answer, Crawl, Site, page  # noqa: E402
from injected import Fault, run as run_with  # noqa: E402

CLOCK = ["2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z"]
FILES = "pages.jsonl", "index.cdxj"


def gone(status=410):
    return Answer("gone", status)


def prune(folder, results, *options, codes=(0,)):
    done = subprocess.run([SEEN, "crawl", "prune", str(folder), "--from", str(results), "--json", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode in codes, done.stderr.decode()
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.decode()


def write(path, answers):
    path.write_text("".join(json.dumps(one) + "\n" for one in answers))
    return path


def removals(crawl):
    """Answers as a classifier gives them for records of 404 and 410."""
    return [{"_id": one["_id"], "_url": one["_url"], "_visit": one["_visit"], "_fetched_at": one["_fetched_at"],
             "class": "removed", "why": str(one["_status"])}
            for one in crawl.records() if one["_status"] in (404, 410)]


def contents(folder):
    return [open(os.path.join(folder, name), "rb").read() for name in FILES]


@pytest.fixture
def site(tmp_path):
    with Site({"/": page("/a", "/b", "/c"), "/a": page(text="a"), "/b": page(text="b"), "/c": page(text="c")}) as it:
        yield it


@pytest.fixture
def crawl(site, tmp_path):
    """Two visits; /b is gone in the second."""
    it = Crawl(tmp_path / "c", site.url("/"))
    it.run("--index", "--clock", CLOCK[0])
    site.pages["/b"] = gone()
    it.run("--revisit", "--clock", CLOCK[1])
    write(tmp_path / "results.jsonl", removals(it))
    return it


def stored(crawl, path):
    return (sum(one["_url"].endswith(path) for one in crawl.records()),
            sum(one["url"].endswith(path) for _, one in crawl.index()))


def test_gone_pages_leave_both_files(crawl, tmp_path):
    before = contents(crawl.folder)
    assert stored(crawl, "/b") == (2, 2)
    assert prune(crawl.folder, tmp_path / "results.jsonl", "--dry-run") == {
        "dry_run": True, "answers": 1, "bad": 0, "removed": 1, "returned": 0, "pages": 1, "records": 2, "captures": 2}
    assert contents(crawl.folder) == before
    done = prune(crawl.folder, tmp_path / "results.jsonl")
    assert (done["pages"], done["records"], done["captures"]) == (1, 2, 2)
    assert contents(crawl.folder) == [b"".join(line for line in one.splitlines(True) if b"/b\"" not in line)
                                      for one in before]
    assert not [name for name in os.listdir(crawl.folder) if name.endswith(".new")]
    warc = [os.path.join(crawl.folder, "warc", name) for name in sorted(os.listdir(crawl.folder + "/warc"))]
    subprocess.run([SEEN, "warc", "check", "--quiet", *warc], check=True)
    found = subprocess.run([SEEN, "search", crawl.folder, "b"], stdout=subprocess.PIPE).stdout.decode()
    assert "/b\n" not in found


def test_it_may_be_repeated(crawl, tmp_path):
    prune(crawl.folder, tmp_path / "results.jsonl")
    after = contents(crawl.folder)
    done = prune(crawl.folder, tmp_path / "results.jsonl")
    assert (done["removed"], done["pages"], done["records"], done["captures"]) == (1, 0, 0, 0)
    assert contents(crawl.folder) == after


def test_the_crawl_goes_on(crawl, site, tmp_path):
    prune(crawl.folder, tmp_path / "results.jsonl")
    crawl.run("--clock", CLOCK[1])                      # the visit has ended: nothing to do
    assert stored(crawl, "/b") == (0, 0)
    del site.log[:]
    crawl.run("--revisit", "--clock", CLOCK[2])         # the home page still links to it
    assert site.paths() == ["/", "/a", "/b", "/c"]
    assert stored(crawl, "/b") == (1, 1) and crawl.report()["lost_before"] == []
    before = [one["_id"] for one in crawl.records()]
    assert len(set(before)) == len(before)


def test_a_page_without_links_is_not_asked_for_again(crawl, site, tmp_path):
    site.pages["/"] = page("/a", "/c")
    prune(crawl.folder, tmp_path / "results.jsonl")
    del site.log[:]
    crawl.run("--revisit", "--clock", CLOCK[2])
    assert site.paths() == ["/", "/a", "/c"]


def test_a_page_that_returns_is_stored_in_full(crawl, site, tmp_path):
    prune(crawl.folder, tmp_path / "results.jsonl")
    site.pages["/b"] = page(text="b")                   # as it was
    crawl.run("--revisit", "--clock", CLOCK[2])
    rows = [one for _, one in crawl.index() if one["url"].endswith("/b")]
    assert len(rows) == 1 and rows[0]["mime"] == "text/html" and rows[0]["status"] == "200"


def test_an_old_result_does_not_drop_a_page_that_is_back(crawl, site, tmp_path):
    site.pages["/b"] = page(text="b again")
    crawl.run("--revisit", "--clock", CLOCK[2])
    before = contents(crawl.folder)
    done = prune(crawl.folder, tmp_path / "results.jsonl")
    assert (done["removed"], done["returned"], done["pages"]) == (1, 1, 0)
    assert contents(crawl.folder) == before


@pytest.mark.parametrize("with_time", [True, False])
def test_pages_that_a_visit_missed_are_compared_by_visit(crawl, site, tmp_path, with_time):
    one = dict(removals(crawl)[0], _url=site.url("/a"), why="missing")
    if not with_time:
        del one["_fetched_at"]
    second = one["_visit"]
    first = next(r["_visit"] for r in crawl.records() if r["_visit"] != second)
    if not with_time:                                   # fetched in the second visit: back since the first
        assert prune(crawl.folder, write(tmp_path / "r", [dict(one, _visit=first)]))["returned"] == 1
    assert prune(crawl.folder, write(tmp_path / "r", [one]))["pages"] == 1
    assert stored(crawl, "/a") == (0, 0)


def test_the_last_answer_counts(crawl, site, tmp_path):
    removed = removals(crawl)[0]
    results = write(tmp_path / "r", [removed, {"_url": removed["_url"], "_id": "1", "class": "updated"}])
    assert prune(crawl.folder, results)["removed"] == 0
    results = write(tmp_path / "r", [removed, {"_url": removed["_url"], "_id": "1", "class": "unchanged"}])
    assert prune(crawl.folder, results)["pages"] == 1


def test_bad_lines_cost_themselves(crawl, tmp_path):
    results = tmp_path / "r"
    results.write_bytes(b"{\n\xff\n[]\n{\"class\": \"removed\"}\n\n" + (tmp_path / "results.jsonl").read_bytes())
    done = prune(crawl.folder, results)
    assert (done["answers"], done["bad"], done["pages"]) == (5, 4, 1)


def test_a_running_crawl_is_left_alone(crawl, site, tmp_path):
    site.pages["/c"] = page("/d")
    site.pages["/d"] = page()
    site.hold(1)
    running = subprocess.Popen(crawl.command("--revisit", "--clock", CLOCK[2], "--quiet"))
    n = len(site.log)
    site.wait_for(n + 1)
    said = prune(crawl.folder, tmp_path / "results.jsonl", codes=(2,))
    assert "a crawl runs in this folder" in said
    assert stored(crawl, "/b") == (2, 2)
    site.release()
    running.kill()
    running.wait(60)


@pytest.mark.parametrize("words, said", [
    (["crawl", "prune", "c"], "--from is missing"),
    (["crawl", "prune"], "usage: seen crawl prune DIR"),
    (["crawl", "prune", "none", "--from", "r"], "not the folder of a crawl"),
    (["crawl", "prune", "c", "--from", "none"], "none"),
    (["crawl", "--into", "c", "--dry-run"], "are for seen crawl prune"),
])
def test_mistakes_are_named(crawl, tmp_path, words, said):
    done = subprocess.run([SEEN, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and said in done.stderr.decode()
    assert not (tmp_path / "none").exists()


def test_killed_at_any_step_it_is_done_or_not_done(crawl, site, tmp_path):
    """Before each call that changes the disk; then a crawl, or another prune, opens the folder."""
    empty = write(tmp_path / "empty", [])
    words = ["crawl", "prune", "c", "--from", "results.jsonl"]
    fresh = tmp_path / "fresh"
    shutil.copytree(crawl.folder, fresh)
    before = contents(fresh)
    prune(crawl.folder, tmp_path / "results.jsonl")
    after = contents(crawl.folder)
    outcomes = []
    for at in range(1, 400):
        shutil.rmtree(crawl.folder)
        shutil.copytree(fresh, crawl.folder)
        done = run_with(words, str(tmp_path), Fault("change", at, "kill"))
        if done.code != -9:
            break
        if at % 5:
            prune(crawl.folder, empty, "--dry-run")
        else:
            crawl.run("--quiet", "--clock", CLOCK[1])
        now = contents(crawl.folder)
        assert now in (before, after), at
        outcomes.append(now == after)
        assert not [name for name in os.listdir(crawl.folder) if name.endswith(".new")]
        if at % 5 == 0:
            assert prune(crawl.folder, tmp_path / "results.jsonl")["removed"] == 1
            assert contents(crawl.folder) == after
    assert done.code == 0 and contents(crawl.folder) == after
    # Not done, then done; both happen.
    assert outcomes == sorted(outcomes) and outcomes.count(False) > 5 and outcomes.count(True) > 2, outcomes
