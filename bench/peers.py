#!/usr/bin/python3
"""peers.py - "have we seen this URL?", as other tools answer it.

    bench/peers.py [--urls 1000000] [--build build]

The same N URLs go into each of

    seen            a filter at 1 %: blocked; and fuse, which is built once
    Scrapy          its RFPDupeFilter: fingerprints in a set, and a list on disk
    Redis           a set (SADD), as scrapy-redis keeps it, with pipelines of 1,000
    SQLite          a table with the URL as its key
    sorted CDXJ     one line per URL and a binary search over the mapped file, as pywb
                    looks up its indexes
    sorted list     the URLs alone, the same search

and are asked then: N/10 URLs, half of them known. Every way is called from Python, in
a process of its own, and each row says

    bytes   of memory that the process has more than before (Redis: used_memory), or
            of the file that is mapped, per URL
    us      per question; medians of slices
    wrong   answers "yes" for URLs that are not there
    start   ms until a new process has its first answer

RedisBloom, MemGator and pywb are not in Debian and so are not run.
"""
import bisect
import contextlib
import json
import mmap
import multiprocessing
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

from python import free_port, read_options, serving

SLICE = 1000


def url(i):
    return "https://www.example.org/archive/%d/page-%d.html" % (i * 2654435761 % 9973, i)


def surt(text):
    return "org,example)" + text[len("https://www.example.org"):]


def resident():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))


class Way:
    def prepare(self):
        """Import modules, whose memory does not count."""


class Filter(Way):
    """A file of seen; `kind` is set below."""
    def make(self, urls, folder, build):
        with open(folder + "/urls", "w") as file:
            file.writelines(u + "\n" for u in urls)
        subprocess.run([build + "/seen", "build", "--kind", self.kind, "--rate", "1%", "-o",
                        folder + "/f.seen", folder + "/urls"], check=True,
                       stderr=subprocess.DEVNULL)

    def open(self, folder):
        import seen
        self.filter = seen.open(folder + "/f.seen")

    def ask(self, some):
        return list(self.filter.has_many(some))

    def size(self, folder, before):
        return os.path.getsize(folder + "/f.seen")


class Scrapy(Way):
    def prepare(self):
        import scrapy.dupefilters       # noqa: F401
        import scrapy.utils.request     # noqa: F401

    def make(self, urls, folder, build):
        self.load(folder)
        for u in urls:
            self.seen(u)
        self.filter.close("finished")

    def load(self, folder):
        from scrapy import Request
        from scrapy.dupefilters import RFPDupeFilter
        from scrapy.utils.request import RequestFingerprinter
        self.request = Request
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # about a default of Scrapy's
            self.filter = RFPDupeFilter(folder, fingerprinter=RequestFingerprinter())

    def seen(self, u):
        return self.filter.request_seen(self.request(u))

    open = load

    def ask(self, some):
        """It has no other question than this, which adds what is new."""
        return [self.seen(u) for u in some]

    def size(self, folder, before):
        return resident() - before


class Redis(Way):
    """A set; the server is started by main() and keeps it between processes."""
    def connect(self, folder):
        import redis
        with open(folder + "/port") as file:
            self.client = redis.Redis(port=int(file.read()))

    def all(self, command, some):
        pipe = self.client.pipeline(transaction=False)
        for u in some:
            pipe.execute_command(command, "urls", u)
        return pipe.execute()

    def make(self, urls, folder, build):
        self.connect(folder)
        self.empty = self.client.info("memory")["used_memory"]
        with open(folder + "/empty", "w") as file:
            file.write(str(self.empty))
        for i in range(0, len(urls), SLICE):
            self.all("SADD", urls[i:i + SLICE])

    open = connect

    def ask(self, some):
        return [bool(x) for x in self.all("SISMEMBER", some)]

    def size(self, folder, before):
        with open(folder + "/empty") as file:
            return self.client.info("memory")["used_memory"] - int(file.read())


class Table(Way):
    def make(self, urls, folder, build):
        db = sqlite3.connect(folder + "/db")
        db.execute("CREATE TABLE urls (url TEXT PRIMARY KEY) WITHOUT ROWID")
        db.executemany("INSERT OR IGNORE INTO urls VALUES (?)", ((u,) for u in urls))
        db.commit()
        db.close()

    def open(self, folder):
        self.db = sqlite3.connect("file:%s/db?mode=ro" % folder, uri=True)

    def ask(self, some):
        get = self.db.execute
        return [get("SELECT 1 FROM urls WHERE url = ?", (u,)).fetchone() is not None for u in some]

    def size(self, folder, before):
        return os.path.getsize(folder + "/db")


