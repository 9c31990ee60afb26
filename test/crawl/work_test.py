"""Workers: jobs, the shared frontier, page records, leases."""
import contextlib
import hashlib
import json
import os
import signal
import sqlite3
import time

import pytest

from crawling import Answer
from freeze import freeze
from working import Hosts, Team, on_servers, on_sqlite, until

EVERYWHERE = pytest.mark.parametrize("where", [on_sqlite, on_servers])


def urls(records):
    return sorted(one["_url"] for one in records)


@EVERYWHERE
def test_a_job_becomes_records_and_an_end(tmp_path, where):
    with Hosts(4, 30) as web:
        team = Team(tmp_path, **where(tmp_path))
        team.enqueue("--delay", "0", web.template(tmp_path))
        report = team.work()
    records, ends = team.records()
    assert urls(records) == web.all()
    assert len({one["_id"] for one in records}) == 120 == report["pages"]
    assert [one["_records"] for one in ends] == [120]
    assert {one["_visit"] for one in records} == {ends[0]["_visit"]}
    assert all(one["_status"] == 200 and one["_turn"] == 1 for one in records)


def test_an_end_counts_the_pages_that_were_not_seen(tmp_path):
    """404 and 410 are records. Errors, and what a budget leaves, are not: these pages may still be there."""
    with Hosts(1, 30, **{"/p7": Answer(status=403), "/p8": Answer(status=404)}) as web:
        team = Team(tmp_path)
        team.enqueue("--delay", "0", web.template(tmp_path, "all"))
        team.enqueue("--delay", "0", "--pages", "5", web.template(tmp_path, "some"))
        team.work()
    records, ends = team.records()
    ends = {one["_visit"].split("@")[0]: one for one in ends}
    assert ends["all"]["_missed"] == 1 and ends["some"]["_missed"] > 0
    assert {one["_status"] for one in records if one["_url"].endswith("/p8")} == {404}
    assert not any(one["_url"].endswith("/p7") for one in records)


@EVERYWHERE
def test_workers_share_the_hosts(tmp_path, where):
    """Attached and detached at any time: every page once, each host at one worker."""
    with Hosts(12, 40) as web:
        team = Team(tmp_path, lease=30, **where(tmp_path))
        team.enqueue("--delay", "0.02", web.template(tmp_path))
        web.hold(40, answered=True)
        first = team.worker("--hosts", 4)
        web.wait_for(40)
        second, third = team.worker("--hosts", 4), team.worker("--hosts", 4)
        until(lambda: [one["hosts"] > 0 for one in team.status()["workers"] if one["alive"]] == 3 * [True])
        web.more(160)
        report = first.end()
        assert report["pages"] > 0
        web.release()
        until(lambda: team.status()["visits"][0]["state"] == "ended")
        reports = [report, second.end(), third.end()]
    records, ends = team.records()
    assert urls(records) == web.all() and len(ends) == 1
    assert sum(one["pages"] for one in reports) == 480
    assert sum(one["pages"] > 0 for one in reports) == 3
    web.assert_polite(0.02)


def stop(process, path):
    """SIGSTOP, but not while it has the right to write to the SQLite file: then all others would wait for it."""
    while True:
        freeze(process.pid)
        try:
            if path:
                with contextlib.closing(sqlite3.connect(path, timeout=0.2, isolation_level=None)) as db:
                    db.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)


@EVERYWHERE
def test_a_stopped_worker_comes_too_late(tmp_path, where):
    """Its lease ends while it is stopped. What it then commits is refused, and changes nothing."""
    with Hosts(2, 30) as web:
        web.slow = 0.02
        team = Team(tmp_path, lease=1, **where(tmp_path))
        if where is on_servers:  # it may be stopped in a transaction: the server ends that after 10 s, not 20
            team.frontier += "&options=-cidle_in_transaction_session_timeout%3D10s"
        team.enqueue("--delay", "0.02", web.template(tmp_path))
        web.hold(10, answered=True)
        slow = team.worker()
        web.wait_for(10)
        stop(slow.process, tmp_path / "work.db" if where is on_sqlite else None)
        web.release()
        fast = team.work()
        slow.process.send_signal(signal.SIGCONT)
        number = ":%d" % slow.process.pid
        until(lambda: any(one["alive"] and one["name"].endswith(number) for one in team.status()["workers"]))  # again
        late = slow.end()
    records, ends = team.records()
    assert urls(records) == web.all() and len(ends) == 1
    assert late["lost_leases"] >= 1
    assert late["pages"] + fast["pages"] == 60


