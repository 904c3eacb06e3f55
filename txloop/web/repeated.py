"""What stock Tornado does anew with each request, and is done once here.

The time is the same for all answers of a second, and a client sends the same headers
with each of its requests. To format the one and to parse the others takes a tenth of
the processor time of a request that does nothing.

A twentieth goes into a timer, an hour long, that each request takes back when its
headers are there. Here each connection notes since when it waits, in the order of
time, and one timer is for that which has waited longest.

As much goes into Nagle's algorithm: Tornado switches it off at the end of each
answer, to have it sent, and on again, two calls of the system. Here it stays off as
long as a connection speaks HTTP. On asyncio's own transports it is always off.
"""

from __future__ import annotations

import contextvars
import copy
import functools
import weakref
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.concurrent import Future, chain_future
from tornado.http1connection import HTTP1Connection, HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.iostream import BaseIOStream, IOStream

from txloop.loop.descriptors import LastingReaders
from txloop.loop.patches import patch
from txloop.stm.threads import asked_by_all
from txloop.web.recorder import headers_copied

if TYPE_CHECKING:
    import datetime
    import time

    from tornado.httputil import HTTPServerConnectionDelegate

__all__ = ["remember_what_is_repeated", "serve", "take_streams_over"]

_SECOND_IS_CERTAIN = 0.999
"""From here on, a part of a second is so near to the next that it may be rounded."""

_MOST_BLOCKS, _MOST_BYTES = 256, 4096
"""How many header blocks are remembered, and how long one may be."""

_stock_format_timestamp = httputil.format_timestamp
_last = (-1, "")  # a whole second, and what it is called; replaced at once

_stock_parse_headers = HTTP1Connection._parse_headers
# Never handed out: copies are.
_parsed: dict[bytes, httputil.HTTPHeaders] = asked_by_all({})

_NODELAY = "set_nodelay"

_IDLE = "_txloop_idle"  # of a loop: by seconds, the connections that may wait so long
_WAITING = "_txloop_waiting"  # of a stream: what it is known by there

_stock_handle_stream = HTTPServer.handle_stream
_stock_detach = HTTP1Connection.detach
_stock_start_serving = HTTP1ServerConnection.start_serving
_stock_read_until_regex = BaseIOStream.read_until_regex


@functools.wraps(_stock_format_timestamp)
def _format_timestamp(
    ts: float | tuple[int, ...] | time.struct_time | datetime.datetime,
) -> str:
    global _last
    if type(ts) is not float or not ts > 0 or ts % 1 > _SECOND_IS_CERTAIN:
        return _stock_format_timestamp(ts)
    second, text = _last
    if second != int(ts):
        second, text = _last = int(ts), _stock_format_timestamp(ts)
    return text


@functools.wraps(_stock_parse_headers)
def _parse_headers(
    self: HTTP1Connection, data: bytes
) -> tuple[str, httputil.HTTPHeaders]:
    if not self.is_client:
        waiting = vars(self.stream).get(_WAITING)
        if waiting is not None:
            waiting.idle.end(waiting)
        self.stream.head = data  # type: ignore[attr-defined] # should it be moved
    if self.is_client or not data[:1].isalpha():  # an empty line may come first
        return _stock_parse_headers(self, data)
    end = data.find(b"\n")
    block = data[end:]
    known = _parsed.get(block)
    if known is not None:
        return data[:end].decode("latin1").rstrip("\r"), headers_copied(known)
    line, headers = _stock_parse_headers(self, data)
    if len(block) <= _MOST_BYTES:
        if len(_parsed) >= _MOST_BLOCKS:
            _parsed.clear()  # the clients of now come again
        _parsed[block] = headers_copied(headers)
    return line, headers


def remember_what_is_repeated() -> None:
    """Have Tornado format each second once, and parse the headers of a client once."""
    patch(httputil, "format_timestamp", _format_timestamp)
    patch(HTTP1Connection, "_parse_headers", _parse_headers)


