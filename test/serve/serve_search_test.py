"""serve_search_test.py - the page to search crawls: /search and /search.json."""
import html
import json
import shutil
import subprocess
import urllib.parse

import pytest

from searching import Crawl, Site, change, crawls, found, many, page, target    # noqa: F401
from serving import SEEN, Server, build, until


@pytest.fixture(scope="module")
def server(crawls):                                                     # noqa: F811
    with Server(crawls, "--search", crawls / "garden", "--search", "none=%s" % (crawls / "plain"),
                "--search", "gone=missing") as it:
        yield it


def paths(server, question, **more):
    return ["/" + one["url"].split("/", 3)[3] for one in found(server, question, **more)["results"]]


@pytest.mark.parametrize("question, expected", [
    ("roses", ["/r"]),
    ("RED", ["/t", "/r"]),
    ("red cafe", ["/r"]),
    ('"red roses"', ["/r"]),
    ('"roses red"', []),
    ('"red roses', ["/r"]),
    ("tul*", ["/t"]),
    ("near OR", ["/t"]),
    ("title:roses", []),
    ("orchids", []),
    ("\u201cred roses\u201d", ["/r"]),
])
def test_words_are_found(server, question, expected):
    assert sorted(paths(server, question)) == sorted(expected)


def test_an_answer_says_what_it_is(server):
    one = found(server, "tulips red")
    assert one["crawl"] == "garden" and one["crawls"] == ["garden", "none", "gone"]
    assert (one["total"], one["complete"], one["more"], one["running"]) == (1, True, False, False)
    assert [visit["visit"] for visit in one["visits"]] == [2, 1]
    result, = one["results"]
    assert result["title"] == "Tulips" and result["visit"] == 2 and result["archived"] is None
    assert result["snippet"][:4] == ["", "Tulips", " are ", "red"]      # every second one was found
    assert result["fetched"] > result["stored"] == pytest.approx(1767225600, abs=5)


def test_visits_and_days_narrow_it(server):
    assert paths(server, "red", visit=2) == paths(server, "red") and not paths(server, "red", visit=1)
    assert paths(server, "new", **{"from": "2026-03-01", "to": "2026-03-01"}) == ["/q"]
    assert not paths(server, "new", to="2026-02-28") and not paths(server, "new", **{"from": "2026-03-02"})
    assert paths(server, "new", visit="", to="", **{"from": ""}) == ["/q"]      # as a form sends it


@pytest.mark.parametrize("query, status, words", [
    ("q=%22", 400, "there is no word"),
    ("q=%ff", 400, "UTF-8"),
    ("q=" + "x" * 501, 400, "500 bytes"),
    ("q=" + "x" * 5000, 400, "too long"),
    ("q=" + "+".join("w%d" % i for i in range(33)), 400, "32 different words"),
    ("q=a*+b*+c*+d*+e*", 400, "4 words with a *"),
    ("q=" + "%22" * 100, 400, "no word"),
    ("q=x&from=2026-02-30", 400, "2026-01-31"),
    ("q=x&to=yesterday", 400, "2026-01-31"),
    ("q=x&visit=-1", 400, "visit"),
    ("q=x&page=0", 400, "page"),
    ("q=x&most=101", 400, "most"),
    ("q=x&page=101", 400, "first 1,000"),
    ("q=x&crawl=other", 404, "no crawl of this name"),
    ("q=x&crawl=none", 503, "has no index; seen crawl --index keeps one"),
    ("q=x&crawl=gone", 503, "there is no crawl here now"),
])
def test_mistakes_are_named(server, query, status, words):
    answer = server.get("/search.json?" + query)
    assert answer.status == status and words in json.loads(answer.body)["error"]
    shown = server.get("/search?" + query)
    assert shown.status == status and words in html.unescape(shown.text)
    assert answer["Access-Control-Allow-Origin"] == shown["Access-Control-Allow-Origin"] == ""


def test_every_question_is_an_answer_or_refused(server):
    for question in ('"' * 99, "(" * 400, "a " * 200, "a-b" * 166, "NEAR(a b)" * 50, "* * *", "a\0b", "{a b}:c",
                     "^a", "- -- ---", "\u00e4" * 250, "\u20ac \u20ac", "a\"b\"c\"", "\U0001f339", "a*" * 200):
        for path in "/search", "/search.json":
            assert server.status(target(question, path)) in (200, 400), question
    assert server.status("/search?q=" + "x" * 9000) == 414


def test_the_page_is_escaped_and_guarded(server):
    answer = server.get(target('thorns "<script>"', "/search"))
    assert answer.status == 200 and answer["Content-Type"] == "text/html; charset=utf-8"
    text = answer.text
    assert "<script" not in text and "<img" not in text and "\x01" not in text and "\u009b" not in text
    assert "&lt;<mark>script</mark>&gt;" in text and "<mark>thorns</mark>" in text
    assert 'value="thorns &quot;&lt;script&gt;&quot;"' in text and '<html lang="en">' in text
    assert '<a rel="nofollow noreferrer" href="http://127.0.0.1' in text
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["Access-Control-Allow-Origin"] == "" and answer["Cache-Control"] == "no-store"
    assert server.get("/search", {"Accept": "application/json"})["Content-Type"] == "application/json"
    assert 'id="q"' in server.get("/search").text and server.status("/search.css") == 200
    assert server.ask("POST", "/search", body="q=x").status == 405
    assert server.ask("HEAD", target("red", "/search")).body == b""


