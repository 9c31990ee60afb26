"""Archives whose cells are in Redis: seen serve NAME=redis://...

One server of ours with two archives in Redis servers of their own and one in a
file. While a Redis is stopped, dead or empty, its archive answers "unknown", the
others answer as before, and it comes back by itself.
"""
import concurrent.futures
import json
import os
import signal
import sys
import time

import pytest
import redis

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from redis_server import Redis, freeze, run
from serving import Server, build, until

HELD = ["http://host%d.example/page/%d" % (i % 100, i) for i in range(2000)]
TOKEN = "sesame-sesame"
ALLOWED = {"Authorization": "Bearer " + TOKEN}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two Redis servers, a file, and a server of ours that serves all three."""
    folder = tmp_path_factory.mktemp("remote")
    build(folder / "near.seen", HELD, "--capacity", "5000")
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "token").chmod(0o600)
    with Redis(folder / "a") as one, Redis(folder / "b") as two:
        for server in one, two:
            run("build", "--quiet", "-o", server.url("haw"), "--capacity", "100000", "--meta", "title=In Redis", "-",
                stdin="\n".join(HELD[:1000]))
        with Server(folder, "a=" + one.url("haw", "?timeout=2"), "b=" + two.url("haw", "?timeout=5"), "near=" + str(folder / "near.seen"),
                    "--writable", "--token", str(folder / "token"), warns=True, quiet=False) as server:
            yield one, two, server, folder


def unread(port):
    """Bytes that were sent to a server and that it has not read."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        lines = [line.split() for line in file][1:]
    return sum(int(line[4].split(":")[1], 16) for line in lines if line[1].endswith(":%04X" % port) and line[3] == "01")


def ready(server, name):
    return server.get("/%s/%s" % (name, HELD[0])).status == 200


def test_lookups_lists_and_facts(place):
    one, two, server, folder = place
    assert server.get("/a/" + HELD[0]).status == 200
    answer = server.get("/a/" + HELD[1500])
    assert answer.status == 404 and answer["Seen-Answer"] == "no" and answer["Seen-Archive"] == "a"
    assert server.get("/a/not a url").status == 400
    lines = server.ask("POST", "/a", {}, "\n".join(HELD[500:1500]).encode()).text.splitlines()
    assert lines[:500] == ["seen\t" + url for url in HELD[500:1000]]
    assert sum(line.startswith("new\t") for line in lines[500:]) > 480 and len(lines) == 1000
    agg = json.loads(server.get("/agg/" + HELD[1200]).text)
    assert {a["name"]: a["seen"] for a in agg["archives"]} == {"a": False, "b": False, "near": True}
    info = json.loads(server.get("/info/a").text)
    assert info["state"] == "ready" and info["title"] == "In Redis" and info["losses"] == 0 and info["writable"]
    assert info["kind"] == "blocked" and 900 < info["entries"] < 1100 and info["file"] is None
    assert json.loads(server.get("/healthz").text)["ready"] == 3
    assert server.metrics()['seen_archive_up{archive="a"}'] == 1


def test_what_needs_cells_is_refused_with_a_reason(place):
    one, two, server, folder = place
    answer = server.get("/files/a.seen")
    assert answer.status == 404 and "another server" in answer.text
    assert "files/a.seen" not in server.get("/sitemap.xml").text
    assert "files/near.seen" in server.get("/sitemap.xml").text
    assert server.get("/prefix/a/http://host1.example/").status == 501
    with redis.Redis("127.0.0.1", server.port) as client:
        client.execute_command("AUTH", TOKEN)
        with pytest.raises(redis.ResponseError, match="another server"):
            client.execute_command("BF.SCANDUMP", "a", 0)
        with pytest.raises(redis.ResponseError, match="named when the server was started"):
            client.execute_command("DEL", "a")


