"""Pages that kill the process that reads them: they are set aside, and nothing else is. killer.c is preloaded for that."""
import concurrent.futures
import contextlib
import glob
import os
import signal
import sqlite3
import subprocess

import pytest

from crawling import Answer, Crawl, Site, page
from working import Hosts, Team, indexed, until

HERE = os.path.dirname(os.path.abspath(__file__))
KILLS, WORDS = "it kills", "set aside: the process died three times while it read this page alone"
ALONE, ASIDE = 3, 4             # deaths: one beside others, and so many alone

pytestmark = pytest.mark.skipif(bool(os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS")),
                                reason="cannot be preloaded")


@pytest.fixture(scope="module")
def killer(tmp_path_factory):
    library = str(tmp_path_factory.mktemp("killer") / "killer.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, os.path.join(HERE, "killer.c"), "-ldl"],
                   check=True)
    return {**os.environ, "LD_PRELOAD": library, "KILLER_TEXT": KILLS}


def thirty(site_page="/13"):
    pages = {"/%d" % i: page("/%d" % ((i + 1) % 30), "/%d" % ((i * 7 + 3) % 30), text="page %d." % i) for i in range(30)}
    pages[site_page] = page(text=KILLS)
    return pages


def restarted(command, env):
    """Run it until it ends by itself, as systemd does; how often it died."""
    for deaths in range(20):
        done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=240)
        if done.returncode == 0:
            return deaths
        assert done.returncode == -signal.SIGSEGV, (done.returncode, done.stderr.decode())
    raise AssertionError("it died %d times" % deaths)


def test_a_page_that_kills_is_set_aside_and_all_others_are_stored_once(tmp_path, killer):
    pages = thirty()
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        assert restarted(crawl.command("--quiet", "--threads", "4"), killer) == ASIDE
        others = sorted(site.url(path) for path in pages if path != "/13")
        assert crawl.urls() == others
        assert sorted(one["_url"] for one in crawl.records()) == others
        report = crawl.report()
        assert (report["aside"], report["stored"], report["pages"]) == (1, 29, 29)
        assert report["covered"] and report["visit"]["ended"]
        assert crawl.why(site.url("/13")) == WORDS + "; --retry-aside asks for it again"
        assert [one[1] for one in crawl.log() if one[3] == site.url("/13")] == ["-5"]
        assert not os.path.exists(crawl.folder + "/reading")
        # Neither the same command nor the next visit asks for it.
        crawl.run("--quiet")
        crawl.run("--quiet", "--revisit", "--revisit-every", "1s")
        assert site.paths().count("/13") == ASIDE and crawl.report()["aside"] == 1
        # Now it is as any other page.
        pages["/13"] = page(text="mended")
        crawl.run("--quiet", "--retry-aside")
        assert site.paths().count("/13") == ASIDE + 1 and crawl.urls().count(site.url("/13")) == 1
        assert crawl.report()["aside"] == 0 and crawl.why(site.url("/13")).startswith("fetched on")


def test_a_start_url_that_kills_in_a_reader_of_its_own_ends_the_visit(tmp_path, killer):
    pages = {"/": page(text=KILLS)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url())
        assert restarted(crawl.command("--quiet", "--threads", "1"), killer) == ASIDE
        assert crawl.report()["aside"] == 1 and crawl.report()["visit"]["ended"]
        assert restarted(crawl.command("--quiet", "--retry-aside"), killer) == ASIDE       # it still does
        assert crawl.report()["aside"] == 1 and site.paths() == ["/"] * 2 * ASIDE
        # In the next visit it is queued as a start URL, and not once more.
        pages["/"] = page(text="mended")
        crawl.run("--quiet", "--revisit", "--retry-aside")
        assert site.paths() == ["/"] * (2 * ASIDE + 1) and crawl.urls() == [site.url()]
        assert (crawl.report()["aside"], crawl.report()["visit"]["number"]) == (0, 2)


def asked(site):
    return [one.path for one in site.log]


DEADLY = Answer("User-agent: *\n# %s\nAllow: /\n" % KILLS, type="text/plain")


def test_a_robots_txt_that_kills_closes_its_origin_and_no_other(tmp_path, killer):
    pages = {"/": page("/a"), "/a": page()}
    with Site({**pages, "/robots.txt": DEADLY}) as bad, Site(pages) as good:
        crawl = Crawl(tmp_path / "c", bad.url(), good.url())
        assert restarted(crawl.command("--quiet", "--threads", "2"), killer) == ASIDE
        assert asked(bad) == ["/robots.txt"] * ASIDE and crawl.urls() == sorted([good.url(), good.url("/a")])
        said = "robots.txt of %s is set aside, since it kills its readers; see --retry-aside" % bad.url("")
        assert said in crawl.why(bad.url())
        assert crawl.why(bad.url("/robots.txt")).startswith("set aside: ")
        assert said in str(crawl.report()["hosts"])
        crawl.run("--quiet")                    # does not ask again
        assert asked(bad) == ["/robots.txt"] * ASIDE
        bad.pages["/robots.txt"] = Answer("User-agent: *\nAllow: /\n", type="text/plain")
        crawl.run("--quiet", "--retry-aside")
        assert asked(bad) == ["/robots.txt"] * (ASIDE + 1) + ["/", "/a"]
        assert crawl.report()["visit"]["ended"]


