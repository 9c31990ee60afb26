"""page_test.py - the page at / does what it says, in a browser.

The real server, three filters, and a headless Chromium. One archive's file
has a changed byte, so that it is withdrawn. After every test the console must
be empty and no other host may have been asked for anything.
"""
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

SEEN = os.environ.get("SEEN", "build/seen")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    pytest.skip("chromium and its driver are not installed", allow_module_level=True)
try:
    socket.gethostbyname("localhost")           # by which the driver finds its browser
except OSError:
    pytest.skip("this machine does not know localhost", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service           # noqa: E402
from selenium.webdriver.common.by import By                     # noqa: E402
from selenium.webdriver.common.keys import Keys                 # noqa: E402

HELD = "http://www.example.org/page/1"          # by haw and ia
ONE = "http://www.example.org/page/400"         # by haw alone
NONE = "http://nobody.example.net/"


# --- a server and a browser ---------------------------------------------------

def wait_for(claim, seconds=10):
    """What claim() says as soon as it is true; it may raise until then."""
    end = time.monotonic() + seconds
    while True:
        try:
            said = claim()
            if said:
                return said
        except Exception:
            if time.monotonic() > end:
                raise
        assert time.monotonic() < end, "waited for %d seconds" % seconds
        time.sleep(0.03)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


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
    whole[len(whole) * 3 // 4] ^= 1             # a bit of a cell
    (at / "cut.seen").write_bytes(whole)
    return at


def serve(folder, base):
    port = free_port()
    here = "http://127.0.0.1:%d%s" % (port, base)
    options = ["--base", base] if base else []
    process = subprocess.Popen([SEEN, "serve", "--listen", "127.0.0.1:%d" % port, *options,
                                str(folder)], stderr=subprocess.DEVNULL)

    def ready():
        with urllib.request.urlopen(here + "/archives", timeout=5) as reply:
            listed = json.load(reply)["archives"]
        return len(listed) == 3 and all(a["state"] != "checking" for a in listed)

    try:
        wait_for(ready)
        yield here + "/"
    finally:
        process.terminate()
        assert process.wait(10) == 0


@pytest.fixture(scope="module")
def site(folder):
    yield from serve(folder, "")


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--user-data-dir=%s" % tmp_path_factory.mktemp("profile")):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(chrome, site):
    """The page, at 1280 by 800; afterwards, nothing may be amiss."""
    reset(chrome)
    chrome.get_log("browser")
    chrome.get_log("performance")
    chrome.get(site)
    yield chrome
    said = [entry["message"] for entry in chrome.get_log("browser")]
    assert [message for message in said
            if "400 (" not in message               # we ask for what is no URL
            and "/favicon.ico" not in message] == []    # the browser's own idea
    for entry in chrome.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            assert url.startswith((site[:-1], "http://127.0.0.1:", "data:", "blob:")), url


def reset(chrome):
    look(chrome)
    width(chrome, 1280)
    chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def width(chrome, pixels):
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": pixels < 500})


def look(chrome, scheme="light", media="", motion="reduce"):
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": motion}]})


# --- words for what one sees ----------------------------------------------------

def find(page, css):
    return page.find_element(By.CSS_SELECTOR, css)


def text(page, css):
    return find(page, css).text.replace("\u00a0", " ")


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
    wait_for(lambda: (folder / "seen-answers.tsv").exists())
    return (folder / "seen-answers.tsv").read_text()


def focus(page):
    """What has the focus: its id, or its text, or its label."""
    return page.execute_script(
        "const it = document.activeElement;"
        "return it.id || it.textContent.trim() || it.getAttribute('aria-label')")


def press(page, *keys):
    webdriver.ActionChains(page).send_keys(*keys).perform()


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
    ask_for_many(page, lines + ["", NONE, "what is this"])
    assert text(page, "#bulk-summary").startswith("502 addresses asked: 500 may be held, ")
    saved = download(page, tmp_path).splitlines()
    assert len(saved) == 502
    assert saved[0].split("\t") == ["haw,ia", "http://www.example.org/page/1"]
    assert saved[499] == "haw\thttp://www.example.org/page/500"
    assert saved[500] == "-\t" + NONE
    assert saved[501].endswith("\twhat is this")
    tally = counts(page)
    assert tally["Hrvatski arhiv weba haw"] == "500"
    assert 300 <= int(tally["<b>Internet & Archive</b> ia"]) <= 320    # rate 0.01
    assert tally["cut cut"] == "–"
    rows = page.find_elements(By.CSS_SELECTOR, ".scroll tbody tr")
    assert len(rows) == 300
    assert text(page, ".scroll tbody td") == "haw, ia"
    assert find(page, ".scroll").get_attribute("aria-label") == "The first 300 of 502 answers"


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
    assert [line.split("\t")[1] for line in saved] == [
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


def accessible(page):
    """{(role, name)} of all that a screen reader is told."""
    tree = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})
    return {(node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in tree["nodes"] if not node["ignored"]}


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


CONTRAST = """
    const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const numbers = (css) => css.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) +
        0.0722 * linear(b / 255);
    function behind(it) {
        for (; it; it = it.parentElement) {
            const colour = numbers(getComputedStyle(it).backgroundColor);
            if (colour.length < 4 || colour[3] > 0)
                return colour;
        }
        return [255, 255, 255];
    }
    const said = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const it = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !it.checkVisibility() || it.closest('noscript'))
            continue;
        const [a, b] = [light(numbers(getComputedStyle(it).color)), light(behind(it))];
        said.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
                   walker.currentNode.data.trim()]);
    }
    return said;"""


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
    measured = page.execute_script(CONTRAST)
    assert len(measured) > 60
    assert min(measured)[0] >= 4.5, min(measured)
    paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 3 * 128) == (scheme == "dark")


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
    assert total <= 41000