def test_adds_by_both_protocols_are_in_redis(place):
    one, two, server, folder = place
    fresh = "http://added.example/%d"
    assert server.ask("PUT", "/a/" + fresh % 1).status == 401
    answer = server.ask("PUT", "/a/" + fresh % 1, ALLOWED)
    assert answer.status == 201 and answer["Seen-Answer"] == "new"
    assert server.ask("PUT", "/a/" + fresh % 1, ALLOWED).status == 200
    answer = server.ask("POST", "/add/a", ALLOWED, "\n".join(fresh % i for i in range(500)).encode())
    assert json.loads(answer.text)["offered"] == 500 and 490 <= json.loads(answer.text)["new"] <= 499
    with redis.Redis("127.0.0.1", server.port) as client:
        client.execute_command("AUTH", TOKEN)
        assert client.execute_command("BF.ADD", "a", fresh % 1000) == 1
        assert client.execute_command("BF.MADD", "a", fresh % 1000, fresh % 1001) == [0, 1]
        assert client.execute_command("BF.MEXISTS", "a", fresh % 1001, fresh % 2000) == [1, 0]
        assert client.execute_command("BF.EXISTS", "a", fresh % 1001) == 1
        assert client.execute_command("BF.INFO", "a", "CAPACITY") == [100000]
        with pytest.raises(redis.ResponseError):
            client.execute_command("CF.ADD", "a", "x")
    run("check", one.url("haw"), fresh % 1001)
    run("check", one.url("haw"), fresh % 2000, code=1)


def test_adds_by_many_clients_are_new_once(place):
    one, two, server, folder = place
    urls = ["http://once.example/%d" % i for i in range(60)]

    def add(client):
        with server.client() as c:
            return [c.ask("PUT", "/b/" + url, ALLOWED).status for url in urls]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        rounds = list(pool.map(add, range(8)))
    answers = [sorted(r[i] for r in rounds) for i in range(len(urls))]
    odd = [(i, a) for i, a in enumerate(answers) if a not in ([200] * 7 + [201], [200] * 8)]
    assert not odd, odd
    assert answers.count([200] * 8) < 4, "false positives: 1 in 100, at capacity"


def test_all_archives_are_asked_by_many_at_once(place):
    one, two, server, folder = place

    def ask(n):
        with server.client() as c:
            found = [json.loads(c.get("/agg/" + url).text) for url in HELD[n:1000:50]]
            return all(a["seen"] for answer in found for a in answer["archives"])

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(8)))


def test_a_stopped_redis_delays_nobody_else(place):
    """The neighbours' lookups, one client each, while questions and adds to the
    stopped one are under way."""
    one, two, server, folder = place
    freeze(one.process.pid)
    try:
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            stuck = [pool.submit(server.get, "/a/" + HELD[i]) for i in range(4)]
            stuck += [pool.submit(server.ask, "PUT", "/a/http://x.example/%d" % i, ALLOWED) for i in range(4)]
            stuck.append(pool.submit(server.ask, "POST", "/a", {}, "\n".join(HELD[:10]).encode()))
            meanwhile = 0           # in the 2 s that the stuck ones wait
            for i in range(150):
                for name in "near", "b":
                    assert server.get("/%s/%s" % (name, HELD[i])).status == 200
                meanwhile += not any(s.done() for s in stuck)
            assert meanwhile > 3
            assert [s.result().status for s in stuck] == [503] * 9
            assert time.monotonic() - began < 15                    # they wait at the same time
        agg = json.loads(server.get("/agg/" + HELD[0]).text)
        assert {a["name"]: a["seen"] for a in agg["archives"]} == {"a": None, "b": True, "near": True}

        def at_once():
            before = time.monotonic()
            assert server.get("/a/" + HELD[1500]).status == 503
            return time.monotonic() - before < 0.5
        until(at_once)                          # it is known to be away
        until(lambda: json.loads(server.get("/healthz").text)["away"] == 1)
        with redis.Redis("127.0.0.1", server.port) as client:
            with pytest.raises(redis.ResponseError, match="is away"):
                client.execute_command("BF.EXISTS", "a", HELD[0])
        assert server.metrics()['seen_archive_up{archive="a"}'] == 0
        assert "In Redis" in server.get("/archives").text
    finally:
        one.process.send_signal(signal.SIGCONT)
    until(lambda: ready(server, "a"))


