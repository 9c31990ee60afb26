"""Which pages a crawl finds, and in which order it asks for them."""
import collections
import gzip
import hashlib
import heapq
import json
import math
import os
import re
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from crawling import SEEN, Answer, Crawl, Site, page  # noqa: E402


def order(site):
    """The paths in the order of their requests, without robots.txt."""
    return [one.path for one in sorted(site.log, key=lambda one: one.began) if one.path != "/robots.txt"]


def anchors(*links):
    """A page whose links have texts."""
    return "<html><body>%s</body></html>" % "".join('<p><a href="%s">%s</a></p>' % link for link in links)


# --- sitemaps and feeds ---

def urlset(*urls):
    return ('<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">%s</urlset>'
            % "".join("<url><loc>%s</loc></url>" % url for url in urls))


def with_sitemaps():
    site = Site({})
    site.pages.update({
        "/robots.txt": Answer("User-agent: *\nDisallow: /private\nSitemap: %s\nSitemap: /more.xml\n"
                              % site.url("/index.xml"), type="text/plain"),
        "/": page("/a"), "/a": page(), "/b": page(), "/c": page(), "/d": page(), "/private/x": page(),
        "/index.xml": Answer('<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                             "<sitemap><loc>%s</loc></sitemap></sitemapindex>" % site.url("/s.xml.gz"),
                             type="application/xml"),
        "/s.xml.gz": Answer(gzip.compress(urlset(site.url("/b"), site.url("/a"), site.url("/private/x"),
                                                 "http://other.example/").encode()),
                            type="application/gzip"),
        "/more.xml": Answer(urlset(site.url("/c"))[:-9] + "<url><loc>", type="text/xml"),
    })
    return site


def test_sitemaps_are_followed_if_asked_for(tmp_path):
    with with_sitemaps() as site:
        Crawl(tmp_path / "without", site.url("/")).run()
        assert site.paths() == ["/", "/a"]
        site.log.clear()
        crawl = Crawl(tmp_path / "with", site.url("/")).run("--sitemaps")
        # /more.xml ends in the middle: what came before that counts.
        assert site.paths() == ["/", "/a", "/b", "/c", "/index.xml", "/more.xml", "/s.xml.gz"]
        paths = {one[3]: one[4] for one in crawl.log()}
        assert paths[site.url("/index.xml")] == "PM" and paths[site.url("/s.xml.gz")] == "PMM"
        assert paths[site.url("/b")] == "PMMM"
        report = crawl.report()
        assert report["robots"] == 1 and report["out_of_scope"] == 1 and report["covered"]


def test_sitemaps_are_read_again_in_a_revisit_and_not_bound_by_include(tmp_path):
    with with_sitemaps() as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--sitemaps", "--include", "/[bd]$", "--clock",
                                                         "2026-01-01T00:00:00Z")
        assert site.paths() == ["/", "/b", "/index.xml", "/more.xml", "/s.xml.gz"]
        site.pages["/more.xml"] = Answer(urlset(site.url("/d")), type="text/xml")
        site.log.clear()
        crawl.run("--revisit", "--clock", "2026-02-15T00:00:00Z")
        assert "/d" in site.paths() and "/c" not in site.paths()


def test_endless_sitemaps_end(tmp_path):
    def index(handler):
        n = int(handler.path[2:-4]) + 1
        return Answer("<sitemapindex><sitemap><loc>%s</loc></sitemap></sitemapindex>" % site.url("/s%d.xml" % n),
                      type="application/xml")

    pages = {"/s%d.xml" % n: index for n in range(50)}
    pages.update({"/": page(), "/robots.txt": Answer("Sitemap: /s0.xml\n", type="text/plain")})
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--sitemaps")
        assert len(site.paths()) == 6 and crawl.report()["traps"] == 1


def test_feeds_are_followed_where_links_lead_to_them(tmp_path):
    with Site({"/": page(head='<link rel="alternate" type="application/rss+xml" href="/feed">'), "/1": page(),
               "/2": page("/atom"), "/3": page()}) as site:
        site.pages["/feed"] = Answer('<rss version="2.0"><channel><item><link>%s</link></item>'
                                     "<item><link>/2</link></item></channel></rss>" % site.url("/1"),
                                     type="application/rss+xml; charset=utf-8")
        site.pages["/atom"] = Answer('<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/3"/></entry>'
                                     "</feed>", type="application/atom+xml")
        Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == ["/", "/1", "/2", "/3", "/atom", "/feed"]


