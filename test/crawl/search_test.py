"""--index and seen search: what was stored is found, as it is now."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from crawling import SEEN, Answer, Crawl, Site, page  # noqa: E402

CLOCK = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"


def search(folder, *words, codes=(0, 1)):
    done = subprocess.run([SEEN, "search", str(folder), "--json", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode in codes, done.stderr.decode()
    found = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert done.returncode == 2 or done.returncode == (0 if found else 1)
    return done.stderr.decode() if done.returncode == 2 else found


def paths(folder, *words):
    return ["/" + one["url"].split("/", 3)[3] for one in search(folder, *words)]


GARDEN = {
    "/": page("/r", "/t", "/h", "/p", "/l", title="Home"),
    "/r": page("/", title="Roses", text="Red roses and white roses. Caf\u00e9 in the garden."),
    "/t": page(title="Tulips", text="Tulips are red. Nothing about roses but this \"one\" word; NEAR the door."),
    "/h": page(text="roses", head='<meta name="robots" content="noindex">'),
    "/p": Answer("roses roses", type="text/plain"),
    "/l": page(title="Long", text="filler " * 3000 + "needle " + "filler " * 3000),
}


@pytest.fixture(scope="module")
def garden(tmp_path_factory):
    with Site(dict(GARDEN)) as site:
        yield Crawl(tmp_path_factory.mktemp("s") / "c", site.url("/")).run("--index").folder


@pytest.mark.parametrize("words, expected", [
    (("roses",), ["/r", "/t"]),
    (("ROSES", "tulips"), ["/t"]),
    (("cafe",), ["/r"]),
    (("red roses",), ["/r"]),
    (("roses red",), []),
    (("tul*",), ["/t"]),
    (("needle",), ["/l"]),
    (("home",), ["/"]),
    (("orchids",), []),
    # Quotes and operators of FTS5 are text.
    (('"one"',), ["/t"]),
    (('one" OR "red',), []),
    (("NEAR",), ["/t"]),
    (("red OR orchids",), []),
    (("title:roses",), []),
    (("-red",), ["/r", "/t"]),
    (("roses", "^", "("), ["/r", "/t"]),
    (("NOT",), []),
    (("'; DROP TABLE search; --",), []),
])
def test_words_are_words(garden, words, expected):
    assert paths(garden, "--", *words) == expected


def test_results_have_titles_and_snippets(garden):
    one = search(garden, "needle")[0]
    assert one["title"] == "Long" and "[needle]" in one["snippet"] and len(one["snippet"]) < 400
    text = subprocess.run([SEEN, "search", garden, "roses", "--limit", "1"], stdout=subprocess.PIPE).stdout.decode()
    lines = text.splitlines()
    assert len(lines) == 3 and lines[0].endswith("/r") and lines[1] == "    Roses"
    assert lines[2].startswith("    ") and "[roses]" in lines[2]


def test_a_page_that_repeats_a_word_is_found_like_others(tmp_path):
    with Site({"/": page(title="Many", text="a " * (1 << 19))}) as site:
        folder = Crawl(tmp_path / "c", site.url("/")).run("--index").folder
    done = subprocess.run([SEEN, "search", folder, "a"], stdout=subprocess.PIPE, timeout=240)
    assert b"[a] [a] [a]" in done.stdout        # FTS5's snippet() took more than 240 s


def test_mistakes_are_named(garden, tmp_path):
    assert "there is no word to look for" in search(garden, "--", "\"", codes=(2,))
    assert "has no index" in search(Crawl(tmp_path / "c", "http://127.0.0.1:1/").run("--retries", 1, "--pause", "1s",
                                                                                     "--clock", CLOCK[0]).folder,
                                    "x", codes=(2,))
    assert "missing" in search(tmp_path / "missing", "x", codes=(2,))


def test_pages_do_not_move_the_cursor(tmp_path):
    with Site({"/": page(title="a\x1b[2Jb\u009b3m", text="x\x07y\r z")}) as site:
        folder = Crawl(tmp_path / "c", site.url("/")).run("--index").folder
        out = subprocess.run([SEEN, "search", folder, "z"], stdout=subprocess.PIPE).stdout.decode()
        assert not [c for c in out if ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160]


def test_a_revisit_replaces_the_text(tmp_path):
    with Site({"/": page("/a", "/b", "/c"), "/a": page(text="old words"), "/b": page(text="old stones"),
               "/c": page(text="old iron")}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--index", "--clock", CLOCK[0])
        assert paths(crawl.folder, "old") == ["/a", "/b", "/c"]
        site.pages.update({"/a": page(text="new words"), "/b": Answer("gone", 410)})
        crawl.run("--revisit", "--clock", CLOCK[1])
        assert paths(crawl.folder, "old") == ["/c"]
        assert paths(crawl.folder, "words") == ["/a"] and paths(crawl.folder, "new") == ["/a"]


def test_the_index_survives_kills(tmp_path):
    n = 150
    pages = {"/%d" % i: page(*("/%d" % ((i * 5 + k) % n) for k in range(6)), text="word%d" % i) for i in range(n)}
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/0"))
        for more in (1, 40, 60):
            answered = len(site.log)
            site.hold(more)
            process = subprocess.Popen(crawl.command("--index", "--quiet"))
            site.wait_for(answered + more)
            process.kill()
            process.wait(60)
            site.release()
        crawl.run()
        assert sorted(paths(crawl.folder, "--limit", "1000", "word*")) == sorted(pages)
        assert all(paths(crawl.folder, "word%d" % i) == ["/%d" % i] for i in range(0, n, 37))
