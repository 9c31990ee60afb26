"""federation.py - web archives on the loopback, to aggregate.

    with Archives(3) as archives:
        archives[0].hold("http://a.example/", "20010203040506")
        archives[1].answer = lambda url: (503, {}, b"")
        archives[2].delay = 5

Each archive listens on a port of its own and counts its requests. All of them
run in one thread. As a program this file compares an aggregator that asks
filters first with one that asks everybody:

    test/serve/federation.py [--archives 20] [--urls 300] [--clients 4]
"""
import argparse
import asyncio
import calendar
import json
import os
import random
import statistics
import tempfile
import threading
import time

from serving import Server, build

DAY = 86400


def stamp(seconds):
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds))


def epoch(stamp14):
    return calendar.timegm(time.strptime(stamp14, "%Y%m%d%H%M%S"))


def seconds(date):
    return calendar.timegm(time.strptime(date, "%a, %d %b %Y %H:%M:%S GMT"))


def http_date(stamp14):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.strptime(stamp14, "%Y%m%d%H%M%S"))


class Archive:
    def __init__(self, name):
        self.name, self.held, self.requests = name, {}, []
        self.delay, self.answer, self.agents = 0, None, set()
        self.silent = False
        self.date = None    # Accept-Datetime of the request that is answered

    def hold(self, url, *stamps):
        self.held.setdefault(url, []).extend(stamps)

    @property
    def timemap(self):
        return "http://127.0.0.1:%d/timemap/link/" % self.port

    @property
    def timegate(self):
        return "http://127.0.0.1:%d/timegate/" % self.port

    def memento(self, url, stamp14):
        return "http://127.0.0.1:%d/web/%s/%s" % (self.port, stamp14, url)

    def write(self, url, stamps=None, more=()):
        """A TimeMap as archives write it."""
        lines = ['<%s>; rel="original"' % url,
                 '<%s%s>; rel="self"; type="application/link-format"' % (self.timemap, url), *more]
        lines += ['<%s>; rel="memento"; datetime="%s"' % (self.memento(url, s), http_date(s))
                  for s in (self.held[url] if stamps is None else stamps)]
        return ",\n".join(lines).encode() + b"\n"

    def chosen(self, url):
        """Status and headers of a TimeGate."""
        held = sorted(self.held[url])
        wanted = seconds(self.date)
        at = min(range(len(held)), key=lambda i: (abs(epoch(held[i]) - wanted), -i))
        places = {"first": 0, "prev": at - 1, "memento": at, "next": at + 1,
                  "last": len(held) - 1}
        links = ['<%s>; rel="original"' % url]
        links += ['<%s>; rel="%s"; datetime="%s"' % (
            self.memento(url, held[i]), " ".join(
                [rel for rel, place in places.items() if place == i and rel != "memento"] +
                ["memento"]), http_date(held[i]))
            for i in sorted(set(places.values())) if 0 <= i < len(held)]
        return 302, {"Location": self.memento(url, held[at]), "Vary": "accept-datetime",
                     "Link": ", ".join(links)}

    def reply(self, target):
        """Status, headers and body (or an iterator over it) of a request."""
        if self.answer:
            return self.answer(target)
        if target.startswith("/timegate/"):
            url = target.removeprefix("/timegate/")
            return (*self.chosen(url), b"") if url in self.held else (404, {}, b"none\n")
        url = target.removeprefix("/timemap/link/")
        if url not in self.held:
            return 404, {}, b"not archived\n"
        return 200, {"Content-Type": "application/link-format"}, self.write(url)

    async def serve(self, reader, writer):
        body = None
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = head.split(b" ", 2)[1].decode()
                self.agents |= {line for line in head.decode("latin-1").split("\r\n")
                                if line.startswith("User-Agent")}
                self.requests.append(target)
                await asyncio.sleep(self.delay() if callable(self.delay) else self.delay)
                while self.silent:
                    await asyncio.sleep(0.01)
                self.date = next((line.split(": ", 1)[1] for line in head.decode().split("\r\n")
                                  if line.startswith("Accept-Datetime: ")), None)
                status, headers, body = self.reply(target)
                lines = ["HTTP/1.1 %d Status" % status,
                         *("%s: %s" % pair for pair in headers.items())]
                if isinstance(body, bytes):
                    lines.append("Content-Length: %d" % len(body))
                    body = [body]
                else:
                    lines.append("Connection: close")
                writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
                for piece in body:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if "Connection: close" in lines:
                    break
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            if hasattr(body, "close"):
                body.close()        # now: an exception may hold on to it
            writer.close()


class Archives(list):
    def __init__(self, n):
        super().__init__(Archive("archive%02d" % (i + 1)) for i in range(n))

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        assert ready.wait(30)
        return self

    def run(self, ready):
        async def begin():
            for archive in self:
                server = await asyncio.start_server(archive.serve, "127.0.0.1", 0,
                                                    limit=1 << 17, backlog=1000)
                archive.port = server.sockets[0].getsockname()[1]
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(begin())
        ready.set()
        self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def __exit__(self, *why):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)

    def list(self, path, timegates=()):
        """MemGator's list of them, with the TimeGates of these."""
        with open(path, "w") as file:
            json.dump([{"id": a.name, "name": a.name.title(), "timemap": a.timemap,
                        **({"timegate": a.timegate} if a in timegates else {}),
                        "probability": 0.5} for a in self], file)
        return path

    def asked(self):
        return sum(len(a.requests) for a in self)


