"""page_test.py - the page at / does what it says, in a browser.

The real server, three filters, and a headless Chromium. One archive's file
has a changed byte, so that it is withdrawn. After every test the console must
be empty and no other host may have been asked for anything.
"""
import json
import os
import subprocess
import sys
import urllib.request

import pytest

from browsing import (By, Keys, accessible, chrome, contrasts, find, focus, is_dark,  # noqa: F401
                      look, press, text, visit, wait_for, width)
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port                                     # noqa: E402

SEEN = os.environ.get("SEEN", "build/seen")
HELD = "http://www.example.org/page/1"          # by haw and ia
ONE = "http://www.example.org/page/400"         # by haw alone
NONE = "http://nobody.example.net/"


# --- a server and a browser ---------------------------------------------------

def build(path, first, last, *options):
    urls = "".join("http://www.example.org/page/%d\n" % i for i in range(first, last))
    subprocess.run([SEEN, "build", "--quiet", "-o", path, *options, "-"],
                   input=urls, text=True, check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("filters")
    build(at / "haw.seen", 1, 1001, "--capacity", "4000", "--meta", "title=Hrvatski arhiv weba",
          "--meta", "holder=NSK", "--meta", "as-of=2020-06-01",
          "--meta", "timemap=https://haw.example/timemap/link/{url}")
    build(at / "ia.seen", 1, 301, "--kind", "growing/blocked", "--capacity", "100",
          "--meta", "title=<b>Internet & Archive</b>")
    build(at / "cut.seen", 1, 1001, "--capacity", "4000", "--meta", "title=cut")
    whole = bytearray((at / "cut.seen").read_bytes())
    whole[len(whole) // 2] ^= 1                 # a bit of a cell
    (at / "cut.seen").write_bytes(whole)
    return at


def serve(folder, base):
    port = free_port()
    here = "http://127.0.0.1:%d%s" % (port, base)
    options = ["--base", base] if base else []
    process = subprocess.Popen([SEEN, "serve", "--listen", "127.0.0.1:%d" % port, *options,
                                str(folder)], stderr=subprocess.DEVNULL)

    def ready():
        with urllib.request.urlopen(here + "/archives", timeout=60) as reply:
            listed = json.load(reply)["archives"]
        return len(listed) == 3 and all(a["state"] != "checking" for a in listed)

    try:
        wait_for(ready)
        yield here + "/"
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.fixture(scope="module")
def site(folder):
    yield from serve(folder, "")


@pytest.fixture
def page(chrome, site):                                                 # noqa: F811
    yield from visit(chrome, site, allowed=["400 ("])   # we ask for what is no URL


# --- words for what one sees ----------------------------------------------------

def type_and_ask(page, typed):
    field = find(page, "#url")
    field.clear()
    field.send_keys(typed + Keys.ENTER)


def summary_is(page, words):
    wait_for(lambda: text(page, "#summary") == words)


def error_says(page, css, words):
    wait_for(lambda: words in text(page, css))


def answers(page):
    """{title: (verdict, all of its text)}"""
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, "#answers li"))
    return {text(li, "h3"): (text(li, ".verdict"), li.text.replace("\u00a0", " "))
            for li in page.find_elements(By.CSS_SELECTOR, "#answers li")}


def ask_for_many(page, lines):
    page.execute_script("document.getElementById('urls').value = arguments[0]", "\n".join(lines))
    find(page, "#bulk button[type=submit]").click()
    wait_for(lambda: find(page, "#bulk-tables").is_displayed())


def counts(page):
    return {text(row, "th"): text(row, ".number")
            for row in page.find_elements(By.CSS_SELECTOR, ".counts tbody tr")}


def download(page, folder):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {
        "behavior": "allow", "downloadPath": str(folder)})
    find(page, "#download").click()
    wait_for(lambda: (folder / "seen-answers.tsv").stat().st_size)   # it is empty until all has come
    return (folder / "seen-answers.tsv").read_text()


# --- one address ------------------------------------------------------------------

def test_every_archive_answers(page):
    type_and_ask(page, ONE)
    summary_is(page, "1 of 3 archives may hold " + ONE)
    said = answers(page)
    assert list(said)[0] == "Hrvatski arhiv weba"       # who may hold it comes first
    assert said["Hrvatski arhiv weba"][0] == "May hold it"
    assert "1 in " in said["Hrvatski arhiv weba"][1]
    assert "As of 2020-06-01" in said["Hrvatski arhiv weba"][1]
    assert said["<b>Internet & Archive</b>"][0] == "Does not hold it"
    assert said["cut"][0] == "Cannot answer"
    assert find(page, "#answers .links a").get_attribute("href") == \
        "https://haw.example/timemap/link/" + ONE
    type_and_ask(page, NONE)
    summary_is(page, "None of the archives that can answer holds " + NONE)


