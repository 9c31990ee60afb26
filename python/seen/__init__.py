"""Have we seen this URL? Filters of URLs in about ten bits per URL.

>>> import seen
>>> f = seen.new(capacity=1000, rate=0.001)
>>> f.add("https://a.example/"), f.add("HTTPS://A.EXAMPLE:443/")
(True, False)
>>> "https://b.example/" in f
False

"No" is certain; "yes" is wrong as rarely as `rate` says. A filter in a file is opened
with seen.open(), made from many URLs with seen.build(), and shared with the program
`seen`. URLs are str or bytes. doc/python.md is the guide.

Threads may share a Filter. After os.fork() a child must not use a filter that its
parent opened for writing: ForkError is raised.
"""
from __future__ import annotations

import itertools
import os
import time
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _seen
from .errors import (Absent, BadURL, Busy, Closed, Corrupt, Error, Exists, ForkError, Full,
                     IOFailure, Mismatch, NoMemory, NotFound, NotPermitted, RangeError, Unable)

__all__ = ["Filter", "Info", "Key", "Built", "open", "new", "build", "key",
           "Error", "Absent", "BadURL", "Busy", "Closed", "Corrupt", "Exists", "ForkError", "Full",
           "IOFailure", "Mismatch", "NoMemory", "NotFound", "NotPermitted", "RangeError", "Unable"]
__version__: str = _seen.version

URL = Union[str, bytes]
_SYNC = {"always": 0, "everysec": 1, "no": 2}
_ERRORS = {"raise": False, "ignore": True}
_FIRST_KEYS = 20000             # of a file that open() creates


class Info(NamedTuple):
    """What a filter is and holds; see Filter.info."""
    kind: str                   # "blocked"
    profile: str                # how URLs become keys: "surt", "whatwg", "raw"
    capacity: int               # URLs that were planned for
    planned: float              # the rate at capacity
    bits: int                   # of all cells
    probes: int                 # per URL
    seed: int
    over: bool                  # accepts URLs past its capacity
    keyed: bool                 # has a secret
    entries: float              # distinct URLs held, estimated
    offered: int                # URLs that were added, with repetitions
    rate: float                 # of false positives now
    load: float                 # the share of cells that are set
    bytes: int                  # of cells
    can: Tuple[str, ...]        # "add", "remove", "count", "merge", "grow", ...
    meta: Dict[str, str]        # "title", "holder", "as-of", ...


class Key(NamedTuple):
    """What a URL is hashed as; see seen.key()."""
    text: str
    hash: int


class Built(NamedTuple):
    """What seen.build() made."""
    urls: int                   # that were added, with repetitions
    bad: int                    # URLs or lines that were left out
    entries: float              # distinct URLs, estimated
    rate: float                 # of false positives
    bytes: int                  # of cells


def _skips(errors: str) -> bool:
    try:
        return _ERRORS[errors]
    except (KeyError, TypeError):
        raise ValueError(f'errors is "raise" or "ignore", not {errors!r}') from None


