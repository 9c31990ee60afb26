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
        with contextlib.suppress(OSError), connection:
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
        begun = time.monotonic()
        it = subprocess.Popen([SEEN, "check", "%s://127.0.0.1:%d/haw?timeout=1" % (scheme, server.port), "http://a.example/"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, why = it.stdout.read(), it.stderr.read()
        _, status, used = os.wait4(it.pid, 0)
        it.returncode = os.waitstatus_to_exitcode(status)
        assert it.returncode == 2 and out == "" and "127.0.0.1" in why, why
        assert time.monotonic() - begun < 8
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
            run("convert", tmp_path / "old.seen", "-o", "redis://127.0.0.1:%d/haw?timeout=1" % proxy.port, code=2)
        client = own.client()
        assert client.exists("haw") and client.exists("haw:{upload}")
        client.delete("haw:{lock}")
        if then == "other":  # stopped at its first chunk: the filter that is there has to answer
            with Talker(cutting(own.port, b"\x89sRc")) as proxy:
                run("convert", tmp_path / "other.seen", "-o", "redis://127.0.0.1:%d/haw?timeout=1" % proxy.port, code=2)
            client.delete("haw:{lock}")
        else:
            run("convert", tmp_path / "old.seen", "-o", own.url("haw"))
        assert run("check", "--count", own.url("haw"), "-i", tmp_path / "urls").stdout == "new\t0\nseen\t%d\n" % ALL
