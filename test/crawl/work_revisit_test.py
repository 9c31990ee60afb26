"""Workers that visit pages again: conditional requests, due times, and tables of an earlier version."""
import collections
import contextlib
import glob
import hashlib
import json
import sqlite3
import subprocess

import pytest

from crawling import SEEN, Answer, page
from working import Hosts, Team, on_servers, on_sqlite, until

EVERYWHERE = pytest.mark.parametrize("where", [on_sqlite, on_servers])
DAY = 86400
FIRST = 1767225600


class Steady(Hosts):
    """Hosts whose pages have an ETag, the digest of the page, and are sent only to those who have another one."""

    def __init__(self, hosts, pages, **more):
        super().__init__(hosts, pages, **more)
        self.sent = collections.Counter()       # bytes, by status
        self.tags, self.untagged = True, None

    def answer(self, handler):
        found = super().answer(handler)
        if handler.path == "/robots.txt" or found.status != 200:
            return found
        if self.tags and handler.path != self.untagged:
            tag = '"%s"' % hashlib.sha256(found.body).hexdigest()[:16]
            found.headers["ETag"] = tag
            if handler.headers["If-None-Match"] == tag:
                found = Answer("", 304)
        self.sent[found.status] += len(found.body)
        return found

    def forget(self):
        self.log.clear()
        self.sent.clear()

    def fetched(self):
        return sorted(one.path for one in self.log if one.path != "/robots.txt")


def taken(team):
    """Page records by URL, and the end of the only visit."""
    records, ends = team.records()
    assert len({one["_url"] for one in records}) == len(records)
    assert len(ends) == 1 and ends[0]["_records"] == len(records)
    return {one["_url"]: one for one in records}, ends[0]


def states(team):
    """Of visits. There are none before the first worker has made the tables."""
    text = team.seen("work", "status", "--frontier", team.frontier, "--json", codes=(0, 2))
    return {one["visit"]: one["state"] for one in json.loads(text)["visits"]} if text else {}


def visit(team, web, folder, day, *options, into=(), **template):
    """The visit of a day: by the worker that stays, or by one until nothing is left."""
    web.forget()
    due = FIRST + day * DAY
    team.enqueue("--delay", "0", "--visit-due", due, *options, web.template(folder, **template))
    if any(one.process.poll() is None for one in team.started):
        until(lambda: states(team).get("site@%d" % due) == "ended")
    else:
        team.work(*into)
    return taken(team)


def statuses(records):
    return collections.Counter(one["_status"] for one in records.values())


@EVERYWHERE
def test_a_site_that_does_not_change_costs_no_bodies(tmp_path, where):
    """The second visit, of three workers, has a 304 for every page, and less than a twentieth of the bytes."""
    with Steady(6, 40, links=["/p%d" % n for n in range(1, 40)]) as web:
        team = Team(tmp_path, lease=30, **where(tmp_path))
        first, end = visit(team, web, tmp_path, 0)
        assert sorted(first) == web.all() and end["_missed"] == 0
        before = sum(web.sent.values())
        web.forget()
        web.hold(12, answered=True)
        team.enqueue("--delay", "0", "--visit-due", FIRST + DAY, web.template(tmp_path))
        workers = [team.worker("--hosts", 2) for _ in range(3)]
        until(lambda: [one["hosts"] > 0 for one in team.status()["workers"] if one["alive"]] == 3 * [True])
        web.release()
        until(lambda: team.status()["visits"][0]["state"] == "ended")
        assert all(one.end()["pages"] for one in workers)
        second, end = taken(team)
        assert sorted(second) == web.all() and end["_missed"] == 0
        assert statuses(second) == {304: 240}
        assert not any("title" in one or "_skeleton" in one for one in second.values())
        assert len(web.fetched()) == 240 and web.sent[200] == 0 < before / 20


def test_pages_that_are_not_due_are_not_fetched_and_not_taken_for_gone(tmp_path):
    """Of a rule with "revisit": whoever links to them, also on a page that is new. By the names of visits: a visit may
    begin late. A start URL is always fetched."""
    rules = {"follow": [{"allow": ["/p[12]$"], "revisit": "3d"}, {"allow": ["/p"]}]}
    with Steady(1, 9, fan=8) as web, Team(tmp_path).worker() as worker:
        team = Team(tmp_path)
        team.started.append(worker)
        assert len(visit(team, web, tmp_path, 0, **rules)[0]) == 9
        web.pages["/"] = Answer(page("/p1", "/p3", "/p20", title="new"))
        web.pages["/p20"] = Answer(page("/p1", "/p2"))
        found, end = visit(team, web, tmp_path, 2, **rules)
        assert web.fetched() == ["/", "/p20"] + ["/p%d" % n for n in range(3, 9)]
        assert statuses(found) == {200: 2, 304: 6}
        assert end["_missed"] == 2 and team.status()["visits"][0]["not_due"] == 2
        found, end = visit(team, web, tmp_path, 3, **rules)
        assert len(found) == 10 == len(web.fetched()) and end["_missed"] == 0
        # On other terms everything is as in a first visit.
        found, end = visit(team, web, tmp_path, 4, "--max-depth", 7, **rules)
        assert end["_missed"] == 0 and statuses(found) == {200: len(found)} and web.url(0, "/p2") in found


