"""Traps: every one is bounded by the defaults, and reported with its reason."""
import contextlib
import datetime
import gzip
import json
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import zlib

import pytest

from crawling import SEEN, Answer, Crawl, Site, page


NO_PAUSE = "--clock", "2026-01-01T00:00:00Z"        # time that is waited for passes at once


class Everything(dict):
    """Pages that are made when they are asked for."""

    def __init__(self, make, **pages):
        super().__init__(pages)
        self.make = make

    def get(self, path):
        return None if path == "/robots.txt" else self.make(path)


def crawl_of(tmp_path, pages, *options, start="/", **more):
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url(start)).run(*options, **more)
        crawl.site = site
        return crawl


def notes(crawl, path):
    """The last column of crawl.log for a path."""
    return [one[-1] for one in crawl.log() if one[3] == crawl.site.url(path)]


def state(crawl, text):
    with contextlib.closing(sqlite3.connect(crawl.folder + "/state.db")) as db, db:
        return db.execute(text).fetchall()


def test_an_endless_calendar_ends_at_the_depth(tmp_path):
    def month(path):
        n = int(path.strip("/") or 0)
        return page("/%d" % (n + 1))

    crawl = crawl_of(tmp_path, Everything(month), "--max-depth", 20)
    assert len(crawl.site.paths()) == 21
    report = crawl.report()
    assert report["covered"] and report["traps"] == 1
    assert report["trap_reasons"] == {"21 links deep; --max-depth is 20": 1}
    assert notes(crawl, "/20") == ["trap:21_links_deep;_--max-depth_is_20"]
    assert "looks like a trap: 21 links deep" in crawl.why(crawl.site.url("/21"))


def test_endless_queries_are_counted_per_path(tmp_path):
    def day(path):
        n = int(path.rsplit("=", 1)[-1]) if "=" in path else 0
        return page(*("/cal?day=%d" % (10 * n + i) for i in range(10)), "/fine")

    crawl = crawl_of(tmp_path, Everything(day), "--max-queries", 30)
    assert len([one for one in crawl.site.paths() if "cal?" in one]) == 30
    assert "/fine" in crawl.site.paths()
    reason, = crawl.report()["trap_reasons"]
    assert reason == "30 pages differ in their query only; see --max-queries"
    assert crawl.report()["trap_reasons"][reason] == crawl.report()["traps"] > 100


