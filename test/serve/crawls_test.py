"""crawls_test.py - what `seen serve --crawls` shows of crawls that run, ended or broke.

    /crawls, /crawls/NAME    HTML, or JSON by Accept or with .json
    /metrics                 a few series per crawl and visit

A small site on the loopback is crawled for real. One crawl ended, one was killed,
one runs while the tests look at it.
"""
import hashlib
import html
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "crawl"))
from crawling import Crawl, Site, page                          # noqa: E402
from serving import SEEN, Server, build, run, until             # noqa: E402
from working import Hosts                                       # noqa: E402

PAGES = 40
GONE = "http://127.0.0.77:1/"                   # port 1 is refused: its host is stopped


def site_pages():
    return {"/": page(*["/p%d" % i for i in range(PAGES)]),
            **{"/p%d" % i: page("/missing%d" % i) for i in range(PAGES)}}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory):
    """A folder with the crawls `ended`, `killed` and `runs`, which runs for a minute."""
    at = tmp_path_factory.mktemp("crawls")
    with Site(site_pages()) as site:
        Crawl(at / "ended", site.url("/")).run()
        slow = [Crawl(at / name, site.url("/"), *more, delay="0.3")
                for name, more in (("killed", []), ("runs", [GONE]))]
        running = [subprocess.Popen(one.command(), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for one in slow]
        try:
            until(lambda: all(os.path.exists(one.folder + "/crawl.log") and
                              len(one.lines("crawl.log")) > 3 for one in slow))
            running[0].kill()
            running[0].wait(60)
            yield at
        finally:
            for one in running:
                one.kill()
                one.wait(60)


@pytest.fixture(scope="module")
def server(crawls):
    with Server(crawls, "--crawls", crawls) as it:
        yield it


def shown(server, name=None, **query):
    path = "/crawls/%s.json" % name if name else "/crawls.json"
    if query:
        path += "?" + "&".join("%s=%s" % pair for pair in query.items())
    answer = server.get(path)
    assert answer.status == 200 and answer["Content-Type"] == "application/json"
    return json.loads(answer.body)


def by_name(server):
    return {one["crawl"]: one for one in shown(server)["crawls"]}


# --- crawl folders ----------------------------------------------------------------

def test_a_crawl_that_runs_is_shown_with_its_progress_and_rate(server):
    first = by_name(server)["runs"]
    assert first["running"] and first["kind"] == "folder" and first["error"] is None
    assert 0 < first["pages"] <= PAGES and first["waiting"] > 0
    visit, = first["visits"]
    assert visit["state"] == "running" and visit["ended"] is None
    assert 0 < time.time() - visit["began"] < 300
    assert visit["mean_rate"] > 0
    later = until(lambda: (one := by_name(server)["runs"])["rate"] is not None and
                  one["pages"] > first["pages"] and one, every=0.3)
    assert 0 <= later["rate"] < 10              # one request per 0.3 s


def test_a_look_is_kept_for_a_second(server):
    until(lambda: shown(server, "runs")["late"] == 0)
    began = time.monotonic()
    looks = {shown(server, "runs")["as_of"] for _ in range(20)}
    assert len(looks) <= 2 + (time.monotonic() - began)


def test_hosts_say_what_they_wait_for_and_the_stopped_ones_come_first(server):
    runs = shown(server, "runs")
    stopped, asked, left = runs["host_list"]
    assert left["host"] == "127.0.0.77" and left["waits_for"] == "nothing"
    assert stopped["host"] == "http://127.0.0.77:1" and stopped["waits_for"] == "stopped"
    assert "port 1" in stopped["note"]
    assert asked["host"] == "127.0.0.1" and asked["waits_for"] in ("due", "worker")
    assert 0 <= asked["due_in"] <= 0.3 and asked["waiting"] > 0
    assert runs["hosts"]["stopped"] == 1


def test_the_numbers_are_those_of_the_status_command(server, crawls):
    ended = shown(server, "ended")
    known = Crawl(crawls / "ended").report()
    visit, = ended["visits"]
    assert not ended["running"] and visit["state"] == "ended"
    assert visit["pages"] == known["pages"] == 2 * PAGES + 1
    assert visit["ended"] == pytest.approx(known["visit"]["ended"], abs=0.1)
    assert visit["bytes"] == known["bytes"] and visit["not_due"] is None
    assert ended["waiting"] == ended["left"] == 0
    assert len(ended["errors"]) == 20           # the last of PAGES
    assert ended["errors"][0]["error"] == "status 404"


def test_a_crawl_that_was_killed_is_stopped(server):
    killed = shown(server, "killed")
    assert not killed["running"]
    assert killed["visits"][0]["state"] == "stopped" and killed["waiting"] > 0
    assert "nobody works on visit" in server.get("/crawls/killed").text


def test_nothing_is_written_into_a_folder(server, crawls):
    def files():
        return {name: (os.stat(crawls / "ended" / name).st_mtime_ns, hashlib.sha1(
            open(crawls / "ended" / name, "rb").read()).digest())
            for name in os.listdir(crawls / "ended") if os.path.isfile(crawls / "ended" / name)}
    before = files()
    assert "state.db" in before and "state.db-wal" not in before and "state.db-shm" not in before
    for _ in range(3):
        shown(server, "ended")
        time.sleep(0.4)
    assert files() == before


def test_a_crawl_can_begin_while_it_is_looked_at(tmp_path):
    with Site({"/": page()}) as site, Server(tmp_path, "--crawls", tmp_path) as server:
        for i in range(10):
            subprocess.run(Crawl(tmp_path / "c", site.url("/")).command("--revisit", "all") if i else
                           Crawl(tmp_path / "c", site.url("/")).command(), check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            server.get("/crawls")


# --- programs ----------------------------------------------------------------------

def test_metrics_have_series_per_crawl_and_visit_and_none_per_host(server):
    found = server.metrics()
    assert found['seen_crawl_up{crawl="ended"}'] == 1
    assert found['seen_crawl_running{crawl="runs"}'] == 1
    assert found['seen_crawl_running{crawl="killed"}'] == 0
    assert found['seen_crawl_hosts{crawl="runs",state="stopped"}'] == 1
    visit = shown(server, "ended")["visits"][0]["visit"]
    assert found['seen_visit_pages_total{crawl="ended",visit="%s"}' % visit] == 2 * PAGES + 1
    assert not any("127.0.0" in name for name in found)
    assert "seen_requests_total{status=\"2xx\"}" in found


def test_the_answer_follows_accept(server):
    assert server.get("/crawls")["Content-Type"] == "text/html; charset=utf-8"
    for path in "/crawls", "/crawls/runs":
        answer = server.get(path, {"Accept": "application/json"})
        assert answer["Content-Type"] == "application/json"
        assert answer["Vary"] == "Accept" and answer["Cache-Control"] == "no-store"
    assert server.ask("HEAD", "/crawls").body == b""
    assert server.status("/crawls/nobody") == 404
    assert server.ask("POST", "/crawls", body="x").status == 405


def test_pages_of_other_origins_may_not_read_it(server):
    for path in "/crawls", "/crawls.json", "/crawls/runs", "/metrics":
        assert server.get(path)["Access-Control-Allow-Origin"] == ""
    assert server.get("/archives")["Access-Control-Allow-Origin"] == "*"


def test_without_the_option_there_is_nothing(tmp_path):
    build(tmp_path / "a.seen")
    with Server(tmp_path, "a.seen") as server:
        assert server.status("/crawls") == server.status("/crawls/x") == 404
        assert "crawl" not in server.get("/metrics").text
    assert run("serve", codes=(2,)) == ""


def test_it_works_under_a_path_and_beside_archives(crawls, tmp_path):
    build(tmp_path / "a.seen", ["http://a.example/"])
    with Server(tmp_path, "a.seen", "--base", "/x", "--crawls", "one=%s/ended" % crawls,
                "--crawls", crawls / "ended", "--crawls", "all=%s" % crawls) as server:
        names = [one["crawl"] for one in json.loads(server.get("/x/crawls.json").body)["crawls"]]
        assert names == ["one", "ended", "all.ended", "all.killed", "all.runs"]
        assert 'href="crawls/all.runs"' in server.get("/x/crawls").text
        assert 'href="../page.css"' in server.get("/x/crawls/one").text
        assert server.status("/x/a/http://a.example/") == 200


# --- bad input ----------------------------------------------------------------------

def test_a_broken_crawl_costs_its_own_row(crawls, tmp_path):
    shutil.copytree(crawls / "ended", tmp_path / "good")
    whole = (crawls / "ended" / "state.db").read_bytes()
    broken = {"cut": whole[:5000], "noise": os.urandom(70000), "empty": b"",
              "pages": whole[:4096] + os.urandom(len(whole) - 4096),
              "text": b"not a database" * 100}
    for name, data in broken.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "state.db").write_bytes(data)
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "state.db").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE hosts (a)")
    other.close()
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "other.db", tmp_path / "other" / "state.db")
    os.mkfifo(tmp_path / "fifo")
    with Server(tmp_path, "--crawls", tmp_path, "--crawls", tmp_path / "missing",
                "--crawls", tmp_path / "other.db", "--crawls", tmp_path / "fifo") as server:
        all = by_name(server)
        assert all["good"]["error"] is None and all["good"]["pages"] == 2 * PAGES + 1
        for name in [*broken, "dir", "other", "missing", "other.db", "fifo"]:
            assert all[name]["error"], name
        assert all["empty"]["error"] == "it is being made"
        text = server.get("/crawls").text
        assert "cannot be read" in text
        for name in all:
            assert server.status("/crawls/" + name) == 200
        assert server.metrics()['seen_crawl_up{crawl="noise"}'] == 0
        shutil.rmtree(tmp_path / "good")
        until(lambda: "good" not in by_name(server), every=0.3)


