"""scrapy_test.py - real crawls of Scrapy with seen.scrapy, on a site of this machine.

The site counts requests. Crawls are processes of their own, so that they can be killed.
"""
import collections
import http.server
import json
import os
import pickle
import sqlite3
import sys
import threading
import time

import pytest

BUILD = os.environ.get("SEEN_BUILD", "build")
sys.path.insert(0, os.path.join(BUILD, "python"))
seen = pytest.importorskip("seen", reason="the Python package was not built")
pytest.importorskip("scrapy")

import seen.scrapy                                  # noqa: E402
from scrapy.http import Request                     # noqa: E402
from scrapy.utils.request import fingerprint        # noqa: E402
from spider import Crawl                            # noqa: E402


class Site:
    """Pages 0 ... n-1; each links to two new ones and some old ones."""

    def __init__(self, pages, slow=0.0):
        self.pages, self.slow = pages, slow
        self.open = threading.Event()   # if it is cleared, answers wait
        self.open.set()
        self.hits = collections.Counter()
        self.broken = set()             # paths that are answered with 503
        self.extra = {}                 # path: links
        self.forms = []                 # of the start page
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                site.hits[self.path] += 1
                time.sleep(site.slow)
                site.open.wait(60)
                if self.path == "/robots.txt":
                    return self.answer(200, b"User-agent: *\nDisallow: /private\n", "text/plain")
                if self.path in site.broken:
                    return self.answer(503, b"")
                links = site.links(self.path)
                if links is None:
                    return self.answer(404, b"")
                forms = site.forms if self.path == "/" else []
                self.answer(200, "".join(
                    ["<html>", *('<a href="%s">x</a>' % link for link in links),
                     *('<form action="%s"></form>' % form for form in forms)]).encode())

            def do_POST(self):
                site.hits["POST " + self.path] += 1
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(200, b"<html>")

            def answer(self, status, body, kind="text/html"):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *words):
                pass                    # a client that was killed

        self.server = Server(("127.0.0.1", 0), Handler)
        self.start = "http://127.0.0.1:%d/" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def links(self, path):
        if path in self.extra:
            return self.extra[path]
        if path == "/":
            return ["/0"]
        try:
            n = int(path[1:])
        except ValueError:
            return None
        return ["/%d" % m for m in (2 * n + 1, 2 * n + 2, n // 2, 0) if m < self.pages]

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.server.shutdown()
        self.server.server_close()


def start(site, folder, **settings):
    return Crawl(site.start, folder,
                 {"DUPEFILTER_CLASS": "seen.scrapy.DupeFilter",
                  "JOBDIR": str(folder / "job"), **settings})


def finish(process):
    out, err = process.wait()
    assert process.code == 0, err
    return json.loads(out.splitlines()[-1]), err


def crawl(site, folder, **settings):
    return finish(start(site, folder, **settings))


def scraped(folder):
    with open(folder / "log") as log:
        return collections.Counter(line.strip().rsplit("/", 1)[1] for line in log)


def everything(n):
    return {"", *map(str, range(n))}


def test_a_crawl_fetches_every_page_once(tmp_path):
    with Site(80) as site:
        stats, err = crawl(site, tmp_path)
        assert err == ""
        assert set(scraped(tmp_path)) == everything(80)
        assert max(scraped(tmp_path).values()) == 1
        assert stats["seen/added"] == 80 and stats["dupefilter/filtered"] > 50
        # The next crawl knows all of them; the start page is never filtered.
        os.remove(tmp_path / "log")
        stats, err = crawl(site, tmp_path)
        assert err == "" and set(scraped(tmp_path)) == {""}
    # Room for the first 20,000 requests at one in a million.
    assert os.path.getsize(tmp_path / "job" / "dupefilter.seen") < 90_000


@pytest.mark.parametrize("folder", [True, False])
def test_without_a_capacity_the_filter_grows_with_its_requests(tmp_path, folder):
    path = str(tmp_path / "d.seen") if folder else None
    for turn in range(2 if folder else 1):
        dupes = seen.scrapy.DupeFilter(path)
        dupes.open()
        keys = ["%040x" % i for i in range(100_000)]
        assert sum(dupes.add(keys)) >= (99_990 if turn == 0 else 0)
        assert not any(dupes.add(keys)) and dupes.room == float("inf")
        info = dupes.filter.info
        assert info.rate <= 1e-6 and 8 * info.bytes <= 64 * len(keys)
        dupes.close("finished")
    assert path is None or info.meta["scrapy-keys"] == "fingerprint"


def test_urls_under_a_profile_and_forms(tmp_path):
    with Site(0) as site:
        site.extra = {"/": ["/a?b=1&a=2", "/a?a=2&b=1", "/a?a=2&b=1#x", "/b", "/B"],
                      "/a?a=2&b=1": [], "/a?b=1&a=2": [], "/b": [], "/B": []}
        site.forms = ["/b"]             # sent twice by the spider
        crawl(site, tmp_path, SEEN_PROFILE="surt", SEEN_FILTER=str(tmp_path / "urls.seen"),
              FILTER_START=True)
        # The profile folds the order of a query and upper case.
        assert sum(site.hits[p] for p in ("/a?b=1&a=2", "/a?a=2&b=1")) == 1
        assert site.hits["/b"] + site.hits["/B"] == 1
        assert site.hits["POST /b"] == 1
        with seen.open(tmp_path / "urls.seen") as f:
            assert f.info.profile == "surt"
            assert site.start in f and site.start + "a?a=2&b=1" in f
        # A filter of URLs is not one of fingerprints.
        out, err = start(site, tmp_path, SEEN_FILTER=str(tmp_path / "urls.seen")).wait()
        assert "Mismatch" in err


def waiting(folder):
    """The pages that the scheduler has not finished."""
    db = sqlite3.connect(folder / "job" / "requests.sqlite")
    rows = db.execute("SELECT request FROM requests").fetchall()
    db.close()
    return {pickle.loads(data)["url"].rsplit("/", 1)[1] for data, in rows}


def test_kill_9_and_resume_lose_no_page(tmp_path):
    """Only pages that were not finished for the scheduler are fetched again."""
    pages, kills = 200, 3
    settings = {"SCHEDULER": "seen.scrapy.Scheduler", "CONCURRENT_REQUESTS": 8,
                "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
    with Site(pages, slow=0.01) as site:
        done = set()
        for turn in range(kills + 1):
            before = sum(site.hits.values())
            process = start(site, tmp_path, **settings)
            while turn < kills and sum(site.hits.values()) < before + 40 + 15 * turn:
                assert not process.ended(), process.wait()
                time.sleep(0.005)
            if turn < kills:
                process.kill()
            else:
                assert finish(process)[1] == ""
            now = scraped(tmp_path)
            assert all(now[page] == 1 for page in done), "a finished page came again"
            # Finished for the scheduler: the filter has it, and the queue does not. A page that was
            # found and fetched since the last commit is in neither.
            with seen.open(tmp_path / "job" / "dupefilter.seen") as f:
                done |= {page for page in now if now[page] == 1 and
                         fingerprint(Request(site.start + page)).hex() in f} - waiting(tmp_path)
            assert turn == kills or len(done) < pages
        assert set(scraped(tmp_path)) == everything(pages)
        assert waiting(tmp_path) == set()
        os.remove(tmp_path / "log")     # the filter has all of them
        crawl(site, tmp_path, **settings)
        assert set(scraped(tmp_path)) == {""}


def test_requests_that_cannot_be_made_again_are_kept_and_do_not_stop_the_crawl(tmp_path):
    scheduler = {"SCHEDULER": "seen.scrapy.Scheduler"}
    with Site(20) as site:
        began = time.monotonic()
        crawl(site, tmp_path, **scheduler)
        took = time.monotonic() - began
        made = Request(site.start + "7?renamed").to_dict()
        rows = [pickle.dumps({**made, "callback": "a_method_that_is_gone"})] * 5 + \
            [b"not a pickle", pickle.dumps(5)]
        with sqlite3.connect(tmp_path / "job" / "requests.sqlite") as db:
            db.executemany("INSERT INTO requests (priority, taken, request) VALUES (1, 0, ?)",
                           [(row,) for row in rows])
        db.close()
        began = time.monotonic()
        stats, err = crawl(site, tmp_path, **scheduler)
        assert time.monotonic() - began < 3 * took + 20     # not five seconds for each
        assert stats["finish_reason"] == "finished" and stats["scheduler/unreadable"] == 7
        assert "a_method_that_is_gone" in err and site.hits["/"] == 2
        with sqlite3.connect(tmp_path / "job" / "requests.sqlite") as db:
            assert [r for r, in db.execute("SELECT request FROM requests ORDER BY id")] == rows
        db.close()


def test_a_full_disk_ends_the_crawl_and_loses_no_page(tmp_path):
    settings = {"SCHEDULER": "seen.scrapy.Scheduler", "SEEN_CAPACITY": 1000}
    with Site(400) as site:     # so many that it is full before the last one is fetched, however quick the crawl is
        stats, err = crawl(site, tmp_path, FILE_LIMIT=120_000, **settings)
        assert "the crawl ends, and can be resumed" in err
        assert stats["finish_reason"] == "seen_queue_failed"
        assert 0 < len(scraped(tmp_path)) < 400
        stats, err = crawl(site, tmp_path, **settings)
        assert stats["finish_reason"] == "finished" and err == ""
        assert set(scraped(tmp_path)) == everything(400)


def test_the_queue_of_scrapy_loses_pages_after_kill_9(tmp_path):
    """Why there is a scheduler here: with Scrapy's own, waiting requests are gone."""
    with Site(200, slow=0.01) as site:
        process = start(site, tmp_path)
        while sum(site.hits.values()) < 60:
            assert not process.ended(), process.wait()
            time.sleep(0.005)
        process.kill()
        crawl(site, tmp_path)
        assert set(scraped(tmp_path)) < everything(200)


def test_failed_requests_are_forgotten(tmp_path):
    with Site(0) as site:
        site.extra = {"/": ["/good", "/bad", "/gone"], "/good": [], "/bad": []}
        site.broken = {"/bad"}
        settings = {"SEEN_KIND": "counting", "SEEN_CAPACITY": 1000,
                    "SCHEDULER": "seen.scrapy.Scheduler", "ROBOTSTXT_OBEY": True, "COPY_META": True,
                    "DOWNLOADER_MIDDLEWARES": {"seen.scrapy.ForgetMiddleware": 90}}
        site.extra["/"].append("/private")
        stats, err = crawl(site, tmp_path, **settings)
        assert site.hits["/bad"] == 2               # one retry
        assert stats["seen/forgotten"] == 1
        site.broken.clear()
        stats, err = crawl(site, tmp_path, **settings)
        # Only what failed comes again. 404 and robots.txt are answers, not failures.
        assert site.hits["/bad"] == 3 and site.hits["/good"] == 1 and site.hits["/gone"] == 1
        assert site.hits["/private"] == 0
        assert "seen/forgotten" not in stats
        crawl(site, tmp_path, **settings)
        assert site.hits["/bad"] == 3

        # Scrapy's own scheduler, and a server that is not there.
        other = tmp_path / "other"
        other.mkdir()
        site.extra["/"] = ["http://127.0.0.1:1/"]
        settings.pop("SCHEDULER")
        for turn in range(2):
            stats, err = crawl(site, other, **settings)
            assert stats["seen/forgotten"] == 1


def test_what_an_archive_holds_is_skipped(tmp_path):
    with Site(20) as site:
        held = [site.start + str(n) for n in (1, 2)] + [site.start + "robots.txt"]
        seen.build(tmp_path / "archive.seen", held, kind="bloom", capacity=1000, rate=1e-6)
        stats, err = crawl(site, tmp_path, SEEN_ARCHIVE=[str(tmp_path / "archive.seen")],
                           ROBOTSTXT_OBEY=True,
                           DOWNLOADER_MIDDLEWARES={"seen.scrapy.ArchiveMiddleware": 95})
        assert set(scraped(tmp_path)) == {"", "0"}
        assert stats["seen/archived"] == 2 and site.hits["/robots.txt"] == 1
        assert site.hits["/1"] == site.hits["/2"] == 0


def test_requests_that_cannot_be_pickled_wait_in_memory(tmp_path):
    with Site(10) as site:
        site.extra["/lambda"] = []
        stats, err = crawl(site, tmp_path, SCHEDULER="seen.scrapy.Scheduler", LAMBDA=True,
                           SEEN_QUEUE_ORDER="fifo", CONCURRENT_REQUESTS=1)
        assert stats["scheduler/unserializable"] == 1
        assert set(scraped(tmp_path)) == everything(10) | {"lambda"}
        # Breadth first: the pages are numbered in this order. Their items may come in another
        # one, since Scrapy fetches the next page while it parses the last.
        assert [path[1:] for path in site.hits if path[1:].isdigit()] == list("0123456789")


def test_two_crawls_cannot_share_a_folder(tmp_path):
    with Site(60) as site:
        settings = {"SCHEDULER": "seen.scrapy.Scheduler", "JOBDIR": str(tmp_path / "job")}
        site.open.clear()
        first = start(site, tmp_path, **settings)
        while not site.hits["/"]:
            assert not first.ended(), first.wait()
            time.sleep(0.01)
        (tmp_path / "other").mkdir()
        out, err = start(site, tmp_path / "other", **settings).wait()
        site.open.set()
        assert "seen.errors.Busy" in err
        stats, err = finish(first)
        assert set(scraped(tmp_path)) == everything(60) and err == ""


def test_a_full_filter_warns_and_goes_on(tmp_path):
    with Site(60) as site:
        stats, err = crawl(site, tmp_path, SEEN_CAPACITY=30, SEEN_RATE=0.0001)
        assert err.count("past its capacity of 30 requests") == 1
        assert len(scraped(tmp_path)) > 50
