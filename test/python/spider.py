"""spider.py - a crawl that a test starts and kills.

It follows all links from `start` and appends the URL of each page to a log, in one write,
when its callback runs. At the end the statistics are printed as JSON.

A crawl is a forked process, so that Scrapy is imported once for all of them.
"""
import json
import os
import resource
import signal
import sys
import time
import traceback

import scrapy
from scrapy.crawler import CrawlerProcess


class Spider(scrapy.Spider):
    name = "links"
    start, log, copy_meta, filter_start = "", "", False, False

    def start_requests(self):
        yield scrapy.Request(self.start, dont_filter=not self.filter_start)

    def parse(self, response):
        log = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, (response.url + "\n").encode())
        os.close(log)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, meta=response.meta if self.copy_meta else None)
        for link in response.css("form::attr(action)").getall():
            for value in "11":
                yield scrapy.FormRequest(response.urljoin(link), formdata={"a": value})
        if self.settings.getbool("LAMBDA") and response.url == self.start:
            yield scrapy.Request(self.start + "lambda", callback=lambda r: self.parse(r))


def run(start, log, settings):
    Spider.start, Spider.log = start, log
    Spider.copy_meta = settings.pop("COPY_META", False)
    Spider.filter_start = settings.pop("FILTER_START", False)
    limit = settings.pop("FILE_LIMIT", 0)
    if limit:                           # longer files cannot be written: a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    process = CrawlerProcess({"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False,
                              "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
                              "RETRY_TIMES": 1, **settings})
    crawler = process.create_crawler(Spider)
    process.crawl(crawler)
    process.start()
    print(json.dumps({k: v for k, v in crawler.stats.get_stats().items()
                      if isinstance(v, (int, str))}))


class Crawl:
    """A process that crawls."""

    def __init__(self, start, folder, settings):
        self.folder, self.code = folder, None
        assert "twisted.internet.reactor" not in sys.modules    # each process makes its own
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            os.chdir(folder)
            for name, number in (("out", 1), ("err", 2)):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            run(start, str(folder / "log"), settings)
            sys.stdout.flush()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def ended(self):
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def wait(self, seconds=240):
        """What it printed, to both places."""
        end = time.monotonic() + seconds
        while not self.ended():
            if time.monotonic() > end:
                self.kill()
                raise AssertionError("the crawl does not end")
            time.sleep(0.005)
        return (self.folder / "out").read_text(), (self.folder / "err").read_text()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.wait()
