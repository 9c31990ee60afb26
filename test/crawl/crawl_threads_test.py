"""The threads of a crawl, under ThreadSanitizer: many hosts, all kinds of answers, and every kind of end."""
import signal
import subprocess
import time

from crawling import Answer, Crawl, Site, page


class Many(Site):
    """Addresses of the loopback with a few pages each, redirects, errors and moved robots.txt."""

    def answer(self, handler):
        host = int(handler.headers["Host"].split(":")[0].rsplit(".", 1)[1])
        beside = self.at(1 + host % 20)
        kind = handler.path.rsplit("/", 1)[-1]
        if handler.path == "/robots.txt" and host % 3 == 0:
            return Answer(status=301, Location=beside + "/robots.txt")
        if handler.path == "/robots.txt":
            return Answer("User-agent: *\nDisallow: /x\nCrawl-delay: 0.01", type="text/plain")
        if kind == "moved":
            return Answer(status=302, Location=beside + "/a")
        if kind == "gone":
            return Answer("gone", 410)
        return Answer(page("a", "b", "c", "/x", "/moved", "/gone", beside + "/", text="word " * 200))

    def at(self, host):
        return "http://127.0.0.%d:%d" % (host, self.server_address[1])


def stored(crawl):
    return sorted(one["url"] for _, one in crawl.index() if not one["url"].endswith("robots.txt"))


def test_threads_share_pages_and_hosts(tmp_path):
    with Many({}, address="0.0.0.0") as site:
        crawl = Crawl(tmp_path / "c", site.at(1) + "/", delay="0.005")
        options = ("--everywhere", "--threads", 3, "--hosts", 6, "--turn", 3, "--quiet", "--index")
        for number in signal.SIGTERM, signal.SIGKILL:
            process = subprocess.Popen(crawl.command(*options), stderr=subprocess.PIPE)
            time.sleep(1)
            process.send_signal(number)
            err = process.communicate(timeout=120)[1]
            assert b"ThreadSanitizer" not in err, err.decode()
        crawl.run(*options)
        assert "ThreadSanitizer" not in crawl.err
        urls = sorted(site.at(1 + i) + path for i in range(20) for path in ("/", "/a", "/b", "/c", "/gone", "/moved"))
        assert stored(crawl) == urls and crawl.report()["covered"]
