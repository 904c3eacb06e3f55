"""What comes again in request after request, and is worked out once.

The time is the same for all answers of a second, and a client sends the same headers
with each of its requests. To format the one and to parse the others takes a tenth of
the processor time of a request that does nothing. For the same reason Nagle's algorithm
stays off: see `txloop.web.streams`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tornado import httputil
from tornado.http1connection import HTTP1Connection

from txloop.loop.patches import patch
from txloop.web.recorder import headers_copied

if TYPE_CHECKING:
    import datetime
    import time

__all__ = ["remember_what_is_repeated", "stays_off"]

_SECOND_IS_CERTAIN = 0.999
"""From here on, a part of a second is so near to the next that it may be rounded."""

_MOST_BLOCKS, _MOST_BYTES = 256, 4096
"""How many header blocks are remembered, and how long one may be."""

_stock_format_timestamp = httputil.format_timestamp
_last = (-1, "")  # a whole second, and what it is called; replaced at once

_stock_parse_headers = HTTP1Connection._parse_headers
_parsed: dict[bytes, httputil.HTTPHeaders] = {}  # never handed out: copies are


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


def stays_off(value: bool) -> None:
    """Take the place of a stream's `set_nodelay`: Nagle's algorithm stays off."""


def remember_what_is_repeated() -> None:
    """Have Tornado format each second once, and parse the headers of a client once."""
    patch(httputil, "format_timestamp", _format_timestamp)
    patch(HTTP1Connection, "_parse_headers", _parse_headers)
