"""Connections on which Nagle's algorithm stays off as long as they speak HTTP.

Tornado switches it off at the end of each answer, to have it sent, and on again: two
calls of the system, a twentieth of the processor time of a request that does nothing.
On asyncio's own transports it is always off.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from txloop.loop.descriptors import LastingReaders
from txloop.loop.patches import patch
from txloop.web.repeated import stays_off

if TYPE_CHECKING:
    from tornado.iostream import IOStream

__all__ = ["serve", "take_streams_over"]

_NODELAY = "set_nodelay"

_stock_handle_stream = HTTPServer.handle_stream
_stock_detach = HTTP1Connection.detach


def serve(server: HTTPServer, stream: IOStream, address: Any) -> None:
    """Let a server serve a connection, as `HTTPServer.handle_stream` does.

    Called on the thread of the stream's loop.
    """
    if isinstance(stream.io_loop, LastingReaders):
        stream.set_nodelay(True)
        vars(stream)[_NODELAY] = stays_off
    _stock_handle_stream(server, stream, address)


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
    return stream


def take_streams_over() -> None:
    """Have all new connections of transactional loops and of fronts come by here."""
    patch(HTTPServer, "handle_stream", _handle_stream)
    patch(HTTP1Connection, "detach", _detach)
