"""searching.py - crawls with an index, for tests of `seen serve --search`.

A small site with hostile pages is crawled for real, twice. Rows are added to a copy
of its folder where a test needs many pages. Importing the fixtures is enough.
"""
import html
import json
import os
import shutil
import sqlite3
import sys
import urllib.parse

import pytest

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "crawl"))
from crawling import Crawl, Site, page                          # noqa: E402

CLOCK = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"
EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)>&amp; thorns'
PAGES = {
    "/": page("/r", "/t", "/evil", "/q", title="Home"),
    "/r": page(title="Roses", text="Red roses and white roses. Caf\u00e9 in the garden."),
    "/t": page(title="Tulips", text="Tulips are red; NEAR the door OR the wall."),
    "/evil": page(title=html.escape(EVIL), text=html.escape(EVIL) + " \x01\x02\u009b end"),
    "/q": page(title="Query", text="old stones"),
}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory):
    at = tmp_path_factory.mktemp("s")
    with Site(dict(PAGES)) as site:
        crawl = Crawl(at / "garden", site.url("/")).run("--index", "--clock", CLOCK[0])
        Crawl(at / "plain", site.url("/")).run("--clock", CLOCK[0])
        site.pages["/q"] = page(title="Query", text="new words")
        crawl.run("--revisit", "--clock", CLOCK[1])
    return at


def target(question, path="/search.json", **more):
    return path + "?" + urllib.parse.urlencode({"q": question, **more})


def found(server, question, **more):
    answer = server.get(target(question, **more))
    assert answer.status == 200 and answer["Content-Type"] == "application/json", answer.text
    return json.loads(answer.body)


def change(folder, *statements):
    with sqlite3.connect(folder / "state.db", timeout=10) as db:
        for statement in statements:
            db.execute(*statement)
    db.close()


@pytest.fixture(scope="module")
def many(crawls, tmp_path_factory):
    """60,000 more pages say "common", and one in a thousand "rare"."""
    at = tmp_path_factory.mktemp("m") / "many"
    shutil.copytree(crawls / "garden", at)
    change(at, ["WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 60999) INSERT INTO "
                "fetched SELECT i, CAST('key' || i AS BLOB), 2, first, last, due, stored, checks, changes, history, "
                "status, turn, url || i, etag, modified, digest, note, place, type, size, depth, every FROM n JOIN "
                "fetched WHERE id = 1"],
           ["INSERT INTO search (rowid, title, text) SELECT id, 'Many', 'common ' || CASE WHEN id % 1000 THEN '' "
            "ELSE 'rare' END FROM fetched WHERE id >= 1000"])
    return at