def test_a_server_ends_while_redis_is_stopped(tmp_path, place):
    one, two, server, folder = place
    with Server(tmp_path, "a=" + two.url("haw", "?timeout=1"), "near=" + str(folder / "near.seen"), warns=True, quiet=False) as late:
        freeze(two.process.pid)
        try:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                asked = pool.submit(late.get, "/a/" + HELD[0])
                until(lambda: unread(two.port))     # else the question may come after the signal
                gone = late.client()
                gone.send(b"GET /a/" + HELD[1].encode() + b" HTTP/1.1\r\nHost: a\r\n\r\n")
                gone.__exit__()
                late.process.terminate()
                assert asked.result().status == 503, "it was answered before"
                assert late.process.wait(60) == 0
        finally:
            two.process.send_signal(signal.SIGCONT)
    until(lambda: ready(server, "b"))


def test_a_redis_that_dies_is_unknown_and_comes_back(place):
    one, two, server, folder = place
    one.client().save()
    one.stop(signal.SIGKILL)
    until(lambda: server.get("/a/" + HELD[1500]).status == 503)
    for _ in range(20):
        assert server.get("/a/" + HELD[1500]).status == 503
    one.start()
    until(lambda: ready(server, "a"))
    assert server.get("/a/" + HELD[1500]).status == 404
    assert "127.0.0.1:%d" % one.port in server.said, "it is reported"


def test_a_restart_that_nobody_noticed_is_counted_as_a_loss(place):
    """A question finds the connection closed, and another process behind it."""
    one, two, server, folder = place
    for attempt in range(5): # a look every 2 s may come in between
        assert ready(server, "b")
        two.client().save()
        two.stop()
        two.start()
        until(lambda: ready(server, "b"))
        if json.loads(server.get("/info/b").text)["losses"]:
            break
    assert server.metrics()['seen_archive_losses{archive="b"}'] >= 1
    until(lambda: "may be lost" in server.said)


def test_a_filter_that_vanishes_is_never_no_and_its_successor_is_served(place):
    one, two, server, folder = place
    two.client().flushall()
    assert server.get("/b/" + HELD[0]).status == 503
    assert server.get("/b/" + HELD[1500]).status == 503
    run("build", "--quiet", "-o", two.url("haw"), "--capacity", "5000", "-", stdin="\n".join(HELD[1000:]))
    until(lambda: server.get("/b/" + HELD[1500]).status == 200)
    assert server.get("/b/" + HELD[0]).status == 404
    run("build", "--quiet", "-o", two.url("haw"), "--capacity", "5000", "-", stdin="\n".join(HELD[:100]))
    assert server.get("/b/" + HELD[1500]).status == 404, "replaced: the new one is asked at once"
    assert server.get("/b/" + HELD[0]).status == 200


def test_a_server_starts_while_redis_is_away_but_not_with_a_wrong_name(tmp_path, place):
    one, two, server, folder = place
    gone = Redis(tmp_path / "gone")
    with Server(tmp_path, "a=" + gone.url("haw"), "near=" + str(folder / "near.seen"), warns=True, quiet=False) as late:
        assert late.get("/a/" + HELD[0]).status == 503 and late.get("/near/" + HELD[0]).status == 200
        with gone:
            run("build", "--quiet", "-o", gone.url("haw"), "--capacity", "1000", "-", stdin=HELD[0])
            until(lambda: ready(late, "a"))
    it = run("serve", "--listen", "127.0.0.1:0", "a=" + one.url("nothing"), code=2)
    assert "no filter" in it.stderr
    it = run("serve", "--listen", "127.0.0.1:0", one.url("haw"), code=2)
    assert "NAME=ADDRESS" in it.stderr
