"""browsing.py - a headless Chromium, and words for what one sees in it.

The fixture `chrome` is a browser for a module; importing it is enough. A module
that imports this is skipped where there is no browser.
"""
import json
import shutil
import socket
import time

import pytest

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
from selenium.webdriver.common.keys import Keys                 # noqa: E402,F401


def wait_for(claim, seconds=240):
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


def visit(chrome, site, allowed=()):
    """A page, at 1280 by 800; afterwards, nothing may be amiss. For fixtures."""
    reset(chrome)
    chrome.get_log("browser")
    chrome.get_log("performance")
    chrome.get(site)
    yield chrome
    said = [entry["message"] for entry in chrome.get_log("browser")]
    assert [message for message in said if not any(word in message for word in allowed)
            and "/favicon.ico" not in message] == []    # the browser's own idea
    for entry in chrome.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            assert url.startswith(("http://127.0.0.1:", "data:", "blob:")), url


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


def find(page, css):
    return page.find_element(By.CSS_SELECTOR, css)


def text(page, css):
    return find(page, css).text.replace("\u00a0", " ")


def focus(page):
    """What has the focus: its id, or its text, or its label."""
    return page.execute_script(
        "const it = document.activeElement;"
        "return it.id || it.textContent.trim() || it.getAttribute('aria-label')")


def press(page, *keys):
    webdriver.ActionChains(page).send_keys(*keys).perform()


def accessible(page):
    """{(role, name)} of all that a screen reader is told."""
    tree = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})
    return {(node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in tree["nodes"] if not node["ignored"]}


def contrasts(page):
    """[(contrast, text)] of all text that is seen: WCAG 2 asks for 4.5 (1.4.3, AA)."""
    return page.execute_script("""
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
    return said;""")


def is_dark(page):
    paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(map(int, paper[4:-1].split(","))) < 3 * 128
