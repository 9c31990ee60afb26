"""lab_test.py - seen lab measures, judges and reports.

Table 5.9 at a small size stands for all experiments here: its structure, its
bands, the page made of it, and what becomes of the page when gnuplot breaks
or the disk is full.
"""
import csv
import html.parser
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import time
import xml.etree.ElementTree

import pytest

SEEN = os.environ.get("SEEN", "build/seen")
SOURCE = pathlib.Path(os.environ.get("SEEN_SOURCE", "."))
DATA = SOURCE / "lab/data"
SMALL = ["table-5.9", "--n", "20000", "--runs", "4"]
needs_gnuplot = pytest.mark.skipif(not shutil.which("gnuplot"),
                                   reason="gnuplot is not installed")


def lab(*arguments, **settings):
    return subprocess.run([SEEN, "lab", *arguments], text=True, capture_output=True,
                          timeout=300, **settings)


def published(name):
    """The rows of a data file, its head first."""
    with open(DATA / (name + ".tsv"), newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.reader(lines, delimiter="\t"))


# --- what is measured ---------------------------------------------------------

@pytest.fixture(scope="module")
def found():
    done = lab(*SMALL, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)["experiments"][0]


def test_every_cell_of_the_table_is_measured(found):
    head, *rows = published("thesis-5.09-non-incremental-1-filter")
    table = found["tables"][0]
    assert table["columns"] == ["k", "M", "published", "theory", "measured", "difference",
                                "vs theory", "vs published"]
    cases = [(float(row[0]), float(m), float(x)) for row in rows
             for m, x in zip(head[1:], row[1:])]
    assert [tuple(row[:3]) for row in table["rows"]] == cases
    assert [f["row"] for f in table["findings"]] == list(range(len(cases)))


def test_theory_is_the_formula(found):
    for row, finding in zip(found["tables"][0]["rows"], found["tables"][0]["findings"]):
        k, m = row[0], row[1]
        formula = 100 * (1 - 2.718281828459045 ** (-1 / m)) ** k
        assert finding["theory"] == pytest.approx(formula, rel=1e-3)     # m is a whole number


def test_what_is_measured_lies_in_its_band(found):
    findings = found["tables"][0]["findings"]
    for f in findings:
        assert f["low"] <= f["measured"] <= f["high"], f
        assert f["low"] <= f["theory"] <= f["high"], f
    # Bands that would hold anything prove nothing: the first is narrow.
    assert findings[0]["high"] - findings[0]["low"] < 0.15 * findings[0]["theory"]
    assert found["verdicts"]["vs_theory"] == {"agrees": len(findings), "differs": 0}
    assert found["verdicts"]["vs_bound"] == {"agrees": 0, "differs": 0}
    assert sum(found["verdicts"]["vs_published"].values()) == len(findings)
    assert found["verdicts"]["not_judged"] == 0


def test_a_wrong_theory_would_be_noticed(found):
    """The numbers of one M lie outside the bands of the next, where hits are many."""
    findings = found["tables"][0]["findings"]
    outside = sum(not b["low"] <= a["measured"] <= b["high"]
                  for a, b in zip(findings, findings[1:]) if b["theory"] > 0.05)
    assert outside >= 20


def test_published_numbers_that_are_off_are_told(found):
    """6.1041 % for k = 3, M = 2.0 is five deviations above theory."""
    table = found["tables"][0]
    told = [row[:2] for row in table["rows"] if row[-2:] == ["agrees", "differs"]]
    assert [3, 2.0] in told
    assert found["verdicts"]["vs_published"]["differs"] == len(told)


def test_the_same_seed_finds_the_same_with_any_threads(found):
    again = json.loads(lab(*SMALL, "--json", "--threads", "1").stdout)["experiments"][0]
    assert again["tables"] == found["tables"]
    other = json.loads(lab(*SMALL, "--json", "--seed", "2").stdout)["experiments"][0]
    assert other["tables"] != found["tables"]
    assert other["verdicts"]["vs_theory"]["differs"] == 0


def test_a_list_of_ones_own_is_measured(tmp_path):
    urls = ["http://www.example.org/%d/page" % (i * i) for i in range(20000)]
    (tmp_path / "list").write_text("\n".join(urls + urls[:5000]) + "\n")
    done = lab("table-5.9", "--runs", "2", "--json", "--urls", str(tmp_path / "list"))
    assert "left out: 5,000 repeated, 0 bad" in done.stderr
    found = json.loads(done.stdout)["experiments"][0]
    assert found["verdicts"]["vs_theory"]["differs"] == 0
    assert done.returncode == 0


