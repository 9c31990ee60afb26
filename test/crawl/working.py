"""working.py - workers, their jobs, and the hosts that they crawl.

    with Hosts(40, pages_per_host) as web:
        team = Team(tmp_path)
        team.enqueue(web.template("news"))
        with team.worker(), team.worker():
            team.wait()
        assert team.records() == ...
        web.assert_polite(0.1)

All hosts are addresses of the loopback, 127.1.0.0 and above, at one port.
"""
import collections
import glob
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "servers"))
from postgres import shared_postgres
from proxy import Proxy
from rabbitmq import shared_rabbitmq

from crawling import SEEN, Site, page


class Hosts(Site):
    """Hosts with a tree of pages each; / links to all, and to the next host."""

    def __init__(self, hosts, pages, fan=8, links=(), **answers):
        super().__init__({}, "0.0.0.0")
        self.hosts, self.count, self.fan = hosts, pages, fan
        self.links, self.answers, self.slow = list(links), answers, 0

    def name(self, host):
        return "127.1.%d.%d:%d" % (host // 250, host % 250 + 1, self.server_address[1])

    def url(self, host=0, path="/"):
        return "http://%s%s" % (self.name(host), path)

    def all(self):
        """Every URL of every host."""
        return sorted(self.url(host, "/" if n == 0 else "/p%d" % n)
                      for host in range(self.hosts) for n in range(self.count))

    def answer(self, handler):
        if self.slow:
            time.sleep(self.slow)
        path = handler.path
        if path in self.answers:
            found = self.answers[path]
            return found(handler) if callable(found) else found
        if path == "/robots.txt":
            return super().answer(handler)
        n = 0 if path == "/" else int(path[2:])
        below = ["/p%d" % k for k in range(n * self.fan + 1, n * self.fan + self.fan + 1) if k < self.count]
        ip, port = handler.headers["Host"].split(":")
        mine = int(ip.split(".")[2]) * 250 + int(ip.split(".")[3]) - 1
        if n == 0 and mine + 1 < self.hosts:
            below.append(self.url(mine + 1))
        return self.pages.get(path) or _answer(page(*below, *self.links, title="%s of %d" % (path, mine)))

    def wait_for(self, n):
        """After too long a wait, also report what the workers wrote to standard error."""
        try:
            super().wait_for(n)
        except AssertionError as why:
            raise AssertionError(str(why), [one.told() for one in Worker.started]) from None

    def by_host(self):
        hosts = collections.defaultdict(list)
        for one in self.log:
            hosts[one.host].append(one)
        for requests in hosts.values():
            requests.sort(key=lambda one: one.began)
        return hosts

    def assert_polite(self, delay):
        """Per host one request at a time, and this many seconds between two. A busy server may note the end of a request
        5 ms late."""
        for host, requests in self.by_host().items():
            for before, after in zip(requests, requests[1:]):
                assert after.began - before.ended > min(delay * 0.95, delay - 0.005), (host, before, after)

    def template(self, folder, name="site", starts=None, **more):
        """A file with a template that starts at each host, or at some."""
        starts = [self.url(host) for host in (range(self.hosts) if starts is None else starts)]
        text = json.dumps({"name": name, "start": starts, **more})
        path = os.path.join(str(folder), name + ".json")
        with open(path, "w") as file:
            file.write(text)
        return path


def _answer(body):
    from crawling import Answer
    return Answer(body)


def on_sqlite(folder):
    """Where a team has its queue and its frontier."""
    return {}


def on_servers(folder):
    """A new database, and queues with names of their own, on the servers that tests share."""
    name = "%d-%s-" % (os.getpid(), os.path.basename(str(folder))[-40:])
    return {"queue": shared_rabbitmq().url(), "frontier": shared_postgres().database("work"), "name": name}


class Team:
    """A frontier and a queue, and the commands that use them."""

    def __init__(self, folder, queue=None, frontier=None, lease=2, name=""):
        """name: of its queues, at a server that others use too."""
        self.folder = str(folder)
        self.queue = queue or "sqlite:%s/work.db" % self.folder
        self.frontier = frontier or self.queue
        self.lease, self.started = lease, []
        self.jobs, self.pages = name + "jobs", name + "pages"

    def seen(self, *words, codes=(0,), timeout=240, given=""):
        done = subprocess.run([SEEN, *map(str, words)], stdout=subprocess.PIPE, input=given.encode(),
                              stderr=subprocess.PIPE, timeout=timeout)
        assert done.returncode in codes, (words, done.returncode, done.stderr.decode())
        return done.stdout.decode()

    def enqueue(self, *words, **how):
        return self.seen("enqueue", "--queue", self.queue, "--jobs", self.jobs, *words, **how)

    def put(self, id, body):
        """A message that may be anything."""
        self.seen("queue", "put", "--queue", self.queue, self.jobs, "--id", id, given=body + "\n")

    def dead(self):
        """Dead letters of jobs: reasons by ids."""
        found = json.loads(self.seen("queue", "dead", "--queue", self.queue, "--json", self.jobs, codes=(0, 1)))
        return {one["id"]: one["reason"] for one in found}

    def command(self, *options):
        return [SEEN, "work", "--queue", self.queue, "--frontier", self.frontier, "--jobs", self.jobs,
                "--pages", self.pages, "--allow-private", "--lease", str(self.lease), "--json", *map(str, options)]

    def direct(self, *options):
        """The same without the program that becomes another one: libinject.so does not follow."""
        return [os.path.join(os.path.dirname(os.path.abspath(SEEN)), "seen-all"), *self.command(*options)[1:]]

    def work(self, *options, timeout=240):
        """Run one worker until nothing is left."""
        done = subprocess.run(self.command("--drain", *options), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def worker(self, *options):
        worker = Worker(self.command(*options))
        self.started.append(worker)
        return worker

    def status(self):
        return json.loads(self.seen("work", "status", "--frontier", self.frontier, "--json"))

    def stats(self):
        return {one["queue"]: one for one in
                json.loads(self.seen("queue", "stats", "--queue", self.queue, "--json"))}

    def take(self, shard=0):
        """The bodies of all messages of a shard, which are done then. RabbitMQ has some of them twice."""
        text = self.seen("queue", "take", "--queue", self.queue,
                         *(("--wait", "1s") if "amqp" in self.queue else ()), "%s.%d" % (self.pages, shard), codes=(0, 1))
        found = {}
        for one in map(json.loads, text.splitlines()):
            same = found.setdefault(one["_id"], one)
            assert "amqp" in self.queue or same is one, one
            assert same["_visit"] == one["_visit"] and same.get("_url") == one.get("_url")
        return list(found.values())

    def records(self, shard=0):
        """Page records and ends of visits."""
        records, ends = [], []
        for one in self.take(shard):
            (ends if one.get("_end") else records).append(one)
        return records, ends


def indexed(into):
    """The URLs that the indexes of all workers in a folder name, without robots.txt. Each is named once."""
    found = []
    for path in sorted(glob.glob("%s/worker-*/index.cdxj" % into)):
        with open(path, encoding="utf-8") as file:
            found += [json.loads(line.split(" ", 2)[2])["url"] for line in file]
    found = [url for url in found if not url.endswith("/robots.txt")]
    twice = sorted(url for url, n in collections.Counter(found).items() if n > 1)
    assert not twice, "%d of %d pages are named twice: %s" % (len(twice), len(found), twice[:5])
    assert not glob.glob("%s/worker-*/commit" % into)       # all folders are done with
    return sorted(found)


class Worker:
    started = []        # of this test and those before

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.end()

    def kill(self):
        self.process.kill()
        self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()

    def told(self):
        """End it; its exit code and standard error, if nobody has read that yet."""
        ended = self.process.poll()
        self.process.kill()
        return ended, "" if self.process.stderr.closed else self.process.stderr.read().decode()

    def end(self, timeout=240):
        """SIGTERM, and its report."""
        if self.process.returncode is not None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, (self.process.returncode, err.decode())
        return json.loads(out)

    def wait(self, timeout=240):
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, (self.process.returncode, err.decode())
        return json.loads(out)


def until(true, timeout=240, patience=None):
    """Wait until a function returns something that is true; at most for the patience, if there is one."""
    end = time.monotonic() + (patience or timeout)
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    if not patience:
        raise AssertionError("waited for %s s" % timeout)