@pytest.mark.parametrize("typed, url", [
    ("www.example.org/page/1", HELD),
    ("  //www.example.org/page/1 ", HELD),
    ("HTTP://www.example.org/page/1", HELD),
    ("www.example.org:80/page/1", "http://www.example.org:80/page/1"),
])
def test_a_missing_scheme_is_added(page, typed, url):
    type_and_ask(page, typed)
    summary_is(page, "2 of 3 archives may hold " + url)
    assert find(page, "#url").get_attribute("value") == url


def test_reserved_characters_reach_the_server_as_they_are(page):
    url = "http://x.example/a%20b?q=1&r=%2F#part"
    type_and_ask(page, url)
    summary_is(page, "None of the archives that can answer holds " + url)


@pytest.mark.parametrize("typed, why", [
    ("", "Type or paste an address first"),
    ("hello world", "there is a space in it"),
    ("hello", "write http://hello"),
    ("http://", "no host"),
    ("http://[::1", "not an address"),
])
def test_what_is_no_url_is_told(page, typed, why):
    type_and_ask(page, typed)
    error_says(page, "#url-error", why)
    field = find(page, "#url")
    assert field.get_attribute("aria-invalid") == "true"
    assert not find(page, "#answers").is_displayed()
    field.send_keys("x")
    assert text(page, "#url-error") == ""
    assert field.get_attribute("aria-invalid") is None


def test_a_question_can_be_linked_and_gone_back_to(page, site):
    page.get(site + "?url=" + urllib.request.quote(HELD, safe=""))
    summary_is(page, "2 of 3 archives may hold " + HELD)
    type_and_ask(page, ONE)
    summary_is(page, "1 of 3 archives may hold " + ONE)
    assert page.current_url == site + "?url=" + urllib.request.quote(ONE, safe="")
    assert page.title == ONE + " - have we seen it?"
    page.back()
    summary_is(page, "2 of 3 archives may hold " + HELD)
    assert find(page, "#url").get_attribute("value") == HELD
    page.forward()
    summary_is(page, "1 of 3 archives may hold " + ONE)
    page.get(site + "?url=http://x.example/?a=1&b=2")   # written by hand
    summary_is(page, "None of the archives that can answer holds http://x.example/?a=1&b=2")
    page.get(site)
    assert text(page, "#summary") == ""


def test_a_server_that_is_gone_is_told(page):
    page.execute_script("window.fetch = () => Promise.reject(new TypeError('gone'))")
    type_and_ask(page, HELD)
    error_says(page, "#url-error", "cannot be reached")


# --- many addresses ---------------------------------------------------------------

def test_many_are_counted_shown_and_saved(page, tmp_path):
    lines = ["www.example.org/page/%d" % i for i in range(1, 501)]
    ask_for_many(page, lines + ["", NONE, "what is this", "not-a-url"])
    assert text(page, "#bulk-summary") == ("503 addresses asked: 500 may be held, 0 not, "
                                           "1 unknown, 2 are not addresses.")
    saved = download(page, tmp_path).splitlines()
    assert len(saved) == 503
    assert saved[0].split("\t") == ["haw,ia", "cut", "http://www.example.org/page/1"]
    assert saved[499] == "haw\tcut\thttp://www.example.org/page/500"
    assert saved[500] == "-\tcut\t" + NONE
    assert saved[501:] == ["!\t-\twhat is this", "!\t-\tnot-a-url"]
    tally = counts(page)
    assert tally["Hrvatski arhiv weba haw"] == "500"
    assert 300 <= int(tally["<b>Internet & Archive</b> ia"]) <= 320    # rate 0.01
    assert tally["cut cut"] == "–" and tally["No archive"] == "0"
    assert tally["Unknown: some cannot answer"] == "1" and tally["Not an address"] == "2"
    rows = page.find_elements(By.CSS_SELECTOR, ".scroll tbody tr")
    assert len(rows) == 300
    assert text(page, ".scroll tbody td") == "haw, ia"
    assert find(page, ".scroll").get_attribute("aria-label") == "The first 300 of 503 answers"


