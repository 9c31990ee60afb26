"""Visits at irregular times: known pages are asked for when they are due, and not before, whatever links to them."""
import collections
import datetime
import json
import os
import sqlite3
import subprocess
import time
import zlib

import pytest

from crawling import SEEN, Crawl, Site, page

BEGIN = datetime.datetime(2026, 1, 1)
MINUTE, HOUR, DAY = (datetime.timedelta(**{name: 1}) for name in ("minutes", "hours", "days"))


def clock(at):
    return "--clock", at.strftime("%Y-%m-%dT%H:%M:%SZ")


def dense(n):
    """Every page links to every page."""
    everything = ["/%d" % i for i in range(n)]
    return {path: page(*everything, text="page " + path) for path in everything}


def rows(crawl, text, *values):
    db = sqlite3.connect(crawl.folder + "/state.db")
    try:
        found = db.execute(text, values).fetchall()
        db.commit()
        return found
    finally:
        db.close()


def due_at(crawl, at):
    """The paths of pages that are due by then."""
    ms = at.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000
    return {"/" + url.split("/", 3)[3] for url, in rows(crawl, "SELECT url FROM fetched WHERE due <= ?", ms)}


def put_off(crawl, paths, site):
    """These pages are not due for a long time, and all others are due at once."""
    rows(crawl, "UPDATE fetched SET due = 1")
    for path in paths:
        rows(crawl, "UPDATE fetched SET due = 4000000000000 WHERE url = ?", site.url(path))


# --- what is due ---

