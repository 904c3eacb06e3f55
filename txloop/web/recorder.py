"""A connection that records what a handler sends, and replays it on the real one."""

from __future__ import annotations

import contextlib
import enum
import re
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.escape import native_str, utf8
from tornado.http1connection import parse_int

from txloop.errors import TxInternalError
from txloop.stm.attempt import current

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

__all__ = [
    "RECORDED",
    "Recorded",
    "Recorder",
    "headers_copied",
    "headers_with",
    "is_ordinary",
    "recorded",
]

_LINE_BREAK = re.compile(rb"[\r\n]")


class _Instead(enum.Enum):
    """What is recorded in place of a chunk."""

    REFUSED = "the headers were refused"


_REFUSED = _Instead.REFUSED


class Recorder(httputil.HTTPConnection):
    """Takes the place of a request's connection during an attempt.

    It refuses what `HTTP1Connection` would refuse (more or less data than the
    Content-Length, line breaks in headers), so that the handler sees the error. On the
    loop thread, touching anything else of the connection releases the recording to it.

    Attributes:
        context: The connection's, with the client's address.
        finished: Whether the response is complete.
        refused: Whether the Content-Length is wrong, for which Tornado has no answer:
            it closes the connection, or sends nothing.
        status_code: The response's.
        released: Whether everything goes to the real connection now.
    """

    finished = False
    refused = False
    released = False
    status_code = 200
    _close_callback: Callable[[], None] | None = None
    _remaining: int | None = None
    _closed = False

    def __init__(
        self,
        method: str | None,
        context: object,
        real: httputil.HTTPConnection | None = None,
        version: str = "HTTP/1.1",
        later: httputil.HTTPConnection | None = None,
    ) -> None:
        """Record nothing yet.

        Args:
            method: The request's.
            context: What its connection has of that name.
            real: The connection, where a response may go straight to it.
            version: The request's version of HTTP.
            later: The connection, where another thread records: it is used if the
                attempt goes on in the place of the loop thread.
        """
        self.context = context
        self._method = method
        self._version = version
        self._real = real
        self._later = later
        self._operations: list[tuple[str, tuple[object, ...]]] = []

    def __reduce__(self) -> tuple[object, ...]:
        return recorded, (self.finished, self.status_code, self._operations)

    @property
    def operations(self) -> Sequence[tuple[str, tuple[Any, ...]]]:
        """What was called of the connection so far, and with what."""
        return self._operations

    def write_headers(  # type: ignore[override] # awaitable like a future
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
        chunk: bytes | None = None,
    ) -> Recorded:
        assert isinstance(start_line, httputil.ResponseStartLine)
        self.status_code = start_line.code
        try:
            self._check(start_line, headers)
        except Exception:  # the handler sees it, and may go on
            self._do("write_headers", start_line, headers_copied(headers), _REFUSED)
            raise
        self._count(chunk)
        return self._do("write_headers", start_line, headers_copied(headers), chunk)

    def _announced(
        self, start_line: httputil.ResponseStartLine, length: str | None
    ) -> int | None:
        """Return how much of a body the headers promise; None: as much as comes."""
        if self._method == "HEAD" or start_line.code == 304:
            return 0
        if length is None:
            return None
        self.refused = True
        promised: int = parse_int(length)
        self.refused = False
        return promised

    def _replaced(
        self, start_line: httputil.ResponseStartLine, length: str | None
    ) -> str | None:
        """Return the name of the header that Tornado writes over, if any."""
        chunked = (
            self._version == "HTTP/1.1"
            and self._method != "HEAD"
            and start_line.code not in (204, 304)
            and not 100 <= start_line.code < 200
            and length is None
        )
        return "Transfer-Encoding" if chunked else None

    def _check(
        self, start_line: httputil.ResponseStartLine, headers: httputil.HTTPHeaders
    ) -> None:
        """Raise what the real connection would raise, in the order in which it does.

        Raises:
            ValueError: for a length that is no number, or what would be a line more.
            TypeError: for values that are no strings.
        """
        if is_ordinary(start_line.reason, headers):
            self._remaining = self._announced(start_line, headers.get("Content-Length"))
            return
        lines = [utf8("HTTP/1.1 %d %s" % (start_line.code, start_line.reason))]  # noqa: UP031 # as Tornado does
        length = headers.get("Content-Length")
        self._remaining = self._announced(start_line, length)
        replaced = self._replaced(start_line, length)
        lines += [
            f"{native_str(name)}: {native_str(value)}".encode("latin1")
            for name, value in headers.get_all()
            if name != replaced
        ]
        for line in lines:
            if _LINE_BREAK.search(line):
                raise ValueError(f"Illegal characters (CR or LF) in header: {line!r}")

    def write(self, chunk: bytes) -> Recorded:  # type: ignore[override] # as above
        self._count(chunk)
        return self._do("write", chunk)

    def finish(self) -> None:
        if self._remaining:
            missing = self._remaining
            self._close()
            raise httputil.HTTPOutputError(
                f"Tried to write {missing} bytes less than Content-Length"
            )
        self.finished = True
        self._do("finish")

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Remember `callback` for the case that the real connection is released."""
        self._close_callback = callback
        if self.released:
            self._do("set_close_callback", callback)

    def clear(self) -> None:
        """Forget the response so far, as if nothing had been written."""
        if not self.released:
            self._operations.clear()
            self._remaining = None
            self._closed = False
            self.finished = False

    def release(self, real: httputil.HTTPConnection | None = None) -> None:
        """Replay the recording on the real connection and pass everything on to it."""
        if self.released:
            return
        real = self._real = real or self._real
        if real is None:
            raise TxInternalError("a recorded response without a connection")
        self.released = True
        _fix_attempt()
        if not self.finished and self._close_callback is not None:
            self._do("set_close_callback", self._close_callback)
        operations, self._operations = self._operations, []
        for name, arguments in operations:
            if arguments and arguments[-1] is _REFUSED:
                # It writes nothing, but `finish` depends on what it found.
                with contextlib.suppress(Exception):
                    real.write_headers(*arguments[:-1])  # type: ignore[arg-type] # recorded by `write_headers`
            else:
                getattr(real, name)(*arguments)

    def add_text(self, text: str) -> None:
        """Add to the end of what was recorded, if that is one whole plain text."""
        match self._operations:
            case [("write_headers", (start, headers, bytes(chunk))), ("finish", ())]:
                pass
            case _:
                return
        assert isinstance(headers, httputil.HTTPHeaders)
        if (
            not headers.get("Content-Type", "").startswith("text/plain")
            or headers.get("Content-Length") != str(len(chunk))
            or "Content-Encoding" in headers
        ):
            return
        chunk += utf8(text)
        headers = headers_copied(headers)
        headers["Content-Length"] = str(len(chunk))
        headers.pop("Etag", None)
        self._operations[0] = "write_headers", (start, headers, chunk)

    def _count(self, chunk: bytes | None) -> None:
        if chunk and self._remaining is not None and not self._closed:
            self._remaining -= len(chunk)
            if self._remaining < 0:
                self._close()
                raise httputil.HTTPOutputError(
                    "Tried to write more data than Content-Length"
                )

    def _close(self) -> None:
        # What follows goes nowhere, and is no error either.
        self.refused = self._closed = True
        self._remaining = None
        self._do("close")

    def _do(self, name: str, *arguments: object) -> Recorded:
        if self.released:
            result = getattr(self._real, name)(*arguments)
            return result if result is not None else RECORDED
        self._operations.append((name, arguments))
        return RECORDED

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        attempt = current()
        if attempt is not None and attempt.speculative:
            attempt.abandon(f"it uses the connection's {name}")
        self.release(self._later)
        return getattr(self._real, name)


def is_ordinary(reason: str, headers: httputil.HTTPHeaders) -> bool:
    """Tell whether headers can be written for certain, looking at all of them at once.

    It takes a third of the time that a look at each takes.
    """
    parts = [reason]
    try:
        for name, value in headers.get_all():
            parts += (name, value)
        whole = "".join(parts).encode("latin1")
    except (TypeError, UnicodeEncodeError):
        return False
    return b"\n" not in whole and b"\r" not in whole


def _fix_attempt() -> None:
    attempt = current()
    if attempt is not None:
        attempt.fixed = "its response is on its way to the client"


class Recorded:
    """The future of a recorded write: it is done."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield

    def done(self) -> bool:
        """Return True."""
        return True

    def result(self) -> None:
        """Return at once."""

    def exception(self) -> None:
        """Return None."""

    def add_done_callback(self, callback: Callable[[Recorded], object]) -> None:
        """Call `callback` at once."""
        callback(self)


RECORDED = Recorded()


def headers_copied(headers: httputil.HTTPHeaders) -> httputil.HTTPHeaders:
    """Return the headers of this moment: after a flush, the handler may set others."""
    # Their own `copy` refuses some values that `set_header` has taken.
    attributes = {}
    for name, value in vars(headers).items():
        # Values by header: strings, or lists of strings.
        kept = isinstance(value, dict)
        attributes[name] = (
            {k: v[:] if isinstance(v, list) else v for k, v in value.items()}
            if kept
            else value
        )
    return headers_with(attributes)


def headers_with(attributes: Mapping[str, object]) -> httputil.HTTPHeaders:
    """Return headers that have these attributes."""
    headers = httputil.HTTPHeaders.__new__(httputil.HTTPHeaders)
    vars(headers).update(attributes)
    return headers


def recorded(
    finished: bool, status_code: int, operations: list[tuple[str, tuple[Any, ...]]]
) -> Recorder:
    """Return a recording that was made elsewhere."""
    recorder = Recorder(None, None)
    recorder.finished = finished
    recorder.status_code = status_code
    recorder._operations = operations
    return recorder
