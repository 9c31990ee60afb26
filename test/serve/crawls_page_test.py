"""crawls_page_test.py - the page for operators, and the page to search, in a browser.

A folder with a crawl that ended, whose numbers the tests change as a crawler would,
and one that cannot be read. After every test the console must be empty.
"""
import os
import sqlite3
import sys

import pytest

from browsing import (By, Keys, accessible, chrome, contrasts, find, focus, is_dark,  # noqa: F401
                      look, press, text, visit, wait_for, width)
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "crawl"))
from crawling import Crawl, Site, page as document              # noqa: E402
from serving import Server                                      # noqa: E402

LONG = "a-long-name-without-an-end" * 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("crawls")
    with Site({"/": document("/a", "/b", "/missing", text=LONG + " roses " * 99),
               "/a": document(title="Roses" * 40 + " &lt;b&gt;", text="red roses")}) as site:
        Crawl(at / "news", site.url("/")).run("--index")
    (at / LONG).mkdir()
    (at / LONG / "state.db").write_bytes(b"not a database" * 100)
    change(at, "INSERT INTO hosts (name, queued, requests, stopped) VALUES ('%s.example', 7, 3, "
           "'%s')" % (LONG, LONG))
    change(at, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120) "
           "INSERT INTO hosts (name, queued, requests) SELECT 'h' || i || '.example', i, 1 FROM n")
    return at


def change(folder, statement):
    with sqlite3.connect(folder / "news" / "state.db", timeout=10) as db:
        db.execute(statement)
    db.close()


@pytest.fixture(scope="module")
def site(folder):
    with Server(folder, "--crawls", folder, "--search", folder / "news", "--search",
                "%s=%s" % (LONG, folder / LONG)) as server:
        yield "http://127.0.0.1:%d/" % server.port


@pytest.fixture
def page(chrome, site):                                                 # noqa: F811
    yield from visit(chrome, site + "crawls", allowed=("status of 400",))     # a refused question


def rows(page, label):
    """{first line of the row: row} of the table with this label."""
    found = page.find_elements(By.CSS_SELECTOR, "table[aria-labelledby=%s] tbody tr" % label)
    return {text(row, "b"): row for row in found}


def updated(page, claim):
    """Wait for a claim, and fetch new numbers more often than the page does."""
    def look_again():
        page.execute_async_script("update().then(arguments[0])")
        return claim()
    wait_for(look_again)


def test_what_needs_a_look_comes_first(page):
    said = [li.text for li in page.find_elements(By.CSS_SELECTOR, ".needs li")]
    assert said[0].startswith(LONG + ": cannot be read: ")
    assert said[1] == "news: 1 host is not asked any more; 7 pages are left there"
    assert list(rows(page, "all")) == [LONG, "news"]
    find(page, "table a[href='crawls/news']").click()
    wait_for(lambda: text(page, "h1") == "news")
    first = rows(page, "hosts")[LONG + ".example"]
    assert "not asked any more" in first.text and LONG in first.text
    assert list(rows(page, "hosts"))[1] == "h120.example"
    assert "status 404" in text(page, "table[aria-labelledby=errors]")


def test_numbers_change_and_scroll_focus_and_words_stay(page, site, folder):
    page.get(site + "crawls/news")
    page.execute_script("window.same = true; window.scrollTo(0, 300)")
    field = find(page, "#host")
    field.send_keys("half a wo")
    head = page.find_elements(By.CSS_SELECTOR, "tbody tr")[0]
    change(folder, "UPDATE hosts SET queued = 4321 WHERE name = 'h120.example'")
    updated(page, lambda: "4,321" in text(page, "main"))
    assert page.execute_script("return window.same && window.scrollY") > 0
    assert focus(page) == "host" and field.get_attribute("value") == "half a wo"
    assert head.is_displayed()                  # the element, not one like it
    change(folder, "INSERT INTO hosts (name, queued, requests) VALUES ('fresh.example', 9999, 1)")
    updated(page, lambda: "fresh.example" in text(page, "main"))
    change(folder, "DELETE FROM hosts WHERE name = 'fresh.example'")
    change(folder, "UPDATE hosts SET queued = 120 WHERE name = 'h120.example'")
    updated(page, lambda: "fresh.example" not in text(page, "main"))