# --- the order ---

#        /          The order of the requests shows which of these it is:
#      /   \        breadth  / a b aa ab ba bb
#     a     b       depth    / a aa ab b ba bb
#   aa ab ba bb
TREE = {"/": page("/a", "/b"), "/a": page("/aa", "/ab"), "/b": page("/ba", "/bb"),
        "/aa": page("/aaa"), "/ab": page(), "/ba": page(), "/bb": page(), "/aaa": page()}


@pytest.mark.parametrize("options, expected", [
    (("--threads", 1), "/ /a /b /aa /ab /ba /bb /aaa"),      # of two readers, the second may end first
    (("--order", "depth"), "/ /a /aa /aaa /ab /b /ba /bb"),
    (("--order", "priority"), "/ /a /b /aa /ab /ba /bb /aaa"),
    (("--order", "priority", "--prefer", "/b.*=3"), "/ /b /ba /bb /a /aa /ab /aaa"),
    (("--order", "priority", "--prefer", "/a$=-5"), "/ /b /ba /bb /a /aa /ab /aaa"),
])
def test_the_order_of_requests(tmp_path, options, expected):
    with Site(TREE) as site:
        Crawl(tmp_path / "c", site.url("/")).run(*options)
        assert order(site) == expected.split()


def test_what_changed_lately_comes_first(tmp_path):
    """Of pages with the same rules and depth; a page with a better rule comes before them."""
    texts = {path: "first" for path in "abcd"}
    pages = {"/": page("/a", "/b", "/c", "/d"),
             **{"/" + path: (lambda handler, path=path: Answer(page(text=texts[path]))) for path in texts}}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        crawl.run("--order", "priority", "--policy", "uniform", "--clock", "2026-01-01T00:00:00Z")
        texts["c"] = "second"
        crawl.run("--revisit", "--clock", "2026-01-03T00:00:00Z")
        texts["d"] = "second"
        crawl.run("--revisit", "--clock", "2026-01-05T00:00:00Z")
        for rule, expected in ((), "/ /d /c /a /b"), (("--prefer", "/b=1"), "/b / /d /c /a"):
            del site.log[:]
            crawl.run("--revisit", "--clock", "2026-01-0%dT00:00:00Z" % (9 if rule else 7), *rule)
            assert order(site) == expected.split()


def test_rules_apply_to_start_urls(tmp_path):
    with Site({"/%d" % i: page() for i in range(5)}) as site:
        Crawl(tmp_path / "c", *(site.url("/%d" % i) for i in range(5))).run(
            "--order", "priority", "--prefer", "/3$=2", "--prefer", "/1$=1")
        assert order(site) == "/3 /1 /0 /2 /4".split()


FOCUS = {
    "/": anchors(("/garden", "roses and tulips"), ("/cars", "engines"), ("/roses", "roses")),
    "/garden": "<p>roses need water, tulips need sun</p>" + anchors(("/next", "more"), ("/tulips", "tulips roses")),
    "/roses": "<p>roses roses tulips</p>" + anchors(("/thorns", "about thorns")),
    "/cars": anchors(("/roses-of-cars", "roses tulips")), "/next": page(), "/tulips": page(), "/thorns": page(),
    "/roses-of-cars": page(),
}


def words_of(text):
    return collections.Counter(re.findall("[a-z0-9]+", re.sub("<[^>]*>", " ", text).lower()))


def cosine(a, b):
    norm = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return sum(a[word] * b[word] for word in a) / norm if norm else 0


def best_first(site, words, threshold=0.1, weights=(0.5, 0.4, 0.1)):
    """The order that the formula of doc/crawling.md gives."""
    wanted = words_of(words)
    waiting, seen, done = [(0, 0, "/")], {"/"}, []
    while waiting:
        path = heapq.heappop(waiting)[2]
        done.append(path)
        score = cosine(words_of(FOCUS[path]), wanted)
        for link, anchor in re.findall('<a href="([^"]*)">([^<]*)', FOCUS[path]):
            url = words_of(site.url(link))
            worth = (weights[0] * score + weights[1] * cosine(words_of(anchor), wanted) +
                     weights[2] * sum(word in url for word in wanted) / len(wanted))
            if link not in seen and worth >= threshold:
                seen.add(link)
                heapq.heappush(waiting, (-worth, len(seen), link))
    return done