def spoil(folder, *statements):
    with sqlite3.connect(folder / "state.db") as db:
        for statement in statements:
            db.execute(*statement)
    db.close()


def test_texts_of_the_web_are_escaped(crawls, tmp_path):
    evil = '<script>alert("1")</script>&amp;\'\x01\u20ac'
    name = 'a"b<i>&\\c\''
    shutil.copytree(crawls / "ended", tmp_path / name)
    spoil(tmp_path / name, ["UPDATE hosts SET name = ?, stopped = ?, queued = 1", [evil, evil]],
          ["UPDATE visits SET name = ?", [evil]],
          ["UPDATE fetched SET url = CAST(x'ff3c623e' AS TEXT), status = -1, note = ?", [evil]])
    with Server(tmp_path, "--crawls", tmp_path) as server:
        path = "/crawls/a%22b%3Ci%3E%26%5Cc%27"
        one = json.loads(server.get(path + ".json").body)
        assert one["crawl"] == name and one["host_list"][0]["host"] == evil
        assert one["errors"][0]["url"] == "\ufffd<b>"
        for text in server.get("/crawls").text, server.get(path).text:
            assert "<script>alert" not in text and "<i>" not in text and "<b>\ufffd" not in text
            assert name in html.unescape(text)
        assert server.get(path + "?host=%22%3E%3Cscript%3E").text.count("<script") == 1
        assert any('crawl="a\\"b<i>&\\\\c\'"' in line for line in server.metrics())