def test_what_cannot_be_done_keeps_nobody_from_the_rest(tmp_path):
    (tmp_path / "list").write_text("".join("http://a%d.example/p/q\n" % i for i in range(300)))
    done = lab("layers-figure-3", "layers-crossing", "--quick", "--json", "--urls",
               str(tmp_path / "list"), "--report", str(tmp_path / "report"))
    first, second = json.loads(done.stdout)["experiments"]
    assert done.returncode == 2
    assert done.stderr.startswith("seen: lab: layers-figure-3: ")
    assert second["verdicts"]["vs_theory"]["agrees"] > 0
    page = (tmp_path / "report" / "index.html").read_text()
    assert "Not done: " in page and "layers-crossing" in page


def test_a_page_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "index.html").write_text("mine")
    done = lab(*SMALL, "--report", str(tmp_path))
    assert done.returncode == 2 and "not replaced" in done.stderr
    assert (tmp_path / "index.html").read_text() == "mine"


def test_who_waits_at_a_terminal_sees_how_far_it_is():
    screen, terminal = pty.openpty()
    running = subprocess.Popen([SEEN, "lab", "table-5.9", "--n", "60000", "--runs", "20",
                                "--threads", "1"], stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(screen, 4096):
            shown += part
    except OSError:             # the other end is closed
        pass
    os.close(screen)
    assert running.wait(60) == 0
    told = re.findall(rb"\rtable-5\.9 \(1 of 1\): [a-z ]+, (\d+) %, [0-9.]+ s left", shown)
    assert told and list(map(int, told)) == sorted(map(int, told))
    assert shown.endswith(b"\r\x1b[K")


def test_nothing_is_left_behind(tmp_path):
    environment = dict(os.environ, TMPDIR=str(tmp_path))
    assert lab("table-5.9", "--n", "1000", "--runs", "1", env=environment).returncode == 0
    assert list(tmp_path.iterdir()) == []
    running = subprocess.Popen([SEEN, "lab", "table-5.9", "--full"], env=environment,
                               stdout=subprocess.DEVNULL)
    end = time.monotonic() + 240
    while not list(tmp_path.iterdir()) and time.monotonic() < end:
        time.sleep(0.02)
    assert len(list(tmp_path.iterdir())) == 1
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


# --- the report ---------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """Headings, tables and images of a page; elements must be closed in order."""
    VOID = {"meta", "img", "br", "link"}

    def __init__(self, path):
        super().__init__()
        self.open, self.tables, self.images, self.text, self.links = [], [], [], "", []
        self.ids = set()
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if "id" in a:
            assert a["id"] not in self.ids
            self.ids.add(a["id"])
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        if tag == "tr":
            self.tables[-1]["rows"].append([])
        if tag in ("td", "th"):
            self.tables[-1]["rows"][-1].append("")
        if tag == "img":
            assert a["alt"]
            self.images.append(a["src"])
        if tag == "a":
            self.links.append(a["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if not self.tables:
            return
        if "caption" in self.open and "a" not in self.open:
            self.tables[-1]["caption"] += data
        elif "td" in self.open or "th" in self.open:
            self.tables[-1]["rows"][-1][-1] += data

    def table(self, begin):
        return next(t["rows"] for t in self.tables if t["caption"].strip().startswith(begin))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab") / "report"
    done = lab(*SMALL, "--report", str(folder))
    if shutil.which("gnuplot"):
        assert done.returncode == 0, done.stderr
    return folder


def test_the_page_is_well_formed_and_complete(report):
    page = Page(report / "index.html")
    assert "Not finished" not in page.text
    for fact in ("Processor", "Threads", "URLs of a filter", "20,000", "Runs", "Seed", "It took"):
        assert fact in page.text
    summary = page.table("Experiments")
    assert summary[1] == ["thesis"]
    assert summary[2][0] == "Table 5.9: false positives of one filter"
    assert summary[2][1:5] == ["48", "0", "0", "0"]
    assert sum(int(n) for n in summary[2][5:7]) == 48
    assert summary[-1][1:8] == summary[2][1:8]
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        else:
            assert (report / link).is_file()


def test_published_numbers_in_the_page_are_those_of_the_data(report):
    head, *rows = published("thesis-5.09-non-incremental-1-filter")
    expected = [[row[0], m, x] for row in rows for m, x in zip(head[1:], row[1:])]
    shown = [row[:3] for row in Page(report / "index.html").table("Table 5.9")[1:]]
    assert shown == expected
    with open(report / "table-5.9.tsv", newline="") as file:
        assert file.readline().startswith("# Table 5.9")
        assert [row[:3] for row in csv.reader(file, delimiter="\t")][1:] == expected


@needs_gnuplot
def test_figures_are_svg_with_their_points_beside(report):
    page = Page(report / "index.html")
    assert page.images == ["plot-5.9.svg"]
    root = xml.etree.ElementTree.parse(report / "plot-5.9.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = " ".join(root.itertext())
    assert "false positives, percent" in text and "M = 1.7" in text
    with open(report / "plot-5.9.tsv", newline="") as file:
        next(file)
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 2 * 48
    assert not [name for name in os.listdir(report) if name.startswith(".")]


def test_what_was_found_is_in_the_page_when_a_later_experiment_is_ended(tmp_path):
    page = tmp_path / "index.html"
    names = re.findall(r"^  (\S+)", lab().stdout, re.M)
    running = subprocess.Popen([SEEN, "lab", "table-5.9", names[-1], "--n", "100k", "--runs", "1",
                                "--report", str(tmp_path)], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 240
    while not page.exists() and time.monotonic() < end:
        time.sleep(0.005)
    running.terminate()
    running.wait(60)
    found = Page(page)
    assert len(found.table("Table 5.9")) == 1 + 48
    assert names[-1] == "table-5.9" or "Not finished: 1 of 2 experiments" in found.text


@needs_gnuplot
def test_no_two_parts_of_a_report_share_a_file(tmp_path):
    """Several experiments, of which some call a table and a figure the same."""
    done = lab("layers-figure-3", "archives-figure-4", "hash-evenness", "--n", "5k", "--runs", "1",
               "--report", str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    page = Page(tmp_path / "index.html")
    files = page.images + [link for link in page.links if not link.startswith("#")]
    assert len(files) == len(set(files)) >= 8
    assert sorted(files + ["index.html"]) == sorted(os.listdir(tmp_path))
    for image in page.images:
        xml.etree.ElementTree.parse(tmp_path / image)


# --- trouble ------------------------------------------------------------------

def fake_gnuplot(folder, script, patience=60):
    folder.mkdir()
    fake = folder / "gnuplot"
    fake.write_text("#!/bin/sh\n" + script)
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    return dict(os.environ, PATH="%s:/usr/bin:/bin" % folder, SEEN_LAB_PATIENCE=str(patience))


def assert_tables_are_kept(done, folder, reason):
    """Exit 2 and a message; the table is printed, on the page and beside it, and the
    numbers of the figure are on the page instead of it."""
    assert done.returncode == 2
    assert "seen: lab: %s/plot-5.9.svg: " % folder in done.stderr
    assert reason in done.stderr
    assert re.search(r"^ 3  1\.7 +8\.7927", done.stdout, re.M)
    page = Page(folder / "index.html")
    assert page.images == []
    assert "could not be drawn: " in page.text and reason in page.text
    assert len(page.table("Table 5.9")) == 1 + 48
    assert len(page.table("False positives")) == 1 + 2 * 48
    assert (folder / "table-5.9.tsv").is_file() and (folder / "plot-5.9.tsv").is_file()


TINY = ["table-5.9", "--n", "1000", "--runs", "1"]


@pytest.mark.parametrize("script, reason", [
    ("echo '  line 3: undefined symbol' >&2; exit 1\n", "gnuplot: line 3: undefined symbol"),
    ("exit 1\n", "gnuplot: exit code 1"),
    ("kill -SEGV $$\n", "gnuplot: ended by signal 11"),
    ("echo '<svg>'\n", "gnuplot: wrote no SVG"),
])
def test_a_broken_gnuplot_keeps_the_tables(tmp_path, script, reason):
    environment = fake_gnuplot(tmp_path / "bin", script)
    done = lab(*TINY, "--report", str(tmp_path / "report"), env=environment)
    assert_tables_are_kept(done, tmp_path / "report", reason)


def test_a_gnuplot_that_hangs_is_ended_with_its_children(tmp_path):
    environment = fake_gnuplot(tmp_path / "bin", "sleep 1000 & echo $$ $! >%s; wait\n"
                               % (tmp_path / "pids"), patience=1)
    done = lab(*TINY, "--report", str(tmp_path / "report"), env=environment)
    assert_tables_are_kept(done, tmp_path / "report", "gnuplot: not done after 1 second")
    for pid in (tmp_path / "pids").read_text().split():
        end = time.monotonic() + 240
        while alive(pid) and time.monotonic() < end:
            time.sleep(0.02)
        assert not alive(pid)


def alive(pid):
    try:
        return "\nState:\tZ" not in pathlib.Path("/proc", pid, "status").read_text()
    except OSError:
        return False


def test_without_gnuplot_the_message_tells_the_package(tmp_path):
    environment = dict(os.environ, PATH=str(tmp_path))
    done = subprocess.run([os.path.abspath(SEEN), "lab", *TINY, "--report",
                           str(tmp_path / "report")], text=True, capture_output=True,
                          env=environment, timeout=60)
    assert_tables_are_kept(done, tmp_path / "report", "not found; it is in the package gnuplot-nox")


def test_a_page_of_before_stays_when_the_disk_is_full(tmp_path):
    """No file may grow past 8 kB, which is how a full disk looks from here."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "index.html").write_text("<title>seen lab: the page of before")
    done = lab(*TINY, "--report", str(folder), preexec_fn=limit)
    assert done.returncode == 2
    assert "seen: lab: %s/index.html: cannot be written: File too large" % folder in done.stderr
    assert re.search(r"^ 3  1\.7 +8\.7927", done.stdout, re.M)
    assert (folder / "index.html").read_text() == "<title>seen lab: the page of before"
    assert len((folder / "table-5.9.tsv").read_text().splitlines()) == 2 + 48
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


def test_a_full_disk_is_told_and_keeps_the_tables(tmp_path):
    """The same on a real file system of 24 kB, where we may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "none", str(folder)],
                          capture_output=True)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        done = lab(*TINY, "--report", str(folder))
        assert done.returncode == 2
        assert "seen: lab: %s/index.html: cannot be written: No space left on device" % folder in done.stderr
        assert re.search(r"^ 3  1\.7 +8\.7927", done.stdout, re.M)
        assert len((folder / "table-5.9.tsv").read_text().splitlines()) == 2 + 48
        assert not (folder / "index.html").exists()
    finally:
        subprocess.run(["umount", str(folder)], check=True)


# --- in a browser -------------------------------------------------------------

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def has_localhost():
    try:
        return socket.gethostbyname("localhost") != ""
    except OSError:
        return False


@pytest.fixture(params=[(360, False), (1200, False), (1200, True)],
                ids=["phone", "desk", "dark"])
def browser(request):
    if not CHROMIUM or not DRIVER or not has_localhost():
        pytest.skip("chromium and its driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service
    width, dark = request.param
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--hide-scrollbars"):
        options.add_argument(flag)
    if dark:
        options.add_argument("--force-dark-mode")
    if width < 500:
        options.add_experimental_option("mobileEmulation", {
            "deviceMetrics": {"width": width, "height": 780, "pixelRatio": 2.0}})
    else:
        options.add_argument("--window-size=%d,900" % width)
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    yield driver
    driver.quit()


@needs_gnuplot
def test_the_page_fits_any_screen(report, browser, tmp_path):
    browser.get((report / "index.html").as_uri())
    wide = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1]
    end = time.monotonic() + 240
    while time.monotonic() < end:
        seen = browser.execute_script(
            "const i = document.querySelector('figure img'); i.scrollIntoView();"
            "return [i.complete, i.naturalWidth, i.clientWidth]")
        if seen[0] and seen[1]:
            break
        time.sleep(0.05)
    assert seen[1] > 0 and 300 <= seen[2] <= wide[1]
    contrast = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    ink, paper = (sum(map(int, re.findall(r"\d+", c)[:3])) for c in contrast)
    assert abs(ink - paper) > 450
    browser.save_screenshot(os.environ.get("SEEN_SHOT", str(tmp_path / "shot.png")))
    assert not browser.get_log("browser")
