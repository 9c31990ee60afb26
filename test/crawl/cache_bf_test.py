"""seen crawl --cache bf://... and spatial:...: whatever happens to the server, nothing is fetched twice, and nothing is
lost. The site is that of cache_remote_test.py, and harms the server when a certain page is asked for."""
import os
import re
import shutil
import ssl
import subprocess
import sys

import pytest

for neighbour in "remote", "servers":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", neighbour))
from authority import Authority
from bf_server import Bloom, Proxy
from cache_remote_test import WHEN, Web, assert_kills_repeat_nothing
from crawling import SEEN, Crawl
from redis_server import Redis, freeze


@pytest.fixture
def server(tmp_path, request):
    with Bloom(tmp_path / "bloom", getattr(request, "param", "") == "RedisBloom") as it:
        yield it


BOTH = pytest.mark.parametrize("server", ["seen serve", "RedisBloom"], indirect=True)


def cache(server, timeout=10):
    return "--cache", server.url("crawl", "timeout=%d" % timeout)


def assert_whole(web, crawl):
    assert not web.repeated() and web.paths() == web.all()
    assert crawl.urls() == sorted(web.url(path) for path in web.all()), "each is stored once"


def remove(server):
    (name,) = server.names()
    server.client().delete(name)


def empty(server):
    """The name is there, but not what was added."""
    (name,) = server.names()
    server.client().delete(name)
    server.client().execute_command("BF.RESERVE", name, 1e-6, 10000, "PROFILE", "raw" if server.proxy else "whatwg")


def kill_and_start_empty(server):
    server.stop()
    shutil.rmtree(server.folder / "filters")
    (server.folder / "filters").mkdir()
    server.start()


def kill_and_start_with_old_files(server):
    """Those of the 30th request."""
    server.stop()
    shutil.rmtree(server.folder / "filters")
    shutil.copytree(server.folder / "old", server.folder / "filters")
    server.start()


HARMS = [remove, empty, kill_and_start_empty, kill_and_start_with_old_files]


def harmed(web, server, harm):
    """To be done at requests 30 and WHEN; or later, if nothing was added in between, and old files lack nothing."""
    def items():
        return server.client().execute_command("BF.CARD", *server.names())

    def act():
        if web.done == 30:
            shutil.copytree(server.folder / "filters", server.folder / "old")
            act.before = items()
            web.when = WHEN
        elif items() == act.before:
            web.when = web.done + 1
        else:
            harm(server)
    return act


@pytest.mark.parametrize("server, harm", [("seen serve", harm) for harm in HARMS] + [("RedisBloom", harm) for harm in HARMS[1::2]],
                         indirect=["server"])
def test_what_the_server_loses_is_not_fetched_again(tmp_path, server, harm):
    with Web(when=30) as web:
        web.harm = harmed(web, server, harm)
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run(*cache(server))
        assert_whole(web, crawl)
        assert "--cache: " in crawl.err and "made again from the rows" in crawl.err, crawl.err
        (name,) = server.names()
        assert re.fullmatch("crawl-1-[0-9a-f]{16}", name)
        # The same command finds a filter that has everything.
        crawl.run(*cache(server))
        assert not web.repeated() and crawl.err == "", crawl.err
        said = subprocess.run([SEEN, "check", "--count", server.url(name, "profile=whatwg")], text=True, capture_output=True,
                              input="".join(web.url(path) + "\n" for path in web.all()))
        assert said.stdout == "new\t0\nseen\t%d\n" % len(web.all()), said


@pytest.mark.parametrize("server, harm", [("RedisBloom", remove), ("seen serve", empty)], indirect=["server"])
def test_what_it_loses_between_runs_is_not_fetched_again(tmp_path, server, harm):
    with Web() as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run("--pages", "60", *cache(server))
        assert crawl.err == "" and 0 < len(web.paths()) < len(web.all())
        crawl.run("--pages", "80", *cache(server))
        assert crawl.err == "", "the filter is used again"
        harm(server)
        crawl.run("--pages", "1000", *cache(server))
        assert "rows" in crawl.err or "no filter of this name" in crawl.err, crawl.err
        assert_whole(web, crawl)


def test_a_cache_over_tls(tmp_path, server):
    authority = Authority(tmp_path / "ca")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("localhost", tmp_path))
    with Web() as web, Proxy(server.port, context=context) as proxy:
        server.port = proxy.port
        url = server.url("crawl", "cacert=%s" % authority.certificate, scheme="bfs")
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run("--cache", url, codes=[2])
        assert "its certificate is refused: IP address mismatch" in crawl.err and not web.paths()
        crawl.run("--cache", url.replace("127.0.0.1", "localhost"))
        assert_whole(web, crawl)
        assert crawl.err == "" and len(server.names()) == 1


