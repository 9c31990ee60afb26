"""Hosts whose robots.txt is as large as it may be: what their rules take, and that they are asked for once."""
import os
import subprocess

from crawling import Answer, Crawl, Site, page
from slow_bodies_test import end_of, started
from working import Hosts, Team, until

MB = 1 << 20
HOSTS, PAGES = 60, 12
RULES = "User-agent: *\nDisallow: /p7\n" + "".join("Allow:/%05x\n" % n for n in range(39000))

# 64 MB of rules, and what a crawl takes without any.
MOST = (700 if os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS") else 160) * MB


def sites():
    return Hosts(HOSTS, PAGES, **{"/robots.txt": Answer(RULES, type="text/plain")})


def check(site, peak):
    """All that is allowed was asked for once, robots.txt included, and the memory is bounded."""
    wanted = sorted(site.url(host, path) for host in range(HOSTS)
                    for path in ["/", "/robots.txt"] + ["/p%d" % n for n in range(1, PAGES) if n != 7])
    assert sorted("http://%s%s" % (one.host, one.path) for one in site.log) == wanted
    assert peak < MOST, peak >> 20


def test_the_line_that_the_limit_cuts_does_not_count_later_either(tmp_path):
    limit = 500 << 10
    rules = "User-agent: *\nDisallow: /private\n"
    rules += "#" * (limit - len(rules) - len("\nDisallow: /")) + "\nDisallow: /elsewhere\n"
    with Site({"/": page("/a", "/b"), "/a": page(), "/b": page(), "/robots.txt": Answer(rules, type="text/plain")}) as site:
        crawl = Crawl(tmp_path / "c", site.url())
        crawl.run("--pages", 1)
        crawl.run("--pages", 10)
        assert site.paths() == ["/", "/a", "/b"]
        assert [one.path for one in site.log].count("/robots.txt") == 1


def forbidden(crawl):
    """When pages were found to be forbidden: milliseconds of a minute."""
    path = os.path.join(crawl.folder, "crawl.log")
    stamps = [line[8] for line in crawl.log() if line[1] == "-9998"] if os.path.exists(path) else []
    return [int(one[10:12]) * 60000 + int(one[12:17]) for one in stamps]


def test_forbidden_links_wait_for_others(tmp_path):
    links, turn, wait = 20000, 1250, 100
    many = Site({"/": page(*["/f%d" % n for n in range(links)]),
                 "/robots.txt": Answer("User-agent: *\nDisallow: /f\n", type="text/plain")})
    with many, Site({"/": page()}, "127.0.0.2") as other:
        other.hold(1)           # robots.txt; its page is under way until the end
        crawl = Crawl(tmp_path / "c", other.url(), many.url())
        with started(crawl.command(), stderr=crawl.errors) as run:
            until(lambda: len(forbidden(crawl)) == links)
            other.release()
            assert end_of(run)[0] == 0, crawl.err
        took = sorted(forbidden(crawl))
        assert len(took) == links
        assert (took[-1] - took[0]) % 3600000 >= links // turn * wait, took[-1] - took[0]


def test_a_crawl_keeps_a_bounded_part_of_the_rules_in_memory(tmp_path):
    with sites() as site:
        crawl = Crawl(tmp_path / "c", *[site.url(host) for host in range(HOSTS)])
        with started(crawl.command(), stderr=crawl.errors) as run:
            code, peak = end_of(run)
        assert code == 0, crawl.err
        check(site, peak)


def test_a_worker_keeps_a_bounded_part_of_the_rules_in_memory(tmp_path):
    with sites() as site:
        team = Team(tmp_path)
        team.enqueue("--delay", "0", site.template(tmp_path))
        with started(team.command("--drain"), stderr=subprocess.DEVNULL) as run:
            code, peak = end_of(run)
        assert code == 0
        check(site, peak)
