"""Faults around workers and schedulers: clocks, disks, two schedulers, jobs that kill, workers with other rules."""
import contextlib
import errno
import os
import re
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

from working import SEEN, Hosts, Proxy, Team, indexed, on_servers, on_sqlite, until

EVERYWHERE = pytest.mark.parametrize("where", [on_sqlite, on_servers])

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The wall clock is off by the number of seconds in a file. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    long off = 0;
    int code;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    code = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        FILE *f = fopen(getenv("CLOCK_OFF"), "r");

        if (f && fscanf(f, "%ld", &off) == 1)
            now->tv_sec += off;
        if (f)
            fclose(f);
    }
    return code;
}
"""


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    """A library that moves the wall clock of a program."""
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(CLOCK, encoding="ascii")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", folder / "clock.so", folder / "clock.c",
                    "-ldl"], check=True)
    return folder / "clock.so"


def check(team, web, delay):
    records, ends = team.records()
    assert sorted(one["_url"] for one in records) == web.all()
    assert [one["_records"] for one in ends] == [len(records)]
    web.assert_polite(delay)


@EVERYWHERE
def test_the_clock_of_a_worker_may_be_wrong_and_jump(tmp_path, where, clock):
    """Due times and leases do not depend on it: hosts are asked as politely, and nobody loses a lease."""
    off = tmp_path / "off"
    off.write_text("86400", encoding="ascii")
    with Hosts(4, 60) as web:
        team = Team(tmp_path, lease=30, **where(tmp_path))
        team.enqueue("--delay", "0.03", web.template(tmp_path))
        web.hold(0, answered=True)
        wrong = subprocess.Popen(team.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=dict(os.environ, LD_PRELOAD=str(clock), CLOCK_OFF=str(off)))
        right = team.worker()
        for jump in (-86400, 3600, 0, -7200):
            web.more(20)
            off.write_text(str(jump), encoding="ascii")
        web.release()
        until(lambda: team.status()["visits"][0]["state"] == "ended")
        report = right.end()
        wrong.terminate()
        out, err = wrong.communicate(timeout=20)
    assert wrong.returncode == 0 and '"lost_leases": 0' in out and err == ""
    assert report["lost_leases"] == 0
    check(team, web, 0.03)


@EVERYWHERE
def test_two_schedulers_at_once_make_each_visit_once(tmp_path, where):
    """They agree about the names of visits, so the second message of a visit changes nothing."""
    folder = tmp_path / "templates"
    folder.mkdir()
    with Hosts(1, 3) as web:
        team = Team(tmp_path, **where(tmp_path))
        web.template(folder, "often", interval="1s")
        schedulers = []
        for name in "one", "two":
            with open(tmp_path / name, "wb") as out:
                schedulers.append(subprocess.Popen([SEEN, "schedule", "--templates", folder, "--queue", team.queue, "--jobs",
                                                    team.jobs, "--delay", "0"], stdout=out))

        def ids():
            return [(tmp_path / name).read_text().split() for name in ("one", "two")]

        worker = team.worker()
        until(lambda: web.log)
        until(lambda: set.intersection(*map(set, ids())))
        until(lambda: sum(one["state"] == "ended" for one in team.status()["visits"]) >= 2)
        for one in schedulers:
            one.send_signal(signal.SIGTERM)
            one.wait(60)
        said = ids()
        worker.end()
        team.work()
    visits = [one["visit"] for one in team.status()["visits"]]
    assert len(visits) == len(set(visits))
    assert len(set(visits) - set(said[0]) - set(said[1])) <= 2      # a signal may come before it is printed
    assert all(re.fullmatch("often@[0-9]+", one) for one in visits)
    ended = {one["visit"] for one in team.status()["visits"] if one["state"] == "ended"}
    records, ends = team.records()
    assert sorted((one["_visit"], one["_url"]) for one in records) == sorted(
        (visit, url) for visit in ended for url in web.all())
    assert {one["_visit"] for one in ends} == ended


def test_a_full_disk_ends_a_worker_and_loses_nothing(tmp_path):
    """The disk of the frontier, the queue and the WARC files. With room again others go on."""
    library = os.environ["SEEN_BUILD"] + "/test/libinject.so"
    with Hosts(4, 60) as web:
        team = Team(tmp_path)
        team.enqueue("--delay", "0.01", web.template(tmp_path))
        for first in (60, 150, 240):
            done = subprocess.run(team.direct("--drain", "--into", tmp_path / "out"), capture_output=True, text=True,
                                  timeout=60, env=dict(os.environ, LD_PRELOAD=library,
                                                       SEEN_FAULT="write:%d:-:%d" % (first, errno.ENOSPC)))
            assert done.returncode == 2 and re.search(r"work\.db|/worker-\d+: \S+: cannot be written", done.stderr), done.stderr
            assert re.search("no room|No space", done.stderr), done.stderr
        team.work("--into", tmp_path / "out")
    check(team, web, 0.01)
    assert indexed(tmp_path / "out") == web.all()


def test_a_job_that_kills_its_workers_is_a_dead_letter_and_holds_up_nobody(tmp_path):
    """On RabbitMQ, which counts its deliveries. Each worker dies before it can acknowledge the job."""
    place = on_servers(tmp_path)
    team = Team(tmp_path, lease=1, **place)
    with Hosts(1, 5) as web, Proxy.of(place["queue"]) as proxy:
        team.enqueue("--delay", "0", web.template(tmp_path, "poison"))
        team.enqueue("--delay", "0", web.template(tmp_path, "good"))
        for turn in range(5):
            worker, killed = [], threading.Event()

            def kill():
                worker[0].process.kill()
                killed.set()
                return True

            proxy.watch(b"\0\x3c\0\x50", "before", kill)        # basic.ack
            worker.append(Team(tmp_path, lease=1, **dict(place, queue=proxy.url)).worker())
            assert killed.wait(240), turn
            worker[0].kill()
        until(lambda: team.dead())
        team.work()
    dead, = team.dead().items()
    assert dead[0].startswith("poison@") and "given up after 5 deliveries" in dead[1]
    assert {one["name"]: one["state"] for one in team.status()["visits"]}["good"] == "ended"


def test_draining_waits_for_a_job_whose_worker_was_killed(tmp_path):
    """It took the job, and died before it accepted it. The job comes back when its lease ends, here in 2 s."""
    taken = """
        INSERT INTO queue_users SELECT 5764607523034234880, queue, 'dead:1', :until, n, 0, 0, 0 FROM queue_messages;
        UPDATE queue_messages SET owner = 5764607523034234880, attempt = 1"""
    with Hosts(1, 20) as web:
        team = Team(tmp_path)
        team.enqueue("--delay", "0", web.template(tmp_path))
        until_ms = int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000) + 2000
        with contextlib.closing(sqlite3.connect(tmp_path / "work.db")) as db, db:
            for statement in taken.split(";"):
                db.execute(statement, {"until": until_ms} if ":until" in statement else {})
        assert team.stats()["jobs"]["taken"] == 1
        report = team.work()
    assert (report["jobs"], report["pages"]) == (1, 20)
    check(team, web, 0)


def test_sigterm_returns_what_a_worker_holds(tmp_path):
    """Others need not wait for the end of its lease, which is long."""
    with Hosts(6, 20) as web:
        team = Team(tmp_path, lease=300)
        team.enqueue("--delay", "0.05", web.template(tmp_path))
        first = team.worker()
        until(lambda: len(web.log) > 20)
        first.end()
        held = [one for one in team.status()["workers"] if one["alive"]]
        assert held == []
        began = time.monotonic()
        team.work()
        assert time.monotonic() - began < 250
    check(team, web, 0.05)
