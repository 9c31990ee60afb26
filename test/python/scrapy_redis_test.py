"""scrapy_redis_test.py - what scrapy-redis sends, against `seen serve --sets`.

Debian has no package of scrapy-redis, so its commands are written here as it sends them,
through the same client (redis-py): those of its dupefilter, of its three queues, of its
scheduler and of its spiders. doc/python.md has the set-up: the queue on a Redis server,
the filter on `seen serve`.
"""
import pathlib
import pickle
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "serve")]
from serving import Server, until       # noqa: E402
from ports import free_port             # noqa: E402

redis = pytest.importorskip("redis")
TOKEN = "a-token-of-the-tests"


class DupeFilter:
    """The commands of scrapy_redis.dupefilter.RFPDupeFilter."""

    def __init__(self, server, key="links:dupefilter"):
        self.server, self.key = server, key

    def request_seen(self, fingerprint):
        return self.server.sadd(self.key, fingerprint) == 0

    def clear(self):
        self.server.delete(self.key)


class PriorityQueue:
    """The commands of scrapy_redis.queue.PriorityQueue, the default."""

    def __init__(self, server, key="links:requests"):
        self.server, self.key = server, key

    def __len__(self):
        return self.server.zcard(self.key)

    def push(self, request, priority=0):
        self.server.execute_command("ZADD", self.key, -priority, pickle.dumps(request, protocol=-1))

    def pop(self):
        pipe = self.server.pipeline()
        pipe.multi()
        pipe.zrange(self.key, 0, 0).zremrangebyrank(self.key, 0, 0)
        results, count = pipe.execute()
        return pickle.loads(results[0]) if results else None

    def clear(self):
        self.server.delete(self.key)


class FifoQueue(PriorityQueue):
    def __len__(self):
        return self.server.llen(self.key)

    def push(self, request, priority=0):
        self.server.lpush(self.key, pickle.dumps(request, protocol=-1))

    def pop(self):
        data = self.server.rpop(self.key)
        return pickle.loads(data) if data else None


class LifoQueue(FifoQueue):
    def pop(self):
        data = self.server.lpop(self.key)
        return pickle.loads(data) if data else None


def filters(folder, **how):
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "filters").mkdir(exist_ok=True)
    return Server(folder, "--writable", "--token", "token", "--sync", "no", "--sets", "--seed", "7",
                  "filters", **how)


def connect(port, **how):
    """As scrapy_redis.connection does for REDIS_URL."""
    it = redis.StrictRedis.from_url("redis://:%s@127.0.0.1:%d" % (TOKEN, port), socket_timeout=30,
                                    socket_connect_timeout=30, retry_on_timeout=True,
                                    encoding="utf-8", **how)
    it.ping()                           # the scheduler does, when it opens
    return it


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """A Redis server, on a free port."""
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server")
    port = free_port()
    process = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1",
                                "--save", "", "--requirepass", TOKEN], stdout=subprocess.DEVNULL,
                               cwd=tmp_path_factory.mktemp("redis"))
    try:
        def answers():
            try:
                return connect(port)
            except redis.ConnectionError:
                return None
        yield until(answers)
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize("kind", [PriorityQueue, FifoQueue, LifoQueue])
def test_queue_and_filter_on_two_addresses(tmp_path, queue, kind):
    """Three workers crawl 300 pages of a graph; each page is fetched once."""
    fetched, lock = [], threading.Lock()
    with filters(tmp_path) as server:
        started = kind(queue, "links:%s" % kind.__name__)
        left = [0]                      # pages that are queued or being fetched

        def enqueue(dupes, requests, page):
            if not dupes.request_seen("%040x" % page):
                with lock:
                    left[0] += 1
                requests.push({"url": page}, priority=page % 3)

        def work():
            dupes = DupeFilter(connect(server.port))
            requests = kind(queue, started.key)
            while left[0]:
                request = requests.pop() if len(requests) else None
                if not request:
                    continue
                fetched.append(request["url"])
                for page in (2 * request["url"] + 1, 2 * request["url"] + 2, 0, 7):
                    if page < 300:
                        enqueue(dupes, requests, page)
                with lock:
                    left[0] -= 1

        enqueue(DupeFilter(connect(server.port)), started, 0)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(fetched) == list(range(300))
    with filters(tmp_path) as server:   # what was seen stays seen
        dupes = DupeFilter(connect(server.port))
        assert all(dupes.request_seen("%040x" % page) for page in range(300))
        dupes.clear()                   # SCHEDULER_FLUSH_ON_START
        assert not dupes.request_seen("%040x" % 1)
        started.clear()