class _Idle:
    """The connections of one loop that have the same time to wait; on its thread."""

    def __init__(self, loop: LastingReaders, seconds: float) -> None:
        self._loop = loop.asyncio_loop
        self._now = loop.asyncio_loop.time
        self._seconds = seconds
        self._since: dict[_Stream, float] = {}  # the one that has waited longest first
        self._looks = False  # whether there is a timer

    def begin(self, stream: _Stream) -> None:
        """Take note that a connection waits from now on."""
        self._since[stream] = self._now()
        if not self._looks:
            self._look_in(self._seconds)

    def end(self, stream: _Stream) -> None:
        """Take note that it does not, or is gone."""
        self._since.pop(stream, None)

    def _look_in(self, seconds: float) -> None:
        self._looks = True
        # Not in the context of the request that came first.
        self._loop.call_later(seconds, self._look, context=contextvars.Context())

    def _look(self) -> None:
        """Close what has waited too long."""
        self._looks = False
        while self._since:
            reference, began = next(iter(self._since.items()))
            left = began + self._seconds - self._now()
            if left > 0:
                self._look_in(left)
                return
            del self._since[reference]
            stream = reference()
            if stream is not None:
                stream.close()


class _Stream(weakref.ref[IOStream]):
    """Refers to a connection's stream, which may be gone before its time is over."""

    __slots__ = ("idle",)

    idle: _Idle


def _gone(stream: _Stream) -> None:
    stream.idle.end(stream)


@functools.wraps(_stock_start_serving)
def _start_serving(
    self: HTTP1ServerConnection, delegate: HTTPServerConnectionDelegate
) -> None:
    stream, seconds = self.stream, self.params.header_timeout
    if isinstance(stream.io_loop, LastingReaders) and seconds is not None:
        known: dict[float, _Idle] = vars(stream.io_loop).setdefault(_IDLE, {})
        idle = known.get(seconds)
        if idle is None:
            idle = known[seconds] = _Idle(stream.io_loop, seconds)
        self.params = copy.copy(self.params)
        self.params.header_timeout = None
        waiting = vars(stream)[_WAITING] = _Stream(stream, _gone)
        waiting.idle = idle
    _stock_start_serving(self, delegate)


@functools.wraps(_stock_read_until_regex)
def _read_until_regex(
    self: BaseIOStream, regex: bytes, max_bytes: int | None = None
) -> Any:
    found: Any = _stock_read_until_regex(self, regex, max_bytes)
    waiting = vars(self).get(_WAITING)
    if waiting is None:
        return found
    waiting.idle.begin(waiting)
    # A future more, as where Tornado has a timer: the request begins as late as there.
    # Else a client that shuts down its side may be taken for gone before that.
    later = Future[bytes]()
    chain_future(found, later)
    return later


def _stays_off(value: bool) -> None:
    """Take the place of a stream's `set_nodelay`: Nagle's algorithm stays off."""


def serve(server: HTTPServer, stream: IOStream, address: Any) -> None:
    """Let a server serve a connection, as `HTTPServer.handle_stream` does.

    Called on the thread of the stream's loop.
    """
    if isinstance(stream.io_loop, LastingReaders):
        stream.set_nodelay(True)
        vars(stream)[_NODELAY] = _stays_off
    _stock_handle_stream(server, stream, address)


@functools.wraps(_stock_handle_stream)
def _handle_stream(self: HTTPServer, stream: IOStream, address: Any) -> None:
    doorman = getattr(IOLoop.current(), "doorman", None)
    if doorman is None or not doorman.take_in(self, stream, address):
        serve(self, stream, address)


@functools.wraps(_stock_detach)
def _detach(self: HTTP1Connection) -> IOStream:
    stream = _stock_detach(self)
    if stream is not None:
        waiting = vars(stream).pop(_WAITING, None)
        if waiting is not None:
            waiting.idle.end(waiting)
        if vars(stream).pop(_NODELAY, None) is not None:
            stream.set_nodelay(False)
    return stream


def take_streams_over() -> None:
    """Have all new connections of transactional loops and of fronts come by here."""
    patch(HTTPServer, "handle_stream", _handle_stream)
    patch(HTTP1ServerConnection, "start_serving", _start_serving)
    patch(BaseIOStream, "read_until_regex", _read_until_regex)
    patch(HTTP1Connection, "detach", _detach)