def test_by_a_policy_pages_are_not_due_in_every_visit_and_digests_tell_changes(tmp_path):
    """Without ETag. The record of an unchanged payload is as before: who reads them may not have the first one."""
    with Steady(1, 5) as web, Team(tmp_path).worker() as worker:
        web.tags = False
        team = Team(tmp_path)
        team.started.append(worker)
        policy = "--policy", "uniform", "--revisit-every", "2d"
        visit(team, web, tmp_path, 0, *policy)
        found, end = visit(team, web, tmp_path, 1, *policy)
        assert web.fetched() == ["/"] and end["_missed"] == 4 and found[web.url()]["_status"] == 200
        web.pages["/p2"] = Answer(page(title="new"))
        found, end = visit(team, web, tmp_path, 2, *policy)
        assert statuses(found) == {200: 5} and end["_missed"] == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "work.db")) as db:
        found = db.execute("SELECT url, checks, changes FROM known").fetchall()
    assert sorted((url.rsplit("/", 1)[1], checks, changes) for url, checks, changes in found) == [
        ("", 2, 0), ("p1", 1, 0), ("p2", 1, 1), ("p3", 1, 0), ("p4", 1, 0)]


@pytest.mark.parametrize("cause", ["left", "robots"])
def test_what_a_visit_did_not_fetch_comes_with_the_next(tmp_path, cause):
    """Although the page that links to it answers 304."""
    robots = Answer("User-agent: *\nDisallow: /p3\n", type="text/plain")
    with Steady(1, 6, **({"/robots.txt": robots} if cause == "robots" else {})) as web:
        team = Team(tmp_path)
        path = web.template(tmp_path)
        if cause == "robots":
            found, _ = visit(team, web, tmp_path, 0)
            assert len(found) == 5
            del web.answers["/robots.txt"]
            with contextlib.closing(sqlite3.connect(tmp_path / "work.db")) as db:
                db.execute("DELETE FROM robots")
                db.commit()
        else:
            message = json.loads(team.seen("enqueue", "--dry-run", "--delay", "0", "--visit-due", FIRST, path))
            web.hold(3, answered=True)
            team.enqueue("--messages", "-", given=json.dumps(message))
            with team.worker("--drain"):
                web.wait_for(3)
                with contextlib.closing(sqlite3.connect(tmp_path / "work.db", timeout=60)) as db:
                    db.execute("UPDATE visits SET state = 1, given_up = given_up + queued, queued = 0")
                    db.commit()
                web.release()
                until(lambda: team.status()["visits"][0]["state"] == "ended")
            assert team.status()["visits"][0]["fetched"] < 6
            team.records()      # of pages that were refused, too
        found, end = visit(team, web, tmp_path, 1)
        assert sorted(found) == web.all() and end["_missed"] == 0


def test_revisits_in_warc_files(tmp_path):
    """A worker with --into asks on a condition only for what is in a WARC file, and says where."""
    with Steady(2, 10) as web:
        team = Team(tmp_path)
        into = "--into", tmp_path / "out"
        visit(team, web, tmp_path, 0)
        found, _ = visit(team, web, tmp_path, 1, into=into)
        assert statuses(found) == {200: 20}
        web.untagged = "/p3"
        found, _ = visit(team, web, tmp_path, 2, into=into)
        assert statuses(found) == {304: 18, 200: 2}
        team.seen("warc", "check", *sorted(glob.glob(str(tmp_path / "out" / "worker-*" / "warc" / "*"))))
    lines = []
    for path in glob.glob(str(tmp_path / "out" / "worker-*" / "index.cdxj")):
        with open(path, encoding="utf-8") as file:
            lines += [json.loads(line.split(" ", 2)[2]) for line in file]
    mimes = collections.Counter(one["mime"] for one in lines if not one["url"].endswith("robots.txt"))
    assert mimes == {"text/html": 20, "warc/revisit": 2}        # a 304 has no line


def test_workers_that_are_killed_in_a_second_visit_lose_nothing(tmp_path):
    """Each page has one record, and what is known of it is of this visit."""
    with Steady(3, 300, fan=300) as web:
        team = Team(tmp_path, lease=1)
        visit(team, web, tmp_path, 0)
        web.forget()
        team.enqueue("--delay", "0", "--visit-due", FIRST + DAY, web.template(tmp_path))
        for n in 1, 450:
            web.hold(n, answered=True)
            victims = [team.worker(), team.worker()]
            web.wait_for(n)
            for one in victims:
                one.kill()
            web.release()
            web.forget()
        team.work()
        found, end = taken(team)
    assert sorted(found) == web.all() and end["_missed"] == 0 and statuses(found) == {304: 900}
    with contextlib.closing(sqlite3.connect(tmp_path / "work.db")) as db:
        assert db.execute("SELECT count(*), min(checks), max(checks) FROM known").fetchone() == (900, 1, 1)
        assert db.execute("SELECT count(*) FROM pages").fetchone() == (0,)


