"""Connections, for each of which is done once what Tornado does for each request.

*Nagle's algorithm.* Tornado switches it off at the end of each answer, to have it sent,
and on again: two calls of the system. Here it stays off, as on asyncio's own
transports, until a connection leaves HTTP.

*Idle connections.* Tornado sets a timer for the headers of each request, which hardly
ever ends: by default, after an hour. Here one timer looks now and then for those that
still wait for the same headers.

Both together are a tenth of the processor time of a request that does nothing.
"""

from __future__ import annotations

import contextvars
import functools
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from txloop.loop.descriptors import LastingReaders
from txloop.loop.patches import patch
from txloop.stm.callables import weakly
from txloop.web.repeated import stays_off

if TYPE_CHECKING:
    from asyncio import Future, TimerHandle

    from tornado.iostream import IOStream

__all__ = ["serve", "watch_over_streams"]

_LOOKS = 32
"""How often a connection is looked at until its time is over: so exact is its end."""

_WATCH, _SECONDS = "_txloop_idle_watch", "_txloop_header_timeout"
_NODELAY = "set_nodelay"

_stock_handle_stream = HTTPServer.handle_stream
_stock_detach = HTTP1Connection.detach


@dataclass(slots=True)
class _Wait:
    """What one connection waits for.

    Attributes:
        limit_seconds: How long it may.
        headers: The read that was not done when it was looked at last.
        since: When it was first seen, by the loop's time.
    """

    limit_seconds: float
    headers: weakref.ref[Future[Any]] | None = None
    since: float = 0.0


class _IdleWatch:
    """Closes the connections of one loop that wait for headers too long; its thread's.

    Looks as long as there are connections.
    """

    def __init__(self, loop: LastingReaders) -> None:
        self._loop = weakref.ref(loop)
        self._waits: weakref.WeakKeyDictionary[IOStream, _Wait] = (
            weakref.WeakKeyDictionary()
        )
        self._timer: TimerHandle | None = None
        self._pause_seconds = 0.0

    def add(self, stream: IOStream, limit_seconds: float) -> None:
        """Watch over a connection from now on."""
        self._waits[stream] = _Wait(limit_seconds)
        pause_seconds = limit_seconds / _LOOKS
        if self._timer is None or pause_seconds < self._pause_seconds:
            self._pause_seconds = pause_seconds
            self._look_later()

    def discard(self, stream: IOStream) -> None:
        """Do not close a connection any more, however long it waits."""
        self._waits.pop(stream, None)

    def _look_later(self) -> None:
        loop: Any = self._loop()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.asyncio_loop.call_later(
            self._pause_seconds, weakly(self._look), context=contextvars.Context()
        )

    def _look(self) -> None:
        self._timer = None
        loop: Any = self._loop()
        now = loop.time()
        for stream, wait in list(self._waits.items()):
            headers = stream._read_future if stream._read_regex is not None else None
            if stream.closed():
                self.discard(stream)
            elif headers is None:
                wait.headers = None
            elif wait.headers is None or wait.headers() is not headers:
                wait.headers, wait.since = weakref.ref(headers), now
            elif now - wait.since >= wait.limit_seconds:
                stream.close()
        if self._waits:
            limits = (wait.limit_seconds for wait in self._waits.values())
            self._pause_seconds = min(limits) / _LOOKS
            self._look_later()


def _watch_of(loop: LastingReaders) -> _IdleWatch:
    watch: _IdleWatch | None = vars(loop).get(_WATCH)
    if watch is None:
        watch = vars(loop)[_WATCH] = _IdleWatch(loop)
    return watch


def serve(server: HTTPServer, stream: IOStream, address: Any) -> None:
    """Let a server serve a connection, as `HTTPServer.handle_stream` does.

    Called on the thread of the stream's loop.
    """
    loop = stream.io_loop
    if isinstance(loop, LastingReaders):
        stream.set_nodelay(True)
        vars(stream)[_NODELAY] = stays_off
        seconds = _take_timeout(server.conn_params)
        if seconds is not None:
            _watch_of(loop).add(stream, seconds)
    _stock_handle_stream(server, stream, address)


def _take_timeout(params: Any) -> float | None:
    """Return how long connections may wait for headers; Tornado sets no timers then."""
    timeout = params.header_timeout
    if timeout is not None:  # in the order that lets several fronts' threads do it
        vars(params)[_SECONDS] = timeout
        params.header_timeout = None
    seconds: float | None = vars(params).get(_SECONDS)
    return seconds


@functools.wraps(_stock_handle_stream)
def _handle_stream(self: HTTPServer, stream: IOStream, address: Any) -> None:
    doorman = getattr(IOLoop.current(), "doorman", None)
    if doorman is None or not doorman.take_in(self, stream, address):
        serve(self, stream, address)


@functools.wraps(_stock_detach)
def _detach(self: HTTP1Connection) -> IOStream:
    stream = _stock_detach(self)
    if stream is not None and vars(stream).pop(_NODELAY, None) is not None:
        stream.set_nodelay(False)
        watch: _IdleWatch | None = vars(stream.io_loop).get(_WATCH)
        if watch is not None:
            watch.discard(stream)
    return stream


def watch_over_streams() -> None:
    """Have all new connections of transactional loops and of fronts come by here."""
    patch(HTTPServer, "handle_stream", _handle_stream)
    patch(HTTP1Connection, "detach", _detach)
