"""publish_page_test.py - the page of `seen publish --page` on plain nginx, in a browser.

nginx has the settings of doc/sharing.md and knows nothing of filters. The browser asks them
by ranges. Whatever it requests is one of the published files, and no request names an address
that was asked for. Titles of archives are written to break out of the page.
"""
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time

import pytest

sys.path.append(os.path.join(os.path.dirname(__file__), "../serve"))
from browsing import By, Keys, chrome, contrasts, find, text, visit, wait_for     # noqa: E402,F401
from ports import free_port                                     # noqa: E402
from publish_servers_test import NGINX, start                   # noqa: E402
from publishing import Site                                     # noqa: E402

BUILD = os.environ.get("SEEN_BUILD", "build")
if not NGINX or not os.path.exists(os.path.join(BUILD, "js/seen.wasm")):
    pytest.skip("nginx or the reader (clang, lld, wasi-libc) is missing", allow_module_level=True)

HELD, NONE = "http://h1.example/1", "http://nobody.example/private?word=secret"
EVIL = "</script><img src=x onerror=alert(1)>&quot;'<b>HAW</b>"


@pytest.fixture(scope="module")
def served():
    # Not in pytest's own folder, which the user of a server may not enter.
    base = pathlib.Path(tempfile.mkdtemp(prefix="seen-page-"))
    base.chmod(0o755)
    port = free_port()
    site = Site(base, f"http://127.0.0.1:{port}/bloom-filter/")
    site.build("haw.seen", 1000, "--meta", "title=" + EVIL, "--meta", "holder=<i>NSK</i>",
               "--meta", "as-of=2020-06-01",
               "--meta", "timemap=https://haw.example/timemap/link/{url}")
    site.build("sub/large one.seen", 1000, "--bits", "4000000", "--probes", "7", capacity=None)
    site.build("odd.seen", 300, "--kind", "ribbon", "--meta", "timemap=javascript:alert(1)",
               capacity=None)
    site.publish("--page")
    process = start("nginx", base / "work", site.folder, port)
    try:
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, process.stderr.read().decode()
                time.sleep(0.02)
        yield site
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()
        shutil.rmtree(base)


@pytest.fixture
def page(chrome, served):                                               # noqa: F811
    """The page; afterwards nothing may have been said by the browser, and no
    request may have named what was asked for."""
    asked = []
    steps = visit(chrome, served.base + "index.html")
    yield from watch(steps, chrome, asked)


def watch(steps, chrome, asked):                                        # noqa: F811
    page = next(steps)
    page.asked = asked
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, "#archives-table tbody tr"))
    yield page
    log = chrome.get_log("performance")
    chrome.get_log = (lambda kind, was=chrome.get_log: log if kind == "performance" else was(kind))
    try:
        for entry in log:
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"])
        for request in asked:
            shown = json.dumps(request)
            assert request["method"] == "GET" and "postData" not in request, request
            for word in ("h1.example", "nobody", "secret"):
                assert word not in shown.replace(request["headers"].get("Referer", "-"), ""), shown
        for _ in steps:
            pass
    finally:
        del chrome.get_log


def ask(page, url):
    field = find(page, "#url")
    field.clear()
    field.send_keys(url + Keys.ENTER)


def test_one_address_by_ranges(page):
    ask(page, HELD)
    wait_for(lambda: text(page, "#summary") == "3 of 3 archives may hold " + HELD)
    said = {text(li, "h3"): li for li in page.find_elements(By.CSS_SELECTOR, "#answers li")}
    assert EVIL in said and "As of 2020-06-01" in said[EVIL].text
    links = [a.get_attribute("href") for a in page.find_elements(By.CSS_SELECTOR, "#answers a")]
    assert links == ["https://haw.example/timemap/link/" + HELD]        # not javascript:
    ask(page, NONE)
    wait_for(lambda: text(page, "#summary") == "No archive holds " + NONE)


def test_a_list(page):
    lines = ["http://h%d.example/%d" % (i % 7, i) for i in range(900, 1100)]
    page.execute_script("document.getElementById('urls').value = arguments[0]", "\n".join(lines))
    find(page, "#bulk button[type=submit]").click()
    wait_for(lambda: find(page, "#bulk-tables").is_displayed())
    assert text(page, "#bulk-summary").startswith("200 addresses asked: ")
    rows = {text(row, "th"): text(row, ".number")
            for row in page.find_elements(By.CSS_SELECTOR, ".counts tbody tr")}
    assert rows["sub/large one"] == "100"               # its rate is 1e-12
    assert rows[EVIL + " haw"].startswith("10") and 98 <= int(rows["No archive"]) <= 100


def test_the_table_has_what_the_filters_say(page):
    table = text(page, "#archives-table")
    assert EVIL in table and "<i>NSK</i>" in table and "ribbon" in table and "sub/large one" in table
    assert "odd" in table and "odd · " not in table     # without a title, its name stands alone
    assert [th.text for th in page.find_elements(By.CSS_SELECTOR, "#archives-table thead th")] == \
        ["Archive", "As of", "Entries", "Size", "Rate now"]
    assert page.find_elements(By.CSS_SELECTOR, "main img, main b b, main i") == []
    assert page.execute_script("return document.scripts.length") == 2
    assert all(contrast >= 4.5 for contrast, _ in contrasts(page))


def test_what_is_no_address_is_told(page):
    ask(page, "hello world")
    wait_for(lambda: "there is a space in it" in text(page, "#url-error"))


def test_files_that_are_not_ours_are_left(tmp_path):
    site = Site(tmp_path)
    site.build("haw.seen", 10)
    site.publish()
    assert not (site / "index.html").exists()
    (site / "index.html").write_text("<title>mine</title>")
    said = site.run("publish", site.folder, "--page", codes=(2,)).stderr.decode()
    assert "index.html" in said and "not written by seen publish" in said
    site.publish()                                      # without --page it does not matter
    (site / "index.html").unlink()
    site.publish("--page")
    before = (site / "filters.json").read_text()
    site.build("new.seen", 10)
    site.publish()                                      # is kept up to date
    assert '"new.seen"' in (site / "filters.json").read_text() and before
    assert json.loads((site / "filters.json").read_text())["filters"][0]["path"] == "haw.seen"
    (site / "seen-page/page.js").write_text("old")
    site.publish()
    assert "seenAnswer" in (site / "seen-page/page.js").read_text()