# The tables of a frontier of version 1, as the last program made them that had no known pages.
VERSION_1 = """
CREATE TABLE frontier_version (version INTEGER NOT NULL, epoch TEXT NOT NULL);
CREATE TABLE workers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, began INTEGER NOT NULL,
renewed INTEGER NOT NULL, until INTEGER NOT NULL, gone INTEGER NOT NULL DEFAULT 0, commits INTEGER NOT NULL
DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0, links INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT
0);
CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, visit TEXT NOT NULL UNIQUE, name TEXT NOT NULL, job
BLOB NOT NULL, seed INTEGER NOT NULL, shards INTEGER NOT NULL, most INTEGER NOT NULL, state INTEGER NOT NULL,
began INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0, queued INTEGER NOT NULL DEFAULT 0, fetched INTEGER
NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, excluded INTEGER NOT NULL DEFAULT 0, given_up INTEGER
NOT NULL DEFAULT 0, links INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX visits_name ON visits (name) WHERE state < 2;
CREATE INDEX visits_state ON visits (state, id);
CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, address TEXT NOT NULL DEFAULT '',
worker INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL DEFAULT 0, delay INTEGER, queued INTEGER NOT NULL
DEFAULT 0, fetched INTEGER NOT NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL
DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, asked INTEGER NOT NULL DEFAULT 0, barred INTEGER NOT NULL
DEFAULT 0, stopped TEXT, note BLOB, ready INTEGER GENERATED ALWAYS AS (CASE WHEN worker = 0 AND queued > 0
THEN due END) STORED);
CREATE INDEX hosts_ready ON hosts (ready, id) WHERE ready IS NOT NULL;
CREATE INDEX hosts_worker ON hosts (worker, address) WHERE worker <> 0;
CREATE TABLE addresses (name TEXT NOT NULL PRIMARY KEY, worker INTEGER NOT NULL);
CREATE INDEX addresses_worker ON addresses (worker);
CREATE TABLE pages (id INTEGER PRIMARY KEY AUTOINCREMENT, visit INTEGER NOT NULL, host INTEGER NOT NULL, state
INTEGER NOT NULL, priority INTEGER NOT NULL, via INTEGER NOT NULL, depth INTEGER NOT NULL, attempts INTEGER
NOT NULL, flags INTEGER NOT NULL, key BLOB NOT NULL, url TEXT NOT NULL, path TEXT NOT NULL, type TEXT NOT
NULL);
CREATE UNIQUE INDEX pages_key ON pages (visit, key);
CREATE INDEX pages_next ON pages (host, priority, id) WHERE state = 0;
CREATE TABLE robots (origin TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL, status INTEGER NOT NULL, body
BLOB NOT NULL);
CREATE TABLE shards (visit INTEGER NOT NULL, shard INTEGER NOT NULL, records INTEGER NOT NULL, PRIMARY KEY
(visit, shard));
INSERT INTO frontier_version VALUES (1, 'a start of the machine before');
INSERT INTO workers VALUES (1, 'a:1', 0, 1000, 9000000000000, 0, 0, 0, 0, 0);
INSERT INTO visits VALUES (1, 'old@5', 'old', '{}', 7, 1, 0, 2, 100, 200, 0, 3, 0, 0, 0, 2, 30);
INSERT INTO hosts (name) VALUES ('a.example');
"""


def test_a_frontier_of_version_1_is_converted_by_the_next_worker(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "work.db")) as db:
        db.executescript(VERSION_1)
    with Steady(1, 5) as web:
        team = Team(tmp_path)
        wrong = subprocess.run([SEEN, "work", "status", "--frontier", team.frontier], capture_output=True, text=True)
        assert wrong.returncode == 2 and "the next seen work converts them" in wrong.stderr
        found, end = visit(team, web, tmp_path, 0)
        assert statuses(found) == {200: 5} and end["_missed"] == 0
        visits = {one["visit"]: one for one in team.status()["visits"]}
        assert visits["old@5"]["state"] == "ended" and visits["old@5"]["fetched"] == 3


@pytest.mark.parametrize("words", ["work --skip x", "work why http://a.example/", "work --audit 0.1",
                                   "enqueue --index http://a.example/", "schedule --revisit", "enqueue --budget 5/day x"])
def test_what_workers_do_not_have_says_why(words):
    done = subprocess.run([SEEN, *words.split()], capture_output=True, text=True)
    assert done.returncode == 2 and " not " in done.stderr and ": no such option" not in done.stderr
