"""Workers that are killed: no page is lost, each has one record, and no host is asked too early.

On SQLite they are killed at random moments, and before chosen changes of the disk. With PostgreSQL and RabbitMQ they
are also killed at the moment when chosen bytes are on their way to a server, before or after these arrive.
"""
import os
import random
import subprocess
import threading
import time

import pytest

from working import Hosts, Proxy, Team, indexed, on_servers, on_sqlite, until

DELAY = 0.02
EVERYWHERE = pytest.mark.parametrize("where", [on_sqlite, on_servers])


def check(team, web, into=None):
    """What the result has, and the folder of WARC files, and what the web servers saw."""
    records, ends = team.records()
    assert sorted(one["_url"] for one in records) == web.all()
    assert [one["_records"] for one in ends] == [len(records)]
    visit, = team.status()["visits"]
    assert (visit["state"], visit["fetched"], visit["waiting"]) == ("ended", len(records), 0)
    web.assert_polite(DELAY)
    assert into is None or indexed(into) == web.all()


def crawl_with_kills(folder, where, hosts, pages, kills, seed, others=1, between=lambda n: None, crossing=False):
    """Kill one worker again and again, while others work on; between two kills, do something. crossing: each page has
    links to pages of all hosts. Returns how many pages were asked again."""
    rng = random.Random(seed)
    with Hosts(hosts, pages) as web:
        team = Team(folder, lease=1, **where(folder))
        web.links = [web.url(host, "/p%d" % (1 + host % (pages - 1))) for host in range(hosts if crossing else 0)]
        team.enqueue("--delay", DELAY, web.template(folder))
        helpers = [team.worker("--hosts", hosts // 8 + 1) for _ in range(others)]
        for n in range(kills):
            between(n)
            before = len(web.log)
            worker = team.worker("--hosts", hosts // 3 + 1)
            if rng.random() < 0.8:              # else it may be killed before its first request
                until(lambda: len(web.log) > before, patience=5)
            time.sleep(rng.uniform(0, 0.3))
            worker.kill()
        for one in helpers:
            one.end()
        team.work(timeout=600)
    check(team, web)
    asked = [(one.host, one.path) for one in web.log if one.path != "/robots.txt"]
    assert len(set(asked)) == hosts * pages
    return len(asked) - len(set(asked))


@EVERYWHERE
def test_a_worker_killed_at_any_time_costs_only_time(tmp_path, where):
    crawl_with_kills(tmp_path, where, hosts=8, pages=30, kills=5, seed=7)


# --- SQLite: before a change of the disk ---

def test_a_worker_killed_before_any_change_of_the_disk(tmp_path):
    """Of the files of queue, frontier and WARC; spread over a whole crawl."""
    library = os.environ["SEEN_BUILD"] + "/test/libinject.so"
    with Hosts(3, 20) as web:
        team = Team(tmp_path, lease=1)
        team.enqueue("--delay", DELAY, web.template(tmp_path))
        killed = 0
        for nth in (3, 11, 29, 47, 83, 131, 5, 61):
            done = subprocess.run(team.direct("--drain", "--into", tmp_path / "out"), timeout=60,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env=dict(os.environ, LD_PRELOAD=library, SEEN_FAULT="change:%d:%d:kill" % (nth, nth)))
            assert done.returncode in (0, -9)
            killed += done.returncode != 0
        assert killed > 4
        team.work("--into", tmp_path / "out")
    check(team, web, tmp_path / "out")


# --- servers: at a message ---

def method(number):
    """The bytes of a method of AMQP's class "basic": its class and number."""
    return b"\0\x3c" + number.to_bytes(2, "big")


PUBLISH, ACK = method(40), method(80)

# In the order in which a visit comes to them.
POINTS = [
    ("a job is taken, its visit is not there", "frontier", b"COMMIT", "before", 2),
    ("the visit is there, the job is not acknowledged", "queue", ACK, "before", 1),
    ("the job is acknowledged", "queue", ACK, "after", 1),
    ("records are not published", "queue", PUBLISH, "before", 1),
    ("records are published, their pages are not committed", "queue", PUBLISH, "after", 2),
    ("a group is not committed", "frontier", b"COMMIT", "before", 8),
    ("a group is committed, its answer is lost", "frontier", b"COMMIT", "after", 8),
    ("the end of the visit is not published", "queue", b'"_end"', "before", 1),
    ("the end is published, the visit is not ended", "queue", b'"_end"', "after", 1),
]


def test_a_worker_killed_at_every_message_that_matters(tmp_path):
    place = on_servers(tmp_path)
    team = Team(tmp_path, lease=1, **place)
    with Hosts(2, 60) as web:
        team.enqueue("--delay", DELAY, web.template(tmp_path))
        for name, server, text, when, nth in POINTS:
            with Proxy.of(place[server]) as proxy:
                worker, left, killed = [], [nth], threading.Event()

                def kill():
                    left[0] -= 1
                    if left[0]:
                        return False
                    until(lambda: worker)       # on a busy machine, it may not be known here yet
                    worker[0].process.kill()
                    killed.set()
                    return True

                proxy.watch(text, when, kill)
                worker.append(Team(tmp_path, lease=1, **dict(place, **{server: proxy.url})).worker("--into", tmp_path / "out"))
                assert killed.wait(240), name
                worker[0].kill()
        team.work("--into", tmp_path / "out")
    check(team, web, tmp_path / "out")
