"""Scrapy with filters: duplicates in bounded memory, crawls that survive kill -9.

    # settings.py
    DUPEFILTER_CLASS = "seen.scrapy.DupeFilter"
    SCHEDULER = "seen.scrapy.Scheduler"             # optional: loses nothing when killed
    JOBDIR = "job"                                  # holds the filter and the queue
    SEEN_KIND = "counting"                          # optional: forget what failed
    DOWNLOADER_MIDDLEWARES = {
        "seen.scrapy.ForgetMiddleware": 90,
        "seen.scrapy.ArchiveMiddleware": 95,        # optional: skip what an archive holds
    }
    SEEN_ARCHIVE = ["haw.seen"]

The order that loses nothing. Scrapy's own disk queue writes its state when it is closed,
so after kill -9 all waiting requests are gone, but their fingerprints are not: these
pages are never fetched. seen.scrapy.Scheduler keeps requests as rows of SQLite:

    1. a transaction: new requests are inserted, finished ones deleted
    2. the keys of the new requests are added to the filter

A request is finished when its callback has ended and all that it returned was scheduled
or stored. A process that is killed between 1 and 2 leaves rows whose keys are not in the
filter; the next one adds them. So a page can be fetched twice, if it was in flight or
finished in the last half second, but no page is lost. The transaction is flushed to the
disk, so this also holds for power failures.
"""
from __future__ import annotations

import heapq
import logging
import os
import pickle
import sqlite3
import time
from typing import Any, Dict, List, Optional, Set, Tuple
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request
from scrapy.utils.job import job_dir
from scrapy.utils.misc import create_instance, load_object
from scrapy.utils.request import request_from_dict
from twisted.internet.task import LoopingCall

import seen

logger = logging.getLogger(__name__)

FINGERPRINT = "fingerprint"     # the value of SEEN_PROFILE that is not a profile of URLs
KEY = "seen_key"                # in Request.meta: the key that was added for it
FLUSH_SECONDS = 0.2
FLUSH_ROWS = 256
FIRST_KEYS = 20_000             # room for requests before a filter grows
KIND_CAPACITY = 10_000_000      # requests, of a kind that was asked for

_filters: Dict[int, "DupeFilter"] = {}      # by id of the crawler, while it is open


