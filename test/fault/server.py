"""server.py - the server meets faults while clients ask, add, save and reload.

One session is a fixed row of requests over both protocols. A fault may cost a
client its connection or an answer of 5xx or -ERR; it may not cost the server
its life, a held URL its "seen", or an acknowledged add its place in the file.
"""
import os
import select
import signal
import socket
import subprocess
import sys
import time

from commands import NEW, OLD, Scenario, Wrong, build, ensure, holds, plain
from injected import SEEN, Done, environment, read_report

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from serving import Client      # noqa: E402

TOKEN = {"Authorization": "Bearer kruskovac"}
NEVER = "http://never.example/"
PATIENCE = 60       # seconds for an answer; nothing here takes one


class Lost(Exception):
    """The connection is gone, or was refused: an answer that a fault may give."""


class Resp:
    """A client of the Redis protocol."""

    def __init__(self, port, patience):
        self.client = Client(port, patience)

    def read(self):
        line = self.client.line()
        kind, rest = line[:1], line[1:]
        if kind in b"+-":
            return line.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if int(rest) < 0:
                return None
            text = self.client.take(int(rest) + 2)
            return text[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if kind == b"#":
            return int(rest == b"t")
        raise Wrong("not RESP: %r" % line)

    def do(self, *words):
        words = [word.encode() for word in words]
        self.client.send(b"*%d\r\n" % len(words) +
                         b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        return self.read()


class Session:
    """What clients say, and what they were promised."""

    def __init__(self, port, folder, patience):
        self.port, self.folder, self.http, self.resp = port, folder, None, None
        self.patience = patience
        self.promised = {"a.seen": [], "g.seen": [], "made.seen": []}
        self.answers = self.refusals = 0

    def lost(self, why):
        if isinstance(why, socket.timeout) and self.patience == PATIENCE:
            raise Wrong("no answer within %d s" % PATIENCE)
        self.refusals += 1
        raise Lost(str(why))

    def ask(self, *words, **more):
        """One request, on the old connection if there is one."""
        try:
            if not self.http:
                self.http = Client(self.port, self.patience)
            answer = self.http.ask(*words, **more)
            if answer["Connection"] == "close":
                self.http = None
            self.answers += 1
            return answer
        except (OSError, EOFError) as why:
            self.http = None
            self.lost(why)
        except (AssertionError, ValueError) as why:
            raise Wrong("not HTTP, to %s: %s, then %r" % (words, why, self.http.left[:300]))

    def command(self, *words):
        try:
            if not self.resp:
                self.resp = Resp(self.port, self.patience)
                self.resp.do("AUTH", "kruskovac")
            answer = self.resp.do(*words)
            self.answers += 1
            return answer
        except (OSError, EOFError) as why:
            self.resp = None
            self.lost(why)

    # --- steps: each may be lost, none may be wrong ---

    def look(self, name, url, held):
        answer = self.ask("GET", "/%s/%s" % (name, url))
        status = answer.status
        ensure(status in (200, 404) or status >= 500, "status", status)
        ensure(status != (404 if held else 200), "GET", name, url, "is", status, answer.text)
        return status == (200 if held else 404)

    def lists(self):
        answer = self.ask("POST", "/a", body="".join(u + "\n" for u in (OLD[1], NEVER, OLD[2])))
        if answer.status == 200:
            ensure(answer.text in ("seen\t%s\nnew\t%s\nseen\t%s\n" % (OLD[1], NEVER, OLD[2]),)
                   or "!" in answer.text or "-" in answer.text or "?" in answer.text, "POST /a says", answer.text)
        answer = self.ask("GET", "/agg/" + OLD[3])
        if answer.status == 404:
            raise Wrong("/agg/ says 404 of a URL that is held")
        self.ask("POST", "/agg", body="".join(u + "\n" for u in OLD[:30]))

    def pages(self):
        for target in "/", "/archives", "/metrics", "/sitemap.xml", "/a", "/prefix/a/" + OLD[0]:
            self.ask("GET", target)
        answer = self.ask("GET", "/files/a.seen")
        ensure(answer.status != 200 or len(answer.body) > 1000, "a short file")

    def put(self, url):
        answer = self.ask("PUT", "/a/" + url, headers=TOKEN)
        if answer.status in (200, 201, 204):
            self.promised["a.seen"].append(url)

    def post(self, urls):
        answer = self.ask("POST", "/add/g", headers=TOKEN, body="".join(u + "\n" for u in urls))
        if answer.status in (200, 201, 204) and "!" not in answer.text:
            done = [u for u in urls if u in answer.text]
            self.promised["g.seen"] += done or urls

    def madd(self, name, urls):
        answer = self.command("BF.MADD", name, *urls)
        if isinstance(answer, list):
            self.promised[name + ".seen"] += [u for u, n in zip(urls, answer) if n in (0, 1)]

    def made(self):
        if self.command("BF.RESERVE", "made", "0.001", "100") == "+OK":
            self.madd("made", NEW[:20])

    def exists(self, name, url, held):
        answer = self.command("BF.EXISTS", name, url)
        if isinstance(answer, int):
            ensure(answer == held, "BF.EXISTS", name, url, "is", answer)

    def talk(self):
        for words in ("INFO",), ("BF.INFO", "a"), ("BF.CARD", "g"), ("SAVE",), ("BF.SCANDUMP", "b", "0"):
            self.command(*words)

    def replace(self):
        """Another process replaces b.seen; the server follows within seconds."""
        os.rename(os.path.join(self.folder, "b.next"), os.path.join(self.folder, "b.seen"))

    def follows(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status = self.ask("GET", "/b/" + NEW[0]).status
            if status == 200:
                return
            time.sleep(0.02)
        raise Wrong("the server does not follow a file that was replaced")

    def steps(self):
        yield lambda: self.look("a", OLD[0], True)
        yield lambda: self.look("a", NEVER, False)
        yield self.lists
        yield self.pages
        for url in NEW[:4]:
            yield lambda url=url: self.put(url)
        yield lambda: self.post(NEW[:150])
        yield lambda: self.madd("a", NEW[4:20])
        yield lambda: self.madd("g", NEW[150:])
        yield self.made
        yield self.replace
        yield self.talk
        yield lambda: self.exists("a", OLD[5], True)
        yield lambda: self.exists("a", NEVER, False)
        yield lambda: self.exists("g", OLD[5], True)

    def run(self, alive):
        for step in self.steps():
            try:
                step()
            except Lost:
                if not alive() or (self.patience < PATIENCE and self.refusals > 3):
                    return
        for name, urls in self.promised.items():
            for url in urls[:1] + urls[-1:]:
                try:
                    self.look(name.split(".")[0], url, True)
                except Lost:
                    pass


class Serve(Scenario):
    words = ["serve", "--listen", "127.0.0.1:0", "--host", "*", "--threads", "1", "-w",
             "--token", "../token", "--sync", "always", "--log", "../log", "."]
    again = False

    def prepare(self, folder):
        build(folder, "a.seen", OLD, "--capacity", "1000", "--rate", "0.0001")
        build(folder, "g.seen", OLD, "--kind", "growing/bloom", "--capacity", "100", "--rate", "0.0001")
        build(folder, "b.seen", OLD, "--capacity", "1000")
        build(folder, "b.next", NEW, "--capacity", "1000")
        with open(folder + "/../token", "w") as file:
            os.chmod(file.name, 0o600)
            file.write("kruskovac\n")

    def run(self, folder, fault=None):
        """A server with a fault, and its clients."""
        report, err = folder + ".report", folder + ".err"
        self.wrong, self.session = None, None
        with open(err, "wb") as said:
            process = subprocess.Popen([SEEN, *self.words], cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=said,
                                       env=environment(report, fault))
        process.stdout.close()
        port = self.wait(process, err)
        if port:
            self.session = Session(port, folder, 0.3 if fault and fault.on else PATIENCE)
            try:
                self.session.run(lambda: process.poll() is None)
                if not (fault and (fault.on or fault.kills)):
                    self.recovers(process)
            except Wrong as why:
                self.wrong = why
        if process.poll() is None:
            process.send_signal(signal.SIGTERM if port else signal.SIGKILL)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
            code = "hangs"
        with open(err, "rb") as file:
            said = file.read().decode(errors="replace")
        return Done(code, b"", said, *read_report(report))

    def wait(self, process, err):
        """The port, or None if it ended or says nothing."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with open(err, "rb") as file:
                for line in file.read().decode(errors="replace").splitlines():
                    if line.startswith("seen: serving at http://127.0.0.1:"):
                        return int(line.split(":")[3].split("/")[0])
            if process.poll() is not None:
                return None
            time.sleep(0.002)
        self.wrong = Wrong("it neither serves nor ends")
        return None

    def recovers(self, process):
        """One fault is over: the server is as well as before."""
        for _ in range(20):
            try:
                self.session.follows()
                if self.session.look("a", OLD[0], True):
                    return
            except Lost:
                if process.poll() is not None:
                    return
                time.sleep(0.05)
        raise Wrong("after one fault it does not answer any more")

    def excused(self, done, fault):
        """libuv aborts if its threads cannot start, which the server lets it do first of all."""
        return done.code == -signal.SIGABRT and not self.session and (fault.on or "libuv" in done.trace)

    def after(self, folder, done, whole):
        if self.wrong:
            raise self.wrong
        if not self.session:
            return
        if whole and done.faults == 0:
            ensure(not self.session.refusals, "undisturbed, it refuses", self.session.refusals)
            for name, n in ("a.seen", 20), ("g.seen", 200), ("made.seen", 20):
                ensure(len(self.session.promised[name]) == n, name, "has",
                       len(self.session.promised[name]), "of", n)
        for name, urls in self.session.promised.items():
            if urls:
                holds(folder, name, urls + (OLD if name != "made.seen" else []))
        for name in "a.seen", "g.seen":
            plain(folder, "info", name)
