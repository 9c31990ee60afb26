"""commands.py - every command that reads or writes, to be disturbed.

A scenario is a folder to begin with, a command, and what must hold after it,
whatever happened: `after` gets the folder and what the command did.
"""
import functools
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import threading
import xml.etree.ElementTree as xml

from injected import Fault, run


def lines(urls):
    return "".join(url + "\n" for url in urls).encode()


# Without it, a program writes no page.
READER = os.path.join(os.environ.get("SEEN_BUILD", "build"), "js/seen.wasm")
OLD = ["http://old.example/%d" % i for i in range(300)]
NEW = ["http://new.example/%d" % i for i in range(200)]


class Wrong(Exception):
    pass


def ensure(fact, *words):
    if not fact:
        raise Wrong(" ".join(map(str, words)))


def plain(folder, *words, stdin=b"", codes=(0,)):
    """Run seen undisturbed."""
    done = run(words, folder, stdin=stdin, injected=False)
    ensure(done.code in codes, "afterwards, seen", *words, "ends with", done.code, done.err)
    return done.out


def build(folder, name, urls, *options):
    plain(folder, "build", "--quiet", "-o", name, *options, "-", stdin=lines(urls))


def holds(folder, name, urls):
    """Every one of the URLs is in the filter."""
    missing = plain(folder, "check", "--only", "new", name, stdin=lines(urls), codes=(0, 1))
    ensure(not missing, name, "lacks", len(missing.splitlines()), "URLs, first", missing[:80])


def counts(folder, name, urls):
    out = plain(folder, "count", name, stdin=lines(urls), codes=(0, 1)).decode()
    return {line.split("\t")[1]: int(line.split("\t")[0]) for line in out.splitlines()}