def test_two_visits_of_one_host_share_its_due_time(tmp_path):
    with Hosts(1, 25) as web:
        team = Team(tmp_path)
        team.enqueue("--delay", "0.03", web.template(tmp_path, "one"), web.template(tmp_path, "two"))
        team.work()
    records, ends = team.records()
    assert len(records) == 50 and len(ends) == 2
    assert urls(records) == sorted(web.all() * 2)
    web.assert_polite(0.03)


@EVERYWHERE
def test_a_visit_of_a_name_that_runs_is_coalesced(tmp_path, where):
    with Hosts(1, 10) as web:
        team = Team(tmp_path, **where(tmp_path))
        path = web.template(tmp_path)
        team.enqueue("--visit-due", "1767225600", "--delay", "0", path)
        team.enqueue("--visit-due", "1767229200", "--delay", "0", path)
        team.enqueue("--visit-due", "1767225600", "--delay", "0", path)
        team.work()
        states = sorted((one["visit"], one["state"]) for one in team.status()["visits"])
        assert states == [("site@1767225600", "ended"), ("site@1767229200", "coalesced")]
        assert len(team.records()[0]) == 10
        team.enqueue("--visit-due", "1767232800", "--delay", "0", path)
        team.work()
        assert len(team.records()[0]) == 10


BAD = {
    "cut": ('{"v": 1, "visit"', "not a job: byte 16"),
    "other-version": ('{"v": 99}', "version"),
    "no-job": ("hello", "not a job: byte 5"),
    "wrong-template": (json.dumps({"v": 1, "visit": "a@5", "name": "a", "due": 5, "template": "{}",
                                   "hash": hashlib.sha256(b"{}").hexdigest()}), "start is missing"),
    "wrong-hash": (json.dumps({"v": 1, "visit": "a@5", "name": "a", "due": 5, "template": "{}", "hash": "0" * 64}),
                   "hash"),
    "other-scheme": (json.dumps({"v": 1, "visit": "a@5", "name": "a", "due": 5, "start": ["ftp://a.example/"]}),
                     "http"),
}


@EVERYWHERE
def test_bad_jobs_are_dead_letters_and_hold_up_nobody(tmp_path, where):
    with Hosts(1, 5) as web:
        team = Team(tmp_path, **where(tmp_path))
        for id, (body, _) in BAD.items():
            team.put(id, body)
        team.enqueue("--delay", "0", web.template(tmp_path, "good"))
        report = team.work()
    assert report["bad_jobs"] == len(BAD) and report["pages"] == 5
    dead = team.dead()
    assert set(dead) == set(BAD)
    for id, (_, words) in BAD.items():
        assert words in dead[id], (id, dead[id])
    # They stay until somebody drops them, and are tried once more if somebody asks for it.
    on = ("--queue", team.queue, team.jobs)
    team.seen("queue", "drop", *on, "cut", "no-job")
    team.seen("queue", "retry", *on, "--all")
    assert team.work()["bad_jobs"] == len(BAD) - 2
    team.seen("queue", "drop", *on, "--all")
    assert team.dead() == {}


def test_private_addresses_are_refused_without_leave(tmp_path):
    with Hosts(1, 5) as web:
        team = Team(tmp_path)
        team.enqueue(web.template(tmp_path))
        team.seen("work", "--queue", team.queue, "--drain", "--quiet")
    assert not web.log
    dead = team.dead()
    assert len(dead) == 1 and "not a public address" in list(dead.values())[0]


