"""Archives that another server answers for by BF commands: seen serve NAME=bf://... and NAME=spatial:...

A server in front of another one. While that one is stopped, the front still
describes its archives and answers for the others at once.
"""
import concurrent.futures
import json
import os
import signal
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from bf_server import redisbloom
from redis_server import freeze
from serving import Server, build, run, until

HELD = ["http://host%d.example/page/%d" % (i % 100, i) for i in range(500)]
TOKEN = "sesame-sesame"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bf")
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "token").chmod(0o600)
    for seed in 1, 2:
        build(folder / ("part%d.seen" % seed), HELD, "--capacity", "5000", "--seed", str(seed))
    build(folder / "near.seen", HELD, "--capacity", "5000")
    writable = "--writable", "--token", str(folder / "token")
    (folder / "back").mkdir()
    with Server(folder / "back", "one=" + str(folder / "part1.seen"), "two=" + str(folder / "part2.seen"), *writable) as back, redisbloom(back.port) as other:
        at = "bf://:%s@127.0.0.1:%d/" % (TOKEN, back.port)
        with Server(folder, "far=" + at + "one?timeout=3", "both=spatial:%sone?timeout=3,%stwo?timeout=3" % (at, at),
                    "near=" + str(folder / "near.seen"), "blind=bf://:%s@127.0.0.1:%d/one?timeout=3&profile=surt" % (TOKEN, other.port), *writable, warns=True, quiet=False) as front:
            yield back, front


def add(server, name, url):
    return server.ask("PUT", "/%s/%s" % (name, url), {"Authorization": "Bearer " + TOKEN}).status


def test_they_answer_and_take_urls(place):
    back, front = place
    for name in "far", "both":
        assert front.get("/%s/%s" % (name, HELD[0])).status == 200
        assert front.get("/%s/http://absent.example/" % name).status == 404
        info = json.loads(front.get("/info/" + name).text)
        assert info["state"] == "ready" and 400 < info["entries"] < 600
        assert add(front, name, "http://added.example/" + name) in (200, 201), name
        assert front.get("/%s/http://added.example/%s" % (name, name)).status == 200
    assert back.get("/two/http://added.example/both").status == 200
    assert TOKEN not in front.get("/info/far").text + front.get("/info").text + front.get("/metrics").text


def test_a_rate_that_is_not_known_is_not_said(place):
    """RedisBloom says how many items it has, not how often it errs."""
    _, front = place
    for url, status in (HELD[0], 200), ("http://absent.example/", 404):
        answer = front.get("/blind/" + url)
        assert answer.status == status and answer["Seen-Archive"] == "blind" and not answer["Seen-Rate"]
    lists = front.ask("POST", "/agg", {}, HELD[0].encode())
    assert "near=" in lists["Seen-Rate"] and "blind" not in lists["Seen-Rate"]
    for where in "/info/blind", "/archives":
        assert '"rate": null' in front.get(where).text
    assert 'seen_archive_rate{archive="blind"} NaN\n' in front.get("/metrics").text


def test_a_stopped_server_holds_up_nobody_else(place):
    """Facts of an archive are not asked of its server while a request waits."""
    back, front = place
    add(front, "far", "http://another.example/")
    at = "bf://:%s@127.0.0.1:%d/" % (TOKEN, back.port)
    with Server(front.folder, "far=" + at + "one?timeout=200", "both=spatial:%sone?timeout=200,%stwo?timeout=200" % (at, at),
                "near=near.seen", warns=True, quiet=False) as patient, concurrent.futures.ThreadPoolExecutor(2) as pool:
        freeze(back.process.pid)
        try:
            asked = [pool.submit(patient.get, "/%s/%s" % (name, HELD[0])) for name in ("far", "both")]
            time.sleep(0.3)
            for target in "/metrics", "/info/far", "/info/both", "/near/" + HELD[0]:
                assert patient.get(target).status in (200, 503), target
            assert not any(it.done() for it in asked)
        finally:
            os.kill(back.process.pid, signal.SIGCONT)
        assert [it.result().status for it in asked] == [200, 200]


def test_a_stopped_server_is_known_to_be_away(place):
    back, front = place
    freeze(back.process.pid)
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(front.get, "/%s/%s" % (name, HELD[0])) for name in ("far", "both")]
            assert [it.result().status for it in asked] == [503, 503]
            until(lambda: json.loads(front.get("/far/" + HELD[0]).text)["error"].endswith(
                "no answer in time: Connection timed out"))
    finally:
        os.kill(back.process.pid, signal.SIGCONT)
    until(lambda: all(front.get("/%s/%s" % (name, HELD[0])).status == 200 for name in ("far", "both")))