class DupeFilter(RFPDupeFilter):
    """Has this request been scheduled before? In a filter instead of a set.

    SEEN_FILTER     its file; default JOBDIR/dupefilter.seen. With neither it is in memory
    SEEN_PROFILE    "fingerprint" (default): requests are told apart as Scrapy does; or
                    "whatwg", "surt", "raw" ...: by their URLs under this profile
    SEEN_CAPACITY   requests. Default: the filter grows with them, and keeps its rate; see
                    `create` of seen.open(). With a capacity it is of a fixed size, past
                    which the rate rises, and a warning is logged once
    SEEN_KIND       default: that of seen.new(). "counting" can forget: see
                    ForgetMiddleware. A kind that is given has a capacity, by default
                    10 million: 144 MB with "counting" at the default rate
    SEEN_RATE       of false positives, that is of pages that are lost; default 1e-6
    SEEN_SYNC       "no" (default), "everysec", "always": see seen.open()

    Under a profile of URLs, requests other than GET, and URLs that the profile refuses,
    are told apart by fingerprint, as http://fingerprint.invalid/HEX.
    """

    def __init__(self, path: Optional[str], *, profile: str = FINGERPRINT,
                 kind: Optional[str] = None, capacity: Optional[int] = None, rate: float = 1e-6,
                 sync: str = "no", debug: bool = False, fingerprinter: Any = None,
                 crawler: Any = None) -> None:
        super().__init__(None, debug, fingerprinter=fingerprinter)
        self.path, self.profile, self.sync, self.crawler = path, profile, sync, crawler
        self.plan: Dict[str, Any] = dict(
            kind=kind, capacity=capacity or KIND_CAPACITY, rate=rate,
            profile="raw" if profile == FINGERPRINT else profile,
            meta={"scrapy-keys": "fingerprint" if profile == FINGERPRINT else "url"})
        if not kind and not capacity:
            self._grow()
        self.filter: Optional[seen.Filter] = None
        self.held: Set[str] = set()     # keys of the scheduler that are not in the filter yet
        self.room = float("inf")
        self.forgets = False

    def _grow(self) -> None:
        """Plan for an unknown number: a file keeps its keys, memory gets more parts."""
        self.plan["capacity"] = FIRST_KEYS
        if self.path is not None:
            self.plan["meta"]["keys-log"] = "1"
        else:
            self.plan["kind"] = "growing/spatial:%d/blocked" % (2 if self.plan["rate"] > 1e-4 else 4)

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DupeFilter":
        s = crawler.settings
        folder = job_dir(s)
        path = s.get("SEEN_FILTER") or (folder and os.path.join(folder, "dupefilter.seen"))
        return cls(path, profile=s.get("SEEN_PROFILE", FINGERPRINT),
                   kind=s.get("SEEN_KIND"), capacity=s.getint("SEEN_CAPACITY") or None,
                   rate=s.getfloat("SEEN_RATE", 1e-6), sync=s.get("SEEN_SYNC", "no"),
                   debug=s.getbool("DUPEFILTER_DEBUG"),
                   fingerprinter=crawler.request_fingerprinter, crawler=crawler)

    def open(self) -> None:
        if self.path is None:
            self.filter = seen.new(over=True, **self.plan)
        else:
            if not os.path.exists(self.path):
                self._create()
            self.filter = seen.open(self.path, write=True, sync=self.sync, over=True,
                                    profile=self.plan["profile"])
        info = self.filter.info
        made = info.meta.get("scrapy-keys", "url")
        if made != self.plan["meta"]["scrapy-keys"]:
            self.filter.close()
            raise seen.Mismatch(f"{self.path}: holds keys by {made}, but SEEN_PROFILE is "
                                f"{self.profile}")
        self.forgets = "remove" in info.can
        if "grow" not in info.can and "keys-log" not in info.meta:
            self.room = info.capacity - info.entries
        if self.crawler is not None:
            _filters[id(self.crawler)] = self

    def _create(self) -> None:
        folder = os.path.dirname(self.path or "")
        if folder:
            os.makedirs(folder, exist_ok=True)
        try:
            with seen.new(**self.plan) as empty:
                empty.save(self.path or "", replace=False)
        except seen.Exists:
            pass                        # another process was first

    def close(self, reason: str) -> None:
        _filters.pop(id(self.crawler), None)
        if self.filter is not None:
            self.filter.close()

    def key(self, request: Request) -> str:
        """What stands for the request in the filter."""
        if self.profile == FINGERPRINT:
            return self.request_fingerprint(request)
        if request.method == "GET":
            try:
                seen.key(request.url, self.profile)
                return request.url
            except seen.BadURL:
                pass
        return "http://fingerprint.invalid/" + self.request_fingerprint(request)

    def mark(self, request: Request, key: str) -> None:
        """Remember in the request that its key was added, to forget it if it fails."""
        if self.forgets:
            request.meta[KEY] = key

    def known(self, key: str) -> bool:
        return key in self.held or key in self.filter   # type: ignore[operator]

    def add(self, keys: List[str]) -> List[bool]:
        new: List[bool] = self.filter.add_many(keys)    # type: ignore[union-attr]
        self._count(sum(new))
        return new

    def request_seen(self, request: Request) -> bool:
        key = self.key(request)
        if not self.filter.add(key):                    # type: ignore[union-attr]
            return True
        self._count(1)
        self.mark(request, key)
        return False

    def _count(self, new: int) -> None:
        if self.crawler is not None and new:
            self.crawler.stats.inc_value("seen/added", new)
        self.room -= new
        if self.room < 0:
            self.room = float("inf")
            logger.warning("%s is past its capacity of %d requests: more and more pages will be "
                           "lost to false positives; raise SEEN_CAPACITY for a new crawl",
                           self.path or "the filter", self.plan["capacity"])

    def forget(self, request: Request) -> bool:
        """Un-see a request that was marked; whether that was done.

        The mark is only trusted if it is the request's own or, of a redirected request,
        that of the first one: spiders copy `meta` from one request to others.
        """
        key = request.meta.pop(KEY, None)
        if key is None or not self.forgets:
            return False
        if key != self.key(request):
            first = request.meta.get("redirect_urls")
            if not first or key != self.key(request.replace(url=first[0])):
                return False
        if key in self.held:
            self.held.discard(key)
            return True
        if key not in self.filter:                      # type: ignore[operator]
            return False
        self.filter.remove(key)                         # type: ignore[union-attr]
        self.room += 1
        return True


