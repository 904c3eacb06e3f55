"""Moving a connection from the HTTP server of one process or thread to another's.

What travels is the socket, and all bytes that were read from it and are not answered:
the header block and the body of the request that is being read, and what has come after
it. The other server reads them as if they had just arrived.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.iostream import IOStream

from txloop.web.repeated import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from tornado.http1connection import HTTP1Connection
    from tornado.httpserver import HTTPServer

    from txloop.stm.types import Refusal

__all__ = [
    "MovableStream",
    "again",
    "fits",
    "go_on",
    "serve_orphan",
    "stream_of",
    "take",
    "take_idle",
    "take_new",
    "take_orphan",
]

MOST_BODY_BYTES = 1 << 16
"""A request with a longer body is handed over before its body is read."""

_STAYING = {"Transfer-Encoding", "Expect", "Upgrade", "X-Consumed-Content-Encoding"}
"""Headers, in Tornado's spelling, of requests whose bytes may not be known."""

_TELLING = {*_STAYING, "Content-Length"}


class MovableStream(IOStream):
    """A connection that can be moved.

    Attributes:
        head: The header block that was read last; `txloop.web.repeated` sets it.
        server: The number of the server to which it belongs.
        moves: How often it was moved so far.
        row: How many requests in a row it had here that could run in a front.
        refusal: Why its first request, for which it was moved, has to run here.
        gone: Called once when it is closed here, or None.
        apart: What attempts find in place of its context, for which client.
    """

    head = b""
    server = 0
    moves = 0
    row = 0
    refusal: Refusal | None = None
    gone: Callable[[], object] | None = None
    apart: tuple[object, object, object] | None = None

    def close(self, exc_info: Any = False) -> None:
        """Close it, as ever."""
        if not self.closed() and self.gone is not None:
            gone, self.gone = self.gone, None
            gone()
        super().close(exc_info)


def again(
    connection: HTTP1Connection, request: httputil.HTTPServerRequest, body: bytes
) -> httputil.HTTPServerRequest:
    """Return a request that has been read, as it was before anything used it.

    Args:
        connection: Its, where it is read.
        request: What was made of it.
        body: Its body.
    """
    stream = connection.stream
    assert isinstance(stream, MovableStream)
    line, headers = connection._parse_headers(stream.head)
    fresh = httputil.HTTPServerRequest(
        connection=connection,
        server_connection=request.server_connection,
        start_line=httputil.parse_request_start_line(line),
        headers=headers,
    )
    fresh.body = body
    return fresh


def fits(headers: Any) -> bool:
    """Tell whether a request can be handed over when its body has been read.

    Then its bytes must be known: the body is short, and was sent as it is.
    """
    if _TELLING.isdisjoint(headers):  # as of most requests
        return True
    return (
        _STAYING.isdisjoint(headers)
        and _length(headers.get("Content-Length", "0")) <= MOST_BODY_BYTES
    )


def _length(text: str) -> int:
    # What is no number is answered with 400, wherever that is.
    return int(text) if text.isdecimal() else 0


def take(connection: HTTP1Connection, body: bytes = b"") -> tuple[int, bytes]:
    """Detach a connection from the server that reads a request from it.

    Its `gone` is not called, here and below: it is counted where it gets to.

    Called while the server's delegate has the request, before anything of the answer.

    Args:
        connection: Its stream is a `MovableStream`.
        body: What was read of the request's body.

    Returns:
        A descriptor, and the bytes to be read again.
    """
    stream = connection.detach()
    assert isinstance(stream, MovableStream)
    return _leave(stream, stream.head + body)


def take_orphan(
    connection: HTTP1Connection, body: bytes
) -> tuple[int, int, object, bytes]:
    """Return a request whose connection was closed after the request was read.

    Returns:
        The server's number, the address family and address, the bytes to be read again.
    """
    context: Any = connection.context
    stream = connection.detach()
    assert isinstance(stream, MovableStream)
    received = stream.head + body + bytes(stream._read_buffer)
    return stream.server, int(context.address_family), context.address, received


def take_idle(connection: HTTP1Connection) -> tuple[int, bytes]:
    """Detach a connection that waits for a request or the rest of its headers."""
    stream = connection.stream
    assert isinstance(stream, MovableStream)
    return _leave(stream, b"")


def take_new(stream: IOStream) -> int:
    """Detach a connection that was just accepted; return its descriptor."""
    return _leave(stream, b"")[0]


def _leave(stream: IOStream, received: bytes) -> tuple[int, bytes]:
    received += bytes(stream._read_buffer)
    if stream._state is not None:
        stream.io_loop.remove_handler(stream.fileno())
        stream._state = None
    descriptor = stream.socket.detach()  # not a copy: there may be no room for one
    if isinstance(stream, MovableStream):
        stream.gone = None
    stream.close()
    return descriptor, received


def go_on(
    server: HTTPServer, stream: IOStream, address: object, received: bytes = b""
) -> None:
    """Let a server go on with a connection that was taken away from another.

    Args:
        server: Made like the other one.
        stream: The connection.
        address: Its client's, as `socket.socket.accept` gave it.
        received: What is to be read again.
    """
    stream._read_buffer += received
    stream._read_buffer_size += len(received)
    serve(server, stream, address)


def serve_orphan(
    server: HTTPServer, family: int, address: object, received: bytes
) -> None:
    """Let a server run what was read from a connection that is closed.

    So does stock Tornado: that a client does not wait for its answer stops nothing.
    """
    stream = MovableStream(socket.socket(family))
    go_on(server, stream, address, received)
    stream.close()


def stream_of(server: HTTPServer, descriptor: int) -> MovableStream:
    """Return a stream of a connection that has come from elsewhere."""
    return MovableStream(
        socket.socket(fileno=descriptor),
        max_buffer_size=server.max_buffer_size,
        read_chunk_size=server.read_chunk_size,
    )
