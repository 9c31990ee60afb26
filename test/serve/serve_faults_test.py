"""serve_faults_test.py - clients that are slow, greedy, mad or too many.

Whatever they do, others are served, memory stays bounded, and the server
ends with 0 when it is asked to.
"""
import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import resource
import select
import signal
import socket
import struct
import subprocess
import time

import pytest

from freeze import freeze
from serving import SANITIZED, SEEN, Server, build, until

HELD = "http://a.example/"
TOKEN = {"Authorization": "Bearer kruskovac"}
LOOKUP = "GET /a/%s HTTP/1.1\r\nHost: a\r\n\r\n" % HELD
LIST = "GET /archives HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    it = tmp_path_factory.mktemp("faults")
    build(it / "a.seen", [HELD], "--meta", "title=" + "x" * 5000)
    build(it / "w.seen", [HELD], "--kind", "counting:8", "--capacity", "100k")
    build(it / "large.seen", [HELD], "--capacity", "30M")
    (it / "token").write_text("kruskovac\n")
    return it


@pytest.fixture
def server(folder):
    with Server(folder, ".", "--threads", "2") as it:
        yield it


def served(server):
    return server.status("/a/" + HELD) == 200


# --- slow ---

def test_half_a_head_is_dropped_after_ten_seconds_and_half_a_body_is_not(server):
    clients = [server.client() for _ in range(5)]
    idle = server.client()
    assert idle.get("/a/" + HELD).status == 200
    began = time.monotonic()
    clients[0].send("GET /a/ht")
    clients[1].send("G")
    clients[2].send(LOOKUP[:-2])
    clients[3].send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(HELD), HELD[:3]))
    while time.monotonic() < began + 6:     # one that is heard from all the time
        try:
            clients[4].send("x" if time.monotonic() > began + 1 else "GET /")
        except OSError:
            assert time.monotonic() > began + 10
        assert served(server)
        time.sleep(0.5)
    early = any(client.heard() for client in clients)
    assert not early or time.monotonic() > began + 10
    for client in clients[:3] + clients[4:]:
        assert client.closed() and time.monotonic() > began + 9
    assert not idle.heard()                 # which has 75 seconds
    clients[3].send(HELD[3:])
    assert clients[3].read().text == "seen\t" + HELD + "\n"
    for client in clients + [idle]:
        client.socket.close()


def test_a_body_that_stalls_holds_up_nobody(server):
    clients = [server.client() for _ in range(20)]
    for client in clients:
        client.send("POST /agg HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n" + HELD)
    for _ in range(50):
        assert served(server)
    for client in clients:
        client.socket.close()
    until(lambda: server.metrics()["seen_connections"] == 1)


# --- greedy ---