class ForgetMiddleware:
    """Un-see requests that finally failed, so that a later link or crawl tries them again.

    A downloader middleware, between the engine and Scrapy's RetryMiddleware (550): use a
    number such as 90. It sees exceptions and answers that were not retried again. Needs
    a filter that can remove (SEEN_KIND = "counting").

    SEEN_FORGET_CODES   answers that are failures; default RETRY_HTTP_CODES

    Requests that were dropped on purpose (IgnoreRequest: robots.txt, other middlewares)
    stay seen, and so do pages whose callback failed.
    """

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        codes = crawler.settings.getlist("SEEN_FORGET_CODES",
                                         crawler.settings.getlist("RETRY_HTTP_CODES"))
        self.codes = {int(code) for code in codes}
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Any) -> "ForgetMiddleware":
        return cls(crawler)

    def spider_opened(self) -> None:
        found = _filters.get(id(self.crawler))
        if found is None or not found.forgets:
            logger.warning("ForgetMiddleware does nothing: it needs DUPEFILTER_CLASS = "
                           "'seen.scrapy.DupeFilter' and SEEN_KIND = 'counting'")

    def process_response(self, request: Request, response: Any, spider: Any) -> Any:
        if response.status in self.codes:
            self._forget(request)
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Any) -> None:
        if not isinstance(exception, IgnoreRequest):
            self._forget(request)

    def _forget(self, request: Request) -> None:
        found = _filters.get(id(self.crawler))
        if found is not None and found.forget(request):
            self.crawler.stats.inc_value("seen/forgotten")


class ArchiveMiddleware:
    """Skip requests whose URL an archive holds already. A downloader middleware.

    SEEN_ARCHIVE            the file of its filter, or a list of files
    SEEN_ARCHIVE_REFRESH    seconds after which changes of the files are read; default 60

    The URL is looked up under the profile of each filter. robots.txt is never skipped,
    nor a request with meta["seen_archive"] = False. The statistics count seen/archived.
    """

    def __init__(self, paths: List[str], refresh: float, stats: Any) -> None:
        self.archives = [seen.open(path) for path in paths]
        self.refresh, self.stats = refresh, stats
        self.due = time.monotonic() + refresh

    @classmethod
    def from_crawler(cls, crawler: Any) -> "ArchiveMiddleware":
        paths = crawler.settings.getlist("SEEN_ARCHIVE")
        if not paths:
            raise NotConfigured("SEEN_ARCHIVE is not set")
        made = cls(paths, crawler.settings.getfloat("SEEN_ARCHIVE_REFRESH", 60), crawler.stats)
        crawler.signals.connect(made.spider_closed, signals.spider_closed)
        return made

    def spider_closed(self) -> None:
        for archive in self.archives:
            archive.close()

    def _follow(self) -> None:
        """Read what was added; open a file again that was replaced."""
        self.due = time.monotonic() + self.refresh
        for i, archive in enumerate(self.archives):
            try:
                try:
                    archive.refresh()
                except seen.Mismatch:
                    self.archives[i] = seen.open(archive.path)  # type: ignore[arg-type]
                    archive.close()
            except seen.Error as e:     # the old state still answers
                logger.warning("cannot read the archive again: %s", e)

    def process_request(self, request: Request, spider: Any) -> None:
        if request.meta.get("seen_archive") is False or \
                urlsplit(request.url).path == "/robots.txt":
            return
        if time.monotonic() >= self.due:
            self._follow()
        for archive in self.archives:
            try:
                held = request.url in archive
            except seen.BadURL:         # which that archive cannot hold
                continue
            if held:
                self.stats.inc_value("seen/archived")
                raise IgnoreRequest("an archive holds it")


