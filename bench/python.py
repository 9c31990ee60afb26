#!/usr/bin/python3
"""python.py - how fast the Python package is, and what else Python programs use.

    bench/python.py [--urls 1000000] [--build build]

Adds N URLs, then looks up N URLs of which half were added, through

    seen            add_many() and has_many(), and single calls, profile whatwg
    seen, on disk   the same with a file that is open for writing
    pure Python     a Bloom filter: a bytearray, and two 64-bit halves of BLAKE2b from
                    which seven positions are made (Kirsch and Mitzenmacher)
    set             Python's own, which holds all URLs
    redis-py        pipelines of 1000 commands without a transaction, to redis-server:
                    SADD and SISMEMBER; and to seen serve: BF.ADD and BF.EXISTS

Servers run on free ports of this machine and are stopped at the end. Slow ways get
fewer URLs. Each way works on slices of 2048 URLs (pure Python: 256, pipelines: 1000), and the
fastest slice counts, so that other work of the machine disturbs little. Prints ns per
URL, and multiples of the first row.
"""
import argparse
import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TOKEN = "a-token-of-the-benchmark"


class PureBloom:
    def __init__(self, capacity, probes=7, bits_per_url=10):
        self.bits, self.probes = capacity * bits_per_url, probes
        self.cells = bytearray(self.bits // 8 + 1)

    def positions(self, url):
        digest = hashlib.blake2b(url.encode(), digest_size=16).digest()
        a = int.from_bytes(digest[:8], "little")
        b = int.from_bytes(digest[8:], "little") | 1
        return [(a + i * b) % self.bits for i in range(self.probes)]

    def add(self, url):
        cells, new = self.cells, False
        for at in self.positions(url):
            if not cells[at >> 3] >> (at & 7) & 1:
                cells[at >> 3] |= 1 << (at & 7)
                new = True
        return new

    def __contains__(self, url):
        cells = self.cells
        return all(cells[at >> 3] >> (at & 7) & 1 for at in self.positions(url))


def read_options():
    """The command line; `import seen` finds the package of that build then."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(options.build, "python"))
    return options


def clock(work, urls, size=2048):
    """ns per URL, of the fastest slice."""
    best = float("inf")
    for i in range(0, len(urls) - size + 1, size):
        some = urls[i:i + size]
        began = time.perf_counter()
        work(some)
        best = min(best, (time.perf_counter() - began) * 1e9 / len(some))
    return best


def each(function, urls):
    for url in urls:
        function(url)


def each_in(known, urls):
    for url in urls:
        url in known


@contextlib.contextmanager
def serving(command, port, folder):
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.01)
        yield
    finally:
        process.terminate()
        process.wait()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def pipelined(client, command, urls, size=1000):
    for i in range(0, len(urls), size):
        pipe = client.pipeline(transaction=False)
        for url in urls[i:i + size]:
            pipe.execute_command(command, "urls", url)
        pipe.execute()


def measure_redis(rows, added, asked, folder, build):
    import redis
    port = free_port()
    if shutil.which("redis-server"):
        with serving(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
                     port, folder):
            client = redis.Redis(port=port)
            rows.append(("redis-py, redis-server, SADD, SISMEMBER",
                         clock(lambda some: pipelined(client, "SADD", some), added, 1000),
                         clock(lambda some: pipelined(client, "SISMEMBER", some), asked, 1000)))
    port = free_port()
    os.makedirs(os.path.join(folder, "filters"))
    with open(os.open(os.path.join(folder, "token"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write(TOKEN + "\n")
    with serving([os.path.abspath(os.path.join(build, "seen")), "serve", "--listen",
                  "127.0.0.1:%d" % port, "--writable", "--token", "token", "--sync", "no",
                  "filters"], port, folder):
        client = redis.Redis(port=port, password=TOKEN)
        client.execute_command("BF.RESERVE", "urls", "0.01", str(2 * len(added)))
        rows.append(("redis-py, seen serve, BF.ADD, BF.EXISTS",
                     clock(lambda some: pipelined(client, "BF.ADD", some), added, 1000),
                     clock(lambda some: pipelined(client, "BF.EXISTS", some), asked, 1000)))


def main():
    options = read_options()
    import seen
    n = options.urls
    added = ["https://www.example.org/archive/2024/page-%d.html" % i for i in range(n)]
    asked = ["https://www.example.org/archive/2024/page-%d.html" % i
             for i in range(n // 2, n + n // 2)]
    few, fewer = n // 5, n // 20
    rows = []

    f = seen.new(capacity=n, rate=0.01, profile="whatwg")
    rows.append(("seen, add_many, has_many", clock(f.add_many, added),
                 clock(f.has_many, asked)))
    f = seen.new(capacity=n, rate=0.01, profile="whatwg")
    rows.append(("seen, add, in", clock(lambda some: each(f.add, some), added),
                 clock(lambda some: each_in(f, some), asked)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.seen")
        for sync in ("always", "no"):
            seen.build(path, [], capacity=n, rate=0.01, profile="whatwg")
            with seen.open(path, write=True, sync=sync) as f:
                rows.append(("seen, on disk, sync=%s, add_many, has_many" % sync,
                             clock(f.add_many, added),
                             clock(f.has_many, asked)))
        seen.build(path, [], capacity=n, rate=0.01, profile="whatwg")
        with seen.open(path, write=True, sync="no") as f:
            rows.append(("seen, on disk, sync=no, add, in",
                         clock(lambda some: each(f.add, some), added[:few]),
                         clock(lambda some: each_in(f, some), asked[:few])))
        pure = PureBloom(n)
        rows.append(("pure Python Bloom filter",
                     clock(lambda some: each(pure.add, some), added[:few], 256),
                     clock(lambda some: each_in(pure, some), asked[-few:], 256)))
        known = set()
        rows.append(("set", clock(lambda some: each(known.add, some), added),
                     clock(lambda some: each_in(known, some), asked)))
        measure_redis(rows, added[:fewer], asked[:fewer], folder, options.build)

    print("%-44s %12s %12s   %s" % ("ns per URL, %s URLs" % format(n, ","), "add", "look up",
                                    "times seen's batches"))
    for name, add, has in rows:
        print("%-44s %12.0f %12.0f   %5.1f %5.1f" % (name, add, has, add / rows[0][1],
                                                     has / rows[0][2]))


if __name__ == "__main__":
    main()