def fill(client, text, most=64 << 20):
    """Send as much as is taken, and read nothing."""
    client.socket.setblocking(False)
    data, sent, still = text.encode() * (1 + 65536 // len(text)), 0, time.monotonic()
    while sent < most and time.monotonic() - still < 0.3:
        at = sent % len(text)
        try:
            sent += client.socket.send(data[at:])
            still = time.monotonic()
        except BlockingIOError:
            select.select([], [client.socket], [], 0.1)
    client.socket.settimeout(240)
    return sent


@pytest.mark.parametrize("text", [LOOKUP, LIST], ids=["lookups", "lists"])
def test_a_client_that_asks_and_never_reads_costs_little(server, text):
    before = server.resident()
    clients = [server.client() for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        sent = list(pool.map(lambda c: fill(c, text), clients))
    assert max(sent) < 64 << 20
    assert server.resident() - before < (16 << 20) * (4 if SANITIZED else 1)
    assert served(server)
    for client, n in zip(clients, sent):    # what was taken is answered, in order
        for _ in range(min(n // len(text), 500)):
            assert client.read().status == 200
        client.socket.close()


def test_answers_of_jobs_wait_behind_those_that_are_not_taken(folder):
    with Server(folder, ".", "-w", "--token", "token", "--sync", "no", "--threads", "1") as server:
        for pages in 3, 7, 20:
            with server.client() as client:
                n, batch = 1500 // pages, ""
                for i in range(pages):
                    batch += "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                batch += ("PUT /w/http://%s.example/ HTTP/1.1\r\nHost: a\r\n"
                          "Authorization: Bearer kruskovac\r\n\r\n" % "%d")
                text = "".join(batch % (pages * 10000 + i) for i in range(n))
                with concurrent.futures.ThreadPoolExecutor(1) as pool:
                    sent = pool.submit(client.send, text)
                    time.sleep(0.3)         # for all that fits into sockets
                    for i in range(n):
                        for _ in range(pages):
                            assert client.read()["Content-Type"].startswith("text/html")
                        assert client.read().status == 201
                    sent.result()


def test_a_client_that_sends_no_more_hears_all_answers(server):
    with server.client() as client:
        text = LOOKUP * 20000
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sent = pool.submit(lambda: (client.send(text), client.socket.shutdown(1)))
            time.sleep(0.3)
            for _ in range(20000):
                assert client.read().status == 200
            sent.result()
        assert client.closed()


@contextlib.contextmanager
def stopped(server):
    """All that is sent meanwhile comes at once."""
    freeze(server.pid)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@pytest.mark.parametrize("unix", [False, True])
def test_requests_of_any_length_are_all_read_and_so_is_the_end(folder, tmp_path, unix):
    """The server reads 65,536 bytes at a time. The kernel tells it only once that bytes have come."""
    path = str(tmp_path / "s")
    with Server(folder, ".", "--threads", "1", "--listen", "unix:" + path,
                quiet=False) as server:
        for size, half_closed in itertools.product((1000, 65535, 65536, 131072), (True, False)):
            n = size // len(LOOKUP)
            rest = "x" * (size - n * len(LOOKUP) - len("X: \r\n"))
            text = LOOKUP * (n - 1) + LOOKUP.replace("Host", "X: %s\r\nHost" % rest)
            assert len(text) == size
            with server.client() as client:
                if unix:
                    client.socket.close()
                    client.socket = socket.socket(socket.AF_UNIX)
                    client.socket.connect(path)
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                client.send(LOOKUP)
                length = 2
                while line := client.line():
                    length += len(line) + 2
                for _ in range(8):          # the kernel's window grows
                    client.send(LOOKUP * 1000)
                    client.take(1000 * length)
                with stopped(server):
                    client.send(text)
                    if half_closed:
                        client.socket.shutdown(socket.SHUT_WR)
                assert client.take(n * length).count(b"HTTP/1.1 200 OK") == n
                if not half_closed:
                    assert client.get("/a/" + HELD).status == 200
                    client.socket.shutdown(socket.SHUT_WR)
                assert client.closed()


def test_what_follows_an_urgent_byte_is_read_at_once(server):
    with server.client(10) as client:
        with stopped(server):
            client.send(LOOKUP + LOOKUP[:20])
            client.socket.send(b"!", socket.MSG_OOB)    # is not part of the stream
            client.send(LOOKUP[20:])
        for _ in range(2):
            assert client.read().status == 200


def test_what_follows_a_passed_descriptor_is_read_at_once(folder, tmp_path):
    """The server does not take descriptors, and reads what came behind them."""
    path = str(tmp_path / "s")
    one = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 0))]
    with Server(folder, ".", "--threads", "1", "--listen", "unix:" + path,
                quiet=False) as server, server.client() as client:
        client.socket.close()
        client.socket = socket.socket(socket.AF_UNIX)
        client.socket.settimeout(240)
        client.socket.connect(path)
        assert client.get("/a/" + HELD).status == 200
        before = len(os.listdir("/proc/%d/fd" % server.pid))
        for part in (LOOKUP[:20], LOOKUP, LOOKUP + LOOKUP[:20]):
            with stopped(server):
                client.socket.sendmsg([part.encode()], one)
                client.socket.sendmsg([(LOOKUP * 2)[len(part):].encode()], one)
            for _ in range(2):
                assert client.read().status == 200
        until(lambda: len(os.listdir("/proc/%d/fd" % server.pid)) <= before)     # the checker has some, too


def test_a_list_whose_answers_are_not_read_is_not_read_either(server):
    before = server.resident()
    with server.client() as client:
        client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n")
        sent = fill(client, HELD + "\n")
        assert sent < 64 << 20
        assert server.resident() - before < (16 << 20) * (4 if SANITIZED else 1)
        assert served(server)