def test_queries_are_counted_over_runs(tmp_path):
    with Site({"/": page("/s?q=0"), **{"/s?q=%d" % i: page("/s?q=%d" % (i + 1)) for i in range(60)}}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        for pages in (5, 10, 15, 100):
            crawl.run("--max-queries", 20, "--pages", pages)
            if pages == 10:     # as in a state of an earlier version: they are counted anew
                state(crawl, "DROP TABLE queries")
        assert len(site.paths()) == 21
        assert "20 pages differ in their query only" in crawl.why(site.url("/s?q=20"))
        assert state(crawl, "SELECT pages FROM queries") == [(20,)]


def test_counts_of_queries_are_kept_and_not_counted_again(tmp_path):
    """To read all URLs that wait would take minutes, where there are many."""
    with Site({"/": page("/s?q=0"), **{"/s?q=%d" % i: page("/s?q=%d" % (i + 1)) for i in range(60)}}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--max-queries", 20, "--pages", 5)
        assert state(crawl, "SELECT pages FROM queries") == [(5,)]
        state(crawl, "UPDATE queries SET pages = 18")
        crawl.run("--max-queries", 20, "--pages", 100)
        assert len(site.paths()) == 1 + 5 + 2


def test_session_ids_make_no_new_pages(tmp_path):
    count = [0]

    def shop(path):
        count[0] += 1
        return page(*("/p%d%s%d" % (i, form, count[0]) for i in range(3)
                      for form in ("?PHPSESSID=", ";jsessionid=", "?sid=")))

    crawl = crawl_of(tmp_path, Everything(shop))
    assert len(crawl.site.paths()) == 4


def test_paths_that_repeat_and_urls_without_end(tmp_path):
    crawl = crawl_of(tmp_path, Everything(lambda path: page("a/b/", "x" * 3000, "/s" * 70)))
    assert crawl.site.paths() == ["/"] + ["/" + "a/b/" * i for i in (1, 2, 3)]
    reasons = crawl.report()["trap_reasons"]
    assert set(reasons) == {"its path repeats itself 4 times", "longer than 2048 bytes",
                            "more than 64 path segments"}
    assert "its path repeats itself" in crawl.why(crawl.site.url("/" + "a/b/" * 4))


@pytest.mark.parametrize("kind", ["location", "refresh"])
def test_redirects_without_end(tmp_path, kind):
    def hop(path):
        after = "/%d" % (int(path.strip("/") or 0) + 1)
        if kind == "location":
            return Answer(status=302, Location=after)
        return page(head='<meta http-equiv="refresh" content="0; url=%s">' % after)

    crawl = crawl_of(tmp_path, Everything(hop))
    assert len(crawl.site.paths()) == 21
    assert crawl.report()["trap_reasons"] == {"more than 20 redirects in a row": 1}
    assert notes(crawl, "/20")[0].endswith("trap:more_than_20_redirects_in_a_row")
    assert "20 redirects in a row" in crawl.why(crawl.site.url("/21"))


def test_redirects_in_a_circle(tmp_path):
    pages = {"/": page("/a", "/self"), "/a": Answer(status=301, Location="/b"),
             "/b": Answer(status=301, Location="/a"), "/self": Answer(status=301, Location="/self")}
    crawl = crawl_of(tmp_path, pages)
    assert crawl.site.paths() == ["/", "/a", "/b", "/self", "/self"]
    assert notes(crawl, "/self") == ["loop"] and crawl.report()["loop"] == 1


def test_redirects_to_what_is_not_of_the_web(tmp_path):
    targets = {"/file": "file:///etc/passwd", "/ftp": "ftp://a.example/", "/empty": "http://"}
    crawl = crawl_of(tmp_path, {"/": page(*targets), **{path: Answer(status=302, Location=to)
                                                        for path, to in targets.items()}})
    for path in targets:
        assert notes(crawl, path) == ["the_redirect_has_no_target_that_can_be_fetched"]
        assert "with status 302: the redirect has no target" in crawl.why(crawl.site.url(path))
    assert crawl.report()["redirect"] == 3 and crawl.report()["covered"]


def test_bombs_are_cut(tmp_path):
    """20 MB of zeros in 20 kB, by every coding that is asked for; and one within another."""
    flat, size = b"\0" * (20 << 20), 1 << 20
    pages = {"/": page("/gzip", "/deflate", "/br", "/zstd", "/twice")}
    pages["/gzip"] = Answer(gzip.compress(flat), Content_Encoding="gzip")
    pages["/deflate"] = Answer(zlib.compress(flat), Content_Encoding="deflate")
    pages["/twice"] = Answer(gzip.compress(gzip.compress(flat)), Content_Encoding="gzip, gzip")
    for coding, command in ("br", ["brotli", "-q", "5", "-c"]), ("zstd", ["zstd", "-qc"]):
        packed = subprocess.run(command, input=flat, stdout=subprocess.PIPE, check=True).stdout
        pages["/" + coding] = Answer(packed, Content_Encoding=coding)
    crawl = crawl_of(tmp_path, pages, "--max-size", size)
    assert crawl.report()["stored"] == 6 and crawl.report()["covered"]
    assert max(int(one[2]) for one in crawl.log()) <= size
    for path in "/gzip", "/deflate", "/br", "/zstd", "/twice":
        assert notes(crawl, path) == ["unread:it_unpacks_to_more_than_1048576_bytes"]


def test_codings_that_are_damaged_are_reported(tmp_path):
    whole = gzip.compress(b"<a href=/found>x</a>" + bytes(range(256)) * 40)
    pages = {"/": page("/short", "/damaged", "/unknown"), "/found": page(),
             "/short": Answer(whole[:-20], Content_Encoding="gzip"),
             "/damaged": Answer(b"not gzip at all", Content_Encoding="gzip"),
             "/unknown": Answer(b"x", Content_Encoding="rot13")}
    crawl = crawl_of(tmp_path, pages)
    assert crawl.report()["stored"] == 5 and crawl.report()["covered"]
    assert notes(crawl, "/short") == ["unread:the_packed_data_ends_too_early"]
    assert notes(crawl, "/damaged")[0].startswith("unread:the_gzip_data_is_damaged")
    assert notes(crawl, "/unknown") == ["unread:has_a_coding_that_is_not_known"]


def trickle(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x")
            time.sleep(0.1)
    except OSError:
        return True


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        return True


def test_bodies_without_end_and_bodies_that_trickle(tmp_path):
    crawl = crawl_of(tmp_path, {"/": page("/endless", "/slow", "/after"), "/endless": endless,
                                "/slow": trickle, "/after": page()}, "--max-size", "100k", "--timeout", "4s")
    assert notes(crawl, "/endless") == ["cut:length"] and notes(crawl, "/slow") == ["cut:time"]
    assert crawl.report()["stored"] == 4 and crawl.report()["covered"]


def test_pages_that_are_really_rate_limits(tmp_path):
    asked = []

    def limited(handler):
        asked.append(time.monotonic())
        return page(title="Too Many Requests", text="Slow down.") if len(asked) < 3 else page(text="Welcome")

    crawl = crawl_of(tmp_path, {"/": limited}, "--pause", "1s")
    assert len(asked) == 3 and asked[1] - asked[0] >= 1
    assert crawl.report()["again"] == 2 and crawl.report()["stored"] == 1


def test_a_rate_limit_that_does_not_end_is_an_error_with_its_reason(tmp_path):
    crawl = crawl_of(tmp_path, {"/": page(title="Too Many Requests", text="Slow down.")}, "--retries", 1, *NO_PAUSE)
    line, = [one for one in crawl.log() if one[3] == crawl.site.url("/")]
    assert (line[1], line[-1]) == ("429", "the_page_says_that_it_is_a_rate_limit")
    assert "with status 429: the page says that it is a rate limit" in crawl.why(crawl.site.url("/"))


def hours(crawl):
    """Of the injected clock, from the first answer to the last."""
    times = [datetime.datetime.fromisoformat(one[0].rstrip("Z")) for one in crawl.log()]
    return (times[-1] - times[0]) / datetime.timedelta(hours=1)


def test_no_retries_no_pause_and_no_depth_are_what_they_say(tmp_path):
    pages = {"/": Answer(status=503), "/a": page("/b"), "/b": page()}
    with Site(pages) as site:
        def crawl(name, *options):
            site.log.clear()
            return Crawl(tmp_path / name, site.url("/"), site.url("/a")).run(*options, *NO_PAUSE)

        assert hours(crawl("pause", "--pause", "1h")) >= 14 and site.paths().count("/") == 4
        assert hours(crawl("none", "--pause", "0s")) < 1 and site.paths().count("/") == 4
        crawl("once", "--retries", 0)
        assert sorted(site.paths()) == ["/", "/a", "/b"]
        crawl("top", "--retries", 0, "--max-depth", 0)
        assert sorted(site.paths()) == ["/", "/a"]
        kept = Crawl(tmp_path / "kept", site.url("/"), site.url("/a"))
        site.log.clear()
        kept.run("--retries", 0, "--max-depth", 0, "--pages", 1, *NO_PAUSE)
        kept.run("--pages", 9, *NO_PAUSE)
        assert sorted(site.paths()) == ["/", "/a"]


def worked():
    """Seconds that CPUs worked for commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_a_hundred_thousand_links_and_deep_nesting(tmp_path):
    """The links beyond the bound are counted; nothing takes long."""
    many = "".join("<a href=/%d>x</a>" % i for i in range(100500))
    deep = "<div>" * 100000 + "<a href=/found>x</a>"
    before = worked()
    crawl = crawl_of(tmp_path, {"/": page("/deep", "/many"), "/deep": Answer(deep), "/many": Answer(many),
                                "/found": page()}, "--exclude", "/[0-9]+$", "--timeout", "200s")
    assert crawl.report()["out_of_scope"] == 100500 and crawl.report()["stored"] >= 3
    assert worked() - before < 30


# Relative to a base of 8 kB: 35 us for each link.
COSTLY = "<base href='/%s'>%s" % ("b/" * 4000, "<a href=../x>x</a>" * 80000)


def test_what_a_costly_page_lacks_is_reported_and_its_host_is_asked_later(tmp_path):
    crawl = crawl_of(tmp_path, {"/": COSTLY}, *NO_PAUSE, "--max-depth", 0)
    reason = "it costs too much: some of its links are left out"
    assert notes(crawl, "/")[0].startswith("costly:" + reason.replace(" ", "_"))
    record, = crawl.records()
    assert record["_costly"] == reason and record["_status"] == 200
    assert "with status 200: " + reason in crawl.why(crawl.site.url("/"))
    assert crawl.report()["costly"] == 1 and crawl.report()["stored"] == 1
    with Site({"/": page("/c", "/d"), "/c": COSTLY, "/d": page()}) as site:
        Crawl(tmp_path / "again", site.url("/"), delay="5").run(*NO_PAUSE, "--max-depth", 1)
        log = [json.loads(line) for line in (tmp_path / "again" / "pages.jsonl").read_text().splitlines()]
        times = {one["_url"]: datetime.datetime.fromisoformat(one["_fetched_at"].rstrip("Z")) for one in log}
        assert (times[site.url("/c")] - times[site.url("/")]).total_seconds() < 15
        assert (times[site.url("/d")] - times[site.url("/c")]).total_seconds() >= 20


def test_a_pattern_that_costs_too_much_is_named_and_the_rest_of_its_page_is_there(tmp_path):
    """Each "a" of 16 kB is a match of the pattern, and each is looked for to the end. The link of 2 kB may be one that
    --exclude is about: it is not fetched."""
    site = {"/": "<h1>One</h1><p>%s<p>22<a href=/b>x</a><a href='/?%s'>x</a>" % ("a" * 16000, "ab" * 990), "/b": page()}
    template = {"name": "t", "start": ["http://a.example/"], "pages": {"default": {"fields": {
        "A": {"css": "p", "regex": "a((.*b)?(.*c)?(.*d)?(.*e)?)*", "many": True},
        "B": {"css": "p", "regex": "^[0-9]+"}, "C": {"css": "h1"}}}}}
    exclude = "(" + "|".join("[ab]{%d}" % n for n in range(1900, 1949)) + ")"  # each byte begins 49 chains
    exclude = [word for n in range(3) for word in ("--exclude", "q%d" % n + exclude)]
    with Site(site) as served:
        template["start"] = [served.url("/")]
        (tmp_path / "t.json").write_text(json.dumps(template))
        crawl = Crawl(tmp_path / "c")
        crawl.run(*NO_PAUSE, "--template", tmp_path / "t.json", *exclude)
        note = "A not extracted: pattern too costly here: " + template["pages"]["default"]["fields"]["A"]["regex"]
        record = next(one for one in crawl.records() if one["_url"] == served.url("/"))
        assert record["B"] == ["22"] and record["C"] == ["One"]
        why = crawl.why(served.url("/?" + "ab" * 990))
        assert "/?" not in "".join(served.paths()) and "/b" in served.paths()
        assert why.startswith("not fetched: not known: pattern too costly here: --exclude q")
        assert crawl.report()["undecided"] == 1 and crawl.report()["costly"] == 1
        assert "a link is left out: not known" in record["_costly"]
        assert "costly:a_link_is_left_out" in (tmp_path / "c" / "crawl.log").read_text()
        again = Crawl(tmp_path / "again")
        again.run(*NO_PAUSE, "--template", tmp_path / "t.json", "--max-depth", 0)
        record, = again.records()
        assert record["_costly"] == note and note in again.why(served.url("/"))
        assert record["B"] == ["22"] and record["C"] == ["One"]


def test_a_stop_waits_for_no_page(tmp_path):
    """One reader has the pages of 20 hosts, two seconds each, when the stop comes. What it has not finished is fetched by
    the next run."""
    with Site({"/": COSTLY}, "0.0.0.0") as site:
        port = site.server_address[1]
        urls = ["http://127.1.0.%d:%d/" % (i, port) for i in range(1, 21)]
        crawl = Crawl(tmp_path / "c", *urls)
        process = subprocess.Popen(crawl.command("--threads", 1, "--max-depth", 0), stdout=subprocess.DEVNULL)
        site.wait_for(40)
        process.send_signal(signal.SIGTERM)
        assert process.wait(240) == 0
        report = crawl.report()
        assert report["stored"] + report["waiting"] == 20 and report["waiting"] > 0
        assert report["costly"] == report["stored"] == len(crawl.records())
        crawl.run("--pages", report["stored"] + 1, codes=(0, 1))
        assert crawl.report()["stored"] == report["stored"] + 1


def test_wrong_charsets(tmp_path):
    body = '<meta charset="x-no-such"><a href="/a">\xe9</a>'.encode("latin-1")
    crawl = crawl_of(tmp_path, {"/": Answer(body, type="text/html; charset=\"utf-99\""),
                                "/a": Answer(b"\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0/\0b\0>\0",
                                             type="text/html; charset=utf-8"),
                                "/b": page()})
    assert crawl.report()["stored"] == 3


HOSTILE = {
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "nothing": b"",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_answers_that_are_not_http(tmp_path, name):
    with Raw(lambda path: None if path == "/robots.txt" else HOSTILE[name]) as port:
        url = "http://127.0.0.1:%d/" % port
        crawl = Crawl(tmp_path / "c", url).run("--retries", 1, "--timeout", "5s", *NO_PAUSE)
        line, = [one for one in crawl.log() if one[3] == url]
        assert int(line[1]) < 0 and line[-1] != "-"
        assert crawl.report()["failed"] == 1
        assert "it failed: " in crawl.why(url)


class Raw:
    """A server that sends bytes as they are; None: an empty robots.txt."""

    def __init__(self, answer):
        self.answer = answer

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()
        return self.socket.getsockname()[1]

    def __exit__(self, *why):
        self.socket.close()

    def serve(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            with peer:
                try:
                    path = peer.recv(65536).split(b" ")[1].decode()
                    peer.sendall(self.answer(path) if self.answer(path) is not None else
                                 b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                except (OSError, IndexError):
                    pass


def test_hosts_that_hang_are_left_with_their_reason(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        url = "http://127.0.0.1:%d/" % hangs.getsockname()[1]
        crawl = Crawl(tmp_path / "c", url).run("--retries", 1, "--timeout", "1s", *NO_PAUSE)
        report = crawl.report()
        assert report["left"] == 1 and not report["covered"]
        stopped, = (one for one in report["hosts"] if one.get("stopped"))
        assert stopped["host"] == url[:-1] and "robots.txt of %s cannot be fetched" % url[:-1] in stopped["stopped"]
        assert stopped["stopped"] in crawl.why(url)


def test_nothing_from_the_web_is_unescaped(tmp_path):
    """Control bytes, quotes, newlines and wrong UTF-8 in every header that is kept."""
    evil = b"\x1b[31m\"\\\xff\xc3\x9b\x7f\x80'"
    head = (b"HTTP/1.1 200 " + evil + b"\r\nContent-Type: text/html" + evil + b"; charset=" + evil +
            b"\r\nETag: \"" + evil + b"\"\r\nLast-Modified: " + evil + b"\r\nServer: " + evil +
            b"\r\nConnection: close\r\n\r\n<title>" + evil + b"</title><a href='/" + evil +
            b"\r\nX: y'>a</a><a href='//" + evil + b"/'>b</a>")
    with Raw(lambda path: None if path == "/robots.txt" else head) as port:
        crawl = Crawl(tmp_path / "c", "http://127.0.0.1:%d/" % port).run("--max-depth", 2)
        text = (tmp_path / "c" / "crawl.log").read_bytes()
        assert all(0x20 <= byte < 0x7f or byte == 10 for byte in text)
        assert all(len(one) == 12 for one in crawl.log())
        for name in "index.cdxj", "pages.jsonl":
            assert all(byte >= 0x20 and byte != 0x7f or byte == 10
                       for byte in (tmp_path / "c" / name).read_bytes()), name
        crawl.records(), crawl.index()
        subprocess.run([SEEN, "warc", "check", "--quiet", *map(str, (tmp_path / "c" / "warc").iterdir())], check=True)
        names = sorted(one.name for one in (tmp_path / "c").rglob("*"))
        assert all(name.isascii() and name.isprintable() for name in names)