def test_pages_set_aside_are_counted_also_of_a_folder_that_had_none_before(crawls, tmp_path):
    """The table comes with its first row, while the server looks at the folder."""
    shutil.copytree(crawls / "ended", tmp_path / "one")
    with Server(tmp_path, "--crawls", tmp_path) as server:
        words, series = "set aside: reading killed the process", 'seen_crawl_pages_aside{crawl="one"}'
        assert server.metrics()[series] == 0 and words not in server.get("/crawls/one").text
        spoil(tmp_path / "one", ["CREATE TABLE aside (key BLOB PRIMARY KEY, visit INTEGER, url TEXT)"],
              ["INSERT INTO aside VALUES (x'00', 1, 'http://a.example/')"])
        until(lambda: server.metrics()[series] == 1)
        assert "1 page " + words in server.get("/crawls/one").text
        assert json.loads(server.get("/crawls/one.json").body)["aside"] == 1


def test_many_hosts_come_in_pages_with_those_in_trouble_first(crawls, tmp_path):
    shutil.copytree(crawls / "ended", tmp_path / "many")
    spoil(tmp_path / "many", ["DELETE FROM hosts"],
          ["WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) INSERT "
           "INTO hosts (name, queued, requests, failures, stopped, due) SELECT 'h' || i || "
           "'.example', i % 3, 5, i = 700, CASE WHEN i = 5000 THEN 'too many errors' END, 0 FROM n"])
    with Server(tmp_path, "--crawls", tmp_path) as server:
        one = shown(server, "many")
        assert sum(one["hosts"].values()) == 6000 and one["host_count"] == 5000
        assert len(one["host_list"]) == 50
        names = [host["host"] for host in one["host_list"]]
        assert names[:2] == ["h5000.example", "h700.example"]
        assert {host["waiting"] for host in one["host_list"][2:]} == {2}
        more = shown(server, "many", **{"from": 50, "most": 1000})
        assert len(more["host_list"]) == 1000
        assert not {host["host"] for host in more["host_list"]} & set(names)
        assert [host["host"] for host in shown(server, "many", host="H5000.")["host_list"]] == \
            ["h5000.example"]
        assert shown(server, "many", **{"from": "99999999999999999999"})["host_list"] == []
        text = server.get("/crawls/many?from=50").text
        assert 'href="?from=100#hosts">Next' in text and 'href="?from=0#hosts">Previous' in text
        assert "1,000 hosts that need less are not listed" in text
        assert "There is no such host" in server.get("/crawls/many?host=zzz").text


