"""seen crawl --cache redis://...: whatever happens to Redis, nothing is fetched twice.

The site has links to every page from many others, pages that are not there, redirects
and pages that robots.txt keeps out: each of them is a URL that the cache must know.
Redis is harmed by the site itself, when a certain page is asked for.
"""
import collections
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from crawling import Answer, Crawl, Site, page
from redis_server import Cluster, Redis, until

N = 120
WHEN = 60       # requests, when Redis is harmed


class Web(Site):
    """N pages; page i links to i + 1, to some others, to what is not there, redirects and is kept out."""

    def __init__(self, harm=None, when=WHEN):
        super().__init__({"/robots.txt": Answer("User-agent: *\nDisallow: /secret/\n", type="text/plain")})
        for i in range(N):
            self.pages["/%d" % i] = page("/%d" % ((i + 1) % N), "/%d" % (i * 7 % N), "/%d" % (i * 3 % N),
                                         "/gone/%d" % (i % 10), "/move/%d" % (i % 10), "/secret/%d" % (i % 10))
        for i in range(10):
            self.pages["/move/%d" % i] = Answer("", 302, Location="/%d" % (i * 11))
        self.harm, self.when, self.done = harm, when, 0

    def answer(self, handler):
        if handler.path != "/robots.txt":
            self.done += 1
            if self.harm and self.done == self.when:
                self.harm()
        return super().answer(handler)

    def repeated(self):
        return {path: n for path, n in collections.Counter(self.paths()).items() if n > 1}

    def all(self):
        return sorted(["/%d" % i for i in range(N)] + ["/gone/%d" % i for i in range(10)] +
                      ["/move/%d" % i for i in range(10)])


@pytest.fixture
def server(tmp_path):
    with Redis(tmp_path / "redis") as it:
        yield it


def cache(server, more="?timeout=10"):
    return "--cache", server.url("crawl", more)


def names(server):
    return sorted(key.decode() for key in server.client().keys("*") if b":" not in key)


def flush(server, other):
    server.client().flushall()


def delete_a_chunk(server, other):
    chunk = [key for key in server.client().keys("*") if b":" in key and server.client().type(key) == b"string"][0]
    server.client().delete(chunk)


def restart_empty(server, other):
    server.stop(signal.SIGKILL)
    server.start()


def restart_from_an_old_snapshot(server, other):
    """It was saved at the 30th request."""
    server.stop(signal.SIGKILL)
    server.start()


def get_old_data_without_a_restart(server, other):
    """As a master that is made a replica of another one, and then a master again. No connection ends."""
    one, two = server.client(), other.client()
    one.replicaof("127.0.0.1", other.port)
    until(lambda: one.info("replication").get("master_link_status") == "up")
    one.replicaof("NO", "ONE")


@pytest.mark.parametrize("harm", [flush, delete_a_chunk, restart_empty, restart_from_an_old_snapshot,
                                  get_old_data_without_a_restart])
def test_what_redis_loses_is_not_fetched_again(tmp_path, server, harm):
    with Redis(tmp_path / "other", "--repl-diskless-sync-delay", "0") as other:
        server.client().config_set("repl-diskless-sync-delay", 0)

        def harmed():
            if web.done == 30:
                server.client().save()
                if harm is get_old_data_without_a_restart:
                    other.client().replicaof("127.0.0.1", server.port)
                    until(lambda: other.client().info("replication").get("master_link_status") == "up")
                    other.client().replicaof("NO", "ONE")
                web.when = WHEN
            else:
                harm(server, other)

        with Web(harmed, 30 if "old" in harm.__name__ else WHEN) as web:
            crawl = Crawl(tmp_path / "c", web.url("/0"))
            crawl.run(*cache(server))
            assert not web.repeated() and web.paths() == web.all()
            assert "--cache: " in crawl.err and "made again from the rows" in crawl.err, crawl.err
            assert names(server) == ["crawl-1"]
            # The same command finds a filter that has everything.
            crawl.run(*cache(server))
            assert not web.repeated() and crawl.err == "", crawl.err


