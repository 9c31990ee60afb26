"""serve_threads_test.py - everything at once, for ThreadSanitizer.

Adds and removals over both protocols, lookups on and off the loops, lists,
files that are replaced and overwritten, new and deleted archives, SAVE,
statistics, and reloads while the access log is rotated, for some seconds. A server that is built with ThreadSanitizer
reports races on standard error, where every test wants silence; without it the
test still finds failures and wrong answers.
"""
import functools
import os
import shutil
import signal
import threading
import time

from serving import Server, build

Server = functools.partial(Server, trouble=True)     # files come, go and break here
TOKEN = {"Authorization": "Bearer kruskovac"}
SECONDS = 3


def url(name, i):
    return "http://%s.example/%d" % (name, i)


def test_everything_happens_at_once(tmp_path):
    for kind in "growing/blocked", "counting:8", "blocked":
        build(tmp_path / (kind.split("/")[0].split(":")[0] + ".seen"),
              [url("held", i) for i in range(50)], "--kind", kind, "--capacity", "20k")
    build(tmp_path / "costly.seen", [url("held", i) for i in range(120)], "--kind",
          "dynamic:100/bloom:md5+sha1", "--probes", "64", "--capacity", "120")
    for name in "one", "two":
        build(tmp_path / name, [url("held", 1), url(name, 1)])
    shutil.copy(tmp_path / "one", tmp_path / "moving.seen")
    (tmp_path / "token").write_text("kruskovac\n")
    archives = "growing", "counting", "blocked"
    faults = []

    def until_end(work):
        def loop():
            i = 0
            try:
                with server.client(30) as client:
                    while time.monotonic() < end and not faults:
                        work(client, i)
                        i += 1
            except BaseException as fault:      # told by the test, not lost in a thread
                faults.append(repr(fault))
        thread = threading.Thread(target=loop)
        thread.start()
        return thread

    def put(client, i):
        name = archives[i % 3]
        assert client.ask("PUT", "/%s/%s" % (name, url("put", i)), TOKEN).status in (200, 201)
        assert client.get("/%s/%s" % (name, url("put", i))).status == 200
        if i % 5 == 0:
            client.ask("DELETE", "/counting/" + url("put", i), TOKEN)

    def redis(client, i):
        if i == 0:
            client.send("AUTH kruskovac\r\n")
            assert client.line() == b"+OK"
        client.send("BF.ADD growing %s\r\nBF.EXISTS growing %s\r\nBF.RESERVE new%d 0.01 100\r\n"
                    "DEL new%d\r\n" % (url("redis", i), url("redis", i), i, i))
        answers = [client.line() for _ in range(4)]
        assert answers[1:] == [b":1", b"+OK", b":1"], answers

    def save(client, i):
        if i == 0:
            client.send("AUTH kruskovac\r\n")
            assert client.line() == b"+OK"
        client.send("SAVE\r\n")
        assert client.line() == b"+OK"

    def lookup(client, i):
        for name in archives + ("costly",):
            assert client.get("/%s/%s" % (name, url("held", i % 50))).status == 200
        assert client.get("/moving/" + url("held", 1)).status in (200, 503)
        assert client.get("/agg/" + url("none", i)).status == 200
        for path in "/archives", "/metrics", "/sitemap.xml", "/healthz":
            assert client.get(path).status == 200

    def listed(client, i):
        body = "\n".join(url("held", j) for j in range(40))
        assert client.ask("POST", "/agg", body=body).text.count("growing") == 40
        assert client.ask("POST", "/costly", body=body).text.count("seen\t") == 40

    def move(client, i):
        whole = (tmp_path / ("one" if i % 2 else "two")).read_bytes()
        if i % 3:
            (tmp_path / "next").write_bytes(whole)
            os.rename(tmp_path / "next", tmp_path / "moving.seen")
        else:
            with open(tmp_path / "moving.seen", "r+b") as file:
                file.write(whole)
        time.sleep(0.05)

    def reload(client, i):
        if i % 10 == 0 and (tmp_path / "log").exists():
            os.rename(tmp_path / "log", tmp_path / "log.1")
        os.kill(server.pid, signal.SIGHUP)
        time.sleep(0.01)

    with Server(tmp_path, ".", "-w", "--token", "token", "--threads", "2", "--sync",
                "everysec", "--log", "log", quiet=False) as server:
        end = time.monotonic() + SECONDS
        threads = [until_end(work) for work in (put, put, redis, save, lookup, lookup, listed, move,
                                                reload)]
        for thread in threads:
            thread.join(60)
        assert not faults, faults
    assert set(server.said.splitlines()) == {"seen: reloaded"}, server.said