def test_a_file_is_asked_in_pieces(page, tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(
        b"http://www.example.org/page/%d?\xc4\x8d\r\n" % i for i in range(20000)))
    find(page, "#file").send_keys(str(path))
    assert text(page, "#chosen-name").startswith("list.txt, ")
    find(page, "#bulk button[type=submit]").click()
    wait_for(lambda: find(page, "#bulk-tables").is_displayed())
    assert text(page, "#bulk-summary").startswith("20,000 addresses asked: ")
    saved = download(page, tmp_path).splitlines()
    assert [line.split("\t")[2] for line in saved] == [
        "http://www.example.org/page/%d?\u010d" % i for i in range(20000)]
    find(page, "#discard").click()
    assert not find(page, "#chosen").is_displayed()
    assert focus(page) == "urls"


def test_a_file_can_be_dropped(page):
    page.execute_script("""
        const carried = new DataTransfer();
        carried.items.add(new File(['www.example.org/page/1\\n'], 'drop.txt'));
        document.getElementById('urls').dispatchEvent(new DragEvent('drop',
            {dataTransfer: carried, bubbles: true, cancelable: true}));""")
    assert text(page, "#chosen-name") == "drop.txt, 23 bytes"


def test_a_list_pasted_into_the_field_goes_to_the_box(page):
    page.execute_script("""
        const carried = new DataTransfer();
        carried.setData('text', 'http://a.example/\\nhttp://b.example/\\n');
        document.getElementById('url').dispatchEvent(new ClipboardEvent('paste',
            {clipboardData: carried, bubbles: true, cancelable: true}));""")
    assert find(page, "#urls").get_attribute("value") == "http://a.example/\nhttp://b.example/"
    assert focus(page) == "urls"


def test_nothing_to_ask_is_told(page):
    find(page, "#bulk button[type=submit]").click()
    error_says(page, "#urls-error", "Paste some addresses")
    assert focus(page) == "urls"


def test_escape_stops_a_list(page):
    page.execute_script("""
        window.fetch = (path, options) => new Promise((yes, no) =>
            options.signal.addEventListener('abort', () =>
                no(new DOMException('stopped', 'AbortError'))));""")
    field = find(page, "#urls")
    field.send_keys("http://a.example/" + Keys.CONTROL + Keys.ENTER)
    wait_for(lambda: find(page, "#progress").is_displayed())
    field.send_keys(Keys.NULL + Keys.ESCAPE)
    wait_for(lambda: text(page, "#bulk-summary") == "Stopped.")
    assert not find(page, "#progress").is_displayed()


# --- the archives -----------------------------------------------------------------

def table(page):
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, "#archives-table tbody tr"))
    return {text(row, "b"): row
            for row in page.find_elements(By.CSS_SELECTOR, "#archives-table tbody tr")}


def test_the_archives_are_listed(page):
    rows = table(page)
    cells = {td.get_attribute("data-label"): td for td in
             rows["Hrvatski arhiv weba"].find_elements(By.TAG_NAME, "td")}
    assert "NSK · haw · blocked · surt" in rows["Hrvatski arhiv weba"].text
    assert cells["As of"].text == "2020-06-01"
    assert 950 < int(cells["Entries"].text.replace(",", "")) < 1050
    assert "4,000" in cells["Room left"].text
    assert "planned" in cells["Rate now"].text
    for label in "Load", "Rate now", "Room left":
        drawn = find(cells[label], "svg")
        assert drawn.get_attribute("role") == "img"
        assert drawn.get_attribute("aria-label").startswith(label)
    growing = rows["<b>Internet & Archive</b>"]
    assert "grows as needed" in growing.text
    assert "withdrawn" in text(rows["cut"], ".state")
    assert text(page, "#version").startswith("seen ")


@pytest.mark.parametrize("kind", ["fuse", "ribbon:8", "shards", "routed:4/shards"])
def test_what_is_built_once_is_not_called_full(page, kind):
    table(page)
    said = page.execute_script(
        "archives = [{name: 'once', kind: arguments[0], room: 0, capacity: 9}];"
        "showArchives();"
        "return document.getElementById('archives-table').textContent", kind)
    assert "made once" in said and "full" not in said


# --- who reads it, and how ----------------------------------------------------------

def test_nothing_is_wider_than_a_phone(page):
    def fits():
        assert page.execute_script("return document.documentElement.scrollWidth") <= 320

    width(page, 320)
    table(page)
    fits()
    type_and_ask(page, "http://www.example.org/" + "a-long-path-without-an-end" * 9)
    answers(page)
    fits()
    ask_for_many(page, [HELD, "http://" + "long" * 30 + ".example/", "x" * 200])
    fits()
    type_and_ask(page, "x" * 200)
    error_says(page, "#url-error", "not an address")
    fits()
    page.execute_script("document.querySelector('details').open = true")
    fits()