def test_redis_may_be_down_for_a_while(tmp_path, server):
    """The crawl goes on with a filter in memory, and copies it when Redis is back."""
    def down():
        if web.done == 40:
            server.stop(signal.SIGKILL)
            web.when = 100
        else:
            until(lambda: "trying again" in crawl.err)
            server.start()

    with Web(down, 40) as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run(*cache(server))
        assert not web.repeated() and web.paths() == web.all()
        assert names(server) == ["crawl-1"]


def test_redis_may_go_for_good_and_the_next_run_makes_its_filter(tmp_path, server):
    with Web(lambda: server.stop(signal.SIGKILL)) as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run(*cache(server))
        assert not web.repeated() and web.paths() == web.all()
        assert "filter in memory" in crawl.err, crawl.err
        server.start()
        crawl.run(*cache(server))
        assert not web.repeated() and names(server) == ["crawl-1"]


def assert_kills_repeat_nothing(folder, options, harm):
    """The rows say what was committed when the crawl was killed. The server is harmed in between, too."""
    with Web() as web:
        crawl, later = Crawl(folder, web.url("/0")), []
        for kill in range(4):       # the site holds: none of them can come to the end before it is killed
            before = len(web.log)
            web.hold(30)
            child = subprocess.Popen(crawl.command("--quiet", *options), stderr=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL)
            web.wait_for(before + 30)
            child.kill()
            child.wait(60)
            state = sqlite3.connect(folder / "state.db")
            later.append((len(web.log), {url for url, in state.execute("SELECT url FROM fetched")}))
            state.close()
            if kill == 2:
                harm()
        web.release()
        crawl.run(*options)
        assert sorted(set(web.paths())) == web.all()
        assert any(committed for _, committed in later)
        for began, committed in later:
            assert not committed & {web.url(one.path) for one in web.log[began:]}
        assert crawl.urls() == sorted(web.url(path) for path in web.all()), "each is stored once"


def test_kills_fetch_nothing_again_that_was_committed(tmp_path, server):
    assert_kills_repeat_nothing(tmp_path / "c", cache(server), server.client().flushall)


def test_a_failover_in_a_cluster_fetches_nothing_again(tmp_path):
    with Cluster(tmp_path / "cluster") as cluster:
        def kill_a_master():
            cluster.masters()[0].stop(signal.SIGKILL)

        with Web(kill_a_master) as web:
            crawl = Crawl(tmp_path / "c", web.url("/0"))
            crawl.run("--cache", cluster.url("crawl", "?timeout=1"))
            assert not web.repeated() and web.paths() == web.all()
            assert "--cache: " in crawl.err, crawl.err


def test_each_visit_has_a_name_and_a_seed(tmp_path, server):
    with Web() as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run(*cache(server))
        assert crawl.report()["cache"].startswith("routed:")
        seeds = [crawl.report()["visit"]["seed"]]
        assert "no page that was fetched links to it" in crawl.why(web.url("/nowhere"))
        for visit in 2, 3:
            crawl.run("--revisit", "all", *cache(server))
            seeds.append(crawl.report()["visit"]["seed"])
        assert len(set(seeds)) == 3
        assert names(server) == ["crawl-2", "crawl-3"], "that of visit 1 is removed"


def test_mistakes_are_refused(tmp_path, server):
    with Web() as web:
        gone = Redis(tmp_path / "gone")
        crawl = Crawl(tmp_path / "a", web.url("/0"))
        crawl.run(*cache(gone), codes=(2,))
        assert "127.0.0.1:%d" % gone.port in crawl.err and not (tmp_path / "a").exists()
        crawl = Crawl(tmp_path / "b", web.url("/0"))
        crawl.run(*cache(server))
        other = Crawl(tmp_path / "c", web.url("/0"))
        other.run(*cache(server), codes=(2,))
        assert "is not a filter of this crawl" in other.err
        assert not web.repeated(), "the second crawl fetched nothing"