def test_a_server_that_hangs_holds_up_nobody(crawls, tmp_path):
    """It accepts connections and never says a word. Nor is its password shown."""
    build(tmp_path / "a.seen", ["http://a.example/"])
    with socket.create_server(("127.0.0.1", 0)) as mute:
        where = "postgresql://me:hush@127.0.0.1:%d/frontier?password=hush" % mute.getsockname()[1]
        with Server(tmp_path, "a.seen", "--threads", 1, "--crawls", where, "--crawls",
                    crawls / "ended") as server, server.client() as other, \
                server.client() as waits:
            waits.send("GET /crawls.json HTTP/1.1\r\nHost: x\r\n\r\n")
            meanwhile = 0               # in the two seconds and more that the other one waits
            for _ in range(50):
                assert other.get("/a/http://a.example/").status == 200
                meanwhile += not waits.heard()
            assert meanwhile
            hangs, ended = json.loads(waits.read().body)["crawls"]
            assert hangs["crawl"] == "frontier" and hangs["error"] == "there is no answer yet"
            assert hangs["late"] >= 2 and ended["pages"] == 2 * PAGES + 1


            def at_once():                          # nobody waits for it again
                began = time.monotonic()
                text = other.get("/crawls").text
                return text if time.monotonic() - began < 1.5 else ""
            text = until(at_once)
            assert "no answer for" in text
            text += other.get("/crawls.json").text + other.get("/metrics").text
            assert "hush" not in text and "127.0.0.1:%d/frontier" % mute.getsockname()[1] in text


# --- workers ------------------------------------------------------------------------

def test_workers_are_shown_with_visits_hosts_and_queues(tmp_path):
    where = "sqlite:" + str(tmp_path / "work.db")
    with Hosts(3, 40) as web, Server(tmp_path, "--crawls", "team=" + where) as server:
        assert by_name(server)["team"]["error"]     # nobody has worked there yet
        run("enqueue", "--queue", where, "--delay", "0.3", web.template(tmp_path, "news"))
        worker = subprocess.Popen([SEEN, "work", "--queue", where, "--allow-private", "--name",
                                   "alpha:<7>", "--lease", "5"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            team = until(lambda: (one := shown(server, "team"))["pages"] > 3 and one["live_workers"] and one, every=0.2)
            assert team["kind"] == "workers" and team["running"] and team["live_workers"] == 1
            visit, = team["visits"]
            assert visit["visit"].startswith("news@") and visit["state"] == "running"
            assert visit["records"] >= 1 and visit["waiting"] > 0
            assert team["workers"][0]["worker"] == "alpha:<7>"
            assert 0 < team["workers"][0]["lease_ends_in"] <= 5
            assert {host["worker"] for host in team["host_list"]} == {"alpha:<7>"}
            queues = {queue["queue"]: queue for queue in team["queues"]}
            assert queues["pages.0"]["ready"] >= 1 and queues["jobs"]["dead"] == 0
            text = server.get("/crawls/team").text
            assert "with worker alpha:&lt;7&gt;" in text and "<7>" not in text
            assert server.metrics()['seen_queue_messages{crawl="team",queue="pages.0",'
                                    'state="ready"}'] >= 1
        finally:
            worker.kill()
            worker.wait(60)
        dead = until(lambda: (one := shown(server, "team"))["live_workers"] == 0 and one, every=0.2)
        assert dead["visits"][0]["state"] == "stopped" and dead["hosts"]["lease"] == 3
        assert "with a worker that died" in server.get("/crawls").text
        assert dead["visits"][0]["not_due"] == 0
        with sqlite3.connect(tmp_path / "work.db") as frontier:
            frontier.execute("UPDATE visits SET not_due = 2")
        until(lambda: shown(server, "team")["visits"][0]["not_due"] == 2, every=0.2)
        assert "2 not due" in server.get("/crawls/team").text