def test_the_keyboard_is_enough(page):
    table(page)
    order = []
    for _ in range(9):
        press(page, Keys.TAB)
        order.append(focus(page))
        outline = page.execute_script(
            "const it = document.activeElement; return getComputedStyle("
            "it.id === 'file' ? it.nextElementSibling : it).outlineStyle")
        assert outline != "none", "no focus is seen on " + order[-1]
        if order[-1] == "url":
            press(page, HELD)
    assert order == ["Skip to the content", "seen", "One address", "Many", "Archives", "url",
                     "Ask", "urls", "Ask for all"]
    find(page, "#url").send_keys("")
    press(page, Keys.ENTER)
    summary_is(page, "2 of 3 archives may hold " + HELD)
    press(page, Keys.ESCAPE)
    assert find(page, "#url").get_attribute("value") == ""
    assert text(page, "#summary") == ""
    assert focus(page) == "url"


def test_the_skip_link_skips(page):
    press(page, Keys.TAB, Keys.ENTER)
    assert focus(page) == "main"
    press(page, Keys.TAB)
    assert focus(page) == "url"


def test_everything_has_a_role_and_a_name(page):
    type_and_ask(page, HELD)
    answers(page)
    ask_for_many(page, [HELD])
    table(page)
    told = accessible(page)
    for wanted in [("main", ""), ("banner", ""), ("contentinfo", ""), ("search", ""),
                   ("navigation", "On this page"), ("region", "Have we seen this URL?"),
                   ("region", "Many addresses at once"), ("region", "The archives"),
                   ("heading", "Have we seen this URL?"), ("searchbox", "Address of a page"),
                   ("button", "Ask"), ("textbox", "Addresses, one per line"),
                   ("button", "Ask for all"), ("status", ""),
                   ("list", "Answers of the archives"), ("link", "TimeMap of Hrvatski arhiv weba"),
                   ("link", "Download all answers"), ("table", "The archives"),
                   ("columnheader", "Rate now"), ("table", "How many each may hold")]:
        assert wanted in told, wanted
    for role, name in told:
        if role in ("button", "link", "textbox", "searchbox", "image", "table", "heading"):
            assert name, "a %s has no name" % role
    assert any(role == "rowheader" and "Hrvatski" in name for role, name in told)
    width(page, 320)                            # cards are a table still
    assert ("columnheader", "Rate now") in accessible(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(page, scheme):
    """WCAG 2 asks for 4.5 to 1 (1.4.3, AA)."""
    look(page, scheme)
    type_and_ask(page, HELD)
    answers(page)
    ask_for_many(page, [HELD, NONE])
    find(page, "#url").send_keys(Keys.ESCAPE)
    type_and_ask(page, "hello world")
    table(page)
    measured = contrasts(page)
    assert len(measured) > 60
    assert min(measured)[0] >= 4.5, min(measured)
    assert is_dark(page) == (scheme == "dark")


def test_motion_and_print_are_respected(page):
    scroll = "return getComputedStyle(document.documentElement).scrollBehavior"
    assert page.execute_script(scroll) == "auto"
    look(page, motion="no-preference")
    assert page.execute_script(scroll) == "smooth"
    type_and_ask(page, HELD)
    answers(page)
    look(page, "dark", media="print")
    assert not find(page, "#ask").is_displayed()
    assert not find(page, "#many").is_displayed()
    assert find(page, "#answers").is_displayed()
    assert page.execute_script("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


# --- without, and elsewhere ---------------------------------------------------------

def test_the_form_works_without_javascript(page, site):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.get(site)
    assert not find(page, "#many").is_displayed()
    assert "need JavaScript" in text(page, "#archives")
    find(page, "#url").send_keys(HELD + Keys.ENTER)
    wait_for(lambda: page.current_url.startswith(site + "agg/"))
    said = wait_for(lambda: text(page, "body"))
    assert "Hrvatski arhiv weba" in said
    assert HELD in said
    width(page, 320)
    laid_out = page.execute_cdp_cmd("Page.getLayoutMetrics", {})
    assert laid_out["cssContentSize"]["width"] <= 320


def test_it_works_under_a_path(page, folder):
    for here in serve(folder, "/bloom"):
        page.get(here + "?url=" + HELD)
        summary_is(page, "2 of 3 archives may hold " + HELD)
        assert len(table(page)) == 3
        ask_for_many(page, [HELD])


def test_the_page_is_small_and_guarded(site):
    total = 0
    for path in "", "page.css", "page.js":
        with urllib.request.urlopen(site + path) as reply:
            total += len(reply.read())
            policy = reply.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
    assert total <= 42000