def test_updates_can_be_paused(page, site):
    page.get(site + "crawls/news")
    find(page, "#pause").send_keys(Keys.ENTER)
    assert find(page, "#pause").get_attribute("aria-pressed") == "true"
    assert text(page, "#note") == "Paused."
    page.execute_script("window.planned = 0; window.setTimeout = () => { window.planned++; };"
                        "document.dispatchEvent(new Event('visibilitychange'))")
    assert page.execute_script("return window.planned") == 0
    find(page, "#pause").click()
    assert page.execute_script("return window.planned") == 1
    assert text(page, "#note") == "" and focus(page) == "pause"


def test_a_server_that_is_gone_is_told(page):
    page.execute_script("window.fetch = () => Promise.reject(new TypeError('gone')); update()")
    wait_for(lambda: text(page, "#note") == "The server cannot be reached; trying again.")


def test_hosts_are_found_and_turned_by_the_keyboard(page, site):
    page.get(site + "crawls/news")
    assert len(rows(page, "hosts")) == 50
    find(page, ".turn a").send_keys(Keys.ENTER)
    wait_for(lambda: "51 to 100 of 122 hosts" in text(page, ".turn"))
    find(page, "#host").send_keys("H11" + Keys.ENTER)
    wait_for(lambda: len(rows(page, "hosts")) == 11)
    assert page.current_url == site + "crawls/news?host=H11#hosts"


def test_the_keyboard_is_enough(page):
    order = []
    for _ in range(7):
        press(page, Keys.TAB)
        order.append(focus(page))
        assert page.execute_script(
            "return getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert order == ["Skip to the content", "seen", "Archives", "Search", "Crawls", "pause", LONG]


def test_words_are_searched_without_javascript_and_by_the_keyboard(page, site):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    find(page, "nav a[href=search]").send_keys(Keys.ENTER)
    wait_for(lambda: text(page, "h1") == "Search news")
    find(page, "#q").send_keys("\"red ro*\"" + Keys.ENTER)
    wait_for(lambda: text(page, "#results") == "1 to 1 of 1 page")
    assert page.title == "\"red ro*\" - Search - seen" and text(page, ".results mark") == "red"
    assert find(page, "#q").get_attribute("value") == "\"red ro*\""
    told = accessible(page)
    for wanted in [("search", ""), ("searchbox", "Words"), ("button", "Search"), ("combobox", "Crawl"),
                   ("combobox", "Last fetched in visit"), ("mark", ""), ("heading", "1 to 1 of 1 page")]:
        assert wanted in told, wanted


def test_everything_has_a_role_and_a_name(page, site):
    told = accessible(page)
    page.get(site + "crawls/news")
    told |= accessible(page)
    for wanted in [("main", ""), ("banner", ""), ("navigation", "Site"), ("heading", "Crawls"),
                   ("table", "All crawls"), ("columnheader", "Pages per second"),
                   ("button", "Pause updates"), ("table", "Hosts"), ("searchbox", "Find hosts"),
                   ("table", "Last errors"), ("navigation", "Pages of hosts")]:
        assert wanted in told, wanted
    for role, name in told:
        if role in ("button", "link", "searchbox", "image", "table", "heading"):
            assert name, "a %s has no name" % role
    width(page, 320)                            # cards are a table still
    assert ("columnheader", "Waits for") in accessible(page)


@pytest.mark.parametrize("path", ["crawls", "crawls/news", "crawls/" + LONG, "search?q=roses",
                                  "search?q=%22&crawl=" + LONG])
def test_nothing_is_wider_than_a_phone(page, site, path):
    width(page, 320)
    page.get(site + path)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(page, site, scheme):
    look(page, scheme)
    for path in "crawls", "crawls/news", "search?q=roses", "search?q=%22":
        page.get(site + path)
        measured = contrasts(page)
        assert len(measured) > 20 and min(measured)[0] >= 4.5, min(measured)
    assert is_dark(page) == (scheme == "dark")


def test_it_works_without_javascript(page, site):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.get(site + "crawls/news")
    assert not find(page, "#pause").is_displayed()
    assert "Reload the page" in text(page, "main")
    assert len(rows(page, "hosts")) == 50


def test_the_first_page_leads_to_it(page, site):
    page.get(site)
    wait_for(lambda: find(page, "nav a[href=crawls]").is_displayed())
    find(page, "nav a[href=crawls]").click()
    wait_for(lambda: text(page, "h1") == "Crawls")