@pytest.mark.parametrize("options", [(), ("--policy", "uniform", "--cache", "fuse+bloom"), ("--budget", "15/day")])
def test_irregular_visits_ask_for_what_is_due_and_for_nothing_else(tmp_path, options):
    """40 pages, of which some differ each time, some at times, and some never."""
    pages, turns = dense(40), collections.Counter()

    def page_of(path, i):
        def answer(handler):
            turns[path] += 1
            return pages[path] + "<!-- %d -->" % (turns[path] // [1, 3, 1000][i % 3])
        return answer

    sizes, at = [], BEGIN
    with Site({path: page_of(path, i) for i, path in enumerate(pages)}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        crawl.run(*options, *clock(at))
        for pause in 20 * MINUTE, 25 * HOUR, 23 * HOUR, 10 * MINUTE, 12 * HOUR, 30 * HOUR, 3 * DAY, 10 * MINUTE, 7 * HOUR:
            at += pause
            while due_at(crawl, at) != due_at(crawl, at + 10 * MINUTE):     # nothing becomes due while it runs
                at += 11 * MINUTE
            due = due_at(crawl, at)
            site.log.clear()
            crawl.run("--revisit", *clock(at))
            assert site.paths() == sorted(due | {"/0"} if due else [])
            assert (b"nothing is due before 2026-" in crawl.done.stdout) == (not due)
            sizes.append(len(due))
    assert sizes[0] == 0 and 40 in sizes, sizes
    assert "uniform" in options or any(0 < n < 40 for n in sizes), sizes


def test_all_asks_for_pages_that_nothing_links_to(tmp_path):
    """A page that vanished from all links is known to be gone when it is due, or when all are asked for."""
    pages = {"/": page("/a", "/b"), "/a": page("/b"), "/b": page("/a")}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run(*clock(BEGIN))
        pages["/"] = pages["/a"] = page()
        del pages["/b"]
        for at, word in (BEGIN + HOUR, ["--revisit=all"]), (BEGIN + 10 * DAY, ["--revisit"]), \
                        (BEGIN + 60 * DAY, ["--revisit", "due"]):
            site.log.clear()
            crawl.run(*word, *clock(at))
            assert site.paths() == ["/", "/a", "/b"]
        gone = [one for one in crawl.records() if one["_status"] == 404]
        assert [one["_url"] for one in gone] == 3 * [site.url("/b")]
        answers = subprocess.run([SEEN, "classify", "--state", tmp_path / "s", "-i", crawl.folder + "/pages.jsonl", "--json"],
                                 stdout=subprocess.PIPE, check=True).stdout.splitlines()
        assert {one["_url"] for one in map(json.loads, answers) if one["class"] == "removed"} == {site.url("/b")}
        assert "--revisit: some is not one of the choices: due|all" in crawl.run("--revisit=some", codes=(2,)).err


def test_the_policy_that_is_given_counts_at_once(tmp_path):
    """Due times are those of the options that are given now, not of those that the pages were fetched with."""
    with Site(dense(12)) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run(*clock(BEGIN))

        def asked(at, *options):
            site.log.clear()
            crawl.run("--revisit", *options, *clock(at))
            return len(site.paths())

        assert asked(BEGIN + 20 * MINUTE) == 0
        assert asked(BEGIN + 20 * MINUTE, "--revisit-min", "1m", "--revisit-max", "10m") == 12
        assert asked(BEGIN + 2 * DAY, "--policy", "uniform", "--revisit-max", "30d", "--revisit-every", "5d") == 0
        assert asked(BEGIN + 6 * DAY) == 12
        assert asked(BEGIN + 6 * DAY + HOUR, "--budget", "1000/minute", "--policy", "freshest") == 12
        assert asked(BEGIN + 6 * DAY + 2 * HOUR, "--budget", "1/week", "--revisit-max", "300d") == 0
        # What a template says comes before.
        rows(crawl, "UPDATE fetched SET every = 60 WHERE url = ?", site.url("/3"))
        assert asked(BEGIN + 6 * DAY + 2 * HOUR, "--policy", "uniform", "--revisit-every", "6d") == 2
        assert site.paths() == ["/0", "/3"]


@pytest.mark.parametrize("first", [datetime.datetime(2090, 5, 5), BEGIN + 200 * DAY])
def test_a_clock_that_was_ahead_makes_neither_all_due_nor_nothing(tmp_path, first):
    with Site(dense(10)) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run(*clock(first))
        site.log.clear()
        crawl.run("--revisit", *clock(BEGIN))
        assert crawl.done.stdout.startswith(b"nothing is due before 2026-01-0") and not site.log
        crawl.run("--revisit", *clock(BEGIN + 12 * HOUR))
        assert crawl.done.stdout.startswith(b"nothing is due before 2026-01-0") and not site.log
        crawl.run("--revisit", *clock(BEGIN + 25 * HOUR))
        assert site.paths() == sorted(dense(10))


# --- what is not due costs nothing, whatever happens ---

@pytest.mark.parametrize("cache", ["bloom", "fuse+bloom", "growing/blocked"])
def test_pages_that_are_not_due_are_not_fetched_after_a_kill_either(tmp_path, cache):
    """Killed before there is a copy of the cache, and after one: then the journal has what the copy lacks."""
    pages = dense(60)
    late = ["/%d" % i for i in range(1, 60) if i % 2]
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run("--cache", cache)
        put_off(crawl, late, site)
        for i in range(0, 60, 2):                           # each of those that are due leads to a new page
            pages["/%d" % i] = page(*pages, "/new%d" % i)
            pages["/new%d" % i] = page(*late, "/new%d" % (i and i - 2), text="new %d" % i)
        site.log.clear()

        def killed(*options):
            before = len(site.log)
            site.hold(10)
            process = subprocess.Popen(crawl.command("--quiet", *options))
            site.wait_for(before + 10)
            process.kill()
            process.wait(60)
            site.release()

        killed("--revisit")
        assert not os.path.exists(crawl.folder + "/cache-2.seen")
        crawl.run("--revisit", "--pages", 20)
        assert os.path.exists(crawl.folder + "/cache-2.seen")
        killed("--pages", 1000)
        crawl.run()
        counts = collections.Counter(site.paths())
        assert set(counts) == {path for path in pages if path not in late}
        # Only what was not committed at a kill is asked for again, and nothing is stored twice.
        assert sum(counts.values()) <= len(counts) + 2 * 11
        ids = [one["_id"] for one in crawl.records()]
        assert len(ids) == len(set(ids)) == 60 + 60
        report = crawl.report()
        assert report["pages"] == 60 and report["not_due"] == 30 and report["covered"] and report["recovered"] == 0
        assert crawl.why(site.url("/1")).endswith("with status 200; not due before 2096-10-02T07:06:40Z")


def test_what_a_budget_left_goes_on_waiting(tmp_path):
    """A visit that begins before anything is due asks for what the one before did not come to."""
    pages = {"/%d" % i: page(*("/%d" % k for k in range(30)), text="%d" % i) for i in range(30)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run("--pages", 6, *clock(BEGIN))
        first = site.paths()
        # So did programs before this one, which queued known pages by their links.
        rows(crawl, "INSERT INTO frontier SELECT 1, host, priority, 0, 1, 0, 0, ?, 'L', '' FROM packed LIMIT 1",
             site.url(first[-1]))
        rows(crawl, "UPDATE hosts SET queued = queued + 1 WHERE queued")
        rows(crawl, "DELETE FROM settings WHERE name IN ('policy', 'recover')")
        crawl.run("--revisit", "--pages", 1000, *clock(BEGIN + 10 * MINUTE))
        assert site.paths() == sorted([*pages, "/0"])
        report = crawl.report()
        assert report["recovered"] == 0 and report["covered"]


# --- copies ---

def lossy(tmp_path, site, pages, *options):
    """A crawl that lost some pages to false positives, and which."""
    crawl = Crawl(tmp_path / "c", site.url("/0"), capacity=None)
    crawl.run("--cache", "bloom", "--rate", "0.05", "--capacity", 150, "--seed", 3, *clock(BEGIN), *options)
    first = set(site.paths())
    lost = {to for path in first for to in pages[path]} - first
    assert len(lost) >= 3 and crawl.report()["expected_lost"] > 1
    site.log.clear()
    return crawl, first, lost


def binary_tree(n):
    return {"/%d" % i: ["/%d" % k for k in (2 * i + 1, 2 * i + 2) if k < n] for i in range(n)}


def test_links_of_pages_that_are_not_due_are_read_from_their_copies(tmp_path):
    pages = binary_tree(400)
    with Site({path: page(*links, text=path) for path, links in pages.items()}) as site:
        crawl, first, lost = lossy(tmp_path, site, pages)
        exact = "--cache", "bloom", "--rate", "1e-9", "--capacity", 1000
        crawl.run(*exact, "--revisit", *clock(BEGIN + 20 * MINUTE))
        # The start URL, the lost pages, and what only they link to.
        assert site.paths() == sorted({"/0", *pages} - (first - {"/0"}))
        report = crawl.report()
        assert report["copies_read"] == len(first) and report["copies_lost"] == 0
        assert {site.url(path) for path in lost} <= set(report["lost_before"])
        # That visit lost nothing. So the next one has nothing to do, unless it is asked to read the copies.
        site.log.clear()
        crawl.run(*exact, "--revisit", *clock(BEGIN + 30 * MINUTE))
        assert not site.log and crawl.report()["visit"]["number"] == 2
        crawl.run(*exact, "--revisit", "--recover", *clock(BEGIN + 40 * MINUTE))
        assert site.paths() == ["/0"] and crawl.report()["copies_read"] == 400
        assert "--recover is for the visit that begins" in crawl.run("--recover", codes=(2,)).err


@pytest.mark.parametrize("harm", ["sent away", "shorter", "a byte"])
def test_a_copy_that_is_not_there_or_damaged_is_counted(tmp_path, harm):
    pages = {"/": page("/a", "/b"), "/a": page(text="a" * 5000), "/b": page(text="b" * 5000)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--warc-size", 1, "--threads", 1, *clock(BEGIN))
        place, = rows(crawl, "SELECT place FROM fetched WHERE url = ?", site.url("/a"))[0]
        offset, name = place.split(" ")
        path = os.path.join(crawl.folder, "warc", name)         # not the last one, which a crawl goes on with
        if harm == "sent away":
            os.rename(path, tmp_path / name)
        elif harm == "shorter":
            os.truncate(path, int(offset) + 150)
        else:
            with open(path, "r+b") as file:
                file.seek(int(offset))
                rest = file.read()
                member = zlib.decompressobj(31)
                member.decompress(rest)
                at = len(rest) - len(member.unused_data) - 6        # in its checksum
                file.seek(int(offset) + at)
                file.write(bytes([rest[at] ^ 255]))
        site.log.clear()
        crawl.run("--revisit", "--recover", *clock(BEGIN + HOUR))
        assert site.paths() == ["/"]
        report = crawl.report()
        assert report["copies_read"] == 2 and report["copies_lost"] == 1
        assert b"not there any more, or damaged" in crawl.done.stdout


def test_copies_are_read_once_however_often_a_visit_is_killed(tmp_path):
    pages = binary_tree(400)
    with Site({path: page(*links, text=path) for path, links in pages.items()}) as site:
        crawl, first, lost = lossy(tmp_path, site, pages)
        rows(crawl, "UPDATE fetched SET due = 4000000000000")
        exact = "--cache", "bloom", "--rate", "1e-9", "--capacity", 1000
        for n in 0, 2, 3:
            before = len(site.log)
            site.hold(n)
            process = subprocess.Popen(crawl.command("--quiet", *exact, "--revisit", *clock(BEGIN + HOUR)))
            site.wait_for(before + n)
            until = time.monotonic() + 240
            while not crawl.report()["copies_read"]:
                assert time.monotonic() < until
                time.sleep(0.01)
            process.kill()
            process.wait(60)
            site.release()
        crawl.run(*exact, "--revisit", *clock(BEGIN + HOUR))
        counts = collections.Counter(site.paths())
        assert set(counts) == {"/0", *pages} - (first - {"/0"})
        report = crawl.report()
        assert report["visit"]["number"] == 2 and report["copies_read"] == len(first)
        assert {site.url(path) for path in lost} <= set(report["lost_before"])
        ids = [one["_id"] for one in crawl.records()]
        assert len(ids) == len(set(ids)) == 401             # the start URL in both visits