class Scheduler(BaseScheduler):
    """A scheduler whose requests survive kill -9. Needs seen.scrapy.DupeFilter.

    SEEN_QUEUE        its SQLite file; default JOBDIR/requests.sqlite
    SEEN_QUEUE_ORDER  "lifo" (default), as Scrapy's: depth first; "fifo": breadth first.
                      Higher priorities come first in both

    Requests that cannot be pickled are kept in memory, as by Scrapy's scheduler; they are
    lost if the process is killed, and counted as scheduler/unserializable. Those of an earlier
    run that cannot be made again, as if their callback was renamed, are kept in the file for the
    next run, and counted as scheduler/unreadable.
    """

    def __init__(self, dupefilter: DupeFilter, path: str, order: str, crawler: Any) -> None:
        if order not in ("lifo", "fifo"):
            raise ValueError(f'SEEN_QUEUE_ORDER is "lifo" or "fifo", not {order!r}')
        self.df, self.path, self.crawler, self.stats = dupefilter, path, crawler, crawler.stats
        self.next = ("SELECT id, request FROM requests WHERE taken = 0 ORDER BY priority DESC, id "
                     + ("DESC" if order == "lifo" else "") + " LIMIT 1")
        self.db: Optional[sqlite3.Connection] = None
        self.memory: List[Tuple[int, int, Request]] = []    # what cannot be pickled
        self.pushed = 0
        self.taken: Dict[Request, int] = {}                 # rows that are being worked on
        self.finished: List[int] = []                       # rows to be deleted
        self.waiting = 0                                    # rows that are not taken
        self.unreadable = 0                                 # rows that are no requests any more
        self.committed = 0                                  # the highest row of step 1
        self.last = 0                                       # the highest row
        self.due = 0.0
        self.broken = False                                 # the disk failed

    @classmethod
    def from_crawler(cls, crawler: Any) -> "Scheduler":
        settings = crawler.settings
        dupefilter = create_instance(load_object(settings["DUPEFILTER_CLASS"]), settings, crawler)
        if not isinstance(dupefilter, DupeFilter):
            raise ValueError("seen.scrapy.Scheduler needs "
                             "DUPEFILTER_CLASS = 'seen.scrapy.DupeFilter'")
        folder = job_dir(settings)
        path = settings.get("SEEN_QUEUE") or (folder and os.path.join(folder, "requests.sqlite"))
        if not path:
            raise ValueError("seen.scrapy.Scheduler needs JOBDIR or SEEN_QUEUE")
        return cls(dupefilter, path, settings.get("SEEN_QUEUE_ORDER", "lifo"), crawler)

    def open(self, spider: Any) -> None:
        self.spider = spider
        self.df.open()                      # also makes sure that nobody else works here
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        db = sqlite3.connect(self.path, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY AUTOINCREMENT,"
                        " priority INTEGER NOT NULL, taken INTEGER NOT NULL, key TEXT,"
                        " request BLOB NOT NULL)")
        db.execute("CREATE INDEX IF NOT EXISTS by_priority ON requests (taken, priority, id)")
        db.execute("UPDATE requests SET taken = 0 WHERE taken = 1")
        (self.waiting, self.last), = db.execute(
            "SELECT count(*), coalesce(max(id), 0) FROM requests")
        self.committed = self.last
        self._repair(db)
        if self.waiting:
            logger.info("Resuming crawl (%d requests scheduled)", self.waiting,
                        extra={"spider": spider})
        db.execute("BEGIN")
        self.db = db
        self.timer = LoopingCall(self._tick)
        self.timer.start(FLUSH_SECONDS, now=False)

    def _repair(self, db: sqlite3.Connection) -> None:
        """Add the keys that a killed process did not."""
        rows = db.execute("SELECT key FROM requests WHERE key IS NOT NULL")
        while some := [key for key, in rows.fetchmany(1024)]:
            known = self.df.filter.has_many(some)           # type: ignore[union-attr]
            self.df.add([key for key, there in zip(some, known) if not there])

    def close(self, reason: str) -> None:
        try:
            if self.db is not None:         # or else open() failed
                self.timer.stop()
                self._tick()
                self._tick()                # the rows that the first one could not delete
                self.db.rollback()          # nothing, or what could not be committed
                self.db.close()
        finally:
            self.df.close(reason)

    def _tick(self) -> None:
        try:
            self.flush()
        except (sqlite3.Error, seen.Error) as e:
            self._fail(e)

    def _fail(self, why: Exception) -> None:
        """End the crawl. What was committed is consistent, and the next run goes on there."""
        if not self.broken:
            self.broken = True
            logger.critical("%s: %s; the crawl ends, and can be resumed", self.path, why,
                            extra={"spider": self.spider})
            self.crawler.engine.close_spider(self.spider, "seen_queue_failed")

    def flush(self) -> None:
        """Steps 1 and 2 of the opening comment."""
        if self.broken or self.db is None:
            return
        self._finish()
        # Rows of this transaction are deleted in the next one, when their keys are in the
        # filter.
        gone = [row for row in self.finished if row <= self.committed]
        self.finished = [row for row in self.finished if row > self.committed]
        if gone:
            self.db.executemany("DELETE FROM requests WHERE id = ?", [(row,) for row in gone])
        if gone or self.last > self.committed:
            self.db.execute("COMMIT")
            self.committed = self.last
            self.df.add(list(self.df.held))
            self.df.held.clear()
            self.db.execute("BEGIN")
        self.due = time.monotonic() + FLUSH_SECONDS

    def _finish(self) -> None:
        """Which requests has the engine finished? It keeps the others in a set."""
        if not self.taken:
            return
        engine = self.crawler.engine
        slot = getattr(engine, "slot", None) or getattr(engine, "_slot", None)
        working = slot.inprogress if slot is not None else ()
        for request in [it for it in self.taken if it not in working]:
            self.finished.append(self.taken.pop(request))

    def enqueue_request(self, request: Request) -> bool:
        key = None
        if not request.dont_filter:
            key = self.df.key(request)
            if self.df.known(key):
                self.df.log(request, self.spider)
                return False
            self.df.mark(request, key)
        try:
            stored = not self.broken and self._store(request, key)
        except sqlite3.Error as e:
            self._fail(e)
        if self.broken:                     # the request that led here is not finished, either
            return False
        if stored:
            self.stats.inc_value("scheduler/enqueued/disk", spider=self.spider)
        else:
            self.pushed += 1
            heapq.heappush(self.memory, (-request.priority, -self.pushed, request))
            self.stats.inc_value("scheduler/unserializable", spider=self.spider)
            self.stats.inc_value("scheduler/enqueued/memory", spider=self.spider)
        if key is not None:
            self.df.held.add(key)
        self.stats.inc_value("scheduler/enqueued", spider=self.spider)
        if len(self.df.held) >= FLUSH_ROWS:
            self._tick()
        return True

    def _store(self, request: Request, key: Optional[str]) -> bool:
        try:
            data = pickle.dumps(request.to_dict(spider=self.spider), protocol=4)
        except (ValueError, TypeError, AttributeError, pickle.PicklingError):
            return False
        row = self.db.execute(              # type: ignore[union-attr]
            "INSERT INTO requests (priority, taken, key, request) VALUES (?, 0, ?, ?)",
            (request.priority, key, data))
        self.last = row.lastrowid or 0
        self.waiting += 1
        return True

    def next_request(self) -> Optional[Request]:
        if time.monotonic() >= self.due:
            self._tick()
        if self.broken:
            return None
        if self.memory:
            self.stats.inc_value("scheduler/dequeued/memory", spider=self.spider)
            self.stats.inc_value("scheduler/dequeued", spider=self.spider)
            return heapq.heappop(self.memory)[2]
        while self.waiting and self.db is not None:
            try:
                row, data = self.db.execute(self.next).fetchone()
                self.db.execute("UPDATE requests SET taken = 1 WHERE id = ?", (row,))
            except sqlite3.Error as e:
                self._fail(e)
                return None
            self.waiting -= 1
            try:
                request = request_from_dict(pickle.loads(data), spider=self.spider)
            except Exception as e:          # whatever pickles raise
                self._keep(row, e)
                continue
            self.taken[request] = row
            self.stats.inc_value("scheduler/dequeued/disk", spider=self.spider)
            self.stats.inc_value("scheduler/dequeued", spider=self.spider)
            return request
        return None

    def _keep(self, row: int, why: Exception) -> None:
        """A request that cannot be made again, as when its callback was renamed since. Its row
        stays for the next run."""
        self.unreadable += 1
        self.stats.inc_value("scheduler/unreadable", spider=self.spider)
        if self.unreadable <= 10:
            logger.error("%s: request %d cannot be made again, and is kept: %s", self.path, row,
                         why, extra={"spider": self.spider})

    def has_pending_requests(self) -> bool:
        return len(self) > 0 and not self.broken

    def __len__(self) -> int:
        return self.waiting + len(self.memory)
