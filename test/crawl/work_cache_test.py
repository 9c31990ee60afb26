"""seen work --cache redis://... and bf://...: workers share the filters of visits. The rows decide, so whatever happens
to the server, every page is fetched and recorded once."""
import collections
import os
import signal
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from bf_server import Bloom
from redis_server import Redis, freeze
from working import Hosts, Team, on_servers, on_sqlite, until

HOSTS, PAGES = 6, 40
PATIENT = 160       # seconds of a lease, with which a worker waits for its cache for 20: what does not answer is not removed


@pytest.fixture
def server(tmp_path):
    with Redis(tmp_path / "redis") as it:
        yield it


def cache(server, timeout=1):
    return "--cache", server.url("work", "?timeout=%d" % timeout), "--capacity", "10000"


def filters(server):
    return [key.decode() for key in server.client().keys("*") if b":" not in key]


class Linked(Hosts):
    """Each page links to 30 others of its host, so that most links are known."""

    def __init__(self):
        super().__init__(HOSTS, PAGES, links=["/p%d" % i for i in range(1, 31)])

    def once(self):
        requests = collections.Counter(one.host + one.path for one in self.log if one.path != "/robots.txt")
        return len(requests) == HOSTS * PAGES and set(requests.values()) == {1}


def assert_recorded_once(team, web):
    records, ends = team.records()
    assert sorted(one["_url"] for one in records) == web.all()
    assert [one["_records"] for one in ends] == [HOSTS * PAGES]


@pytest.mark.parametrize("where", [on_sqlite, on_servers])
def test_workers_share_a_filter(tmp_path, server, where):
    with Linked() as web:
        web.hold(HOSTS + 20, answered=True)
        team = Team(tmp_path, lease=PATIENT, **where(tmp_path))
        team.enqueue("--delay", "0", web.template(tmp_path))
        two = [team.worker("--drain", *cache(server, 20)) for _ in range(2)]
        (name,) = until(lambda: filters(server))
        web.release()
        assert name.startswith("work-site@")
        reports = [worker.wait() for worker in two]
    assert web.once()
    assert_recorded_once(team, web)
    links, asked = (sum(r[x] for r in reports) for x in ("links", "asked_links"))
    assert links > HOSTS * PAGES * 25 and asked < links / 5, (links, asked)
    assert filters(server) == [], "the worker that ended the visit removed it"


def flush_and_kill(server):
    server.client().flushall()
    time.sleep(0.2)
    server.stop(signal.SIGKILL)


def stop(server):
    freeze(server.process.pid)


@pytest.mark.parametrize("harm", [flush_and_kill, stop])
def test_whatever_happens_to_redis_pages_are_fetched_once(tmp_path, server, harm):
    with Linked() as web:
        web.slow = 0.005
        team = Team(tmp_path, lease=PATIENT)
        team.enqueue("--delay", "0", web.template(tmp_path))
        web.hold(60, answered=True)
        two = team.worker("--drain", *cache(server)), team.worker("--drain", *cache(server))
        web.wait_for(60)
        harm(server)
        web.release()
        reports = [worker.process.communicate(timeout=60) for worker in two]
    assert [worker.process.returncode for worker in two] == [0, 0], reports
    assert web.once()
    assert_recorded_once(team, web)
    said = b"".join(err for out, err in reports)
    assert b"--cache: " in said and b"asked of the frontier" in said, reports


def test_what_another_frontier_left_in_redis_is_not_asked(tmp_path, server):
    """The same visit id and seed in a new database: its pages are fetched although a filter has them."""
    with Linked() as web:
        for folder in "first", "second":
            (tmp_path / folder).mkdir()
            team = Team(tmp_path / folder)
            team.enqueue("--delay", "0", "--visit-due", "2026-01-01T00:00:00Z", web.template(tmp_path))
            if folder == "first":
                web.hold(150, answered=True)
                worker = team.worker(*cache(server))
                web.wait_for(150)
                until(lambda: filters(server))
                worker.kill()
                web.release()
                assert len(filters(server)) == 1
        team.work(*cache(server))
    assert_recorded_once(team, web)


def test_mistakes(tmp_path, server):
    team = Team(tmp_path)
    command = team.command("--drain")
    team.seen(*command[1:], "--cache", "bloom", codes=(2,))
    team.seen(*command[1:], *cache(server), "--no-filter", codes=(2,))
    team.seen(*command[1:], "--cache", server.url("work", "?nonsense=1"), codes=(2,))
    mixed = "spatial:%s,bf://127.0.0.1:%d/x" % (server.url("x"), server.port)
    team.seen(*command[1:], "--cache", mixed, codes=(2,))


# --- on servers with BF commands ---

def of_visits(*addresses):
    return "--cache", addresses[0] if len(addresses) == 1 else "spatial:" + ",".join(addresses), "--capacity", "10000"


def assert_spared(reports):
    links, asked = (sum(r[x] for r in reports) for x in ("links", "asked_links"))
    assert links > HOSTS * PAGES * 25 and asked < links / 5, (links, asked)


@pytest.mark.parametrize("redisbloom", [False, True])
def test_workers_share_a_filter_of_bf_commands(tmp_path, redisbloom):
    with Linked() as web, Bloom(tmp_path / "bloom", redisbloom) as bloom:
        web.hold(HOSTS + 20, answered=True)
        team = Team(tmp_path, lease=PATIENT)
        team.enqueue("--delay", "0", web.template(tmp_path))
        two = [team.worker("--drain", *of_visits(bloom.url("work", "timeout=20"))) for _ in range(2)]
        (name,) = until(bloom.names)
        web.release()
        assert name.startswith("work-site@")
        reports = [worker.wait() for worker in two]
        assert bloom.names() == [], "the worker that ended the visit removed it"
    assert web.once()
    assert_recorded_once(team, web)
    assert_spared(reports)


def test_workers_share_a_filter_of_two_parts(tmp_path):
    with Linked() as web, Bloom(tmp_path / "a") as a, Bloom(tmp_path / "b") as b:
        team = Team(tmp_path, lease=PATIENT)
        team.enqueue("--delay", "0", web.template(tmp_path))
        two = [team.worker("--drain", *of_visits(*(one.url("work", "timeout=20") for one in (a, b)))) for _ in range(2)]
        reports = [worker.wait() for worker in two]
        assert a.names() == b.names() == []
    assert web.once()
    assert_recorded_once(team, web)
    assert_spared(reports)


@pytest.mark.parametrize("harm", ["remove", "kill"])
def test_whatever_happens_to_bf_commands_pages_are_fetched_once(tmp_path, harm):
    with Linked() as web, Bloom(tmp_path / "bloom") as bloom:
        web.slow = 0.005
        team = Team(tmp_path, lease=PATIENT)
        team.enqueue("--delay", "0", web.template(tmp_path))
        web.hold(60, answered=True)
        two = [team.worker("--drain", *of_visits(bloom.url("work"))) for _ in range(2)]
        web.wait_for(60)
        again = []
        if harm == "remove":
            until(bloom.names)
            bloom.client().delete(*bloom.names())
            web.hold(60, answered=True)
            again = until(bloom.names, patience=5)  # perhaps by a worker that comes late and has nothing to say
        else:
            bloom.stop()
        web.release()
        reports = [worker.process.communicate(timeout=60) for worker in two]
    assert [worker.process.returncode for worker in two] == [0, 0], reports
    assert web.once()
    assert_recorded_once(team, web)
    said = b"".join(err for out, err in reports)
    assert again or (b"--cache: " in said and b"asked of the frontier" in said), reports
