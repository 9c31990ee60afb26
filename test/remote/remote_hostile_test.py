"""remote_hostile_test.py - servers that break the protocol, and connections that are cut.

What must hold: an error with a reason, in bounded time and memory, and never an answer.
"""
import contextlib
import os
import socket
import subprocess
import threading
import time

import pytest

import redis
from redis_server import SEEN, Redis, listed, run

ALL = 5000


class Talker:
    """A server for which `talk(connection)` speaks, once per connection."""

    def __init__(self, talk):
        self.talk = talk
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *why):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.socket.accept()[0],), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError, redis.RedisError), connection:
            self.talk(connection)


def endless(begin, piece):
    def talk(connection):
        connection.recv(1 << 16)
        connection.sendall(begin)
        while True:
            connection.sendall(piece)
    return talk


def dripping(connection):
    connection.recv(1 << 16)
    connection.sendall(b"$1000\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def saying(text):
    """These bytes, and then silence until the client goes."""
    def talk(connection):
        connection.recv(1 << 16)
        connection.sendall(text)
        while connection.recv(1 << 16):
            pass
    return talk


def closing(text):
    def talk(connection):
        connection.recv(1 << 16)
        connection.sendall(text)
    return talk


@pytest.mark.parametrize("talk", [
    endless(b"$9000000000000000000\r\n", b"x" * 65536), endless(b"*2147483647\r\n", b":1\r\n" * 16384),
    endless(b"", b"x" * 65536), endless(b"+", b"x" * 65536), endless(b"*9\r\n" * 6, b"*1000000\r\n" + b":1\r\n" * 16384),
    dripping, saying(b"*2147483647\r\n"), saying(b"*-7\r\n"), saying(b"$-7\r\n"), saying(b"*1\r\n" * 20),
    saying(b":99999999999999999999999999\r\n"), saying(b"$5\r\nab"), saying(b"$x\r\n"), saying(b"HTTP/1.1 400 Bad\r\n\r\n"),
    closing(b"$100\r\nabc"), closing(b""),
], ids=["bulk", "array", "noise", "line", "nested", "drip", "long", "negative-array", "negative-bulk", "deep", "integer", "half",
        "no-number", "http", "cut", "closed"])
@pytest.mark.parametrize("scheme", ["redis", "bf", "redis+cluster"])
def test_a_server_that_breaks_the_protocol_is_an_error_in_time(talk, scheme):
    with Talker(talk) as server:
        it = subprocess.Popen([SEEN, "check", "%s://127.0.0.1:%d/haw?timeout=1" % (scheme, server.port), "http://a.example/"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        late = threading.Timer(240, it.kill)
        late.start()
        out, why = it.stdout.read(), it.stderr.read()
        _, status, used = os.wait4(it.pid, 0)
        late.cancel()
        it.returncode = os.waitstatus_to_exitcode(status)
        assert it.returncode == 2 and out == "" and "127.0.0.1" in why, why
        assert used.ru_maxrss < 400 << 10, used.ru_maxrss  # KB; ours, and what is allowed of a reply


# --- connections that are cut ---


def cutting(port, words):
    """Pass bytes on to a server until the client sends these words; those are not passed on."""
    def talk(client):
        with socket.create_connection(("127.0.0.1", port)) as server:
            def back():
                with contextlib.suppress(OSError):
                    while data := server.recv(1 << 16):
                        client.sendall(data)
            threading.Thread(target=back, daemon=True).start()
            while (data := client.recv(1 << 20)) and words not in data:
                server.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
            server.shutdown(socket.SHUT_RDWR)
    return talk


@pytest.mark.parametrize("then", ["old", "other"])
def test_an_upload_that_ended_before_its_note_was_removed_is_not_swept(tmp_path, then):
    """The filter is in place, but haw:{upload} still names it."""
    listed(tmp_path / "urls", 0, ALL)
    run("build", "-o", tmp_path / "old.seen", "--capacity", 2 * ALL, tmp_path / "urls")
    run("build", "-o", tmp_path / "other.seen", "--capacity", 3 * ALL, tmp_path / "urls")
    with Redis(tmp_path / "r") as own:
        with Talker(cutting(own.port, b"DEL\r\n$12\r\nhaw:{upload}")) as proxy:
            run("convert", tmp_path / "old.seen", "-o", "redis://127.0.0.1:%d/haw?timeout=5" % proxy.port, code=2)
        client = own.client()
        assert client.exists("haw") and client.exists("haw:{upload}")
        client.delete("haw:{lock}")
        if then == "other":  # stopped at its first chunk: the filter that is there has to answer
            with Talker(cutting(own.port, b"\x89sRc")) as proxy:
                run("convert", tmp_path / "other.seen", "-o", "redis://127.0.0.1:%d/haw?timeout=5" % proxy.port, code=2)
            client.delete("haw:{lock}")
        else:
            run("convert", tmp_path / "old.seen", "-o", own.url("haw"))
        assert run("check", "--count", own.url("haw"), "-i", tmp_path / "urls").stdout == "new\t0\nseen\t%d\n" % ALL


# --- a cluster that says what a test wants ---


def read_command(file):
    words = [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(file.readline()[1:] or 0))]
    return words


def encoded(it):
    if isinstance(it, Exception):
        return b"-%s\r\n" % str(it).encode()
    if isinstance(it, int):
        return b":%d\r\n" % it
    if isinstance(it, list):
        return b"*%d\r\n" % len(it) + b"".join(map(encoded, it))
    return b"$-1\r\n" if it is None else b"$%d\r\n%s\r\n" % (len(it), it)


class Nodes:
    """Two nodes of a cluster in front of one Redis. says(node, words, ports) may give another reply, or raise OSError."""

    def __init__(self, port, says):
        self.port, self.says = port, says
        self.talkers = [Talker(lambda connection, i=i: self.talk(i, connection)) for i in range(2)]

    def __enter__(self):
        for it in self.talkers:
            it.__enter__()
        self.url = "redis+cluster://%s/haw" % ",".join("127.0.0.1:%d" % it.port for it in self.talkers)
        return self

    def __exit__(self, *why):
        for it in self.talkers:
            it.__exit__()

    def talk(self, node, connection):
        real = redis.Connection("127.0.0.1", self.port)
        with connection.makefile("rb") as file, contextlib.suppress(ValueError):
            while words := read_command(file):
                it = self.says(node, words, [one.port for one in self.talkers])
                if it is None and words[0] == b"CLUSTER":
                    it = [[0, 8191, [b"127.0.0.1", self.talkers[0].port]], [8192, 16383, [b"127.0.0.1", self.talkers[1].port]]]
                elif it is None and words[0] == b"INFO":
                    it = b"run_id:%d\r\nmaster_replid:%d\r\n" % (node, node)
                elif it is None:
                    real.send_command(*words)
                    try:
                        it = real.read_response()
                    except redis.ResponseError as error:
                        it = error
                connection.sendall(encoded(it))


@pytest.mark.parametrize("lost", [False, True])
def test_replicas_of_a_connection_that_is_gone_are_not_confirmed(tmp_path, lost):
    """WAIT on another connection would count replicas that may lack the URLs."""
    told = set()

    def says(node, words, ports):
        if words[0] == b"WAIT":
            return 1
        if words[0] == b"BITFIELD" and b"SET" in words and node not in told:
            told.add(node)
            if node == 1:
                return redis.ResponseError("TRYAGAIN a slot is moved")
        if lost and words[0] == b"CLUSTER" and told == {0, 1} and node == 0:
            raise OSError

    listed(tmp_path / "urls", 0, 500)
    with Redis(tmp_path / "r") as own:
        run("build", "-o", own.url("haw"), "--kind", "routed:16/bloom", "--capacity", "20000", "--allow-empty", "/dev/null")
        with Nodes(own.port, says) as nodes:
            it = run("add", nodes.url + "?replicas=1", "-i", tmp_path / "urls", code=2 if lost else 0)
        assert told == {0, 1}
        assert not lost or ("replicas cannot be asked" in it.stderr and "may have been added" in it.stderr), it.stderr


def adding(tmp_path, says, *more, code=0):
    """Add 500 URLs to a filter of that cluster; the command, and what the filter has then."""
    listed(tmp_path / "urls", 0, 500)
    with Redis(tmp_path / "r") as own:
        run("build", "-o", own.url("haw"), "--kind", "routed:16/bloom", "--capacity", "20000", "--allow-empty", "/dev/null")
        with Nodes(own.port, says) as nodes:
            it = run("add", nodes.url + "?timeout=10", "-i", tmp_path / "urls", *more, code=code)
            return it, run("check", "--count", own.url("haw"), "-i", tmp_path / "urls", code=None).stdout


@pytest.mark.parametrize("word", ["MOVED", "ASK", "TRYAGAIN", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "READONLY"])
def test_what_was_not_executed_is_sent_again_inside_a_pipeline(tmp_path, word):
    """Every fifth change is refused once; each URL is new once, and all are there."""
    seen, count = {}, [0, 0]

    def says(node, words, ports):
        if words[0] != b"BITFIELD" or b"SET" not in words:
            return None
        key = tuple(words)
        count[node] += 1
        if count[node] % 5 or key in seen:
            seen[key] = seen.get(key, 0) + 1
            return None
        seen[key] = 0
        return redis.ResponseError("%s 1 127.0.0.1:%d" % (word, ports[1 - node]) if word in ("MOVED", "ASK") else word + " refused")

    it, has = adding(tmp_path, says)
    assert "500 new, 0 seen" in it.stdout, it
    assert set(seen.values()) == {1}
    assert has == "new\t0\nseen\t500\n"


@pytest.mark.parametrize("word", ["OOM", "NOAUTH", "NOPERM", "ERR", "cut"])
def test_what_was_not_confirmed_is_no_answer(tmp_path, word):
    """The 100th change is refused, or the connection ends there."""
    count = [0]

    def says(node, words, ports):
        count[0] += words[0] == b"BITFIELD" and b"SET" in words
        if count[0] != 100 or words[0] != b"BITFIELD":
            return None
        if word == "cut":
            raise OSError
        return redis.ResponseError(word + " refused")

    it, _ = adding(tmp_path, says, "--ack", code=2)
    assert it.stdout == "" and (word + " refused" if word.isupper() else "may have been added") in it.stderr, it.stderr