def test_a_queue_on_the_filters_address_is_refused_not_half_done(tmp_path):
    with filters(tmp_path) as server:
        client = connect(server.port)
        for use in (lambda: PriorityQueue(client).push("a"), lambda: len(PriorityQueue(client)),
                    lambda: PriorityQueue(client).pop(), lambda: FifoQueue(client).push("a"),
                    lambda: len(FifoQueue(client)), lambda: FifoQueue(client).pop(),
                    lambda: LifoQueue(client).pop(), lambda: client.spop("links:start_urls", 16),
                    lambda: client.hset("links:stats", "a", 1), lambda: client.rpush("items", "x")):
            with pytest.raises(redis.ResponseError):
                use()
        assert client.dbsize() == 0
        # Start URLs are read by a transaction of LRANGE and LTRIM.
        with pytest.raises(redis.ResponseError):
            with client.pipeline() as pipe:
                pipe.sadd("links:dupefilter", "fingerprint")
                pipe.lrange("links:start_urls", 0, 15)
                pipe.ltrim("links:start_urls", 16, -1)
                pipe.execute()
        assert client.exists("links:dupefilter") == 0   # the SADD of it was not made, either


def words(*them):
    them = [it.encode() for it in them]
    return b"*%d\r\n" % len(them) + b"".join(b"$%d\r\n%s\r\n" % (len(it), it) for it in them)


# What is sent, and what must come back. R: the reply begins with this.
EXCHANGE = [
    (("AUTH", TOKEN), b"+OK\r\n"),
    (("PING",), b"+PONG\r\n"),
    (("SADD", "s:dupefilter", "0" * 40), b":1\r\n"),
    (("SADD", "s:dupefilter", "0" * 40), b":0\r\n"),
    (("SCARD", "s:dupefilter"), b":1\r\n"),
    # a pipeline of redis-py: MULTI, commands, EXEC
    (("MULTI",), b"+OK\r\n"),
    (("SADD", "s:dupefilter", "1" * 40), b"+QUEUED\r\n"),
    (("SADD", "s:dupefilter", "0" * 40), b"+QUEUED\r\n"),
    (("SISMEMBER", "s:dupefilter", "1" * 40), b"+QUEUED\r\n"),
    (("EXEC",), b"*3\r\n:1\r\n:0\r\n:1\r\n"),
    # one command that is not served: nothing is made
    (("MULTI",), b"+OK\r\n"),
    (("SADD", "s:dupefilter", "2" * 40), b"+QUEUED\r\n"),
    (("ZRANGE", "s:requests", "0", "0"), b"-ERR unknown command"),
    (("ZREMRANGEBYRANK", "s:requests", "0", "0"), b"-ERR unknown command"),
    (("EXEC",), b"-EXECABORT"),
    (("SISMEMBER", "s:dupefilter", "2" * 40), b":0\r\n"),
    # given up by the client
    (("MULTI",), b"+OK\r\n"),
    (("SADD", "s:dupefilter", "3" * 40), b"+QUEUED\r\n"),
    (("DISCARD",), b"+OK\r\n"),
    (("SISMEMBER", "s:dupefilter", "3" * 40), b":0\r\n"),
    (("DEL", "s:dupefilter"), b":1\r\n"),
    (("SADD", "s:dupefilter", "0" * 40), b":1\r\n"),
]


@pytest.mark.parametrize("at_once", [False, True])
def test_the_bytes_of_an_exchange(tmp_path, at_once):
    with filters(tmp_path) as server:
        with socket.create_connection(("127.0.0.1", server.port), 30) as client:
            reader = client.makefile("rb")

            def check(sent, reply):
                got = reader.readline()
                if got.startswith(b"*"):
                    got += b"".join(reader.readline() for _ in range(int(got[1:])))
                assert got == reply if reply.endswith(b"\r\n") else got.startswith(reply), \
                    (sent, got)

            if at_once:                 # pipelined
                client.sendall(b"".join(words(*sent) for sent, _ in EXCHANGE))
            for sent, reply in EXCHANGE:
                if not at_once:
                    client.sendall(words(*sent))
                check(sent, reply)
