"""Bytes of a filter on a web server, for seen.open("https://...").

A Reader fetches ranges of one version of a file: by ETag or date it says which one
(If-Range), and raises Mismatch if the server has another one. The library checks all
bytes before it answers from them; what is checked here is that a server cannot make
us wait, or fetch, without end, and where it may lead us.
"""
from __future__ import annotations

import errno
import http.client
import ipaddress
import re
import socket
import ssl
import tempfile
import time
from typing import IO, Any, List, Optional, Tuple
from urllib.parse import urljoin, urlsplit

from . import _seen
from .errors import Corrupt, IOFailure, Mismatch, NotFound, RangeError

_REDIRECTS = 5
_STALL = 30                 # seconds without bytes
_TIME = 600                 # seconds for a range, and
_WHOLE_TIME = 6 * 3600      # for a whole file, of at most
_WHOLE = 1 << 30            # bytes
_REQUEST = 64 << 10         # bytes that a request is worth
_PART = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)\Z")


def _public(address: str) -> bool:
    ip = ipaddress.ip_address(address.split("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_global and not ip.is_multicast


def _connect(host: str, port: int, private: bool) -> socket.socket:
    """A connection to an allowed address: the one that was checked is used."""
    last: Optional[Exception] = None
    for family, kind, proto, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if not private and not _public(str(where[0])):
            last = RangeError(f"{where[0]} is not a public address; private=True allows it")
            continue
        sock = socket.socket(family, kind, proto)
        try:
            sock.settimeout(_STALL)
            sock.connect(where)
            return sock
        except OSError as e:
            sock.close()
            last = e
    raise last or RangeError(f"{host} has no address")


class _Connection(http.client.HTTPConnection):
    private = False

    def connect(self) -> None:
        self.sock = _connect(self.host, self.port, self.private)


class _Secure(http.client.HTTPSConnection):
    private = False

    def connect(self) -> None:
        plain = _connect(self.host, self.port, self.private)
        self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)


class Reader:
    """Ranges of the file at a URL."""

    def __init__(self, url: str, private: bool = False):
        self.url, self.private = url, private
        self.etag = self.modified = ""
        self.length = 0
        self.paid = 0
        self.whole: Optional[IO[bytes]] = None
        self.at: Tuple[str, str] = ("", "")
        self.open: Optional[http.client.HTTPConnection] = None

    # --- requests ---

    def _connection(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        if self.open and self.at == (scheme, netloc):
            return self.open
        if self.open:
            self.open.close()
        made: Any = (_Secure if scheme == "https" else _Connection)(netloc, timeout=_STALL)
        made.private = self.private
        self.open, self.at = made, (scheme, netloc)
        return made

    def _drop(self) -> None:
        if self.open:
            self.open.close()
        self.open = None

    def _send(self, url: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or "@" in parts.netloc or not parts.hostname:
            raise RangeError("is not a plain http or https URL", path=url)
        target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        for again in (True, False):     # the server may have closed a kept connection
            kept = self.open is not None and self.at == (parts.scheme, parts.netloc)
            try:
                connection = self._connection(parts.scheme, parts.netloc)
                connection.request("GET", target, headers=headers)
                return connection.getresponse()
            except RangeError as e:
                raise RangeError(str(e), path=self.url) from None
            except (http.client.HTTPException, OSError) as e:
                self._drop()
                if not (kept and again):
                    raise self._failure(e) from None
        raise AssertionError

    def _failure(self, e: Exception) -> Exception:
        if isinstance(e, IOFailure):
            return e
        text = getattr(e, "strerror", None) or str(e) or type(e).__name__
        return IOFailure(text, errno=getattr(e, "errno", None) or errno.EIO, path=self.url)

    def _get(self, headers: dict[str, str]) -> http.client.HTTPResponse:
        url = self.url
        for _ in range(_REDIRECTS + 1):
            answer = self._send(url, headers)
            to = answer.getheader("Location")
            if answer.status not in (301, 302, 303, 307, 308) or not to:
                return answer
            self._drop()
            url = urljoin(url, to)
        raise RangeError(f"has more than {_REDIRECTS} redirects", path=self.url)

    def _body(self, answer: http.client.HTTPResponse, most: int, to: IO[bytes], seconds: int) -> int:
        """At most so many bytes and seconds of a body."""
        end, got = time.monotonic() + seconds, 0
        try:
            while True:
                piece = answer.read1(min(1 << 16, most - got + 1))
                got += len(piece)
                if not piece:
                    if not answer.isclosed():
                        answer.read()       # nothing: the connection can be used again
                    return got
                if got > most:
                    raise Corrupt("sends more than was asked for", path=self.url)
                to.write(piece)
                if time.monotonic() > end:
                    raise IOFailure("is too slow", errno=errno.ETIMEDOUT, path=self.url)
        except (http.client.HTTPException, OSError) as e:
            self._drop()
            raise self._failure(e) from None
        except Corrupt:
            self._drop()
            raise

    # --- versions ---

    def _moved(self) -> Mismatch:
        self._drop()
        return Mismatch("was replaced while it was asked; open it again", path=self.url)

    def _check(self, answer: http.client.HTTPResponse, total: int) -> None:
        """Is it an answer of our version? The first one decides which that is."""
        etag, modified = answer.getheader("ETag") or "", answer.getheader("Last-Modified") or ""
        if (answer.getheader("Content-Encoding") or "identity").lower() != "identity":
            self._drop()
            raise Corrupt("has a Content-Encoding that was not asked for", path=self.url)
        if not self.length:
            self.etag, self.modified = etag if etag.startswith('"') else "", modified
        elif (self.etag and etag.startswith('"') and etag != self.etag) or \
                (not self.etag and self.modified and modified and modified != self.modified):
            raise self._moved()
        if total and self.length and total != self.length:
            raise self._moved()
        self.length = total or self.length

    # --- what libseen calls ---

    def _range(self, at: int, size: int) -> bytes:
        headers = {"Range": f"bytes={at}-{at + size - 1}", "Accept-Encoding": "identity",
                   "User-Agent": f"seen/{_seen.version} (Python)"}
        if self.etag or self.modified:
            headers["If-Range"] = self.etag or self.modified
        first = not self.length
        answer = self._get(headers)
        if answer.status == 200:
            return self._take_whole(answer, first)
        if answer.status != 206:
            self._drop()
            if answer.status in (404, 410):
                raise NotFound(f"is not there ({answer.status})", errno=errno.ENOENT, path=self.url)
            raise IOFailure(f"is answered with {answer.status}", errno=errno.EIO, path=self.url)
        said = _PART.match(answer.getheader("Content-Range") or "")
        if said:
            begin, last = int(said[1]), int(said[2])
            total = 0 if said[3] == "*" else int(said[3])
        if not said or begin != at or not at <= last < at + size or \
                (last + 1 != at + size and last + 1 != total):
            self._drop()
            raise Corrupt("sends another part than was asked for", path=self.url)
        self._check(answer, total)
        with tempfile.SpooledTemporaryFile(1 << 24) as to:
            if self._body(answer, last + 1 - at, to, _TIME) != last + 1 - at:
                self._drop()
                raise Corrupt("the part is not as long as announced", path=self.url)
            to.seek(0)
            return to.read()

    def _take_whole(self, answer: http.client.HTTPResponse, first: bool) -> bytes:
        """The server knows no ranges; or, if it did before, has another file now."""
        if not first:
            raise self._moved()
        self._check(answer, 0)
        if (answer.length or 0) > _WHOLE:
            self._drop()
            raise RangeError("its server has no ranges, and it is too long to be fetched as a whole",
                             path=self.url)
        whole = tempfile.TemporaryFile()
        try:
            self.length = self._body(answer, _WHOLE, whole, _WHOLE_TIME)
        except BaseException:
            whole.close()
            raise
        self.whole = whole
        return b""

    def read(self, ranges: List[Tuple[int, int]]) -> Tuple[List[bytes], int]:
        """The bytes of (from, length) pairs, and the length of the file."""
        found = []
        for at, size in ranges:
            piece = b"" if self.whole else self._range(at, size)
            if self.whole:
                self.whole.seek(at)
                piece = self.whole.read(size)
            found.append(piece)
        return found, self.length

    def weigh(self, ranges: int, size: int, rest: int) -> bool:
        """Is it cheaper to read all? As soon as parts would cost more than the rest."""
        parts = size + ranges * _REQUEST
        if ranges and not self.whole and rest > _WHOLE:
            return False
        self.paid += parts
        return bool(ranges) and (self.whole is not None or self.paid > rest + _REQUEST)
