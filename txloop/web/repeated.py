"""What stock Tornado does anew with each request, and is done once here.

The time is the same for all answers of a second, and a client sends the same headers
with each of its requests. To format the one and to parse the others takes a tenth of
the processor time of a request that does nothing.

A twentieth goes into Nagle's algorithm: Tornado switches it off at the end of each
answer, to have it sent, and on again, two calls of the system. Here it stays off as
long as a connection speaks HTTP. On asyncio's own transports it is always off.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from txloop.loop.descriptors import LastingReaders
from txloop.loop.patches import patch
from txloop.stm.threads import asked_by_all
from txloop.web.recorder import headers_copied

if TYPE_CHECKING:
    import datetime
    import time

    from tornado.iostream import IOStream

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

_stock_handle_stream = HTTPServer.handle_stream
_stock_detach = HTTP1Connection.detach


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
    if stream is not None and vars(stream).pop(_NODELAY, None) is not None:
        stream.set_nodelay(False)
    return stream


def take_streams_over() -> None:
    """Have all new connections of transactional loops and of fronts come by here."""
    patch(HTTPServer, "handle_stream", _handle_stream)
    patch(HTTP1Connection, "detach", _detach)