class Filter(_seen.Filter):
    """A filter: seen.open() and seen.new() make them.

    >>> f = seen.new(capacity=1000)
    >>> f.add_many(["https://a.example/", "https://b.example/", "https://a.example/"])
    [True, True, False]
    >>> "https://a.example/" in f
    True
    """

    def __enter__(self) -> "Filter":
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "writable" if self.writable else "reading"
        return f"<seen.Filter {self.path or 'in memory'!s}, {state}>"

    def _answers(self, what: str, urls: Iterable[URL], numpy: bool, errors: str) -> Any:
        if numpy:
            import numpy as module      # ImportError says what is missing
            packed = self._many(what, urls, _skips(errors), True)
            return module.frombuffer(packed, dtype=module.bool_)
        return self._many(what, urls, _skips(errors), False)

    def has_many(self, urls: Iterable[URL], *, numpy: bool = False, errors: str = "raise") -> Any:
        """Look up all URLs of an iterable; a list of bool, or a numpy array.

        The work is done in batches of 1024, without the GIL. With errors="ignore" a bad
        URL is answered with False; otherwise it raises BadURL with its `position`.

        >>> f = seen.new(capacity=1000)
        >>> f.add("https://a.example/")
        True
        >>> f.has_many(["https://a.example/", "https://b.example/"])
        [True, False]
        >>> f.has_many(["http://", "https://a.example/"], errors="ignore")
        [False, True]
        """
        return self._answers("has", urls, numpy, errors)

    def add_many(self, urls: Iterable[URL], *, numpy: bool = False, errors: str = "raise") -> Any:
        """Add all URLs of an iterable; for each, whether it was new.

        Each batch of 1024 is flushed at once, so this is far faster than add(). If it
        raises, the URLs before `position` of the exception were added. Signals are
        handled between batches: after KeyboardInterrupt whole batches were added.
        With errors="ignore" a bad URL is not added and answered with False.

        >>> f = seen.new(capacity=1000)
        >>> f.add_many(f"https://a.example/{i % 2}" for i in range(4))
        [True, True, False, False]
        """
        return self._answers("add", urls, numpy, errors)

    def iter_has(self, urls: Iterable[URL], *, batch: int = 1024,
                 errors: str = "raise") -> Iterator[Tuple[URL, bool]]:
        """Pairs (url, seen) for an iterable of any length, in constant memory.

        >>> f = seen.new(capacity=1000)
        >>> for url, seen_before in f.iter_has(["https://a.example/"]):
        ...     print(url, seen_before)
        https://a.example/ False
        """
        return self._pairs("has", urls, batch, errors)

    def iter_add(self, urls: Iterable[URL], *, batch: int = 1024,
                 errors: str = "raise") -> Iterator[Tuple[URL, bool]]:
        """Add URLs and give pairs (url, new), in constant memory.

        URLs are added a batch ahead: a program that stops early has added up to
        `batch` - 1 URLs that it did not get. batch=1 adds each one when it is asked for.

        >>> f = seen.new(capacity=1000)
        >>> links = ["https://a.example/", "https://b.example/", "https://a.example/"]
        >>> [url for url, new in f.iter_add(links) if new]
        ['https://a.example/', 'https://b.example/']
        """
        return self._pairs("add", urls, batch, errors)

    def _pairs(self, what: str, urls: Iterable[URL], batch: int,
               errors: str) -> Iterator[Tuple[URL, bool]]:
        skips = _skips(errors)
        if batch < 1:
            raise ValueError("batch is at least 1")
        if isinstance(urls, (str, bytes)):
            raise TypeError("this takes an iterable of URLs, not a single one")
        return self._generate(what, iter(urls), batch, skips)

    def _generate(self, what: str, urls: Iterator[URL], batch: int,
                  skips: bool) -> Iterator[Tuple[URL, bool]]:
        done = 0
        while some := list(itertools.islice(urls, batch)):
            try:
                answers = self._many(what, some, skips, False)
            except (Error, TypeError) as e:
                e.position = done + getattr(e, "position", 0)   # type: ignore[union-attr]
                raise
            done += len(some)
            yield from zip(some, answers)

    def remove_many(self, urls: Iterable[URL]) -> None:
        """Remove URLs that were added, in batches; see remove().

        >>> f = seen.new(kind="counting", capacity=1000)
        >>> urls = ["https://a.example/", "https://b.example/"]
        >>> f.add_many(urls)
        [True, True]
        >>> f.remove_many(urls)
        >>> f.has_many(urls)
        [False, False]
        """
        self._many("remove", urls, False, True)

    def save(self, path: Union[str, "os.PathLike[str]"], *, replace: bool = True) -> None:
        """Write a copy to a file, atomically. replace=False raises Exists if there is one.

        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "copy.seen")
        >>> f = seen.new(capacity=1000)
        >>> f.add("https://a.example/")
        True
        >>> f.save(path)
        >>> with seen.open(path) as copy:
        ...     "https://a.example/" in copy
        True
        """
        self._save(path, replace)

    @property
    def info(self) -> Info:
        """What the filter is and holds, at this moment.

        >>> f = seen.new(kind="counting", capacity=1000, rate=0.001, profile="whatwg")
        >>> f.info.kind, f.info.profile, f.info.capacity, "remove" in f.info.can
        ('counting', 'whatwg', 1000, True)
        """
        return Info(**self._details())