def test_kills_of_innocent_pages_set_nothing_aside(tmp_path, killer):
    """Each time another page is in a reader, and those before are still suspects."""
    pages = {"/%d" % i: page("/%d" % (i + 1), text="page %d." % i) for i in range(12)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        for i in range(10):
            held = tmp_path / ("held%d" % i)
            process = subprocess.Popen(crawl.command("--quiet", "--threads", "2"),
                                       env={**killer, "KILLER_HOLD": "page %d." % i, "KILLER_FILE": str(held)})
            until(held.exists)
            process.kill()
            process.wait(60)
            assert os.path.exists(crawl.folder + "/reading")
        crawl.run("--quiet")
        assert crawl.urls() == sorted(site.url(path) for path in [*pages, "/12"])
        assert crawl.report()["aside"] == 0


class Mixed(Hosts):
    """One page of one host kills."""

    def answer(self, handler):
        if (handler.headers["Host"], handler.path) == (self.name(0), "/p4"):
            return Answer(page(text=self.deadly))
        return super().answer(handler)


def test_a_robots_txt_that_kills_workers_closes_its_origin(tmp_path, killer):
    with Mixed(2, 4) as web:
        web.deadly, bad = "mended", web.url(0, "/robots.txt")
        web.answers["/robots.txt"] = lambda handler: DEADLY if handler.headers["Host"] == web.name(0) else Answer("", 404)
        team = Team(tmp_path, lease=1)
        template = web.template(tmp_path)
        team.enqueue("--delay", "0", template)
        command = team.command("--drain", "--quiet", "--into", str(tmp_path / "out"))
        for _ in range(2):      # beside others, and alone
            assert subprocess.run(command, env=killer).returncode == -signal.SIGSEGV
        with contextlib.closing(sqlite3.connect(str(tmp_path / "work.db"))) as db, db:
            # That of the other host is there, too, if its turn to be read alone has not come yet.
            assert (web.url(0, ""), 0) in db.execute("SELECT origin, deaths FROM suspect_robots").fetchall()
            db.execute("UPDATE suspect_robots SET deaths = 2")
        assert restarted(command, killer) == 0
        assert {one["_url"] for one in team.records()[0]} == {url for url in web.all() if url.startswith(web.url(1))}
        assert [one["url"] for one in team.status()["aside"]] == [bad]
        web.answers["/robots.txt"] = Answer("", 404)
        team.enqueue("--delay", "0", template)
        team.work("--retry-aside")
        assert {one["_url"] for one in team.records()[0]} == set(web.all()) and team.status()["aside"] == []


def test_workers_that_are_started_again_set_it_aside_and_do_the_rest_once(tmp_path, killer):
    """Each of three is started again as soon as it dies. One of them has no folder but that of temporary files."""
    (tmp_path / "tmp").mkdir()
    env = {**killer, "TMPDIR": str(tmp_path / "tmp")}
    into = "--into", str(tmp_path / "out")
    with Mixed(4, 8) as web:
        web.deadly, killing = KILLS, web.url(0, "/p4")
        team = Team(tmp_path, lease=1)
        template = web.template(tmp_path, pages={"default": {"fields": {"heading": "title"}}})
        team.enqueue("--delay", "0", template)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            runs = [pool.submit(restarted, team.command("--drain", "--quiet", *where), env) for where in (into, into, ())]
            deaths = sum(one.result() for one in runs)
        assert deaths >= ASIDE      # more if a worker is not back before its lease has ended
        others = sorted(set(web.all()) - {killing})
        records, ends = team.records()
        assert sorted(one["_url"] for one in records) == others and len(ends) == 1
        assert set(indexed(tmp_path / "out")) <= set(others)
        status = team.status()
        assert [(one["url"], one["visit"]) for one in status["aside"]] == [(killing, status["visits"][0]["visit"])]
        assert killing in team.seen("work", "status", "--frontier", team.frontier)
        assert not glob.glob(str(tmp_path / "*/seen-reading-*"))
        # The next visit does not ask for it, until it is told to.
        web.deadly, asked = "mended", web.paths().count("/p4")
        for more, n in (((), len(others)), (("--retry-aside",), len(others) + 1)):
            team.enqueue("--delay", "0", template)
            team.work(*more)
            assert len(team.records()[0]) == n
        assert team.status()["aside"] == [] and web.paths().count("/p4") == asked + 3 + 4
