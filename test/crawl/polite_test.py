"""Politeness, proved from what servers saw: never two requests to one host at once, and never closer than
the delay, with redirects, moved robots.txt, retries, many hosts, few in memory, and kills in the mix."""
import collections
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from crawling import Answer, Crawl, Site, page


def hosts(n, first=1):
    return ["127.0.%d.%d" % (3 + i // 200, 1 + i % 200) for i in range(first, first + n)]


def check(requests, delay):
    """No two of one host overlap or are closer than the delay, but for what clocks round."""
    requests = sorted(requests, key=lambda one: one.began)
    for before, after in zip(requests, requests[1:]):
        assert after.began >= before.ended, (before, after)
        assert after.began - before.ended >= delay - 0.005, (before, after)


class Sites(Site):
    """One port on many addresses; answers are a function of the host and the handler."""

    def __init__(self, reply):
        super().__init__({}, address="0.0.0.0")
        self.reply, self.port = reply, self.server_address[1]

    def answer(self, handler):
        found = self.reply(handler.headers["Host"].split(":")[0], handler)
        return Answer(found) if isinstance(found, str) else found

    def url(self, host, path="/"):
        return "http://%s:%d%s" % (host, self.port, path)

    def by_host(self):
        found = collections.defaultdict(list)
        for one in self.log:
            found[one.host.split(":")[0]].append(one)
        return found


def test_no_host_gets_two_requests_at_once_or_too_soon(tmp_path):
    names = hosts(12)
    failed = set()

    def answer(host, handler):
        at = names.index(host)
        beside = handler.server.url(names[(at + 1) % 12], "")
        if handler.path == "/robots.txt":       # every third is moved to the next host
            return Answer(status=301, Location=beside + "/rules.txt") if at % 3 == 0 else \
                Answer("User-agent: *\nDisallow: /x\n", type="text/plain")
        if handler.path == "/rules.txt":
            return Answer("User-agent: *\nDisallow: /x\n", type="text/plain")
        if handler.path == "/":
            return page("/a", "/x", "/moved", "/shaky", beside + "/b")
        if handler.path == "/moved":
            return Answer(status=302, Location=beside + "/c")
        if handler.path == "/shaky" and host not in failed:
            failed.add(host)
            return Answer("later", 503)
        time.sleep(0.02)
        return page()

    with Sites(answer) as web:
        crawl = Crawl(tmp_path / "c", *(web.url(name) for name in names), delay="0.15")
        crawl.run("--pause", "1s", "--per-address", 1000)
        seen = web.by_host()
        assert sorted(seen) == sorted(names)
        for name in names:
            check(seen[name], 0.15)
            paths = [one.path for one in seen[name]]
            assert "/x" not in paths
            assert collections.Counter(paths)["/shaky"] == 2 and {"/", "/a", "/b", "/c"} <= set(paths)
        assert crawl.report()["covered"]


RULES = Answer("User-agent: *\nDisallow: /x\n", type="text/plain")


def test_robots_txt_of_many_hosts_at_one_that_has_pages_and_of_two_at_each_other(tmp_path):
    """All are obeyed, politeness is that of the host that answers, which is not starved, and 6 of 20 are in memory. The
    host of some rules is not crawled."""
    hub, other, *names = hosts(20)
    outside = hosts(1, 21)[0]

    def answer(host, handler):
        if handler.path == "/robots.txt":
            at = other if host == hub else hub if host in names[::2] or host == other else outside
            return Answer(status=301, Location=handler.server.url(at, "/rules"))
        if handler.path == "/rules":
            return RULES
        return page("/x", *("/%d" % i for i in range(9 if host == hub else 2))) if handler.path == "/" else page()

    with Sites(answer) as web:
        crawl = Crawl(tmp_path / "c", *(web.url(name) for name in [hub, other, *names]), delay="0.02")
        crawl.run("--hosts", 6, "--turn", 2, "--per-address", 1000)
        seen = web.by_host()
        for name in [hub, other, *names, outside]:
            check(seen[name], 0.02)
            assert "/x" not in {one.path for one in seen[name]}
        assert crawl.report()["stored"] == 10 + 3 * 19 and crawl.report()["covered"]
        assert [one.path for one in seen[outside]] == ["/rules"] * len(names[1::2])


def test_a_robots_txt_moved_to_a_host_that_does_not_answer_closes_its_origin_alone(tmp_path):
    """And not the host that it was moved to, which is crawled, too."""
    one, two = hosts(2)

    def answer(host, handler):
        if handler.path == "/robots.txt" and host == one:
            return Answer(status=301, Location=handler.server.url(two, "/gone"))
        return Answer("no", 503) if handler.path == "/gone" else page("/a") if handler.path == "/" else page()

    with Sites(answer) as web:
        crawl = Crawl(tmp_path / "c", web.url(one), web.url(two), delay="0")
        crawl.run("--retries", 1, "--pause", "1s")
        report = crawl.report()
        assert report["stored"] == 2 and report["left"] == 1
        assert "robots.txt of %s cannot be fetched" % web.url(one, "") in crawl.why(web.url(one))
        assert [at.path for at in web.by_host()[one]] == 2 * ["/robots.txt"]


def test_more_hosts_than_memory_has_room_for(tmp_path):
    """6 of 20 hosts at a time; seven of them are down, and must not keep the others out."""
    names, down = hosts(20), set(hosts(20)[::3])

    def answer(host, handler):
        if host in down:
            return Answer("no", 503)
        return page("/a", "/b") if handler.path == "/" else page()

    with Sites(answer) as web:
        crawl = Crawl(tmp_path / "c", *(web.url(name) for name in names), delay="0.02")
        crawl.run("--hosts", 6, "--turn", 2, "--retries", 1, "--pause", "1s", "--per-address", 1000)
        seen = web.by_host()
        for name in names:
            check(seen[name], 0.02)
            assert name not in down or [one.path for one in seen[name]] == 2 * ["/robots.txt"]
            if name not in down:
                assert collections.Counter(one.path for one in seen[name])["/"] == 1
                assert {"/", "/a", "/b"} <= {one.path for one in seen[name]}
        report = crawl.report()
        assert report["stored"] >= 3 * 13 and report["left"] == len(down) and not report["waiting"]
        assert "robots.txt of %s cannot be fetched" % web.url(names[0], "") in crawl.why(web.url(names[0]))


def test_an_address_has_few_requests_at_a_time(tmp_path):
    """Ports of one host are one host; names that share an address share its limit."""
    def slow(handler):
        time.sleep(0.05)
        return page("/a", "/b", "/c") if handler.path == "/" else page()

    pages = {path: slow for path in ("/", "/a", "/b", "/c")}
    with Site(pages) as one, Site(pages) as two:
        Crawl(tmp_path / "c", one.url(), two.url(), delay="0.05").run()
        check(one.log + two.log, 0.05)
        assert len(one.paths()) == len(two.paths()) == 4


def test_retry_after_holds_a_host(tmp_path):
    times = []

    def limited(handler):
        times.append(time.monotonic())
        return Answer("wait", 429, Retry_After="2") if len(times) == 1 else page()

    with Site({"/": limited}) as site:
        crawl = Crawl(tmp_path / "c", site.url()).run("--pause", "1s")
        assert len(times) == 2 and times[1] - times[0] >= 1.99
        assert crawl.report()["again"] == 1 and crawl.report()["stored"] == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_delay_outlives_the_process(tmp_path, number):
    """A run that goes on keeps the distance to requests of the run before, even if that was killed."""
    pages = {"/": page(*("/%d" % i for i in range(6)))}
    pages.update({"/%d" % i: page() for i in range(6)})
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url(), delay="0.4")
        for n in (2, 4):
            process = subprocess.Popen(crawl.command("--quiet"))
            site.wait_for(n)
            process.send_signal(number)
            assert process.wait(60) == (0 if number == signal.SIGTERM else -9)
        crawl.run()
        check(site.log, 0.4)
        assert crawl.report()["stored"] == 7


def test_a_kill_between_a_robots_txt_and_where_it_was_moved_allows_nothing(tmp_path):
    asked = []

    def moved(handler):
        asked.append(1)
        time.sleep(3 if len(asked) == 1 else 0)
        return Answer("User-agent: *\nDisallow: /x\n", type="text/plain")

    pages = {"/robots.txt": Answer(status=301, Location="/r"), "/r": moved, "/": page("/x", "/a"), "/a": page(),
             "/x": page()}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url())
        process = subprocess.Popen(crawl.command("--quiet"))
        while not asked:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait(60)
        crawl.run()
        assert "/x" not in site.paths() and "/a" in site.paths()