def open(path: Union[str, "os.PathLike[str]"], write: bool = False, sync: str = "always", *,
         load: bool = False, profile: Optional[str] = None, secret: Optional[bytes] = None,
         over: bool = False, verify: Union[bool, str] = True, wait: float = 0,
         create: bool = False, rate: Optional[float] = None, private: bool = False) -> Filter:
    """Open the filter in a file, for reading or for writing, or on a web server.

    write    add and remove URLs, durably: every change is in a journal beside the file
             before the call returns. One object at a time, of all processes, can write:
             otherwise Busy is raised, after `wait` seconds
    sync     when adds survive a power failure: "always" when the call returns,
             "everysec" about a second later, "no" when the system writes them. A
             killed process loses nothing in any case
    load     read into memory instead of mapping the file: slower to open. If another
             program cuts a mapped file short, using the filter raises IOFailure
    profile  refuse the filter if it has another one
    secret   the 16 bytes of a keyed filter
    over     with write: accept URLs past the capacity, with a rising rate
    verify   check all cells against their checksums; "lazy": only those that a URL
             needs, when it is asked about or added. A large filter is opened at once
             then, and Corrupt is raised for URLs in damaged blocks
    create   with write: make the file if it does not exist, with this `rate` (0.01) and
             `profile` ("surt"). It grows with its URLs, of which it keeps 16 bytes each
             in PATH.keys, and needs at most twice the room of a filter that was planned
             for them. An add that makes it grow takes about 20 ns per URL in it

    A path that begins with https:// or http:// is asked where it is: the beginning of
    the file is fetched now, and 64 KiB or some more when a URL needs them, all of it when
    that is cheaper. What was fetched is kept in memory until the filter is closed.
    Mismatch is raised if the file was replaced meanwhile: open it again. Only public
    addresses are connected to, unless they may be `private`. No proxy is used.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "crawl.seen")
    >>> seen.build(path, ["https://a.example/"], capacity=1000).urls
    1
    >>> with seen.open(path, write=True) as f:
    ...     f.add("https://b.example/")
    True
    >>> with seen.open(path) as f:
    ...     f.has_many(["https://a.example/", "https://b.example/", "https://c.example/"])
    [True, True, False]
    >>> with seen.open(path + ".new", write=True, create=True) as f:
    ...     f.add("https://a.example/")
    True
    """
    if sync not in _SYNC:
        raise ValueError(f'sync is "always", "everysec" or "no", not {sync!r}')
    if verify not in (True, False, "lazy"):
        raise ValueError(f'verify is True, False or "lazy", not {verify!r}')
    if isinstance(path, str) and path.startswith(("https://", "http://")):
        if write or load or create:
            raise ValueError("a filter on a web server can only be asked")
        from . import web
        return Filter._ask(web.Reader(path, private), path, profile, secret)
    if write and load:
        raise ValueError("load is for reading")
    if create and not write:
        raise ValueError("create is for writing")
    if create and not os.path.exists(path):
        _create(path, 0.01 if rate is None else rate, profile or "surt", secret)
    mode = 2 if write else 1 if load else 0
    end = time.monotonic() + wait
    while True:
        try:
            return Filter._open(path, mode, _SYNC[sync], profile, secret, over,
                                2 if verify == "lazy" else int(bool(verify)))
        except Busy:
            if time.monotonic() >= end:
                raise
        time.sleep(0.02)


def _create(path: Union[str, "os.PathLike[str]"], rate: float, profile: str,
            secret: Optional[bytes]) -> None:
    """An empty file whose writers keep the keys; or that of a faster process."""
    empty = new(capacity=_FIRST_KEYS, rate=rate, profile=profile, secret=secret,
                meta={"keys-log": "1"})
    try:
        empty.save(path, replace=False)
    except Exists:
        pass


def _plan(**plan: Any) -> Dict[str, Any]:
    if plan.get("rate") is None and plan.get("bits") is None:
        plan["rate"] = 0.01
    return plan