@pytest.mark.parametrize("words, threshold, weights", [
    ("Roses, tulips", 0.1, (0.5, 0.4, 0.1)),
    ("roses", 0.1, (0.5, 0.4, 0.1)),
    ("roses tulips thorns", 0.35, (0.5, 0.4, 0.1)),
    ("tulips tulips roses", 0.2, (0.1, 0.9, 0)),
    ("cars", 0.01, (0, 0, 1)),
])
def test_a_topical_crawl_follows_the_best_links_first(tmp_path, words, threshold, weights):
    (tmp_path / "words").write_text(words + "\n")
    with Site(FOCUS) as site:
        expected = best_first(site, words, threshold, weights)
        assert len(expected) > 1
        crawl = Crawl(tmp_path / "c", site.url("/")).run(
            "--strategy", "topical", "--words-file", tmp_path / "words", "--threshold", threshold,
            "--weights", ",".join(map(str, weights)))
        assert order(site) == expected
        found = {to for path in expected for to in re.findall('<a href="([^"]*)">', FOCUS[path])}
        for path in set(FOCUS) - set(expected):
            words = "is below --threshold" if path in found else "no page that was fetched links to it"
            assert words in crawl.why(site.url(path)), path


def test_the_best_page_of_all_hosts_comes_first(tmp_path):
    """Two hosts: with one request at a time, the better link is fetched first, wherever it is."""
    with Site({"/%d" % i: page() for i in range(6)}, address="127.0.0.2") as other:
        links = [(other.url("/%d" % i), "roses" + " x" * (2 * i)) for i in range(6)]
        with Site({"/": anchors(*links[::2], *(("/%d" % i, "roses" + " x" * (2 * i + 1)) for i in range(6))),
                   **{"/%d" % i: page() for i in range(6)}}) as site:
            Crawl(tmp_path / "c", site.url("/")).run("--strategy", "focused", "--words", "roses", "--everywhere",
                                                     "--threshold", "0.01", "--parallel", 1, "--pages", 5)
            both = sorted([(one.began, one.path) for one in site.log + other.log
                           if one.path not in ("/", "/robots.txt")])
            assert {path for _, path in both} <= {"/0", "/1", "/2"}


@pytest.mark.parametrize("options, words", [
    (("--strategy", "focused"), "--strategy topical needs --words"),
    (("--strategy", "focused", "--words", "..."), "there are no words"),
    (("--strategy", "topical", "--words", "a", "--threshold", "2"), "--threshold 2"),
    (("--strategy", "focused", "--words", "a", "--weights", "1,2"), "--weights 1,2"),
    (("--strategy", "narrow"), "narrow is not one of the choices"),
    (("--order", "random"), "random is not one of the choices"),
    (("--prefer", "a"), "REGEX=NUMBER"),
    (("--include", "("), "--include ("),
    (("--domain", "com"), "a public suffix"),
])
def test_options_that_make_no_sense_are_refused(tmp_path, options, words):
    assert words in Crawl(tmp_path / "c", "http://127.0.0.1:1/").run(*options, codes=(2,)).err


# --- lists of URLs ---

def test_urls_only_lists_what_is_found(tmp_path):
    n = 100
    pages = {"/%d" % i: page(*("/%d" % ((i * 3 + k) % n) for k in range(4)), "http://other.example/") for i in range(n)}
    with Site(pages) as site:
        everything = sorted(map(site.url, pages))
        crawl = Crawl(tmp_path / "c", site.url("/0")).run("--urls-only", "--pages", 20)
        listed = crawl.lines("urls.txt")
        assert len(site.paths()) == 20 and 20 < len(listed) == len(set(listed))
        crawl.run("--pages", 1000)
        assert crawl.lines("urls.txt")[:len(listed)] == listed
        assert sorted(crawl.lines("urls.txt")) == everything
        assert {name for name in os.listdir(crawl.folder) if not name.startswith("state.db")} == {
            "cache-1.keys", "cache-1.seen", "crawl.log", "lock", "urls.txt"}