def test_budgets_are_kept(tmp_path):
    n = 120
    pages = {"/": page(*("/%d" % i for i in range(n)))}
    pages.update({"/%d" % i: page() for i in range(n)})
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url()).run("--pages", 37)
        assert crawl.report()["pages"] == len(site.paths()) == 37
        crawl.run("--pages", 100)
        assert crawl.report()["pages"] == len(set(site.paths())) == len(site.paths()) == 100
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "h", site.url()).run("--host-pages", 10)
        assert len(site.paths()) == crawl.report()["pages"] == 10
        assert crawl.report()["hosts"][0]["stopped"] == "--host-pages is reached"
        assert "--host-pages" in crawl.why(site.url("/119"))
        crawl.run()                             # the setting is kept
        assert len(site.paths()) == 10
        crawl.run("--host-pages", 15)
        assert len(site.paths()) == 15
    with Site({"/": page("/a"), "/a": page()}) as site:
        began = time.monotonic()
        crawl = Crawl(tmp_path / "t", site.url(), delay="300").run("--time", "1s")
        assert time.monotonic() - began < 290 and not crawl.report()["visit"]["ended"]


def test_a_second_signal_ends_at_once(tmp_path):
    """The first is waited for; here it comes while a request hangs, and ends the run well by itself."""
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        crawl = Crawl(tmp_path / "c", "http://127.0.0.1:%d/" % hangs.getsockname()[1])
        process = subprocess.Popen(crawl.command("--quiet", "--timeout", "1000s"))   # or it hangs
        hangs.accept()
        process.terminate()
        assert process.wait(60) == 0
        assert crawl.report()["waiting"] == 1


