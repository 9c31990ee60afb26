"""A transaction that goes on when a server has given up its clients.

Soak, since it takes the 10 s of the drain: `make soak`.
"""
import os
import signal
import socket
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from redis_server import Redis, freeze, run
from serving import Server, build

TOKEN = "sesame-sesame"
WAIT = 10                   # seconds for an add to an archive on another server, and of the drain


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


@pytest.mark.skipif("SEEN_SOAK" not in os.environ, reason="SEEN_SOAK is not set")
def test_a_transaction_is_refused_what_another_server_would_have_to_do(tmp_path):
    """The first add is given up by its deadline and the third by the end of the
    drain; the fourth is made by a job when the loop has stopped; the fifth would
    need another thread. If the machine is busy, less of this happens."""
    build(tmp_path / "near.seen", ["http://a.example/"], "--capacity", "5000")
    (tmp_path / "token").write_text(TOKEN + "\n")
    (tmp_path / "token").chmod(0o600)
    adds = [b"a", b"near", b"b", b"near", b"a"]
    with Redis(tmp_path / "a") as one, Redis(tmp_path / "b") as two:
        for server in one, two:
            run("build", "--quiet", "-o", server.url("haw"), "--capacity", "100000", "-", stdin="http://a.example/")
        try:
            with Server(tmp_path, "a=" + one.url("haw", "?timeout=30"), "b=" + two.url("haw", "?timeout=30"),
                        "near=" + str(tmp_path / "near.seen"), "--threads", "1", "--writable", "--token",
                        str(tmp_path / "token"), warns=True, quiet=False) as server:
                freeze(one.process.pid)
                began = time.monotonic()
                with socket.create_connection(("127.0.0.1", server.port)) as client:
                    client.sendall(command(b"AUTH", TOKEN.encode()) + command(b"MULTI")
                                   + b"".join(command(b"BF.ADD", name, b"http://%d.example/" % i)
                                              for i, name in enumerate(adds)) + command(b"EXEC"))
                    time.sleep(0.7)
                    server.process.send_signal(signal.SIGTERM)
                    time.sleep(max(0, began + WAIT - 1 - time.monotonic()))
                    freeze(two.process.pid)
                    assert server.process.wait(240) == 0
        finally:
            for server in one, two:
                server.process.send_signal(signal.SIGCONT)