def new(*, kind: Optional[str] = None, capacity: Optional[int] = None, rate: Optional[float] = None,
        profile: str = "surt", bits: Optional[int] = None, probes: Optional[int] = None,
        seed: int = 0, over: bool = False, hostile: bool = False, secret: Optional[bytes] = None,
        meta: Optional[Dict[str, str]] = None) -> Filter:
    """An empty filter in memory. Filter.save() writes it to a file.

    Any two of capacity, rate and bits give the third; the rate is 0.01 if it is not
    given. The kind is then "blocked", and "spatial:N/blocked" if the rate is below 0.0001.
    `seen help build` lists the kinds and profiles.

    >>> seen.new(capacity=1000, rate=0.001).info.planned
    0.001
    >>> seen.new(capacity=1000, rate=1e-6).info.kind
    'spatial:3/blocked'
    """
    return Filter._new(_plan(kind=kind, capacity=capacity, rate=rate, profile=profile, bits=bits,
                             probes=probes, seed=seed, over=over, hostile=hostile, secret=secret,
                             meta=meta))


def build(path: Union[str, "os.PathLike[str]"], inputs: Any, *, kind: Optional[str] = None,
          rate: Optional[float] = None, capacity: Optional[int] = None, profile: str = "surt",
          bits: Optional[int] = None, probes: Optional[int] = None, seed: int = 0,
          over: bool = False, hostile: bool = False, secret: Optional[bytes] = None,
          meta: Optional[Dict[str, str]] = None, errors: str = "ignore") -> Built:
    """Make a filter of many URLs and write it to a file, atomically.

    inputs    an iterable of URLs, of any length. Or files and folders, as one os.PathLike
              object or an iterable of them: lists of URLs, CDX, CDXJ, WARC, ARC and
              WACZ, plain or packed
    kind      if it is not given: that of seen.new()
    capacity  if it is not given, distinct URLs are counted: 16 bytes of each are kept until
              the last one, 64 MB in memory and then in a temporary file beside `path`. The
              same URLs give the same bytes as in `seen build`. Without any URL the
              filter is one that grows
    errors    "ignore" leaves bad URLs out and counts them, "raise" raises BadURL. Bad
              lines of files are always left out; a file that cannot be read to its end
              raises Corrupt, and nothing is written

    >>> import tempfile, os, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> seen.build(folder / "a.seen", ["https://a.example/", "http://"]).bad
    1
    >>> (folder / "urls.txt").write_text("https://a.example/\\nhttps://b.example/\\n")
    38
    >>> seen.build(folder / "b.seen", folder / "urls.txt").urls
    2
    >>> seen.build(folder / "c.seen", (f"https://a.example/{i % 800}" for i in range(9000))).bytes
    1024
    """
    skips = _skips(errors)
    plan = _plan(kind=kind, capacity=capacity, rate=rate, profile=profile, bits=bits,
                 probes=probes, seed=seed, over=over, hostile=hostile, secret=secret, meta=meta)
    if isinstance(inputs, (str, bytes)):
        raise TypeError("inputs: for a file give pathlib.Path(...), for a URL a list of one")
    files, inputs = _files(inputs)
    if files is not None:
        return Built(*_seen.build_files(path, plan, files))
    return Built(*_seen.build_urls(path, plan, inputs, skips))


def _files(inputs: Any) -> Tuple[Optional[List[bytes]], Any]:
    """The paths, if inputs are files; and the inputs, of which nothing was lost."""
    if isinstance(inputs, os.PathLike):
        return [os.fsencode(inputs)], inputs
    if hasattr(inputs, "__len__") and len(inputs) == 0:
        return None, inputs
    iterator = iter(inputs)
    for first in iterator:
        break
    else:
        return None, inputs
    if not isinstance(first, os.PathLike):
        if iterator is inputs:
            inputs = itertools.chain([first], iterator)
        return None, inputs
    files = [first, *iterator]
    if not all(isinstance(file, os.PathLike) for file in files):
        raise TypeError("inputs are URLs or os.PathLike objects, not both")
    return [os.fsencode(file) for file in files], inputs


def key(url: URL, profile: str = "whatwg") -> Key:
    """What a URL is hashed as under a profile: its canonical text and 128 bits.

    Bytes that are not UTF-8 are in the text as surrogates (PEP 383).

    >>> seen.key("HTTP://www.Example.com:80/a/../b").text
    'http://www.example.com/b'
    >>> seen.key("HTTP://www.Example.com:80/a/../b", "surt").text
    'com,example)/b'
    """
    text, high, low = _seen.key(url, profile)
    return Key(text.decode("utf-8", "surrogateescape"), high << 64 | low)