def test_urls_only_survives_kills(tmp_path):
    n = 200
    pages = {"/%d" % i: page(*("/%d" % ((i * 5 + k) % n) for k in range(6))) for i in range(n)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        for wait in (0.05, 0.1, 0.15):
            process = subprocess.Popen(crawl.command("--urls-only", "--quiet"))
            time.sleep(wait)
            process.kill()
            process.wait(60)
        crawl.run("--urls-only")
        assert sorted(crawl.lines("urls.txt")) == sorted(map(site.url, pages))


# --- scope ---

def test_scope_by_host_domain_prefix_and_pattern(tmp_path):
    pages = {"/": "", "/x/1": page(), "/x/2": page(), "/y": page(), "/i.png": Answer("png", type="image/png"),
             "/s.css": Answer("p { background: url(/i.png) }", type="text/css")}
    with Site(pages) as site, Site({"/x/1": page(), "/z": page(), "/i.png": Answer("png", type="image/png")},
                                   address="127.0.0.3") as other:
        site.pages["/"] = page("/x/1", "/x/2", "/y", other.url("/x/1"), other.url("/z"),
                               head='<link rel="stylesheet" href="/s.css"><img src="%s">' % other.url("/i.png"))
        mine, all_mine = ["/", "/x/1", "/x/2", "/y"], ["/", "/i.png", "/s.css", "/x/1", "/x/2", "/y"]
        for at, (options, here, there) in enumerate([
                ((), mine, []),
                (("--domain", "127.0.0.3"), mine, ["/x/1", "/z"]),
                (("--prefix", other.url("/x/")), mine, ["/x/1"]),
                (("--everywhere",), mine, ["/x/1", "/z"]),
                (("--everywhere", "--include", "/x/"), ["/", "/x/1", "/x/2"], ["/x/1"]),
                (("--everywhere", "--exclude", "[12]$"), ["/", "/y"], ["/z"]),
                (("--include", "/x/", "--exclude", "2$", "--exclude", "z"), ["/", "/x/1"], []),
                (("--requisites",), all_mine, ["/i.png"]),
                (("--requisites", "--include", "/x/1", "--exclude", "[.]css"), ["/", "/x/1"], ["/i.png"])]):
            site.log.clear()
            other.log.clear()
            crawl = Crawl(tmp_path / str(at), site.url("/")).run(*options)
            assert (site.paths(), other.paths()) == (here, there), options
            assert crawl.report()["covered"]


# --- why ---

def test_why_names_each_reason(tmp_path):
    deep = page("/d1", "/private", "/x/x/x/x", "/no", "/skipped", "/late", "/%s" % ("l" * 2100), "http://other.example/",
                "http://127.0.0.9:1/down", "/q?1", "/broken")
    pages = {"/": deep, "/d1": page("/d2"), "/d2": page("/d3"), "/d3": page(),
             "/robots.txt": Answer("User-agent: *\nDisallow: /private\n", type="text/plain"),
             "/late": page(), "/skipped": page(), "/q?1": Answer("gone", 410),
             "/broken": lambda handler: handler.connection.shutdown(2) or True}
    with Site(pages) as site:
        subprocess.run([SEEN, "build", "--quiet", "--capacity", "100", "-o", str(tmp_path / "a.seen"), "-"],
                       input=site.url("/skipped").encode() + b"\n", check=True)
        crawl = Crawl(tmp_path / "c", site.url("/")).run(
            "--skip", tmp_path / "a.seen", "--exclude", "/no$", "--max-depth", 2, "--domain", "127.0.0.9",
            "--clock", "2026-01-01T00:00:00Z", "--retries", 2, "--pause", "1s")
        why = {path: crawl.why(path if path.startswith("http") else site.url(path)) for path in (
            "/", "/private", "/x/x/x/x", "/no", "/skipped", "/" + "l" * 2100, "http://other.example/",
            "http://127.0.0.9:1/down", "/q?1", "/broken", "/d3", "/unknown")}
        for path, words in {
                "/": "with status 200", "/private": "line 2 of", "/x/x/x/x": "its path repeats itself",
                "/no": "matches --exclude /no$", "/skipped": "a.seen may hold it", "/" + "l" * 2100: "longer than",
                "http://other.example/": "is not one of the crawl's", "/q?1": "with status 410",
                "http://127.0.0.9:1/down": "robots.txt of http://127.0.0.9:1 cannot be fetched", "/broken": "but it failed",
                "/d3": "--max-depth is 2", "/unknown": "no page that was fetched links to it"}.items():
            assert words in why[path], (path, why[path])


def test_every_link_that_is_not_followed_is_counted_once_and_explained(tmp_path):
    """All that `seen links` finds on the pages: what is not fetched has its reason, and the report its number."""
    anchors = ["/a", "/b", "/plain", "/private", "/skipped", "/x/x/x/x/", "http://other.example/x/x/x/x/",
               "http://other.example/"]
    pages = {"/": page(*anchors, text='<a rel=nofollow href="/n1">1</a><a rel="ugc" href="/n2">2</a>'
                                      '<a rel=sponsored href="http://other.example/n">3</a>'),
             "/a": page("/n1", "/n3", "/plain", head="<meta name=robots content=nofollow>"),
             "/b": Answer(page("/n4", "/plain"), X_Robots_Tag="nofollow"),
             "/robots.txt": Answer("User-agent: *\nDisallow: /private\n", type="text/plain"),
             **{path: page() for path in ("/plain", "/n1", "/n2", "/n3", "/n4", "/skipped")}}
    reasons = {"/private": "line 2 of", "/skipped": "may hold it", "/x/x/x/x/": "like a trap",
               "http://other.example/x/x/x/x/": "is not one of the crawl's", "http://other.example/": "is not one",
               "http://other.example/n": "is not one", "/n1": "/ links to it with nofollow", "/n2": "/ links to it with nofollow",
               "/n3": "/a links to it with nofollow", "/n4": "/b links to it with nofollow"}
    with Site(pages) as site:
        subprocess.run([SEEN, "build", "--quiet", "--capacity", "100", "-o", str(tmp_path / "a.seen"), "-"],
                       input=site.url("/skipped").encode() + b"\n", check=True)
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--skip", tmp_path / "a.seen")
        assert site.paths() == ["/", "/a", "/b", "/plain"]
        report = crawl.report()
        assert [report[name] for name in ("nofollow", "out_of_scope", "traps", "robots", "skipped", "no_rule",
                                          "below_threshold")] == [7, 3, 1, 1, 1, 0, 0]
        assert report["covered"]
        text = subprocess.run([SEEN, "crawl", "status", crawl.folder], stdout=subprocess.PIPE, check=True).stdout.decode()
        assert "everything in scope that was found, except what the next lines count" in text
        assert "3 out of scope, 1 like traps, 7 with nofollow" in text
        for path in ("/", "/a", "/b"):
            body = pages[path].body.decode() if isinstance(pages[path], Answer) else pages[path]
            found = subprocess.run([SEEN, "links", "-", "--base", site.url(path)], input=body.encode(), check=True,
                                   stdout=subprocess.PIPE).stdout.decode().split()
            assert len(found) >= 2
            for url in found:
                name = url.replace(site.url("/"), "/")
                assert reasons.get(name, "with status 200") in crawl.why(url), (url, crawl.why(url))
        os.unlink(tmp_path / "a.seen")      # the record knows it all the same
        assert "a filter of --skip held it" in crawl.why(site.url("/skipped"))
        full = Crawl(tmp_path / "d", site.url("/")).run("--ignore-nofollow")
        assert full.urls() == sorted(site.url(path) for path in pages if path not in ("/robots.txt", "/private"))
        assert full.report()["nofollow"] == 0


def test_why_and_status_of_a_crawl_that_runs(tmp_path):
    with Site({"/": page("/a", "/b"), "/a": page(), "/b": page()}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"), delay="30")
        process = subprocess.Popen(crawl.command("--quiet"))
        try:
            end = time.monotonic() + 60
            report = {}
            while not report.get("hosts") or not report["hosts"][0]["due"]:
                assert time.monotonic() < end
                time.sleep(0.05)
                if os.path.exists(crawl.folder + "/crawl.log"):
                    report = crawl.report()
            host = report["hosts"][0]
            assert report["running"] and report["waiting"] == 1 and host["waiting"] == 1
            assert 5 < host["due"] - time.time() < 31
            assert "it waits" in crawl.why(site.url("/"))
            text = subprocess.run([SEEN, "crawl", "status", crawl.folder], stdout=subprocess.PIPE).stdout.decode()
            assert ", runs" in text and "due in" in text and "1 waiting" in text
        finally:
            process.terminate()
            assert process.wait(60) == 0


def test_why_a_cache_lost_a_page(tmp_path):
    """At a rate of 20 % and more about 60 of 300 pages are lost, and each that a page links to says so."""
    links = {"/%d" % i: ["/%d" % k for k in range(i + 1, min(i + 9, 300))] for i in range(300)}
    pages = {path: page(*to) for path, to in links.items()}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0")).run("--cache", "bloom", "--rate", "0.2", "--capacity", 100, "--seed", 7)
        fetched = site.paths()
        lost = sorted({to for path in fetched for to in links[path]} - set(fetched))
        assert lost
        assert "lost to a false positive" in crawl.why(site.url(lost[0]))


# --- templates ---

def question(n):
    return ('<html><head><title>q</title></head><body><h1><a href="/q/%d?s=1">Question %d</a></h1><div class="text">Text '
            '<b>of</b> %d</div><table id="t"><tr><td class="views">1,%03d times</td></tr></table>'
            '<div class="related"><a href="/q/%d?sid=9&amp;utm_x=2">related</a></div><a href="/users/%d">u</a></body></html>'
            % (n, n, n, n, n % 4 + 1, n))


def test_a_template_from_its_start_urls_to_its_records(tmp_path):
    with Site({}) as site:
        for n in range(1, 5):
            site.pages["/q/%d" % n] = question(n)
        site.pages.update({
            "/list?p=1": '<ul class="all"><li><a href="/q/1">1</a><li><a href="/q/2/edit">e</a></ul><a href="/other">o</a>',
            "/list?p=2": '<ul class="all"><li><a href="/q/3;jsessionid=5">3</a></ul>',
            "/other": page(), "/q/2/edit": page()})
        template = {
            "name": "questions", "start": [site.url("/list?p=[1-2]")], "domains": ["127.0.0.1"],
            "follow": [{"css": ".all, .related", "allow": ["/q/[0-9]+"], "deny": ["/edit$"], "type": "question"}],
            "pages": {"list": {"url": ["/list"]},
                      "question": {"fields": {"Title": "h1 a", "Description": ".text",
                                              "View": {"css": "#t > tbody > tr > td.views", "type": "number"}}}},
            "clean": {"strip": ["utm_*", "sid", "jsessionid"]}, "politeness": {"delay": "0s"}}
        (tmp_path / "t.json").write_text(json.dumps(template))
        crawl = Crawl(tmp_path / "c", delay=None).run("--template", tmp_path / "t.json", "--pages", 3)
        os.unlink(tmp_path / "t.json")
        crawl.run("--pages", 100)               # without --template
        assert site.paths() == ["/list?p=1", "/list?p=2", "/q/1", "/q/2", "/q/3", "/q/4"]
        records = {one["_url"].split("/", 3)[3]: one for one in crawl.records()}
        assert len(records) == len(site.paths())
        digest = hashlib.sha1(json.dumps(template, sort_keys=True, separators=(",", ":"),
                                         ensure_ascii=False).encode()).hexdigest()
        one = records["q/1"]
        assert one["Title"] == ["Question 1"] and one["Description"] == ["Text of 1"] and one["View"] == [1001]
        assert one["_template"] == digest and one["_type"] == "question" and one["_status"] == 200
        assert one["_visit"].startswith("1@") and re.fullmatch("[0-9]{4}-.*Z", one["_fetched_at"])
        identity = hashlib.sha256(b"\0".join((one["_visit"].encode(), one["_url"].encode(), b"1"))).hexdigest()[:32]
        assert one["_id"] == identity
        assert records["list?p=1"]["_type"] == "list" and "Title" not in records["list?p=1"]
        assert "no rule of the template" in crawl.why(site.url("/other"))
