"""Visits: revisits with other seeds, conditional requests, and crawls that never end."""
import collections
import datetime
import json
import math
import os
import random
import sqlite3
import subprocess
import time

import pytest

from crawling import SEEN, Answer, Crawl, Site, page

CLOCK = "2026-01-01T00:00:00Z"


def tree(n, fan=3):
    """Pages /0 to /n-1, each with links to its children."""
    return {"/%d" % i: page(*("/%d" % k for k in range(fan * i + 1, min(fan * i + fan + 1, n))), text="page %d" % i)
            for i in range(n)}


def with_etags(pages):
    """The same pages, by a server that answers conditional requests."""
    def answer(body):
        tag = '"%x"' % (hash(body) & 0xffffffff)
        return lambda handler: (Answer(status=304, ETag=tag) if handler.headers.get("If-None-Match") == tag
                                else Answer(body, ETag=tag))
    return {path: answer(body) for path, body in pages.items()}


def query(crawl, text):
    db = sqlite3.connect("file:%s/state.db?mode=ro" % crawl.folder, uri=True)
    try:
        return db.execute(text).fetchall()
    finally:
        db.close()


# --- continuous ---

def test_a_continuous_crawl_asks_again_when_pages_are_due(tmp_path):
    with Site(tree(20)) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        crawl.run("--strategy", "continuous", "--clock", CLOCK, "--policy", "uniform", "--revisit-every", "1d",
                  "--time", "10d")
        counts = collections.Counter(site.paths())
        assert sorted(counts) == sorted("/%d" % i for i in range(20))
        assert set(counts.values()) == {10}
        assert crawl.report()["unchanged"] == 20 * 9 and crawl.report()["visit"]["ended"] is None