def test_a_server_that_only_restarts_has_all(tmp_path, server):
    with Web() as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run("--pages", "60", *cache(server))
        server.stop()
        server.start()
        crawl.run("--pages", "1000", *cache(server))
        assert crawl.err == "", "seen serve has what it acknowledged"
        assert_whole(web, crawl)


@pytest.mark.parametrize("server, stop", [("seen serve", "freeze"), ("RedisBloom", "kill")], indirect=["server"])
def test_the_server_may_be_away(tmp_path, server, stop):
    """The crawl goes on with a filter in memory; the next run, or this one, makes that of the server."""
    def away():
        if stop == "kill":
            server.stop()
        else:
            freeze(server.process.pid)

    with Web(away) as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        crawl.run(*cache(server, 1))
        assert_whole(web, crawl)
        assert "made again from the rows" in crawl.err and "filter in memory" in crawl.err, crawl.err
        server.stop()
        server.start()
        crawl.run(*cache(server))
        assert_whole(web, crawl)
        assert len(server.names()) == 1


def test_kills_fetch_nothing_again_that_was_committed(tmp_path, server):
    assert_kills_repeat_nothing(tmp_path / "c", cache(server), lambda: empty(server))


@BOTH
def test_each_visit_has_a_name_and_a_seed_or_a_size(tmp_path, server):
    told = []
    with Web() as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"))
        for more in (), ("--revisit", "all",), ("--revisit", "all",):
            crawl.run(*more, *cache(server))
            name = max(server.names())
            told.append((server.client().execute_command("BF.INFO", name, "SEED")[0],
                         server.client().execute_command("BF.INFO", name, "CAPACITY")[0]))
        assert [re.sub("-[0-9a-f]{16}$", "", name) for name in server.names()] == ["crawl-2", "crawl-3"]
        assert crawl.report()["cache"] == ("RedisBloom" if server.proxy else "growing:2,planned/spatial:4/blocked")
        assert "no page that was fetched links to it" in crawl.why(web.url("/nowhere"))
        assert {web.paths().count(path) for path in web.all()} <= {3, 2}
    assert len({it[1 if server.proxy else 0] for it in told}) == 3


@BOTH
def test_a_growing_crawl_is_not_refused(tmp_path, server):
    """More URLs than --capacity: the filter of the server grows."""
    with Web() as web:
        crawl = Crawl(tmp_path / "c", web.url("/0"), capacity=20)
        crawl.run(*cache(server))
        assert_whole(web, crawl)
        assert crawl.err == ""


@pytest.mark.parametrize("kind", [Bloom, Redis])
@pytest.mark.parametrize("harm", ["empty", "stop"])
def test_parts_on_two_servers(tmp_path, kind, harm):
    """One of them is emptied, or is gone for good."""
    with kind(tmp_path / "a") as a, kind(tmp_path / "b") as b:
        settings = "timeout=10" if kind is Bloom else "?timeout=10"
        address = "spatial:%s,%s" % (a.url("crawl", settings), b.url("crawl", settings))
        with Web(b.stop if harm == "stop" else b.client().flushall if kind is Redis else lambda: empty(b)) as web:
            crawl = Crawl(tmp_path / "c", web.url("/0"))
            crawl.run("--cache", address)
            assert_whole(web, crawl)
            assert "made again from the rows" in crawl.err, crawl.err
            if harm == "stop":
                return
            crawl.run("--cache", address)
            assert_whole(web, crawl)
            crawl.run("--revisit", "all", "--cache", address)
            assert crawl.err == "" and crawl.report()["cache"].startswith("spatial:2/"), crawl.err


def test_mistakes_are_refused(tmp_path, server):
    with Web() as web, Redis(tmp_path / "redis") as redis:
        def refused(*addresses):
            crawl = Crawl(tmp_path / "x", web.url("/0"))
            crawl.run("--cache", *addresses, codes=(2,))
            shutil.rmtree(tmp_path / "x", ignore_errors=True)
            return crawl.err

        assert "no BF.* commands" in refused("bf://127.0.0.1:%d/x" % redis.port)
        assert "NOAUTH" in refused("bf://127.0.0.1:%d/x" % server.port)
        assert "WRONGPASS" in refused("bf://:nonsense@127.0.0.1:%d/x" % server.port)
        assert "whatwg is expected" in refused(server.url("x", "profile=surt"))
        assert "some are not" in refused("spatial:%s,%s" % (server.url("x"), redis.url("y")))
        assert "not for bf" in refused(server.url("x", "replicas=1"))
        assert web.paths() == [] and server.names() == []
