"""killing.py - a crawl that is killed again and again, and what must hold after it.

    killed = crawl_with_kills(tmp_path, hosts=10, pages=300, kills=20, seed=1)
    print(killed)       # kills, requests, and requests of pages that were asked before

nginx serves the pages, on addresses of the loopback. After the last run every page is in each of the four
files exactly once, and nginx's log shows that all were asked, that a host never had two requests at once or
closer than the delay, and how many were asked again.
"""
import collections
import os
import random
import subprocess
import time

from crawling import SEEN, Crawl, page
from nginx import Nginx

Killed = collections.namedtuple("Killed", "kills requests repeated")


def check_files(crawl, urls):
    """Every URL is in index, records, log and WARC, exactly once."""
    urls = sorted(urls)
    assert crawl.urls() == urls
    assert sorted(one["_url"] for one in crawl.records()) == urls
    assert sorted(one[3] for one in crawl.log() if not one[3].endswith("/robots.txt")) == urls
    folder = crawl.folder + "/warc"
    check = subprocess.run([SEEN, "warc", "check", "--index", crawl.folder + "/index.cdxj"] +
                           [os.path.join(folder, name) for name in sorted(os.listdir(folder))],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert check.returncode == 0, check.stdout.decode()
    report = crawl.report()
    assert report["stored"] == len(urls) and report["covered"] and report["visit"]["ended"]


def check_politeness(log, delay):
    """From the server's log, whose times are in milliseconds and rounded."""
    before = {}
    for one in log:
        if one.host in before:
            assert one.began - before[one.host].ended >= delay - 0.004, (before[one.host], one)
        before[one.host] = one


def wait_for_a_request(web):
    log, until = web.folder + "/access.log", time.monotonic() + 60
    size = os.path.getsize(log)
    while os.path.getsize(log) == size and time.monotonic() < until:
        time.sleep(0.002)


def crawl_with_kills(folder, hosts, pages, kills, seed, longest=0.3, delay=0.05):
    rng, done = random.Random(seed), 0
    names = ["127.0.0.%d" % (1 + i) for i in range(hosts)]
    site = {"/%d" % i: page(*("/%d" % ((i * 7 + k) % pages) for k in range(1, 8)), text="x" * 2000)
            for i in range(pages)}
    with Nginx(folder / "web", site) as web:
        crawl = Crawl(folder / "c", *(web.url("/0", name) for name in names), delay=str(delay))
        while done < kills:
            process = subprocess.Popen(crawl.command("--quiet", "--warc-size", "300000"))
            if rng.random() < 0.8:              # else it may be killed before its first request
                wait_for_a_request(web)
            time.sleep(rng.uniform(0, longest))
            process.kill()
            if process.wait(60) == 0:           # while this process stood still
                break
            done += 1
        assert done, "it ended before the first kill"
        crawl.run("--quiet", timeout=600)
    log = web.log()
    check_files(crawl, (web.url(path, name) for path in site for name in names))
    check_politeness(log, delay)
    asked = collections.Counter((one.host, one.path) for one in log if one.path != "/robots.txt")
    assert len(asked) == hosts * pages
    repeated = sum(asked.values()) - len(asked)
    assert repeated <= done * (hosts + 256)
    assert max(asked.values()) <= 1 + done
    return Killed(done, len(log), repeated)
