"""A log file: begun once, rotated when it is full, given up when it cannot be written.

Nothing here may stop the server or hold it up: a regular file is written in blocks, a
pipe only as far as its reader has room. Whatever goes wrong ends the log, with one
warning.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
from contextlib import suppress

from txloop.stmlog.c7_format import HEADER

if sys.platform != "win32":
    import fcntl

__all__ = ["DEFAULT_BYTES", "LogFile", "forget_begun", "open_log"]

DEFAULT_BYTES = 256 << 20
"""How long a file becomes before it is rotated."""

_MOST_UNREAD = 8 << 20
"""How much is kept for a pipe whose reader does not keep up."""

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # as far as there are any
    _FLAGS |= getattr(os, _name, 0)

_log = logging.getLogger("txloop")

_begun: set[tuple[int, int]] = set()
"""Device and number of the files that this process has begun: it goes on with them."""


class _TakenError(Exception):
    """Another process writes to the file."""


def forget_begun() -> None:
    """Begin all files anew, in a forked process."""
    _begun.clear()


def open_log(name: str, most_bytes: int, is_fork: bool) -> LogFile | None:
    """Open the file for what ``PYPYSTM`` names; None, and a warning, if none is.

    PyPy's rule: a forked process writes to ``NAME.fork<PID>``, if there is a ``+``
    after the name, and nothing otherwise. The same holds for a process that finds the
    file in use, as a program does that was started by a logged one.

    Args:
        name: The file, perhaps with a ``+`` after it.
        most_bytes: How long it may become before it is rotated.
        is_fork: Whether this process was forked after its start.
    """
    path = name.removesuffix("+")
    forked = f"{path}.fork{os.getpid()}"
    paths = [path] * (not is_fork) + [forked] * name.endswith("+")
    for one in paths:
        with suppress(_TakenError):
            file = LogFile(one, most_bytes)
            return None if file.ended else file
    _log.warning(
        "this process, %d, writes no log: %s is another one's; PYPYSTM=%s+ gives each "
        "process its own",
        os.getpid(),
        path,
        path,
    )
    return None


class LogFile:
    """One stm.log; used by the loop thread only.

    When it is about to become longer than it may, it is renamed to ``PATH.1``, in the
    place of an earlier one, and begun anew: so two such lengths are used at most.
    """

    def __init__(self, path: str, most_bytes: int = DEFAULT_BYTES) -> None:
        """Open the file, emptying it unless this process has begun it before."""
        self.path = os.path.abspath(path)  # the program may go elsewhere
        self._most_bytes = most_bytes
        self._descriptor = -1
        self._size = 0
        self._is_regular = True
        self._unwritten = bytearray()
        self._ended = False
        self._open()

    @property
    def ended(self) -> bool:
        """Whether nothing more will be written."""
        return self._ended

    def write(self, block: bytes) -> None:
        """Append packets."""
        if self._ended:
            return
        if self._descriptor < 0:  # a pipe that has had no reader so far
            self._open()
            if self._descriptor < 0:
                return
        full = self._size + len(block) > self._most_bytes
        old = self._is_regular and self._size > len(HEADER)
        if full and old and not self._rotate():
            return
        self._unwritten += block
        self._size += len(block)
        self._flush()

    def close(self) -> None:
        """Write the rest, as far as that is possible at once, and close the file."""
        if self._unwritten and not self._ended:
            self._flush()
        self._ended = True
        self._close()

    def abandon(self) -> None:
        """Forget it in a forked process: what is unwritten is the parent's."""
        self._unwritten.clear()
        self._ended = True
        self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self) -> None:
        try:
            # It does not wait for the reader of a pipe.
            self._descriptor = os.open(self.path, _FLAGS, 0o644)
            self._begin()
        except OSError as error:
            if error.errno == errno.ENXIO and self._descriptor < 0:
                return  # it may be read later
            self._end(error)

    def _begin(self) -> None:
        descriptor = self._descriptor
        status = os.fstat(descriptor)
        self._is_regular = stat.S_ISREG(status.st_mode)
        identity = status.st_dev, status.st_ino
        if self._is_regular:
            self._lock()
            if identity in _begun and status.st_size >= len(HEADER):
                self._size = status.st_size
                return
            os.ftruncate(descriptor, 0)
            _begun.add(identity)
        self._unwritten += HEADER
        self._size = len(HEADER)
        self._flush()

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._ended = True
            self._close()
            raise _TakenError from None

    def _rotate(self) -> bool:
        """Begin anew; return whether there is a file to write to."""
        try:
            self._flush()
            self._close()
            os.replace(self.path, f"{self.path}.1")
        except OSError as error:
            self._end(error)
            return False
        self._open()
        return not self._ended

    def _flush(self) -> None:
        unwritten = self._unwritten
        try:
            while unwritten:
                with memoryview(unwritten) as view:
                    count = os.write(self._descriptor, view)
                del unwritten[:count]
        except BlockingIOError:
            if len(unwritten) > _MOST_UNREAD:
                self._end(OSError("its reader has closed it"))
        except OSError as error:
            self._end(error)

    def _end(self, error: OSError) -> None:
        self._unwritten.clear()
        self._ended = True
        self._close()
        reason = error.strerror or str(error)
        _log.warning("the log %s ends here: %s", self.path, reason)