class Lines(Way):
    """Binary search for lines by offset, which needs no table of them."""
    def line(self, u):
        return u + "\n"

    def key(self, u):
        return u

    def make(self, urls, folder, build):
        with open(folder + "/lines", "w") as file:
            file.writelines(sorted(self.line(u) for u in urls))

    def open(self, folder):
        with open(folder + "/lines", "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)

    def __len__(self):
        return len(self.map)

    def __getitem__(self, at):
        """The first whole line behind this byte."""
        begin = self.map.find(b"\n", at - 1) + 1 if at else 0
        end = self.map.find(b"\n", begin)
        return self.map[begin:end] if 0 <= begin < len(self.map) else b"\xff"

    def ask(self, some):
        answers = []
        for u in some:
            key = self.key(u).encode()
            answers.append(self[bisect.bisect_left(self, key)].split(b" ")[0] == key)
        return answers

    def size(self, folder, before):
        return len(self.map)


class Cdxj(Lines):
    def key(self, u):
        return surt(u)

    def line(self, u):
        return "%s 20240102030405 %s\n" % (surt(u), json.dumps(
            {"url": u, "mime": "text/html", "status": "200", "digest": "A" * 32, "length": "5120",
             "offset": "12345678", "filename": "crawl-20240102030405-00001.warc.gz"}))


def child(pipe, way, job, *words):
    """Run one job in this fresh process."""
    if job == "make":
        way.make(*words)
        pipe.send(None)
        return
    folder, asked, known = words
    began = time.perf_counter()
    way.prepare()
    before = resident()
    way.open(folder)
    way.ask(asked[1:2])         # known: Scrapy adds what is new
    first = time.perf_counter() - began
    times, wrong = [], 0
    for i in range(0, len(asked), SLICE):
        begin = time.perf_counter()
        answers = way.ask(asked[i:i + SLICE])
        times.append((time.perf_counter() - begin) / len(answers))
        wrong += sum(map(bool, answers)) - sum(known[i:i + SLICE])
    pipe.send((way.size(folder, before), statistics.median(times), wrong, first))


def in_process(*words):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=child, args=(theirs, *words))
    process.start()
    theirs.close()
    result = ours.recv()
    process.join()
    return result


def kind(name):
    way = Filter()
    way.kind = name
    return way


def main():
    options = read_options()
    os.environ["PYTHONPATH"] = os.path.abspath(options.build + "/python")
    n = options.urls
    urls = [url(i) for i in range(n)]
    some = n // 10 // SLICE * SLICE
    asked = [url(i * 9 % n if i % 2 else n + i) for i in range(some)]
    known = [bool(i % 2) for i in range(some)]
    ways = [("seen, blocked", kind("blocked")), ("seen, fuse", kind("fuse")),
            ("Scrapy's RFPDupeFilter", Scrapy()), ("Redis set", Redis()),
            ("SQLite table", Table()), ("sorted CDXJ, as pywb", Cdxj()), ("sorted list", Lines())]
    print("%-24s %12s %12s %10s %12s" % ("%s URLs" % format(n, ","), "bytes/URL", "us/question",
                                         "wrong", "start, ms"))
    for name, way in ways:
        with tempfile.TemporaryDirectory() as folder:
            server = contextlib.nullcontext()
            if isinstance(way, Redis):
                port = free_port()
                with open(folder + "/port", "w") as file:
                    file.write(str(port))
                server = serving(["redis-server", "--port", str(port), "--bind", "127.0.0.1",
                                  "--save", ""], port, folder)
            with server:
                in_process(way, "make", urls, folder, os.path.abspath(options.build))
                size, each, wrong, first = in_process(way, "ask", folder, asked, known)
        print("%-24s %12.2f %12.2f %9.3f%% %12.1f" % (
            name, size / n, each * 1e6, 100 * wrong / (some / 2), first * 1e3), flush=True)


if __name__ == "__main__":
    sys.exit(main())
