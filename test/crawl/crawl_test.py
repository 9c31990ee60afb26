"""A crawl fetches each page once, obeys, and says what it did."""
import collections
import contextlib
import gzip
import pathlib
import random
import sqlite3
import subprocess
import time

import pytest

from crawling import SEEN, Answer, Crawl, Site, page


def test_every_page_is_fetched_once(tmp_path):
    pages = {"/": page("/a", "/b", "/a#x", "b"), "/a": page("/", "/c"), "/b": page("/a"), "/c": page()}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == ["/", "/a", "/b", "/c"]
        assert crawl.urls() == sorted(site.url(path) for path in pages)
        assert sorted(one["_url"] for one in crawl.records()) == crawl.urls()
        report = crawl.report()
        assert report["covered"] and report["pages"] == report["stored"] == 4
        assert not report["running"] and report["visit"]["ended"]


def test_what_is_stored_as_it_came_packed_is_found_again(tmp_path):
    """Almost all bytes of such a WARC are binary."""
    def packed(text):
        noise = "".join(random.Random(text).choices("abcdefghijklmnopqrstuvwxyz ", k=20000))
        return Answer(gzip.compress((text + "<!-- %s -->" % noise).encode()), Content_Encoding="gzip")

    pages = {"/%d" % i: packed(page(text=str(i))) for i in range(5)}
    pages["/"] = packed(page(*pages))
    with Site({"/robots.txt": packed(""), **pages}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == sorted(pages)
        for given in "/warc", "":
            built = tmp_path / "built.seen"
            build = [SEEN, "build", "--kind", "bloom", "--rate", "1e-9", "-o", built, crawl.folder + given]
            done = subprocess.run(build, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            check = [SEEN, "check", "--only", "new", built, *(site.url(path) for path in pages)]
            done = subprocess.run(check, capture_output=True, text=True)
            assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
            built.unlink()


# Pages that lead back to each other. The graphs of the thesis are those that its text
# describes. That of the aggregation paper does not describe its drawings, a site crawled
# breadth first without and with a filter: these link to themselves, their parents and siblings.
LOOPS = {
    "thesis-1.2": {"/": ["/b", "/e"], "/b": ["/c"], "/c": ["/d"], "/d": ["/b"], "/e": ["/f", "/g"], "/f": [], "/g": []},
    "thesis-2.2": {"/": ["/b"], "/b": ["/"]},
    "aggregation-2": {"/": ["/2", "/3"], "/2": ["/3", "/"], "/3": ["/", "/2", "/3"]},
    "aggregation-3": {"/": ["/1", "/2"], "/1": ["/3"], "/2": ["/3"], "/3": ["/1", "/2", "/"]},
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_end_with_a_cache_and_not_without(tmp_path, name):
    pages = {path: page(*links) for path, links in LOOPS[name].items()}
    with Site(pages) as site:
        Crawl(tmp_path / "with", site.url("/")).run()
        assert site.paths() == sorted(pages)
        site.log.clear()
        crawl = Crawl(tmp_path / "without", site.url("/")).run("--cache", "none", "--pages", 50)
        assert len(site.paths()) >= 50
        assert not crawl.report()["visit"]["ended"]


def test_a_crawl_without_a_cache_stays_in_the_loop(tmp_path):
    """Thesis, Figure 1.2: B, C and D are visited again and again, and E, F and G never."""
    with Site({path: page(*links) for path, links in LOOPS["thesis-1.2"].items()}) as site:
        Crawl(tmp_path / "c", site.url("/")).run("--cache", "none", "--order", "depth", "--pages", 31)
        asked = [one.path for one in site.log if one.path != "/robots.txt"]
        assert asked == ["/"] + 10 * ["/b", "/c", "/d"]


def test_robots_txt_keeps_thousands_of_pages_out_and_lets_the_others_in(tmp_path):
    links = ["/secret/%d" % i for i in range(1500)] + ["/open/%d" % i for i in range(20)]
    rules = "User-agent: *\n" + "".join("Disallow: /*s*e*c*%d$\n" % i for i in range(1500))
    pages = {"/robots.txt": Answer(rules, type="text/plain"), "/": page(*links),
             **{one: page() for one in links}}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        report = crawl.report()
        assert report["robots"] == 1500 and report["pages"] == 21 and report["covered"]
        assert site.paths() == sorted(["/"] + links[1500:])
        line = {one[3]: one[-1] for one in crawl.log()}[site.url("/secret/7")]
        assert line.startswith("line_") and line.endswith("_of_robots.txt")


def test_robots_txt_is_obeyed_and_explained(tmp_path):
    pages = {"/robots.txt": Answer("User-agent: *\nDisallow: /private\n", type="text/plain"),
             "/": page("/private/a", "/b"), "/b": page(), "/private/a": page()}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == ["/", "/b"]
        assert crawl.report()["robots"] == 1
        assert "line 2 of" in crawl.why(site.url("/private/a"))
        assert "fetched on" in crawl.why(site.url("/b"))
        assert "is not one of the crawl's" in crawl.why("http://other.example/")
        assert "no page that was fetched links to it" in crawl.why(site.url("/unknown"))
        assert crawl.why(site.url("/robots.txt")).startswith("fetched, with status 200; what it says counts until ")
        assert [one[1] for one in crawl.log() if one[3].endswith("/private/a")] == ["-9998"]


def test_redirects_are_links(tmp_path):
    pages = {"/": page("/old", "/self"), "/old": Answer(status=301, Location="/new"), "/new": page(),
             "/self": Answer(status=302, Location="/self")}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == ["/", "/new", "/old", "/self", "/self"]
        report = crawl.report()
        assert report["redirect"] == 1 and report["loop"] == 1
        assert [one[4] for one in crawl.log() if one[3].endswith("/new")] == ["LR"]


def test_errors_are_tried_again_and_then_stored(tmp_path):
    seen = collections.Counter()

    def shaky(handler):
        seen[handler.path] += 1
        return Answer("no", 503) if seen[handler.path] < 3 else page()

    pages = {"/": page("/shaky", "/gone", "/broken"), "/shaky": shaky, "/gone": Answer("gone", 410),
             "/broken": Answer("broken", 500)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--pause", "1s", "--retries", 2, "--clock",
                                                         "2026-01-01T00:00:00Z")
        assert seen["/shaky"] == 3
        counts = collections.Counter(site.paths())
        assert counts["/gone"] == 1 and counts["/broken"] == 3
        assert crawl.report()["error"] == 2 and crawl.report()["stored"] == 2
        gone = [one for one in crawl.records() if one["_status"] == 410]
        assert len(gone) == 1 and not [name for name in gone[0] if name[0] != "_"]


def test_a_host_gets_one_request_at_a_time_and_a_delay(tmp_path):
    pages = {"/": page(*("/%d" % i for i in range(8)))}
    pages.update({"/%d" % i: lambda handler: time.sleep(0.05) or page() for i in range(8)})
    with Site(pages) as site:
        Crawl(tmp_path / "c", site.url("/"), delay="0.2").run()
        log = sorted(site.log, key=lambda one: one.began)
        assert len(log) == 10
        for before, after in zip(log, log[1:]):
            assert after.began - before.ended > 0.19


def test_a_second_crawl_in_a_folder_is_refused(tmp_path):
    with Site({"/": page()}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        site.hold(1)
        process = subprocess.Popen(crawl.command("--quiet"))
        try:
            site.wait_for(1)
            assert "a crawl runs in this folder" in Crawl(tmp_path / "c", site.url("/")).run(codes=(2,)).err
            assert crawl.report()["running"]
        finally:
            process.terminate()
            assert process.wait(60) == 0
            site.release()


@pytest.mark.parametrize("make, words", [
    (lambda folder: (folder / "notes.txt").write_text("x"), "has files, but is not that of a crawl"),
    (lambda folder: (folder / "state.db").write_text("x" * 5000), "damaged"),
])
def test_folders_that_are_not_of_a_crawl_are_refused(tmp_path, make, words):
    make(tmp_path)
    assert words in Crawl(tmp_path, "http://127.0.0.1:1/").run(codes=(2,)).err


def test_a_state_that_lost_its_contents_does_not_begin_anew(tmp_path):
    """Otherwise the files of the crawl would be cut to nothing."""
    with Site({"/": page("/a"), "/a": page()}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        before = crawl.records()
        (tmp_path / "c" / "state.db").write_bytes(b"")
        assert "state.db is empty" in crawl.run(codes=(2,)).err
        assert crawl.records() == before and len(before) == 2
        # Killed before the tables were made, a crawl begins with the same command.
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "lock").write_bytes(b"")
        (tmp_path / "new" / "state.db").write_bytes(b"")
        assert len(Crawl(tmp_path / "new", site.url("/")).run().records()) == 2


def test_private_addresses_are_refused_unless_allowed(tmp_path):
    with Site({"/": page()}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        subprocess.run([SEEN, "crawl", "--into", crawl.folder, site.url("/"), "--delay", "0", "--quiet"],
                       check=True)
        assert not site.log
        assert "is not a public address; see --allow-private" in crawl.why(site.url("/"))
        assert crawl.report()["left"] == 1


def test_a_state_of_version_1_is_read_and_goes_on(tmp_path):
    """It has a row per page that waits. To look at it does not change it; to go on with it does."""
    pages = {"/%d" % i: page(*("/%d" % k for k in range(22)), text="%d" % i) for i in range(22)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        (tmp_path / "c").mkdir()
        golden = pathlib.Path(__file__).with_name("version-1.sql").read_text(encoding="utf-8")
        with contextlib.closing(sqlite3.connect(tmp_path / "c" / "state.db")) as db:
            db.executescript(golden.replace("{PORT}", str(site.server_address[1])))

        def version():
            with contextlib.closing(sqlite3.connect(tmp_path / "c" / "state.db")) as db:
                return db.execute("PRAGMA user_version").fetchone()[0]

        assert crawl.report()["waiting"] == 16 and "it waits" in crawl.why(site.url("/4")) and version() == 1
        crawl.run("--pages", 10, "--clock", "2026-01-01T00:01:00Z")
        assert site.paths() == sorted("/%d" % i for i in range(4, 10)) and version() == 2
        # Two new links are packed, behind the rows.
        assert crawl.report()["waiting"] == 12
        crawl.run("--pages", 100, "--clock", "2026-01-01T00:02:00Z")
        assert site.paths() == sorted("/%d" % i for i in range(4, 22)) and crawl.report()["waiting"] == 0