def content(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Scenario:
    """A command whose output is its answer and which changes no file."""
    words, stdin, normal, again = [], b"", (0,), True

    def prepare(self, folder):
        pass

    def after(self, folder, done, whole):
        """What must hold; `whole` is true if the command ended well."""

    def afterwards(self, folder):
        """What must hold when the command was run again, undisturbed."""

    def baseline(self, folder, done):
        """The command was undisturbed: remember what it did."""

    def excused(self, done, fault):
        """It ended by a signal, which is not ours to prevent."""
        return False


class Replaces(Scenario):
    """A command that replaces files as a whole: each is the old or the new."""
    files = ["f.seen"]

    def remember(self, folder):
        self.old = {name: content(folder, name) for name in self.files}

    def baseline(self, folder, done):
        self.new = {name: content(folder, name) for name in self.files}
        for name in self.files:
            ensure(self.new[name] is not None, "nothing made", name)

    def after(self, folder, done, whole):
        for name in self.files:
            now = content(folder, name)
            ensure(now in (self.old[name], self.new[name]), name, "is neither the old nor the new")
            ensure(not whole or now == self.new[name], name, "is not the new one, with exit code 0")


class BuildList(Replaces):
    words = ["build", "--quiet", "-o", "f.seen", "urls"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD)
        with open(os.path.join(folder, "urls"), "wb") as file:
            file.write(lines(NEW))
        self.remember(folder)


class BuildIndex(BuildList):
    """A folder of indexes, one of them packed, with threads; URLs wait in a temporary file."""
    words = ["build", "--quiet", "--threads", "2", "--memory", "0", "-o", "f.seen", "cdx"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD)
        os.mkdir(os.path.join(folder, "cdx"))
        rows = ["com,example)/%d 20200101000000 http://example.com/%d text/html 200 AAAA - - 10 %d a.warc.gz"
                % (i, i, i) for i in range(2000)]
        head = " CDX N b a m s k r M S V g\n"
        with open(os.path.join(folder, "cdx", "a.cdx"), "w") as file:
            file.write(head + "\n".join(rows[:1000]) + "\n")
        with open(os.path.join(folder, "cdx", "b.cdx.gz"), "wb") as file:
            file.write(gzip.compress((head + "\n".join(rows[1000:]) + "\n").encode(), mtime=0))
        self.remember(folder)


class BuildFew(BuildList):
    """Few URLs into a filter for many, whose zeros are written past the cache."""
    words = ["build", "--quiet", "-o", "f.seen", "--capacity", "8M", "urls"]


class BuildResume(BuildList):
    """With a checkpoint after each piece: who is killed or fails goes on from the last one, to the same bytes."""
    words = ["build", "--quiet", "--resume", "--checkpoint", "0.000001", "--threads", "1", "-o", "f.seen", "--capacity",
             "5000", "cdx"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD)
        os.mkdir(os.path.join(folder, "cdx"))
        for part in range(4):
            rows = ["com,example)/%d 20200101000000 http://example.com/%d text/html 200 AAAA - - 10 %d a.warc.gz\n"
                    % (i, i, i) for i in range(1000 * part, 1000 * (part + 1))]
            with open(os.path.join(folder, "cdx", "%d.cdx" % part), "w") as file:
                file.write(" CDX N b a m s k r M S V g\n" + "".join(rows))
        self.remember(folder)

    def excused(self, done, fault):
        """The checkpoint remembers what could not be read, so that --resume does not forget it."""
        return "not read to the end" in done.err

    def afterwards(self, folder):
        ensure(content(folder, "f.seen") == self.new["f.seen"], "after a resumed build f.seen has other bytes")


class BuildResumeKeys(BuildResume):
    """The same without a capacity: the checkpoint is the keys so far."""
    words = ["build", "--quiet", "--resume", "--checkpoint", "0.000001", "--threads", "1", "-o", "f.seen", "cdx"]


class BuildPipe(BuildList):
    words = ["build", "--quiet", "-o", "f.seen", "--capacity", "500", "--kind", "growing/bloom", "-"]
    stdin = lines(NEW)


class Adds(Scenario):
    """Acknowledged means: in the filter, whatever comes."""
    words = ["add", "--ack", "f.seen"]
    stdin = lines(NEW)
    plan = ["--capacity", "1000"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD, *self.plan)

    def after(self, folder, done, whole):
        acknowledged = done.out.decode().split("\n")[:-1]
        ensure(set(acknowledged) <= set(NEW), "acknowledged what nobody offered")
        ensure(not whole or len(acknowledged) == len(NEW), "acknowledged", len(acknowledged))
        holds(folder, "f.seen", OLD + acknowledged)
        return acknowledged


class AddFew(Adds):
    """URLs that are operands, and a filter of several blocks: it is lazy."""
    words = ["add", "--ack", "f.seen", *NEW]
    stdin = b""
    plan = ["--kind", "bloom", "--capacity", "200000"]


class AddGrowing(Adds):
    plan = ["--kind", "growing/bloom", "--capacity", "100"]


class AddKept(Adds):
    """A filter that grows: from a capacity of 400 URLs to one of 800, and it can go on growing."""
    later = ["http://later.example/%d" % i for i in range(900)]

    def prepare(self, folder):
        plain(folder, "add", "--capacity", "100", "f.seen", stdin=lines(OLD))

    def after(self, folder, done, whole):
        acknowledged = super().after(folder, done, whole)
        ensure("cannot grow" not in done.err or not whole, done.err)
        later = run(["add", "f.seen"], folder, stdin=lines(self.later), injected=False)
        ensure(later.code == 0 and "cannot grow" not in later.err, "afterwards", later.code, later.err)
        holds(folder, "f.seen", OLD + acknowledged + self.later)
        return acknowledged


class AddNew(Scenario):
    """The filter is made."""
    words = ["add", "--ack", "--rate", "0.1%", "f.seen"]
    stdin = lines(NEW)

    def after(self, folder, done, whole):
        acknowledged = done.out.decode().split("\n")[:-1]
        ensure(not whole or len(acknowledged) == len(NEW), "acknowledged", len(acknowledged))
        if os.path.exists(os.path.join(folder, "f.seen")):
            holds(folder, "f.seen", acknowledged)
        else:
            ensure(not acknowledged, "acknowledged URLs, and made no filter")

    def afterwards(self, folder):
        holds(folder, "f.seen", NEW)


class AddDated(Adds):
    """A filter whose date follows adds: it is replaced, or only its date is not."""
    plan = ["--kind", "bloom", "--capacity", "1000", "--meta", "as-of=2020-06-01"]


class AddCounting(Adds):
    plan = ["--kind", "counting:8", "--capacity", "1000", "--rate", "1e-9"]

    def after(self, folder, done, whole):
        acknowledged = set(super().after(folder, done, whole))
        for url, n in counts(folder, "f.seen", OLD + NEW).items():
            ensure(n == 1 or (n == 0 and url not in acknowledged and url in NEW),
                   url, "has the count", n)


class AddParts(Adds):
    """In parts, with a small pause between them, and flushed by the clock."""
    words = ["add", "--ack", "--sync", "everysec", "f.seen"]
    plan = ["--kind", "routed:4/blocked", "--capacity", "1000"]


class Remove(Scenario):
    words = ["remove", "f.seen"]
    stdin = lines(OLD[:100])
    again = False           # what was removed cannot be removed again

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--kind", "counting:8", "--capacity", "1000", "--rate", "1e-9")

    def after(self, folder, done, whole):
        for url, n in counts(folder, "f.seen", OLD).items():
            gone = url in OLD[:100]
            ensure(n in (((0,) if whole else (0, 1)) if gone else (1,)), url, "has the count", n)


class Dedup(Scenario):
    """What the filter remembers was printed."""
    words = ["dedup", "--filter", "f.seen"]
    stdin = lines(OLD[:50] + NEW)

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--kind", "bloom", "--capacity", "1000", "--rate", "1e-9")

    def after(self, folder, done, whole):
        holds(folder, "f.seen", OLD)
        printed = set(done.out.decode().split("\n")[:-1])
        out = plain(folder, "check", "--only", "seen", "f.seen", stdin=lines(NEW), codes=(0, 1))
        lost = set(out.decode().split()) - printed
        ensure(not lost, "remembers", len(lost), "URLs that were not printed")


class DedupNew(Dedup):
    """A filter that dedup makes itself."""
    words = ["dedup", "--filter", "g.seen"]
    stdin = lines(NEW)

    def after(self, folder, done, whole):
        if content(folder, "g.seen") is None and not whole:
            return
        printed = set(done.out.decode().split("\n")[:-1])
        out = plain(folder, "check", "--only", "seen", "g.seen", stdin=lines(NEW), codes=(0, 1))
        lost = set(out.decode().split()) - printed
        ensure(not lost, "remembers", len(lost), "URLs that were not printed")


class DedupAlone(Scenario):
    words = ["dedup"]
    stdin = lines(OLD + OLD[:9])


class Merge(Replaces):
    words = ["merge", "--quiet", "-o", "f.seen", "f.seen", "g.seen"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--capacity", "1000")
        build(folder, "g.seen", NEW, "--capacity", "1000")
        self.remember(folder)


class Meta(Replaces):
    """Metadata changes; the URLs are those that there were."""
    words = ["meta", "f.seen", "title=After", "holder="]

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--capacity", "1000", "--meta", "title=Before",
              "--meta", "holder=x")
        self.remember(folder)


class ConvertText(Replaces):
    words = ["convert", "--quiet", "f.seen", "-o", "f.csv"]
    files = ["f.csv"]

    def prepare(self, folder):
        build(folder, "f.seen", NEW, "--kind", "routed:4/bloom", "--capacity", "1000")
        with open(os.path.join(folder, "f.csv"), "w") as file:
            file.write("old\n")
        self.remember(folder)


class ConvertBack(Replaces):
    words = ["convert", "--quiet", "g.csv", "-o", "f.seen"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD)
        build(folder, "g.seen", NEW)
        plain(folder, "convert", "--quiet", "g.seen", "-o", "g.csv")
        self.remember(folder)


class Publish(Scenario):
    """The second version of one filter, and another that is new."""
    words = ["publish", "--quiet", "--text", "yes", "web"]
    lists = ["sitemap.xml", "changelist.xml", "capabilitylist.xml"]

    def prepare(self, folder):
        web = os.path.join(folder, "web")
        os.mkdir(web)
        build(folder, "web/a.seen", OLD, "--capacity", "1000")
        page = ["--page"] if os.path.exists(READER) else []
        plain(folder, "publish", "--quiet", "--deltas", "2", "web", "--url", "http://a.example/", *page)
        plain(folder, "add", "web/a.seen", "-i", "-", stdin=lines(NEW))
        build(folder, "web/b.seen", NEW)

    def after(self, folder, done, whole):
        web = os.path.join(folder, "web")
        for name in self.lists:
            text = content(web, name)
            try:
                xml.fromstring(text or b"<none/>")
            except xml.ParseError as why:
                raise Wrong(name, why)
        holds(folder, "web/a.seen", OLD + NEW)
        holds(folder, "web/b.seen", NEW)
        if os.path.exists(READER):
            listed = [f["path"] for f in json.loads(content(web, "filters.json"))["filters"]]
            ensure(listed in (["a.seen"], ["a.seen", "b.seen"]), "filters.json", "is another list")
            ensure(not whole or "b.seen" in listed, "filters.json", "lacks a filter")
        if whole:
            text = content(web, "sitemap.xml").decode()
            for name in "a.seen", "b.seen":
                ensure(hashlib.sha256(content(web, name)).hexdigest() in text, name,
                       "is not announced as it is")


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass


class Harvest(Replaces):
    """The second version of a filter, from a web server of our own."""
    files = ["in/a.seen"]

    def prepare(self, folder):
        site = folder + ".site"
        os.mkdir(site)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = "127.0.0.1:%d" % server.server_address[1]
        self.words = ["harvest", "--quiet", "http://%s/sitemap.xml" % address, "--into", "in", "--allow", address]
        build(site, "a.seen", OLD, "--capacity", "1000")
        plain(site, "publish", "--quiet", "--deltas", "2", ".", "--url", "http://%s/" % address)
        plain(folder, *self.words)
        plain(site, "add", "a.seen", "-i", "-", stdin=lines(NEW))
        plain(site, "publish", "--quiet", ".")
        self.remember(folder)


class Site(http.server.BaseHTTPRequestHandler):
    """A site of 12 pages that link to each other."""
    protocol_version = "HTTP/1.1"
    wbufsize = -1           # head and body in one piece, or Nagle's algorithm waits for 40 ms
    pages = 12

    def do_GET(self):
        n = int(self.path[1:]) if self.path[1:].isdigit() else -1
        body = b"".join(b"<a href=/%d>x</a>" % ((n * 3 + k) % self.pages) for k in range(4)) + b"x" * 3000
        self.send_response(200 if n >= 0 else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Crawl(Scenario):
    """Whatever happens, the same command goes on, and each page is stored once in each of the files."""

    def prepare(self, folder):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        server.daemon_threads = True
        server.handle_error = lambda *words: None       # crawls are killed here
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = "127.0.0.1:%d" % server.server_address[1]
        self.words = ["crawl", "--into", "c", "--quiet", "--allow", self.address, "--delay", "0", "--pause", "1s",
                      "--threads", "1", "--capacity", "1000", "--warc-size", "10000", "--timeout", "5s",
                      "http://%s/0" % self.address]

    def after(self, folder, done, whole):
        if whole:
            self.afterwards(folder)

    def afterwards(self, folder):
        urls = sorted("http://%s/%d" % (self.address, i) for i in range(Site.pages))
        found = {"index.cdxj": re.findall(rb'"url": ?"([^"]*)"', content(folder, "c/index.cdxj")),
                 "pages.jsonl": re.findall(rb'"_url": ?"([^"]*)"', content(folder, "c/pages.jsonl")),
                 "crawl.log": [line.split()[3] for line in content(folder, "c/crawl.log").splitlines()]}
        for name, have in found.items():
            have = sorted(url.decode() for url in have if not url.endswith(b"robots.txt"))
            ensure(have == urls, name, "has", len(have), "pages, not", len(urls), set(urls) ^ set(have))
        warc = sorted("c/warc/" + name for name in os.listdir(os.path.join(folder, "c/warc")))
        plain(folder, "warc", "check", "--quiet", "--index", "c/index.cdxj", *warc)


class Prune(Scenario):
    """Two files and the state change together: run again, both are the new ones."""
    words = ["crawl", "prune", "c", "--from", "results.jsonl", "--quiet"]

    def prepare(self, folder):
        crawl = Crawl()
        crawl.prepare(folder)
        plain(folder, *crawl.words)
        with open(os.path.join(folder, "results.jsonl"), "wb") as file:
            file.write(lines('{"_url": "http://%s/%d", "_id": "%d", "class": "removed"}' % (crawl.address, i, i)
                             for i in (3, 5, 7)))
        self.old = self.files(folder)

    def files(self, folder):
        return [content(folder, "c/" + name) for name in ("pages.jsonl", "index.cdxj")]

    def baseline(self, folder, done):
        self.new = self.files(folder)
        ensure(all(len(a) < len(b) for a, b in zip(self.new, self.old)), "nothing was dropped")

    def after(self, folder, done, whole):
        for now, old, new in zip(self.files(folder), self.old, self.new):
            ensure(now in (old, new), "a file is neither the old nor the new")
            ensure(not whole or now == new, "a file is not the new one, with exit code 0")

    def afterwards(self, folder):
        ensure(self.files(folder) == self.new, "a file is not the new one")
        plain(folder, "crawl", "status", "c")


class Classify(Scenario):
    """Whatever happens: the results file has answers of the undisturbed run only, and all of them in the end."""
    words = ["classify", "--state", "s", "--batch", "5", "--quiet", "-i", "pages.jsonl", "-o", "r.jsonl"]

    def pages(self, visit):
        for i in range(10):
            text = "a page of some words, the number is %d" % (i if visit == 1 or i % 3 else 100 + i)
            yield '{"_id": "%d-%d", "_url": "http://a.example/%d", "_visit": "n@%d", "_skeleton": "%016x", "T": ["%s"]}' % (
                visit, i, i, visit, i // 5, text)

    def prepare(self, folder):
        with open(os.path.join(folder, "pages.jsonl"), "wb") as file:
            file.write(lines([*self.pages(1), "not json", *self.pages(2)]))
        self.normal = (1,)          # one record is set aside

    def results(self, folder):
        return (content(folder, "r.jsonl") or b"").splitlines(keepends=True)

    def baseline(self, folder, done):
        self.all = self.results(folder)
        ensure(len(self.all) == 21, "undisturbed,", len(self.all), "results")

    def after(self, folder, done, whole):
        found = [line for line in self.results(folder) if line.endswith(b"\n")]
        ensure(set(found) <= set(self.all), "other results than undisturbed")
        ensure(not whole or found == self.all, len(found), "results, with a good exit code")

    def afterwards(self, folder):
        found = self.results(folder)
        ensure(found == self.all, "afterwards", len(found), "results, or others:", set(found) ^ set(self.all))
        out = plain(folder, "classify", "--state", "s", "--json", "-i", "pages.jsonl", codes=(1,))
        ensure(out.splitlines(keepends=True) == self.all, "the state repeats other answers")


class ClassifyJournal(Classify):
    """A state whose process was killed after the first visit: its keys are in the journal only."""

    def prepare(self, folder):
        first = os.path.join(folder, "first.jsonl")
        with open(first, "wb") as file:
            file.write(lines(self.pages(1)))
        words = [word if word != "pages.jsonl" else "first.jsonl" for word in self.words]
        for at in range(200, 0, -1):
            shutil.rmtree(os.path.join(folder, "s"), ignore_errors=True)
            for name in os.listdir(folder):
                if name == "r.jsonl":
                    os.remove(os.path.join(folder, name))
            done = run(words, folder, Fault("change", at, "kill"))
            if done.code == -9 and os.path.getsize(os.path.join(folder, "s", "journal")):
                break
        ensure(len(self.results(folder)) == 10, "no journal was left", done)
        os.remove(first)
        super().prepare(folder)


class Check(Scenario):
    words = ["check", "f.seen"]
    stdin = lines(OLD[:20] + NEW[:20])
    normal = (1,)

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--capacity", "1000")


class CheckFew(Check):
    """URLs that are operands: only blocks that they need are read."""
    words = ["check", "f.seen", *OLD[:20], *NEW[:20]]
    stdin = b""

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--kind", "spatial:2/bloom", "--capacity", "200000")


class CheckList(Check):
    words = ["check", "--json", "f.seen", "-i", "urls.gz"]

    def prepare(self, folder):
        super().prepare(folder)
        with open(os.path.join(folder, "urls.gz"), "wb") as file:
            file.write(gzip.compress(self.stdin, mtime=0))


class CheckJournal(Check):
    """A writer was killed after its last acknowledgement; its journal is left."""
    normal = (0,)

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--kind", "growing/bloom", "--capacity", "1000")
        for at in range(60, 0, -1):
            done = run(["add", "--ack", "f.seen"], folder, Fault("change", at, "kill"), lines(NEW[:20]))
            if done.code == -9:
                break
            os.remove(os.path.join(folder, "f.seen"))
            build(folder, "f.seen", OLD, "--kind", "growing/bloom", "--capacity", "1000")
        ensure(done.out.count(b"\n") == 20 and len(os.listdir(folder)) > 1, "no journal was left", done)


class Count(Check):
    words = ["count", "f.seen"]
    normal = (1,)

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--kind", "counting:4", "--capacity", "1000")


class Info(Check):
    words = ["info", "f.seen"]
    stdin, normal = b"", (0,)


class InfoJson(Info):
    words = ["info", "--json", "f.seen"]

    def prepare(self, folder):
        build(folder, "f.seen", OLD, "--kind", "routed:4/growing/blocked", "--meta", "title=A")


class DedupNames(Scenario):
    """Names that libidn2 looks up, which takes memory."""
    words = ["dedup", "--profile", "surt"]
    stdin = lines(["http://\u017eu.example/", "http://b\u00fccher.example/", "http://\u017eu.example/"])


class Key(Scenario):
    words = ["key", "http://a.example/", "http://\u017eu.example/?b=1&a=2", "--profile", "whatwg"]


class Robots(Scenario):
    words = ["robots", "--json", "-", "http://a.example/a?b=c", "/private/x", "/b.html"]
    stdin = b"User-agent: *\nDisallow: /private\nAllow: /*.html$\nCrawl-delay: 2\nSitemap: http://a.example/s\n"
    normal = (1,)


class Sitemap(Scenario):
    """A packed feed: gzip, libxml2 and the canonical form of URLs take memory."""
    words = ["sitemap", "--json", "feed", "--base", "http://\u017eu.example/feed"]

    def prepare(self, folder):
        items = "".join("<entry><link href='/%d'/><updated>2026</updated></entry>" % i for i in range(200))
        with open(os.path.join(folder, "feed"), "wb") as file:
            file.write(gzip.compress(("<feed xmlns='http://www.w3.org/2005/Atom'>%s</feed>" % items).encode(),
                                     mtime=0))


class Links(Scenario):
    """A page with every kind of text that takes memory."""
    words = ["links", "page.html", "--base", "http://a.example/", "--json", "--requisites", "--header", "Link: <l>; rel=next"]

    def prepare(self, folder):
        with open(os.path.join(folder, "page.html"), "w", encoding="utf-8") as f:
            f.write("<title>A</title><base href=/b/>" + "<a href='c?d&amp;e'>f &eacute;</a>" * 100 +
                    "<map><area href=g alt=h></map><img srcset='i 1x, j 2x' style='k: url(l)'>")


class WarcCheck(Scenario):
    """Members, digests and an index."""
    words = ["warc", "check", "--json", "--index", "index.cdxj", "a.warc.gz"]

    def prepare(self, folder):
        at, rows = 0, []
        with open(os.path.join(folder, "a.warc.gz"), "wb") as file:
            for i in range(3):
                block = b"HTTP/1.1 200 OK\r\n\r\n" + b"%d" % i * 3000
                head = ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%d>\r\nWARC-Date: 2026-01-02\r\n"
                        "WARC-Target-URI: http://a.example/%d\r\nContent-Type: application/http\r\n"
                        "WARC-Block-Digest: sha256:%s\r\nContent-Length: %d\r\n\r\n"
                        % (i, i, hashlib.sha256(block).hexdigest(), len(block)))
                member = gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)
                rows.append('example,a)/%d 20260102000000 {"url": "http://a.example/%d", "mime": "text/html", '
                            '"length": "%d", "offset": "%d", "filename": "a.warc.gz"}' % (i, i, len(member), at))
                at += file.write(member)
        with open(os.path.join(folder, "index.cdxj"), "wb") as file:
            file.write(lines(rows))


OFFLINE = {re.sub("(?<!^)(?=[A-Z])", "-", it.__name__).lower(): it for it in (
    BuildList, BuildIndex, BuildFew, BuildResume, BuildResumeKeys, BuildPipe, Adds, AddFew, AddGrowing, AddKept, AddNew, AddDated, AddCounting, AddParts,
    Remove, Dedup, DedupNew,
    DedupAlone, Merge, Meta, ConvertText, ConvertBack, Publish, Harvest, Crawl, Prune, Classify, ClassifyJournal, Check,
    CheckFew, CheckList, CheckJournal, Count, Info,
    InfoJson, DedupNames, Key, Robots, Links, Sitemap, WarcCheck)}