def test_only_addresses_of_the_web_are_links(crawls, tmp_path):
    shutil.copytree(crawls / "garden", tmp_path / "site")
    evil = 'javascript:alert("1")//\''
    change(tmp_path / "site", ["UPDATE fetched SET url = ? WHERE url LIKE '%/r'", [evil]])
    with Server(tmp_path, "--search", "site") as server:
        assert "<h3><mark>Roses</mark></h3>" in server.get(target("roses", "/search")).text
        assert found(server, "roses")["results"][0]["url"] == evil


def test_copies_are_linked_if_the_server_knows_any(crawls, tmp_path):
    build(tmp_path / "a.seen")
    with Server(tmp_path, "a.seen", "--aggregate", "--base", "/x", "--url", "https://h.example", "--search",
                crawls / "garden", "--crawls", crawls / "garden") as server:
        one = json.loads(server.get("/x" + target("tulips")).body)["results"][0]
        assert one["archived"].startswith("https://h.example/x/memento/20260101000")
        assert one["archived"].endswith("/" + urllib.parse.quote(one["url"], safe=""))
        text = server.get("/x" + target("tulips", "/search")).text
        assert 'href="memento/20260101000' in text and 'href="agg/http%3A%2F%2F127.0.0.1' in text
        assert '<a href="search">' in server.get("/x/crawls").text and '<a href="crawls">' in text
        assert "Disallow: /x/search\n" in server.get("/x/robots.txt").text


def test_a_server_that_searches_is_healthy_and_counts(crawls, tmp_path):
    with Server(tmp_path, "--search", crawls / "garden") as server:
        assert server.status("/healthz") == 200 and json.loads(server.get("/archives").body)["search"]
        for _ in range(3):
            found(server, "red")
        counts = server.metrics()
        assert counts["seen_search_questions_total"] == 3 and counts["seen_search_incomplete_total"] == 0
        assert server.get("/search", {"Host": "evil.example"}).status == 200        # --host '*'
    with Server(tmp_path, "--search", crawls / "garden", host=None) as server:
        assert server.get("/search", {"Host": "evil.example"}).status == 421
    assert "two crawls are called garden" in said("--search", crawls / "garden", "--search", crawls / "garden")


def said(*words):
    return subprocess.run([SEEN, "serve", *map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          timeout=240).stderr.decode()


def test_without_the_option_there_is_nothing(tmp_path):
    build(tmp_path / "a.seen")
    with Server(tmp_path, "a.seen") as server:
        assert server.status("/search") == 404 and "search" not in server.get("/metrics").text


def test_what_is_too_much_says_so_and_turns(many):
    with Server(many.parent, "--search", many) as server:
        one = found(server, "common")
        assert not one["complete"] and one["more"] and 5000 < one["total"] < 60000 and len(one["results"]) == 10
        assert all(result["snippet"][1] == "common" for result in one["results"])
        text = server.get(target("common", "/search")).text
        assert "1 to 10 of more than" in text and "Add a word" in text
        assert "seen_search_thorough_total 2" in server.get("/metrics").text
        pages = [found(server, "rare", page=i) for i in range(1, 8)]
        assert [len(one["results"]) for one in pages] == [10] * 6 + [0]
        assert [one["more"] for one in pages] == [True] * 5 + [False] * 2
        assert len({result["url"] for one in pages for result in one["results"]}) == 60
        text = server.get(target("rare", "/search", page=2, visit=2)).text
        assert "11 to 20 of 60 pages" in text and '<ol class="results" start="11">' in text
        assert text.count("q=rare&amp;crawl=many&amp;visit=2\"") == 1
        assert text.count("q=rare&amp;crawl=many&amp;visit=2&amp;page=3\"") == 1
        assert 'href="search.json?q=rare&amp;crawl=many&amp;visit=2&amp;page=2"' in text


def test_a_crawl_that_runs_is_searched_and_says_so(tmp_path):
    pages = {"/": page(*["/p%d" % i for i in range(30)], text="start")}
    pages.update({"/p%d" % i: page(text="number %d" % i) for i in range(30)})
    with Site(pages) as site, Server(tmp_path, "--search", "site") as server:
        crawl = Crawl(tmp_path / "site", site.url("/"))
        site.hold(5)
        process = subprocess.Popen(crawl.command("--index", "--quiet"))
        try:
            one = until(lambda: (a := server.get(target("number"))).status == 200 and
                        (found := json.loads(a.body))["total"] and found)
            assert one["running"] and "The crawl is running" in server.get("/search").text
            site.release()
            assert process.wait(240) == 0
        finally:
            process.kill()
            process.wait(60)
        one = found(server, "number")
        assert one["total"] == 30 and not one["running"]
