"""crawling.py - sites to crawl, and crawls of them.

    site = Site({"/": page("/a", "/b"), "/a": page(), "/b": page()})
    with site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        assert crawl.run().paths() == ["/", "/a", "/b"]

A site is a server on 127.0.0.1 (or another address of the loopback) with pages
that are texts, Answers, or functions of the request. It notes when each request
began and when its answer was ready, so that politeness can be proved from what the
server saw: the client has an answer later than that, however busy the machine is.
"""
import collections
import http.server
import json
import os
import socket
import socketserver
import subprocess
import tempfile
import threading
import time

SEEN = os.path.abspath(os.environ.get("SEEN", "build/seen"))


def page(*links, title="", text="", head=""):
    """A page with these links."""
    return ("<!DOCTYPE html><html><head><title>%s</title>%s</head><body><p>%s</p>%s</body></html>"
            % (title, head, text, "".join('<a href="%s">%s</a>\n' % (one, one) for one in links)))


class Answer:
    def __init__(self, body="", status=200, type="text/html", **headers):
        self.body = body.encode() if isinstance(body, str) else body
        self.status, self.type = status, type
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


Request = collections.namedtuple("Request", "path began ended status headers host")


class Site(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages, address="127.0.0.1", port=0):
        super().__init__((address, port), Handler)
        self.pages, self.address = pages, address
        self.log, self.lock = [], threading.Lock()
        self.left, self.released, self.answered = None, None, False
        self.asked = 0          # requests, also those that wait

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *why):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, address):
        pass                    # crawlers are killed here

    def hold(self, n, answered=False):
        """Answer n more requests, after those that an earlier hold() kept. Later ones wait for release(); then they get
        an answer, or none."""
        with self.lock:
            before, self.left, self.released, self.answered = self.released, n, threading.Event(), answered
        if before:
            before.set()

    def release(self):
        with self.lock:
            self.left = None
        self.released.set()

    def admits(self):
        with self.lock:
            self.asked += 1
            if self.left is None:
                return True
            self.left -= 1
            if self.left >= 0:
                return True
            released = self.released
        released.wait(240)
        return self.answered

    def more(self, n):
        """Answer n more requests and wait for them. Later ones wait for the next call, or for release(): the crawl does
        not end before."""
        before = len(self.log)
        self.hold(n, answered=True)
        self.wait_for(before + n)

    def wait_for(self, n):
        """Until there were n requests."""
        end = time.monotonic() + 240
        while len(self.log) < n:
            assert time.monotonic() < end, "%d requests of %d" % (len(self.log), n)
            time.sleep(0.002)

    def url(self, path="/"):
        return "http://%s:%d%s" % (self.address, self.server_address[1], path)

    def paths(self):
        """What was requested, without robots.txt."""
        return sorted(one.path for one in self.log if one.path != "/robots.txt")

    def answer(self, handler):
        found = self.pages.get(handler.path)
        if callable(found):
            found = found(handler)
        if found is None:
            return Answer("not found", 404)
        return Answer(found) if isinstance(found, str) else found


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True      # head and body are two writes: 40 ms for each answer

    def do_GET(self):
        began = time.monotonic()
        if not self.server.admits() or self.is_gone():
            self.close_connection = True
            return
        answer = self.server.answer(self)
        with self.server.lock:
            self.server.log.append(Request(
                self.path, began, time.monotonic(), getattr(answer, "status", 0),
                dict(self.headers), self.headers.get("Host")))
        if answer is not True:              # True: it has answered by itself
            self.send_response(answer.status)
            if answer.type:
                self.send_header("Content-Type", answer.type)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.status != 304:
                self.wfile.write(answer.body)

    def is_gone(self):
        """Has the client given up? On a busy machine the site may hold a request for longer than clients wait."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def do_POST(self):
        """The body is in handler.body, as lines."""
        n = int(self.headers.get("Content-Length", 0))
        self.body = self.rfile.read(n).splitlines(True)
        self.do_GET()

    def log_message(self, *what):
        pass


class Crawl:
    """A folder, and the command that crawls into it."""

    def __init__(self, folder, *start, delay="0", capacity=10000):
        self.folder, self.start, self.delay, self.capacity = str(folder), start, delay, capacity
        self.done, self.errors = None, tempfile.TemporaryFile()

    def command(self, *options):
        return [SEEN, "crawl", "--into", self.folder, *self.start, "--allow-private",
                *(["--capacity", str(self.capacity)] if self.capacity else []), *(["--delay", self.delay] if self.delay else []),
                *map(str, options)]

    def run(self, *options, codes=(0,), timeout=300):
        self.errors.seek(0)
        self.errors.truncate()
        self.done = subprocess.run(self.command(*options), stdout=subprocess.PIPE, stderr=self.errors, timeout=timeout)
        assert self.done.returncode in codes, (self.done.returncode, self.err)
        return self

    @property
    def err(self):
        """What the last run reported, or this one has reported so far."""
        return os.pread(self.errors.fileno(), 1 << 24, 0).decode()

    def report(self):
        out = subprocess.run([SEEN, "crawl", "status", self.folder, "--json"], check=True,
                             stdout=subprocess.PIPE).stdout
        return json.loads(out)

    def why(self, url):
        out = subprocess.run([SEEN, "crawl", "why", self.folder, url], stdout=subprocess.PIPE)
        assert out.returncode in (0, 1)
        return out.stdout.decode().split(": ", 1)[1].strip()

    def lines(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read().splitlines()

    def log(self):
        """The lines of crawl.log, as lists of columns."""
        return [line.split() for line in self.lines("crawl.log")]

    def records(self):
        return [json.loads(line) for line in self.lines("pages.jsonl")]

    def index(self):
        """The lines of index.cdxj: time, and what is in the braces."""
        return [(line.split(" ", 2)[1], json.loads(line.split(" ", 2)[2]))
                for line in self.lines("index.cdxj")]

    def urls(self):
        """What was stored, without robots.txt."""
        return sorted(one["url"] for _, one in self.index() if not one["url"].endswith("/robots.txt"))
