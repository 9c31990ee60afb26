"""Exceptions of the package: one class per error code of libseen.

All are subclasses of seen.Error. Most are also what Python programs already
catch: a missing file is a FileNotFoundError, a bad URL a ValueError, a URL that
cannot be removed a KeyError.

>>> import seen
>>> try:
...     seen.open("no/such/file.seen")
... except FileNotFoundError as e:
...     print(type(e).__name__, e.code, e.name)
NotFound 6 SEEN_IO
"""
from __future__ import annotations

import errno as _errno
from typing import Optional


class Error(Exception):
    """What went wrong, for programs and for people.

    code       the number of the error in <seen/error.h>, which never changes; 0 for
               errors that only this package has
    name       its name there: "SEEN_FULL"
    position   the URL of a batch at which it stopped, or the byte of a URL
    """

    code: int = 0
    name: str = ""
    position: int = 0

    def __init__(self, text: str = "", *, code: int = 0, position: int = 0,
                 errno: Optional[int] = None, path: Optional[str] = None):
        if isinstance(self, OSError):
            OSError.__init__(self, errno, text, path)
        else:
            Exception.__init__(self, f"{path}: {text}" if path else text)
        if code:
            self.code = code
        self.position = position


class NoMemory(Error, MemoryError):
    """There is not enough memory."""
    code, name = 1, "SEEN_NOMEM"


class RangeError(Error, ValueError):
    """An argument is not allowed, such as a kind that does not exist."""
    code, name = 2, "SEEN_RANGE"


class Full(Error):
    """The filter is at its capacity; URLs before `position` were added."""
    code, name = 3, "SEEN_FULL"


class Mismatch(Error):
    """Two things do not fit together: profile, secret, version of the file."""
    code, name = 4, "SEEN_MISMATCH"


class Corrupt(Error):
    """The file was cut short or changed, or an input cannot be read whole."""
    code, name = 5, "SEEN_CORRUPT"


class IOFailure(Error, OSError):
    """A system call failed; `errno` and `filename` are set."""
    code, name = 6, "SEEN_IO"


class NotFound(IOFailure, FileNotFoundError):
    """There is no such file."""


class NotPermitted(IOFailure, PermissionError):
    """The file may not be read or written."""


class Busy(Error):
    """Another process, or another object, has the filter open for writing."""
    code, name = 7, "SEEN_BUSY"


class Unable(Error):
    """This kind of filter, or a filter opened for reading, cannot do that."""
    code, name = 8, "SEEN_UNABLE"


class Exists(Error, FileExistsError):
    """There is such a file already."""
    code, name = 9, "SEEN_EXISTS"


class Absent(Error, KeyError):
    """The URL that is to be removed is not there."""
    code, name = 10, "SEEN_ABSENT"

    __str__ = Exception.__str__     # KeyError would quote it


class BadURL(Error, ValueError):
    """The profile refuses the URL."""
    code, name = 11, "SEEN_BAD_URL"


class Closed(Error, ValueError):
    """The filter was closed."""


class ForkError(Error, RuntimeError):
    """The filter belongs to the parent of this process."""


_classes = {it.code: it for it in (NoMemory, RangeError, Full, Mismatch, Corrupt, IOFailure, Busy,
                                   Unable, Exists, Absent, BadURL)}


def failure(code: int, text: str, errno: int, position: int, path: Optional[str]) -> Error:
    """The exception of a struct seen_error."""
    if code == 1000:
        return Closed(text, position=position, path=path)
    found = _classes.get(code, Error)
    if found is IOFailure:
        found = {_errno.ENOENT: NotFound, _errno.EACCES: NotPermitted,
                 _errno.EPERM: NotPermitted}.get(errno, IOFailure)
    if code == Exists.code:
        errno = _errno.EEXIST
    return found(text, code=code, position=position, errno=errno or None, path=path)


def not_unicode(text: str) -> BadURL:
    return BadURL(text, code=BadURL.code)