def test_robots_and_budget(tmp_path):
    with Hosts(1, 50, **{"/robots.txt": Answer("User-agent: *\nDisallow: /p1\n", type="text/plain")}) as web:
        team = Team(tmp_path)
        team.enqueue("--delay", "0", "--pages", "12", web.template(tmp_path))
        team.work()
        visit = team.status()["visits"][0]
    assert visit["fetched"] == 12 and visit["state"] == "ended"
    assert not [one for one in web.log if one.path.startswith("/p1")]


def test_robots_txt_at_hosts_of_other_workers(tmp_path):
    """That of every host is at another one, of which half are another worker's; all are obeyed, and every page comes."""
    def moved(handler):
        last = int(handler.headers["Host"].split(":")[0].split(".")[3])
        return Answer(status=301, Location=web.url(last % 6, "/rules"))

    answers = {"/robots.txt": moved, "/rules": Answer("User-agent: *\nDisallow: /p1\n", type="text/plain")}
    with Hosts(6, 10, **answers) as web:
        team = Team(tmp_path, lease=30)
        team.enqueue("--delay", "0.02", web.template(tmp_path))
        with team.worker("--hosts", 3), team.worker("--hosts", 3):
            web.wait_for(6)
            until(lambda: team.status()["visits"][0]["state"] == "ended")
    assert not [one for one in web.log if one.path == "/p1"]
    assert urls(team.records()[0]) == [url for url in web.all() if not url.endswith("/p1") and not url.endswith("/p9")]
    web.assert_polite(0.02)


def test_warc_files_of_workers(tmp_path):
    with Hosts(3, 20) as web:
        team = Team(tmp_path)
        team.enqueue("--delay", "0", web.template(tmp_path))
        team.work("--into", tmp_path / "out")
    folder = tmp_path / "out" / os.listdir(tmp_path / "out")[0]
    warc = [str(folder / "warc" / name) for name in os.listdir(folder / "warc")]
    team.seen("warc", "check", "--index", folder / "index.cdxj", *warc)
    lines = (folder / "index.cdxj").read_text().splitlines()
    assert len([one for one in lines if "robots.txt" not in one]) == 60


@EVERYWHERE
def test_shards(tmp_path, where):
    with Hosts(2, 40) as web:
        team = Team(tmp_path, **where(tmp_path))
        team.enqueue("--delay", "0", "--shards", "3", web.template(tmp_path))
        team.work()
    found = []
    for i in range(3):
        records, ends = team.records(i)
        assert len(ends) == 1 and ends[0]["_records"] == len(records) > 0
        assert ends[0]["_shard"] == i
        found += records
    assert urls(found) == web.all()


def test_many_jobs_at_once_cost_no_lease(tmp_path):
    """They are accepted, and their visits ended, some at a time, and the lease is renewed in between. On a slow machine a
    lease of a second may be lost; one of a third of the run is not, in one of two more runs."""
    lost, lease = [], 1
    while len(lost) < 3 and 0 not in lost:
        folder = tmp_path / str(len(lost))
        folder.mkdir()
        with Hosts(10, 1) as web:
            team = Team(folder, lease=lease)
            jobs = [{"v": 1, "visit": "n%d@5" % i, "name": "n%d" % i, "due": 5, "start": [web.url(i % 10)],
                     "settings": {"delay": "0"}} for i in range(200)]
            team.enqueue("--messages", "-", given="\n".join(map(json.dumps, jobs)))
            begun = time.monotonic()
            report = team.work()
            lease = max(lease, int((time.monotonic() - begun) / 3))
        records, ends = team.records()
        assert {one["_visit"] for one in records} == {one["_visit"] for one in ends} == {one["visit"] for one in jobs}
        assert len(records) == len(ends) == 200
        lost.append(report["lost_leases"])
    assert 0 in lost and report["jobs"] == 200, lost