def test_a_client_may_stop_in_the_middle_of_a_file(server):
    before = server.resident()
    clients = [server.client() for _ in range(8)]
    for client in clients:
        client.send("GET /files/large.seen HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.line() == b"HTTP/1.1 200 OK"
    assert server.resident() - before < 16 << 20
    assert served(server)
    for i, client in enumerate(clients):
        if i % 2:       # a reset
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.close()
    until(lambda: server.metrics()["seen_connections"] == 1)
    assert server.worked() < 3


def test_clients_may_go_at_any_moment(folder):
    with Server(folder, ".", "-w", "--token", "token", "--threads", "2") as server:
        requests = [
            LOOKUP * 50, LIST * 50, "GET /files/large.seen HTTP/1.1\r\nHost: a\r\n\r\n" * 2,
            "PUT /w/http://b.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
            "Authorization: Bearer kruskovac\r\n\r\nabc",
            "PUT /w/http://b.example/ HTTP/1.1\r\nHost: a\r\n"
            "Authorization: Bearer kruskovac\r\n\r\n" * 20 + LOOKUP,
            "POST /add/w HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer kruskovac\r\n"
            "Content-Length: 100000\r\n\r\n" + "http://b.example/\n" * 5000,
            "POST /agg HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + (HELD + "\n") * 3000]
        for i in range(140):
            client = server.client()
            client.send(requests[i % 7])
            if i % 3 == 0 and i % 7 not in (3, 5):
                client.socket.recv(100)
            if i % 2:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                         struct.pack("ii", 1, 0))
            client.socket.close()
        until(lambda: server.metrics()["seen_connections"] == 1)
        assert served(server) and server.status("/w/http://b.example/") == 200


# --- too many ---

def test_a_client_too_many_is_told_when_to_come_again(folder):
    with Server(folder, ".", "--connections", "10", "--threads", "2") as server:
        clients = [server.client() for _ in range(10)]
        for client in clients:
            assert client.get("/a/" + HELD).status == 200
        for _ in range(5):
            with server.client() as late:
                answer = late.read()
                assert answer.status == 503 and answer["Retry-After"] == "1"
                assert late.closed()
        clients.pop().socket.close()

        def room():
            with server.client() as client:
                try:
                    return client.get("/a/" + HELD).status == 200
                except (ConnectionResetError, BrokenPipeError):
                    return False
        until(room)
        for client in clients:
            assert client.get("/a/" + HELD).status == 200
            client.socket.close()


@pytest.mark.skipif(SANITIZED, reason="sanitizers need more addresses than this")
@pytest.mark.parametrize("words", [(), ("--aggregate",)], ids=["plain", "aggregate"])
def test_with_too_little_memory_it_says_so_or_works(folder, words):
    """libuv aborts without a word if the threads of its pool cannot start."""
    ends = []
    for megabytes in range(70, 150, 5):
        process = subprocess.Popen(
            ["sh", "-c", 'ulimit -v %d && exec "$@"' % (megabytes << 10), "sh", SEEN, "serve",
             "--listen", "127.0.0.1:0", "--threads", "2", *words, "a.seen"], cwd=folder,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.readline()
        if b"serving at" in said:
            process.terminate()
        said += process.stderr.read()
        process.stderr.close()
        code = process.wait(60)
        ends.append(code)
        if code == 127 and b"shared libraries" in said:
            continue        # the program was not even loaded
        assert code == 0 or code == 2 and b"seen: " in said and (
            b"memory" in said or b"thread" in said), (megabytes, code, said)
        assert code != 2 or b"serving" not in said, said
    assert 2 in ends


def test_without_descriptors_it_neither_spins_nor_dies(tmp_path):
    for i in range(5):
        build(tmp_path / ("a%d.seen" % i), [HELD])
    with Server(tmp_path, ".", "--threads", "2", descriptors=40) as server:
        served = server.client()
        assert served.get("/a0/" + HELD).status == 200
        clients = [server.client(3) for _ in range(60)]
        before, began = server.worked(), time.monotonic()
        refused = 0
        for client in clients:
            try:
                client.send("GET /a1/%s HTTP/1.1\r\nHost: a\r\n\r\n" % HELD)
                refused += client.read().status != 200
            except (OSError, EOFError):
                refused += 1
        assert 0 < refused < 60
        assert served.get("/a0/" + HELD).status == 200
        for target in "/files/a0.seen", "/archives", "/metrics":
            try:
                assert served.get(target).status in (200, 503)
            except (OSError, EOFError):         # it promised a file that it could not open
                served = server.client()
        time.sleep(1)
        assert server.worked() - before < 0.2 + 0.3 * (time.monotonic() - began)
        for client in clients:
            client.socket.close()

        def again():
            with server.client() as client:
                try:
                    return client.get("/files/a0.seen").status == 200
                except (OSError, EOFError):
                    return False
        until(again)


def test_two_thousand_idle_clients_cost_four_kilobytes_each(folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2500:
        pytest.skip("too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Server(folder, ".", "--threads", "2") as server:
        for _ in range(50):
            server.get("/archives")
        before = server.resident()
        clients = [server.client() for _ in range(2000)]
        for client in clients:
            assert client.get("/a/" + HELD).status == 200
        until(lambda: server.metrics()["seen_connections"] == 2001)
        if not SANITIZED:
            assert (server.resident() - before) / 2000 < 4096
        assert served(server)
        for client in clients:
            client.socket.close()
        until(lambda: server.metrics()["seen_connections"] == 1)


def test_all_clients_together_have_a_limit_of_memory(folder):
    head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
    with Server(folder, ".", "--memory", "2M", "--threads", "2") as server:
        clients = [server.client() for _ in range(20)]
        for client in clients:      # unfinished lists: what is complete is answered
            client.send(head + (HELD + "\n") * 5000)
        for client in clients:
            client.more()
        until(lambda: server.metrics()["seen_client_bytes"] < 20 * 24000)
        for client in clients:
            client.socket.close()
        clients = [server.client() for _ in range(40)]
        for client in clients:      # one line without an end
            client.send(head + "x" * 65000)
        until(lambda: server.metrics()["seen_overloads_total"] > 0)
        assert served(server)
        ready = select.select([c.socket for c in clients], [], [], 5)[0]
        assert ready and all(c.read().status == 503 for c in clients if c.socket in ready)
        assert server.metrics()["seen_client_bytes"] < 2.2e6
        for client in clients:
            client.socket.close()
        until(lambda: server.metrics()["seen_client_bytes"] < 100000)
        assert server.ask("POST", "/a", body=HELD).status == 200


# --- mad ---

def test_garbage_never_ends_it(server):
    rng = random.Random(7)
    begins = [b"", b"GET ", b"GET / HTTP/1.1\r\n", b"POST /a HTTP/1.1\r\nHost: a\r\n", b"*",
              b"*3\r\n$9\r\nBF.EXISTS\r\n", b"\x16\x03\x01\x02", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
              b"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"PING\r\n",
              b"POST /agg HTTP/1.1\r\nHost: a\r\nContent-Length: 300\r\n\r\n[", b"\r\n\r\n", b"\0" * 50]
    some = b"GET /a%:*$\r\n\r\n\r\n HTTP/1.1{}[]\",\\u00\xff\xfe\x80\0"
    for i in range(400):
        client = server.client(2)
        junk = bytes(rng.choice(some) if i % 2 else rng.randrange(256)
                     for _ in range(rng.randrange(1, 2000)))
        try:
            client.send(begins[i % len(begins)] + junk)
            client.socket.shutdown(1)
            client.rest()
        except OSError:
            pass
        client.socket.close()
        if i % 20 == 0:
            assert served(server)
    assert served(server)


def test_endless_heads_lines_and_strings_are_cut_off(server):
    before = server.resident()
    for begin, more in [("GET /a/", "x"), ("GET / HTTP/1.1\r\n", "a: b\r\n"), ("", "G"), ("", "\r\n"),
                        ("GET / HTTP/1.1\r\nHost: ", "a"),
                        ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "0"),
                        ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x")]:
        with server.client() as client:
            try:
                client.send(begin)
                for _ in range(200):
                    client.send(more * (50000 // len(more)))
                got = client.rest()
            except OSError:
                continue        # closed, as it should be
            assert got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501", b"-ERR")), (begin, more)
    with server.client() as client:     # one URL of 10 MB is no URL, and not kept
        client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n" + "x" * 10000000)
        assert client.read().text.startswith("!\t")
    with server.client() as client:
        client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10000002\r\n\r\n[\"" + "x" * 10000000)
        assert client.read().status == 400
    assert server.resident() - before < (16 << 20) * (4 if SANITIZED else 1)
    assert served(server)


def test_a_get_with_a_body_is_answered_and_closed(server):
    for target in "/archives", "/files/a.seen", "/agg/" + HELD:
        with server.client() as client:
            answer = client.ask("GET", target, body="nobody reads this")
            assert answer.status == 200 and answer["Connection"] == "close" and answer.body
            assert client.closed()
