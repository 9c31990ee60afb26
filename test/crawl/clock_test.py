"""Clocks that were wrong: times of a run whose clock was ahead keep nobody waiting, and a long wait says for what."""
import datetime
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

from crawling import Answer, Crawl, Site, page

HOURS = 12


def later(hours):
    """A value of --clock."""
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def site_of(n):
    pages = {"/": page(*("/%d" % i for i in range(1, n)))}
    pages.update({"/%d" % i: page() for i in range(1, n)})
    return Site(pages)


def times(crawl):
    """The latest time of each kind in the state, in seconds from now."""
    db = sqlite3.connect("file:%s/state.db?mode=ro" % crawl.folder, uri=True)
    try:
        found = {text: db.execute("SELECT max(%s) FROM %s" % tuple(text.split("/"))).fetchone()[0] / 1000 - time.time()
                 for text in ("due/hosts", "until/robots", "began/visits", "last/fetched", "due/fetched")}
    finally:
        db.close()
    return found


@pytest.mark.parametrize("clock", [[], ["--clock", later(0)]])
def test_a_clock_that_was_ahead_keeps_nobody_waiting(tmp_path, clock):
    with site_of(6) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"), delay="1").run("--pages", 3, "--clock", later(HOURS))
        assert crawl.report()["waiting"] == 3
        crawl.run("--pages", 100, "--delay", "0", *clock, timeout=240)
        assert crawl.report()["covered"] and len(site.paths()) == 6
        # Nor did an injected clock go there.
        limit = later(1)
        assert all(line[0] < limit for line in crawl.log()[-3:])


def test_times_that_are_ahead_are_moved_as_far_as_the_clock_was_set_back(tmp_path):
    HOUR, MINUTE = 3600, 60
    with site_of(4) as site:
        command = "--revisit-every", "2h", "--revisit-min", "1h"
        crawl = Crawl(tmp_path / "c", site.url("/"), delay="1").run(*command, "--clock", later(HOURS))
        assert min(times(crawl).values()) > (HOURS - 1) * HOUR
        crawl.run(*command)
        found = times(crawl)
        assert "the clock is" in crawl.err and "behind that of the last run" in crawl.err
        assert found["last/fetched"] < MINUTE and found["began/visits"] < MINUTE and found["due/hosts"] < MINUTE
        assert 23 * HOUR < found["until/robots"] < 24 * HOUR + MINUTE
        assert HOUR < found["due/fetched"] < 2 * HOUR + MINUTE
        # What is right stays as it is.
        crawl.run(*command)
        assert "the clock is" not in crawl.err
        assert abs(times(crawl)["due/fetched"] - found["due/fetched"]) < 10 * MINUTE


def wait_for_line(process, words):
    for line in process.stderr:
        if words in line.decode():
            return line.decode()
    raise AssertionError("ended without: " + words)


def test_a_long_wait_says_for_what(tmp_path):
    with Site({"/": Answer("later", 429, Retry_After="3600")}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        for reason in "Retry-After", "an earlier run asked it":
            process = subprocess.Popen(crawl.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            bound = threading.Timer(240, process.kill)      # of a hang
            bound.start()
            try:
                line = wait_for_line(process, "waiting for 127.0.0.1 until ")
                assert line.rstrip().endswith("(%s)" % reason)
                until = datetime.datetime.strptime(line.split()[5], "%Y-%m-%dT%H:%M:%SZ")
                left = until.replace(tzinfo=datetime.timezone.utc).timestamp() - time.time()
                assert 1800 < left <= 3600
                process.send_signal(signal.SIGTERM)
                assert not [one for one in process.stderr if b"waiting for" in one]     # it is said once
                assert process.wait(240) == 0
            finally:
                bound.cancel()
                process.kill()
                process.wait()
                process.stdout.close()
                process.stderr.close()
        assert site.paths() == ["/"]