# --- a comparison -------------------------------------------------------------

def populate(archives, urls, pace, seed=1):
    """Holdings with the overlap of real archives: one large archive, a few
    national ones and many small ones; some URLs are nowhere. The number of
    captures is heavy-tailed, and each archive has its own latency."""
    draw = random.Random(seed)
    share = [0.6, 0.2, 0.12, 0.08, 0.06, 0.05] + [0.04 / (1 + i / 3) for i in range(100)]
    popularity = [draw.betavariate(0.7, 1.1) * 2 for _ in urls]     # mean 0.78
    for archive, part in zip(archives, share):
        for url, popular in zip(urls, popularity):
            if draw.random() < min(1, part * popular):
                n = min(200, int(draw.paretovariate(1.1)))
                begin = calendar.timegm((1997, 1, 1, 0, 0, 0))
                archive.hold(url, *sorted(stamp(begin + draw.randrange(28 * 365) * DAY +
                                                draw.randrange(DAY)) for _ in range(n)))
    for archive in archives:
        typical = pace * draw.lognormvariate(-3.2, 0.7)             # median 41 ms
        archive.delay = lambda t=typical, d=random.Random(archive.name): \
            min(2, t * d.lognormvariate(0, 0.6))


def measure(server, urls, clients):
    """Ask for all TimeMaps; milliseconds each, and the mementos."""
    times, found, left, lock = [], {}, list(urls), threading.Lock()

    def client():
        with server.client() as c:
            while True:
                with lock:
                    if not left:
                        return
                    url = left.pop()
                began = time.perf_counter()
                answer = c.get("/timemap/json/" + url)
                times.append(1000 * (time.perf_counter() - began))
                assert answer.status in (200, 404), answer.text
                assert not answer["Seen-Failed"]
                found[url] = set()
                if answer.status == 200:
                    list_ = json.loads(answer.text)["mementos"]["list"]
                    assert list_ == sorted(list_, key=lambda m: m["datetime"])
                    found[url] = {m["uri"] for m in list_}

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return times, found


def compare(folder, n=20, urls=300, clients=4, stale=0.02, rate="0.01", pace=1):
    """The same questions to an aggregator without filters, with filters, and
    with filters that lack some of what their archives hold."""
    asked = ["http://site%d.example/page" % i for i in range(urls)]
    other = ["http://other%d.example/" % i for i in range(2000)]
    rows = []
    with Archives(n) as archives:
        populate(archives, asked, pace)
        truth = {url: {a.memento(url, s) for a in archives for s in a.held.get(url, ())}
                 for url in asked}
        listed = archives.list(os.path.join(folder, "archives.json"))
        draw = random.Random(2)
        for way in "everyone", "filters", "stale":
            filters = os.path.join(folder, way)
            os.mkdir(filters)
            for i, a in enumerate(archives if way != "everyone" else ()):
                held = [u for u in a.held if way == "filters" or draw.random() >= stale]
                held += other[i * 100:]
                build(os.path.join(filters, a.name + ".seen"), held, "--capacity",
                      str(len(held) + 1), "--rate", rate, "--kind", "bloom")
            for a in archives:
                a.requests.clear()
            with Server(folder, "--aggregate", "--archives", listed, "--allow-private",
                        filters) as server:
                times, found = measure(server, asked, clients)
                metrics = server.metrics()
            times.sort()
            rows.append({
                "way": way, "requests": archives.asked(), "median_ms": statistics.median(times),
                "p95_ms": times[int(len(times) * 0.95)], "mean_ms": statistics.mean(times),
                "mementos": sum(map(len, found.values())),
                "missed": sum(len(truth[u] - found[u]) for u in asked),
                "wrong": sum(len(found[u] - truth[u]) for u in asked),
                "held_by": sum(u in a.held for a in archives for u in asked) / len(asked),
                "spared": metrics["seen_memento_spared_total"]})
            assert rows[-1]["requests"] == metrics["seen_memento_requests_total"]
    return rows


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("--archives", type=int, default=20)
    words.add_argument("--urls", type=int, default=300)
    words.add_argument("--clients", type=int, default=4)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(folder, given.archives, given.urls, given.clients)
    print("%d URLs, %d archives; a URL is in %.2f of them on average" %
          (given.urls, given.archives, rows[0]["held_by"]))
    print("%-10s %9s %8s %10s %8s %8s %8s" % ("asked", "requests", "saved", "median ms",
                                              "p95 ms", "mementos", "missed"))
    for row in rows:
        print("%-10s %9d %7.1f%% %10.1f %8.1f %8d %8d" % (
            row["way"], row["requests"], 100 - 100 * row["requests"] / rows[0]["requests"],
            row["median_ms"], row["p95_ms"], row["mementos"], row["missed"]))