def test_a_budget_is_spent_on_pages_that_can_be_kept_current(tmp_path):
    """Of 30 pages, 10 differ whenever they are asked for, 10 sometimes, 10 never."""
    pages, turns = tree(30), collections.Counter()

    def page_of(i):
        def answer(handler):
            turns[i] += 1
            return pages["/%d" % i] + "<!-- %d -->" % (turns[i] // [1, 5, 1000000][i % 3])
        return answer

    with Site({"/%d" % i: page_of(i) for i in range(30)}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        crawl.run("--strategy", "continuous", "--clock", CLOCK, "--budget", "10/day", "--revisit-max", "60d",
                  "--time", "60d")
        days = [datetime.datetime.fromisoformat(line[0].rstrip("Z")) for line in crawl.log() if "robots" not in line[3]]
        began = min(days)
        late = sum((day - began).days >= 30 for day in days)
        assert 0.8 < late / 30 / 10 < 1.2, late
        asked = collections.Counter(i % 3 for i in turns for _ in range(turns[i]))
        assert asked[1] > asked[0]
        assert crawl.run("--budget", "10/fortnight", codes=(2,)).err.count("--budget 10/fortnight: requests per time") == 1


def test_another_visit_begins_without_stopping(tmp_path):
    with Site(tree(15)) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        crawl.run("--strategy", "continuous", "--clock", CLOCK, "--policy", "uniform", "--revisit-every", "1d",
                  "--visit-every", "3d", "--time", "10d", "--seed", 7)
        assert set(collections.Counter(site.paths()).values()) == {10}
        visits = query(crawl, "SELECT id, seed, began, ended FROM visits")
        assert [one[:2] for one in visits] == [(1, 7), (2, 8), (3, 9), (4, 10)]
        for before, after in zip(visits, visits[1:]):
            assert 0 <= after[2] - before[2] - 3 * 86400000 < 60000 and before[3] == after[2]
        # The records name the visit that they belong to, and count the fetches of a page in it.
        turns = [(one["_visit"].split("@")[0], one["_turn"]) for one in crawl.records() if one["_url"].endswith("/7")]
        assert turns == [("1", 1), ("1", 2), ("1", 3), ("2", 1), ("2", 2), ("2", 3), ("3", 1), ("3", 2), ("3", 3), ("4", 1)]
        assert sorted(name for name in os.listdir(crawl.folder) if name.endswith(".seen")) == ["cache-3.seen",
                                                                                               "cache-4.seen"]


def test_a_continuous_crawl_goes_on_after_a_kill(tmp_path):
    with Site(tree(15)) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        options = ["--strategy", "continuous", "--clock", CLOCK, "--policy", "uniform", "--revisit-every", "1d",
                   "--visit-every", "2d", "--time", "8d"]
        site.hold(40)
        process = subprocess.Popen(crawl.command("--quiet", *options))
        site.wait_for(40)
        process.kill()
        process.wait(60)
        site.release()
        crawl.run(*options)
        # No page is missing from a round, and none is stored twice in one.
        ids = [one["_id"] for one in crawl.records()]
        assert len(ids) == len(set(ids)) and len(ids) >= 15 * 8
        assert min(collections.Counter(one["_url"] for one in crawl.records()).values()) >= 8


def test_signals_and_budgets_end_a_continuous_crawl(tmp_path):
    with Site(tree(5)) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        process = subprocess.Popen(crawl.command("--quiet", "--strategy", "continuous"))
        site.wait_for(6)
        until = time.monotonic() + 240
        while crawl.report()["waiting"] or crawl.report()["pages"] < 5:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert process.poll() is None           # waits for tomorrow
        assert 86000 < crawl.report()["first_due"] - time.time() < 86500
        process.terminate()
        assert process.wait(60) == 0
        crawl.run("--pages", 12, "--clock", CLOCK.replace("2026", "2030"), "--policy", "uniform")
        assert crawl.report()["pages"] == 12


def test_a_template_says_how_often_pages_are_visited(tmp_path):
    template = tmp_path / "t.json"
    pages = {"/": page("/list/1", "/item/1"), "/list/1": page("/item/2"), "/item/1": page(), "/item/2": page()}
    with Site(pages) as site:
        template.write_text(json.dumps({
            "name": "t", "start": [site.url("/")], "interval": "2d",
            "follow": [{"allow": ["/list/"], "revisit": "6h"}, {"allow": ["/item/"], "type": "item"}],
            "pages": {"item": {"url": ["/item/"], "revisit": "1d"}, "default": {}}}))
        crawl = Crawl(tmp_path / "c")
        crawl.run("--template", template, "--strategy", "continuous", "--policy", "uniform", "--clock", CLOCK,
                  "--time", "95h")
        assert collections.Counter(site.paths()) == {"/": 2, "/list/1": 16, "/item/1": 4, "/item/2": 4}


# --- revisits ---

@pytest.mark.parametrize("tags", [False, True])
def test_a_revisit_finds_by_name_what_the_visit_before_lost(tmp_path, tags):
    """400 pages, at a rate of 5 %. What is lost is computed from what was stored: links that were never followed."""
    pages = {"/%d" % i: ["/%d" % k for k in (2 * i + 1, 2 * i + 2) if k < 400] + ["/x%d" % i] for i in range(200)}
    for i in range(200, 400):
        pages["/%d" % i] = ["/x%d" % i]
    pages.update({"/x%d" % i: [] for i in range(0, 400, 40)})
    pages = {path: [one for one in links if one in pages or not one.startswith("/x")] for path, links in pages.items()}
    bodies = {path: page(*links, text=path) for path, links in pages.items()}
    with Site(with_etags(bodies) if tags else bodies) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"), capacity=None)
        options = ["--cache", "bloom", "--rate", "0.05", "--capacity", 150]
        crawl.run(*options, "--seed", 3)
        first = set(site.paths())
        lost = {to for path in first for to in pages[path]} - first
        assert len(lost) >= 3
        report = crawl.report()
        assert report["lost_before"] == [] and 0.2 * len(lost) < report["expected_lost"] < 5 * len(lost)
        site.log.clear()
        crawl.run(*options, "--revisit", "all")
        second = set(site.paths())
        report = crawl.report()
        # Lost are those, and of the pages below them the ones that the filter would have lost, too.
        names = {one[len(site.url("")):] for one in report["lost_before"]}
        assert report["recovered"] == len(report["lost_before"]) == len(names)
        assert lost & second <= names and len(lost & second) > 0
        absent = sorted(second - first)
        answers = subprocess.run([SEEN, "check", crawl.folder + "/cache-1.seen", *map(site.url, absent)],
                                 stdout=subprocess.PIPE).stdout.decode().splitlines()
        assert names == {path for path, one in zip(absent, answers) if one.startswith("seen")}
        if tags:
            assert {one.status for one in site.log if one.path in first} == {304}
            assert report["unchanged"] == len(second & first) and report["saved_bytes"] > 0


def test_what_robots_and_budgets_kept_out_was_not_lost(tmp_path):
    pages = tree(30)
    pages["/robots.txt"] = "User-agent: *\nDisallow: /2\n"
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        crawl.run("--pages", 6)
        assert crawl.report()["waiting"] > 0
        pages["/robots.txt"] = ""
        crawl.run("--revisit", "--pages", 1000, "--clock", "2090-01-01T00:00:00Z")
        assert crawl.report()["pages"] == 30
        assert crawl.report()["recovered"] == 0


def test_pages_are_unchanged_changed_gone_or_back(tmp_path):
    pages = with_etags(tree(6))
    pages["/4"] = page(text="no tag")                   # the same digest, without a condition
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run("--clock", CLOCK)

        def revisit(day):
            site.log.clear()
            crawl.run("--revisit", "all", "--clock", "2026-01-%02dT00:00:00Z" % day)
            return {name: n for name, n in crawl.report().items()
                    if n and name in ("stored", "unchanged", "error", "redirect")}

        def row(path):
            return query(crawl, "SELECT status, checks, changes FROM fetched WHERE url LIKE '%%%s'" % path)[0]

        assert revisit(3) == {"unchanged": 6}
        assert {one.path: one.status for one in site.log if one.path != "/robots.txt"} == {
            "/0": 304, "/1": 304, "/2": 304, "/3": 304, "/4": 200, "/5": 304}
        kinds = collections.Counter(one["mime"] for _, one in crawl.index() if not one["url"].endswith("robots.txt"))
        assert kinds == {"text/html": 6, "warc/revisit": 1}         # no line for a 304
        pages["/1"], pages["/5"] = page("/4", "/5", text="changed"), Answer("gone", 410)
        assert revisit(5) == {"unchanged": 4, "stored": 1, "error": 1}
        assert row("/1") == (200, 2, 1) and row("/5") == (410, 2, 1)
        gone = [one for one in crawl.records() if one["_status"] == 410]
        assert len(gone) == 1 and gone[0]["_url"] == site.url("/5") and "text" not in gone[0]
        assert revisit(7) == {"unchanged": 5, "error": 1}
        assert row("/5") == (410, 3, 1)
        pages["/5"] = page(text="back")
        assert revisit(9)["stored"] == 1
        assert row("/5")[1:] == (4, 2)
        check = subprocess.run([SEEN, "warc", "check", "--index", crawl.folder + "/index.cdxj",
                                crawl.folder + "/warc/crawl-00001.warc.gz"])
        assert check.returncode == 0


def test_a_condition_needs_a_copy_that_gave_everything(tmp_path):
    """The ETag of a page without its required field is not kept: the page is asked for again as a whole."""
    template = tmp_path / "t.json"
    pages = with_etags({"/": "<html><body><h1>A title</h1><a href='/bad'>x</a></body></html>",
                        "/bad": "<html><body><p>none</p></body></html>"})
    with Site(pages) as site:
        template.write_text(json.dumps({
            "name": "t", "start": [site.url("/")], "follow": [{"css": "a"}],
            "pages": {"default": {"fields": {"title": {"css": "h1::text", "required": True}}}}}))
        crawl = Crawl(tmp_path / "c")
        crawl.run("--template", template)
        assert site.paths() == ["/", "/bad"]
        site.log.clear()
        crawl.run("--revisit", "all")
        assert {one.path: one.status for one in site.log if one.path != "/robots.txt"} == {"/": 304, "/bad": 200}


# --- freshness ---

def test_the_report_has_the_freshness_of_the_formula(tmp_path):
    """20 pages that change at a known rate, asked for every day for 33 days. When they have just been asked for, all copies are
    current, and F = (1 - e^(-x)) / x until the next day, x = rate times day; a year later only what never changes is."""
    rngs, versions = [random.Random(i) for i in range(20)], collections.Counter()
    rate = 0.5                                          # changes per day

    def changing(handler):
        rng = rngs[int(handler.path[1:])]               # the order of requests does not matter
        versions[handler.path] += rng.random() < 1 - math.exp(-rate)
        return page(text="version %d" % versions[handler.path])

    pages = {"/": page(*("/%d" % i for i in range(20)))}
    pages.update({"/%d" % i: changing for i in range(20)})
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        crawl.run("--strategy", "continuous", "--clock", CLOCK, "--policy", "uniform", "--revisit-every", "1d",
                  "--time", "33d")
        def set_last(days):
            """As if the pages had been asked for so many days ago."""
            db = sqlite3.connect(crawl.folder + "/state.db")
            now = int((time.time() - days * 86400) * 1000)
            db.execute("UPDATE fetched SET last = %d, due = %d" % (now, now + 86400000))
            db.commit()
            db.close()
            return crawl.report()

        # The estimates come from 32 checks each, so their mean has a standard error of 1.5 % and little bias;
        # one page of 21 never changes.
        expected = (20 * (1 - math.exp(-rate)) / rate + 1) / 21
        report = set_last(0)
        assert report["freshness"] > 0.99 and report["expected_stale"] < 0.21 and report["age"] < 3600
        assert abs(report["freshness_until_due"] - expected) < 0.05
        host, = report["hosts"]
        assert abs(host["freshness"] - report["freshness"]) < 0.001
        report = set_last(1)
        assert abs(report["freshness"] - (20 * math.exp(-rate) + 1) / 21) < 0.05
        assert report["freshness_until_due"] == pytest.approx(report["freshness"], abs=0.001)
        report = set_last(365)
        assert 0 < report["freshness"] < 1 / 21 and 20 < report["expected_stale"] < 21
        shown = subprocess.run([SEEN, "crawl", "status", crawl.folder], stdout=subprocess.PIPE, text=True).stdout
        assert " of the copies are expected to be current now, " in shown


def test_a_revisit_loses_no_page_that_is_known(tmp_path):
    """Rows decide what is queued: a bad cache does not keep a known page that is due from being asked for."""
    pages = {"/%d" % i: page("/%d" % (i + 1)) for i in range(150)}
    pages["/150"] = page()
    with Site(pages) as site:
        Crawl(tmp_path / "c", site.url("/0")).run("--clock", "2026-01-01T00:00:00Z", "--max-depth", 1000)
        assert site.paths() == sorted(pages)
        site.log.clear()
        Crawl(tmp_path / "c", site.url("/0"), capacity=40).run(
            "--revisit", "--clock", "2026-03-01T00:00:00Z", "--cache", "bloom", "--rate", "0.3")
        assert site.paths() == sorted(pages)


# --- replay ---

def test_the_index_has_what_replayers_can_show(tmp_path):
    """A 304 is not indexed, since it would replay as an empty page; codings that replayers lack are not asked for."""
    pages = {**with_etags(tree(3)), "/robots.txt": Answer("User-agent: *\nDisallow:\n", type="text/plain")}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run("--clock", CLOCK)
        assert {one.headers["Accept-Encoding"] for one in site.log} == {"gzip, br"}
        first = crawl.index()
        assert {line["url"]: line["mime"] for _, line in first}[site.url("/robots.txt")] == "text/plain"
        crawl.run("--revisit", "--clock", "2026-02-01T00:00:00Z")
        assert crawl.report()["unchanged"] == 3
        assert [line for _, line in crawl.index() if line["url"] != site.url("/robots.txt")] == \
               [line for _, line in first if line["url"] != site.url("/robots.txt")]
        crawl.run("--revisit", "all", "--clock", "2026-03-01T00:00:00Z", "--index-304", "--accept-encoding", "zstd,identity")
        assert [line["status"] for _, line in crawl.index() if line["mime"] == "warc/revisit"].count("304") == 3
        assert site.log[-1].headers["Accept-Encoding"] == "zstd,identity"
        for wrong in "rot13", "gzip\r\nX: y", "gzip;q=0":
            crawl.run("--accept-encoding", wrong, codes=(2,))
            assert "not a list of gzip" in crawl.err
