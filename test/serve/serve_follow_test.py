"""serve_follow_test.py - a server follows its files, whatever befalls them.

Other processes add and remove; files are replaced, overwritten, cut short,
deleted and broken, while clients ask.
"""
import functools
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from freeze import freeze
from serving import SANITIZED, SEEN, Server, build, run, until

Server = functools.partial(Server, trouble=True)     # files come, go and break here
BOTH, NEITHER = "http://both.example/", "http://neither.example/"


def urls(name, n=100):
    return ["http://%s.example/%d" % (name, i) for i in range(n)]


class Adder:
    """seen add, line by line: what it has printed is acknowledged."""

    def __init__(self, path):
        self.process = subprocess.Popen([SEEN, "add", "--sync", "no", "--ack", str(path)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def add(self, url):
        self.process.stdin.write(url.encode() + b"\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == url.encode() + b"\n"

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()


@pytest.mark.parametrize("kind", ["blocked", "growing/blocked", "counting:8", "routed:4/blocked"])
def test_an_add_of_another_process_is_seen_by_the_next_request(tmp_path, kind):
    path = build(tmp_path / "a.seen", [BOTH], "--kind", kind, "--capacity", "5000")
    with Server(tmp_path, ".", "--threads", "2") as server:
        clients = [server.client() for _ in range(6)]
        for around in range(3):     # writers come and go
            adder = Adder(path)
            for i in range(100):
                url = "http://%d.example/%d" % (around, i)
                client = clients[i % 6]
                adder.add(url)
                assert client.get("/a/" + url).status == 200, (around, i)
                assert clients[(i + 3) % 6].get("/a/" + url).status == 200
            adder.close()
            assert [c.get("/a/" + url).status for c in clients] == [200] * 6
        for client in clients:
            assert client.get("/a/" + NEITHER).status == 404
            assert client.get("/a/" + BOTH).status == 200
            client.socket.close()


def test_what_grows_past_its_first_part_is_followed(tmp_path):
    path = build(tmp_path / "a.seen", [], "--kind", "growing/blocked", "--capacity", "100")
    with Server(tmp_path, ".", "--threads", "2") as server, server.client() as client:
        adder = Adder(path)
        for url in urls("a", 1000):
            adder.add(url)
            assert client.get("/a/" + url).status == 200
        adder.close()
        answer = client.ask("POST", "/a", body="\n".join(urls("a", 1000)))
        assert answer.text.count("seen\t") == 1000


def test_a_remove_of_another_process_is_seen_by_the_next_request(tmp_path):
    all_of_them = urls("a", 40)
    path = build(tmp_path / "a.seen", all_of_them, "--kind", "counting:8")
    with Server(tmp_path, ".", "--threads", "2") as server:
        clients = [server.client() for _ in range(4)]
        for i, url in enumerate(all_of_them):
            assert clients[i % 4].get("/a/" + url).status == 200
            run("remove", "--sync", "no", path, url)
            assert clients[i % 4].get("/a/" + url).status == 404
            assert clients[(i + 1) % 4].get("/a/" + url).status == 404
        for client in clients:
            client.socket.close()


def test_another_process_is_told_that_the_server_writes(tmp_path):
    path = build(tmp_path / "a.seen", [BOTH])
    (tmp_path / "token").write_text("kruskovac\n")
    with Server(tmp_path, ".", "-w", "--token", "token") as server:
        put = {"Authorization": "Bearer kruskovac"}
        adder = Adder(path)
        adder.add("http://a.example/")
        assert server.ask("PUT", "/a/http://b.example/", put).status == 503
        adder.close()
        assert server.ask("PUT", "/a/http://b.example/", put).status == 201
        done = subprocess.run([SEEN, "add", "--wait", "0", str(path), "http://c.example/"],
                              stderr=subprocess.PIPE)
        assert done.returncode == 2 and done.stderr
        for url in "http://a.example/", "http://b.example/", BOTH:
            assert server.status("/a/" + url) == 200


# --- a folder ---

def names(server):
    return [a["name"] for a in json.loads(server.get("/archives").text)["archives"]]


def test_filters_of_a_folder_come_and_go(tmp_path):
    build(tmp_path / "a.seen", [BOTH])
    with Server(tmp_path, ".", "--threads", "2") as server:
        assert names(server) == ["a"]
        build(tmp_path / "b.seen", [BOTH])
        assert names(server) == ["a", "b"] and server.status("/b/" + BOTH) == 200
        os.rename(tmp_path / "b.seen", tmp_path / "c.seen")
        assert names(server) == ["a", "c"] and server.status("/c/" + BOTH) == 200
        assert server.get("/b/" + BOTH)["Seen-Answer"] == "unknown-archive"
        os.unlink(tmp_path / "a.seen")
        assert names(server) == ["c"]
        for name in ".d.seen", "agg.seen", "d.txt", "d":
            shutil.copy(tmp_path / "c.seen", tmp_path / name)
        assert names(server) == ["c"]
        os.unlink(tmp_path / "c.seen")
        assert names(server) == [] and server.status("/agg/" + BOTH) == 200
        build(tmp_path / "a.seen", [NEITHER])
        assert server.status("/a/" + BOTH) == 404 and server.status("/a/" + NEITHER) == 200


def test_a_replaced_filter_answers_at_once_whatever_its_plan(tmp_path):
    build(tmp_path / "a.seen", urls("old"), "--meta", "title=old")
    with Server(tmp_path, ".", "--threads", "2") as server, server.client() as client:
        for i, options in enumerate([(), ("--kind", "bloom", "--rate", "1e-4"),
                                     ("--profile", "raw"), ("--kind", "fuse"), (),
                                     ("--kind", "routed:4/counting:8"), ("--seed", "7")]):
            build(tmp_path / "a.seen", urls("new%d" % i) + [BOTH], *options,
                  "--meta", "title=new%d" % i)
            answer = client.ask("POST", "/a", body="\n".join(urls("new%d" % i) + [BOTH]))
            assert answer.text.count("seen\t") == 101, options
            last = "old" if i == 0 else "new%d" % (i - 1)
            assert client.ask("POST", "/a", body="\n".join(urls(last))).text.count("new\t") > 90
            assert json.loads(client.get("/info/a").text)["title"] == "new%d" % i
            if options[:1] == ("--profile",):
                assert client.get("/a/" + BOTH)["Seen-Profile"] == "raw"
                assert client.get("/a/" + BOTH.replace("http:", "HTTP:")).status == 404


def test_a_named_filter_is_followed_through_a_link(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    build(tmp_path / "one/a.seen", [BOTH])
    build(tmp_path / "two/a.seen", [BOTH, NEITHER])
    os.symlink("one/a.seen", tmp_path / "now.seen")
    with Server(tmp_path, "a=now.seen", "--threads", "2") as server:
        assert server.status("/a/" + NEITHER) == 404
        os.symlink("two/a.seen", tmp_path / "next.seen")
        os.rename(tmp_path / "next.seen", tmp_path / "now.seen")
        assert server.status("/a/" + NEITHER) == 200
        build(tmp_path / "one/a.seen", [BOTH, NEITHER])
        os.symlink("one/a.seen", tmp_path / "next.seen")
        os.rename(tmp_path / "next.seen", tmp_path / "now.seen")
        assert server.status("/a/" + NEITHER) == 200
        adder = Adder(tmp_path / "one/a.seen")
        adder.add("http://late.example/")
        assert server.status("/a/http://late.example/") == 200
        adder.close()


class Load:
    """Clients that ask as fast as they can, until told to stop."""

    def __init__(self, server, n=3, may=(200,)):
        self.server, self.may, self.stop = server, may, False
        self.asked = self.wrong = 0
        self.faults = []
        self.threads = [threading.Thread(target=self.ask) for _ in range(n)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *why):
        if why[0] is None:
            until(lambda: self.faults or self.asked > 100)
        self.stop = True
        for thread in self.threads:
            thread.join(60)
        if why[0] is None:
            assert not self.faults, self.faults[:5]
            assert self.asked > 100 and self.wrong <= 3 + self.asked // 50

    def ask(self):
        try:
            while not self.stop:
                with self.server.client() as client:
                    for _ in range(100):
                        both = client.get("/a/" + BOTH)
                        neither = client.get("/a/" + NEITHER)
                        self.asked += 1
                        self.wrong += neither.status == 200
                        if both.status not in self.may or \
                                neither.status not in {200, 404} | set(self.may):
                            self.faults.append((both.raw, neither.raw))
                        if self.stop:
                            break
        except Exception as why:        # nothing may go wrong
            self.faults.append(repr(why))


def test_no_request_fails_while_filters_are_replaced(tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    for i in range(4):
        build(new / ("%d" % i), urls("u%d" % i, 500) + [BOTH], "--capacity", "%d" % (600 + 300 * (i % 3)))
    shutil.copy(new / "0", tmp_path / "a.seen")
    with Server(tmp_path, ".", "--threads", "2") as server, Load(server) as load:
        for i in range(300):
            shutil.copy(new / ("%d" % (i % 4)), tmp_path / "next")
            os.rename(tmp_path / "next", tmp_path / "a.seen")
            if i % 3 == 0:
                build_name = tmp_path / ("b%d.seen" % (i % 2))
                shutil.copy(new / "1", tmp_path / "other")
                os.rename(tmp_path / "other", build_name)
            elif i % 3 == 1:
                for name in "b0.seen", "b1.seen":
                    if (tmp_path / name).exists():
                        os.unlink(tmp_path / name)
            until(lambda: load.asked > 2 * i)
        assert not load.faults


def test_no_request_fails_while_another_process_adds(tmp_path):
    path = build(tmp_path / "a.seen", [BOTH], "--capacity", "100k")
    with Server(tmp_path, ".", "--threads", "2") as server, Load(server):
        for around in range(5):
            adder = Adder(path)
            for url in urls("a%d" % around, 200):
                adder.add(url)
            adder.close()


def test_an_add_is_seen_by_the_next_request_however_busy_the_loop_is(tmp_path):
    path = build(tmp_path / "a.seen", [BOTH], "--capacity", "100k")
    with Server(tmp_path, ".", "--threads", "1") as server, Load(server), \
            server.client() as client:
        adder = Adder(path)
        for url in urls("busy", 1000):
            adder.add(url)
            assert client.get("/a/" + url).status == 200, url
        adder.close()


def test_a_file_that_is_overwritten_in_place_does_not_end_the_server(tmp_path):
    build(tmp_path / "one", urls("one", 20000) + [BOTH], "--capacity", "200k")
    build(tmp_path / "two", urls("two", 20000) + [BOTH], "--capacity", "300k")
    shutil.copy(tmp_path / "one", tmp_path / "a.seen")
    with Server(tmp_path, ".", "--threads", "2") as server:
        with Load(server, may=(200, 404, 503)) as load:
            for i in range(40):
                subprocess.run(["cp", tmp_path / ("one", "two")[i % 2], tmp_path / "a.seen"], check=True)
                until(lambda: load.asked > i)
        assert server.alive
        answer = until(lambda: (a := server.get("/a/" + BOTH)).status == 200 and a)
        assert answer["Seen-Answer"] == "maybe"
        answer = server.ask("POST", "/a", body="\n".join(urls("two", 20000)))
        assert answer.text.count("seen\t") == 20000


def test_a_file_that_is_cut_short_is_withdrawn_until_a_good_one_is_back(tmp_path):
    good = build(tmp_path / "good", urls("one", 5000) + [BOTH], "--capacity", "100k")
    size = os.path.getsize(good)
    build(tmp_path / "b.seen", [BOTH])
    shutil.copy(good, tmp_path / "a.seen")
    with Server(tmp_path, ".", "--threads", "2") as server:
        clients = [server.client() for _ in range(4)]
        for i, length in enumerate([0, 100, 4096, size // 2, size - 1, 0, 0, size // 3] * 2):
            assert [c.get("/a/" + BOTH).status for c in clients] == [200] * 4
            os.truncate(tmp_path / "a.seen", length)
            for client in clients:
                answer = client.get("/a/" + BOTH)
                assert answer.status in (200, 503), length
                if answer.status == 503:
                    assert answer["Seen-Answer"] == "withdrawn" and answer["Retry-After"]
                assert client.get("/b/" + BOTH).status == 200
                client.ask("POST", "/agg", body="\n".join(urls("one", 300)))
                for path in "/agg/" + BOTH, "/archives", "/metrics", "/sitemap.xml":
                    assert client.get(path).status == 200
                assert client.get("/info/a").status in (200, 503)
            if length < 4096:
                assert clients[0].get("/a/" + BOTH).status == 503
            if i % 2:
                shutil.copy(good, tmp_path / "a.seen")
            else:
                shutil.copy(good, tmp_path / "next")
                os.rename(tmp_path / "next", tmp_path / "a.seen")
            until(lambda: all(c.get("/a/" + BOTH).status == 200 for c in clients))
        for client in clients:
            client.socket.close()


def test_a_file_is_cut_short_while_another_process_adds(tmp_path):
    good = build(tmp_path / "good", [BOTH], "--capacity", "1M")
    build(tmp_path / "b.seen", [BOTH])
    path = tmp_path / "a.seen"
    shutil.copy(good, path)
    with Server(tmp_path, ".", "--threads", "2") as server, server.client() as client:
        for i in range(10):
            adder = Adder(path)
            for url in urls("a%d" % i, 20):
                adder.add(url)
            assert client.get("/a/" + url).status == 200
            os.truncate(path, 8192)     # the reader has only replayed some pages
            adder.process.stdin.write(b"http://late.example/\n")
            adder.process.stdin.close()
            adder.process.wait(60)        # it may well have ended by SIGBUS
            assert client.get("/a/" + BOTH).status == 503
            assert client.get("/b/" + BOTH).status == 200
            adder.process.stdout.close()
            for left in tmp_path.glob("a.seen?*"):
                os.unlink(left)
            shutil.copy(good, tmp_path / "next")
            os.rename(tmp_path / "next", path)
            until(lambda: client.get("/a/" + BOTH).status == 200)


def test_a_file_is_cut_short_that_the_server_writes_to(tmp_path):
    good = build(tmp_path / "good", [BOTH], "--capacity", "1M")
    build(tmp_path / "b.seen", [BOTH])
    path, put = tmp_path / "a.seen", {"Authorization": "Bearer kruskovac"}
    shutil.copy(good, path)
    (tmp_path / "token").write_text("kruskovac\n")
    server = Server(tmp_path, ".", "-w", "--token", "token", "--sync", "no", "--threads", "2")
    server.__enter__()
    try:
        clients = [server.client() for _ in range(4)]
        assert server.ask("PUT", "/a/" + NEITHER, put).status == 201
        os.truncate(path, 8192)
        for url in urls("c", 30):
            last = server.ask("PUT", "/a/" + url, put)
            assert last.status in (200, 201, 503)
        assert last.status == 503
        until(lambda: [c.get("/a/" + BOTH).status for c in clients] == [503] * 4)
        assert server.ask("PUT", "/b/" + NEITHER, put).status == 201
        assert server.status("/b/" + NEITHER) == 200
        shutil.copy(good, tmp_path / "next")
        os.rename(tmp_path / "next", path)
        until(lambda: [c.get("/a/" + BOTH).status for c in clients] == [200] * 4)
        for client in clients:
            client.socket.close()
    finally:
        server.process.terminate()
        code = server.process.wait(60)
        server.listener.join(10)
        server.process.stderr.close()
    assert code == 2 and "cut short" in server.said     # what it had could not be kept


def test_a_list_is_under_way_while_the_file_is_cut_short(tmp_path):
    good = build(tmp_path / "good", urls("one", 5000) + [BOTH], "--capacity", "1M")
    for i in range(5):
        shutil.copy(good, tmp_path / "a.seen")
        with Server(tmp_path, ".", "--threads", "1") as server, server.client() as client:
            text = ("\n".join(urls("one", 5000)) + "\n").encode()
            client.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send(b"%x\r\n%s\r\n" % (len(text), text))
            assert client.line() == b"HTTP/1.1 200 OK"
            os.truncate(tmp_path / "a.seen", 4096 * i)
            try:
                client.send(b"%x\r\n%s\r\n" % (len(text), text))
                client.send("0\r\n\r\n")
                rest = client.rest()
                assert not rest.endswith(b"0\r\n\r\n")      # it is not taken for the whole
            except (ConnectionResetError, BrokenPipeError):
                pass
            assert server.status("/a/" + BOTH) == 503 and server.alive


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_a_file_that_is_overwritten_in_place_is_verified_before_it_is_asked(tmp_path, order):
    build(tmp_path / "a.seen", urls("one", 5000) + [BOTH], "--capacity", "5001")
    build(tmp_path / "next", urls("two", 5000) + [BOTH], "--capacity", "5001", "--seed", "7")
    whole = (tmp_path / "next").read_bytes()
    assert len(whole) == (tmp_path / "a.seen").stat().st_size
    with Server(tmp_path, ".", "--threads", "2") as server:
        clients = [server.client() for _ in range(4)]
        until(lambda: json.loads(server.get("/healthz").text)["ready"] == 1)
        file = os.open(tmp_path / "a.seen", os.O_WRONLY)
        pieces = range(0, len(whole), len(whole) // 40)
        for i, at in enumerate(pieces if order == "forwards" else reversed(pieces)):
            os.pwrite(file, whole[at:at + len(whole) // 40], at)
            for client in clients:          # never a wrong "no"
                assert client.get("/a/" + BOTH).status in (200, 503)
            if i == len(pieces) // 2:
                assert client.get("/a/" + BOTH).status == 503
            assert client.ask("POST", "/agg", body=BOTH).text in ("-\ta\t%s\n" % BOTH,
                                                                  "a\t-\t%s\n" % BOTH)
        os.close(file)
        until(lambda: {c.get("/a/" + BOTH).status for c in clients} == {200})
        for client in clients:
            assert client.get("/a/" + urls("two")[0]).status == 200
            assert client.get("/a/" + urls("one")[0]).status == 404
        with open(tmp_path / "a.seen", "r+b") as file:     # and damage is found
            file.seek(len(whole) // 2)
            file.write(bytes(200))
        until(lambda: "checksum" in server.get("/a/" + BOTH).text)
        shutil.copyfile(tmp_path / "next", tmp_path / "a.seen")
        until(lambda: {c.get("/a/" + BOTH).status for c in clients} == {200})
        run("add", tmp_path / "a.seen", NEITHER)            # our own writers are not
        for client in clients:
            assert client.get("/a/" + NEITHER).status == 200


def test_broken_cells_are_withdrawn_and_others_answer(tmp_path):
    good = build(tmp_path / "good", urls("a", 5000) + [BOTH], "--capacity", "5001")
    build(tmp_path / "b.seen", [BOTH], "--meta", "timegate=http://b.example/")
    cells = bytearray(open(good, "rb").read())
    cells[len(cells) // 2] ^= 0x10
    (tmp_path / "a.seen").write_bytes(cells)
    with Server(tmp_path, ".", "--threads", "2") as server:
        answer = until(lambda: (a := server.get("/a/" + BOTH)).status == 503 and a)
        assert answer["Seen-Answer"] == "withdrawn" and "error" in json.loads(answer.text)
        assert server.ask("HEAD", "/a/" + BOTH).status == 503
        assert server.ask("POST", "/a", body=BOTH).status == 503
        for _ in range(20):
            assert server.status("/b/" + BOTH) == 200
            assert server.status("/a/" + BOTH) == 503
        agg = json.loads(server.get("/agg/" + BOTH).text)
        assert [a["seen"] for a in agg["archives"]] == [None, True]
        answer = server.ask("POST", "/agg", body=BOTH + "\n" + NEITHER)
        assert answer.text == "b\ta\t%s\n-\ta\t%s\n" % (BOTH, NEITHER)    # never a "no" of a
        answer = server.ask("POST", "/agg", body=json.dumps([NEITHER]))
        assert json.loads(answer.text)[0] == {"url": NEITHER, "archives": [], "unknown": ["a"]}
        for path in "/timegate/", "/timemap/link/":
            assert server.status(path + BOTH) in (200, 302)
            answer = server.get(path + NEITHER)
            assert answer.status == 503 and answer["Seen-Answer"] == "unknown"
        health = json.loads(server.get("/healthz").text)
        assert health["withdrawn"] == 1 and health["ready"] == 1
        assert server.metrics()['seen_archive_up{archive="a"}'] == 0
        os.unlink(tmp_path / "b.seen")  # nobody is left who could say what is no URL
        assert server.status("/agg/" + BOTH) == 200
        assert server.ask("POST", "/agg", body=BOTH).text == "-\ta\t" + BOTH + "\n"
        for wait in 0, 0.3, 0.6, 0.9:   # while it is still being looked at, too
            (tmp_path / "next").write_bytes(cells)
            os.rename(tmp_path / "next", tmp_path / "a.seen")
            server.get("/a/" + BOTH)
            time.sleep(wait)
            shutil.copy(good, tmp_path / "next")
            os.rename(tmp_path / "next", tmp_path / "a.seen")
            until(lambda: json.loads(server.get("/healthz").text)["ready"] == 1)
            assert server.status("/a/" + BOTH) == 200


def test_a_broken_head_is_withdrawn_at_once(tmp_path):
    build(tmp_path / "b.seen", [BOTH])
    whole = (tmp_path / "b.seen").read_bytes()
    for i, bytes in enumerate([b"", b"nonsense", whole[:100], whole[:-1], b"\0" * len(whole)]):
        (tmp_path / ("bad%d.seen" % i)).write_bytes(bytes)
    with Server(tmp_path, ".") as server:
        for i in range(5):
            until(lambda: server.status("/bad%d/%s" % (i, BOTH)) == 503)
        assert server.status("/b/" + BOTH) == 200


def test_a_keyed_filter_needs_its_key(tmp_path):
    (tmp_path / "key").write_text("00112233445566778899aabbccddeeff\n")
    (tmp_path / "wrong").write_text("ff112233445566778899aabbccddeeff\n")
    for name in "key", "wrong":
        os.chmod(tmp_path / name, 0o600)
    build(tmp_path / "a.seen", [BOTH], "--keyed", tmp_path / "key")
    build(tmp_path / "b.seen", [BOTH])
    with Server(tmp_path, ".", "--keyed", "key") as server:
        assert server.status("/a/" + BOTH) == 200 and server.status("/a/" + NEITHER) == 404
        assert server.status("/b/" + BOTH) == 200
        run("add", "--keyed", tmp_path / "key", tmp_path / "a.seen", NEITHER)
        assert server.status("/a/" + NEITHER) == 200
    for words in (), ("--keyed", "wrong"):
        with Server(tmp_path, ".", *words) as server:
            assert server.get("/a/" + BOTH)["Seen-Answer"] == "withdrawn"
            assert server.status("/b/" + BOTH) == 200


def test_a_folder_that_is_deleted_does_not_end_the_server(tmp_path):
    (tmp_path / "gone").mkdir()
    build(tmp_path / "gone/a.seen", [BOTH])
    build(tmp_path / "b.seen", [BOTH])
    with Server(tmp_path, "gone", "b=b.seen") as server:
        assert server.status("/a/" + BOTH) == 200
        shutil.rmtree(tmp_path / "gone")
        until(lambda: server.status("/a/" + BOTH) in (404, 503))
        assert server.status("/b/" + BOTH) == 200


def test_adds_to_a_file_that_was_replaced_are_not_acknowledged(tmp_path):
    (tmp_path / "token").write_text("kruskovac\n")
    token = {"Authorization": "Bearer kruskovac"}
    build(tmp_path / "a.seen", urls("old"), "--capacity", "1000")
    build(tmp_path / "next", urls("next"), "--capacity", "1000")
    with Server(tmp_path, ".", "-w", "--token", "token", "--threads", "1") as server:
        assert server.ask("PUT", "/a/" + BOTH, token).status == 201
        os.rename(tmp_path / "next", tmp_path / "a.seen")
        until(lambda: server.status("/a/" + urls("next")[7]) == 200)
        assert server.status("/a/" + BOTH) == 404
        until(lambda: server.ask("PUT", "/a/" + NEITHER, token).status == 201)
        assert server.status("/a/" + NEITHER) == 200
    assert run("check", tmp_path / "a.seen", NEITHER).startswith("seen")


def test_an_archive_that_was_removed_under_its_writer_can_be_made_anew(tmp_path):
    (tmp_path / "token").write_text("kruskovac\n")

    def tell(*words):
        with server.client() as client:
            for command in (("AUTH", "kruskovac"), words):
                client.send(b"*%d\r\n" % len(command) + b"".join(
                    b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in command))
                line = client.line()
            return line

    with Server(tmp_path, ".", "-w", "--token", "token") as server:
        assert tell("BF.ADD", "q", BOTH) == b":1"
        os.remove(tmp_path / "q.seen")
        until(lambda: tell("BF.EXISTS", "q", BOTH) == b":0")
        assert tell("BF.ADD", "q", NEITHER) == b":1"
        assert tell("BF.EXISTS", "q", NEITHER) == b":1"
        assert tell("BF.EXISTS", "q\0" + "x" * 60000, NEITHER) == b":0"
        assert tell("DEL", "q") == b":1"
    assert not (tmp_path / "q.seen").exists()


def test_a_link_that_leads_elsewhere_is_followed(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        build(tmp_path / name / "x.seen", [BOTH] + urls(name))
    os.symlink("one", tmp_path / "now")
    with Server(tmp_path, "x=now/x.seen") as server:
        assert server.status("/x/" + urls("one")[3]) == 200
        os.symlink("two", tmp_path / "then")
        os.rename(tmp_path / "then", tmp_path / "now")
        until(lambda: server.status("/x/" + urls("two")[3]) == 200)
        assert server.status("/x/" + BOTH) == 200


def test_of_two_folders_with_one_name_the_other_takes_over(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        build(tmp_path / name / "x.seen", [BOTH] + urls(name))
    with Server(tmp_path, "one", "two", warns=True) as server:
        assert server.status("/x/" + urls("one")[3]) == 200
        os.remove(tmp_path / "one" / "x.seen")
        until(lambda: server.status("/x/" + urls("two")[3]) == 200)


def test_a_stop_that_meets_a_tick_is_a_stop(tmp_path):
    build(tmp_path / "a.seen", [BOTH])
    for _ in range(3):
        with Server(tmp_path, ".") as server:
            assert server.status("/a/" + BOTH) == 200
            freeze(server.pid)
            time.sleep(1.1)
            os.kill(server.pid, signal.SIGTERM)
            os.kill(server.pid, signal.SIGCONT)