def test_links_that_become_rows_put_their_host_off(tmp_path):
    """Ten times the 3.4 us that each takes: a host with 1,000 new links on each page had most of the commits."""
    rows, ms = 1000, 34
    with Site({"/": page(*["/%d" % i for i in range(rows)])}) as site:
        crawl = Crawl(tmp_path / "c", site.url()).run("--pages", 1)
    db = sqlite3.connect("file:%s/state.db?mode=ro" % crawl.folder, uri=True)
    try:
        due, requested = db.execute("SELECT hosts.due, last FROM hosts, fetched WHERE name = '127.0.0.1'").fetchone()
    finally:
        db.close()
    assert due - requested >= ms


def test_hosts_that_never_answer_have_three_quarters_of_the_memory(tmp_path):
    """A site of 60 pages, and ten silent hosts, with room for four: it would give way after each second page."""
    good, silent = hosts(1)[0], hosts(10, first=2)
    asked, done = set(), threading.Event()

    def answer(host, handler):
        if host in silent:
            asked.add(host)
            done.wait(240)
        if handler.path == "/robots.txt":
            return Answer("", 404)
        return page(*["/%d" % i for i in range(1, 60)])

    with Sites(answer) as web:
        crawl = Crawl(tmp_path / "c", *(web.url(name) for name in [good, *silent]))
        command = crawl.command("--hosts", 4, "--turn", 2, "--timeout", "200s")
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=crawl.errors) as run:
            began = time.monotonic()
            try:
                web.wait_for(61)
                # After 30 seconds without a byte, a request to a silent host ends, and others come.
                assert len(asked) <= 3 or time.monotonic() - began > 25, "others than the first three came into memory"
            finally:
                done.set()
            assert run.wait(240) == 0
        assert crawl.report()["covered"]
