"""Clients that have stopped sending, and may still read.

Tornado reads nothing while a handler runs, so it answers a client that has shut down
its side of the connection (as ``nc -N`` does). While a transaction runs, the loop goes
on, and Tornado's stream would take the end of what it reads for the end of the
connection. Here the two are told apart: the stream learns of that end when the answer
is written. A client that is really gone shows by a reset, or by not taking the answer.

After an answer that was not written by the handler's own ``finish``, Tornado reads the
next request two iterations later. What arrives in between stays in the socket: a stream
that reads before it is asked to stops listening, and begins again for each request.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

from tornado.http1connection import HTTP1Connection
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["keep_open", "keep_open_always", "leave_next", "let_close"]

Leave: TypeAlias = "Callable[[Callable[[], object]], object]"

_ATTRIBUTE = "_txloop_reader"


class _Reader:
    """Reads in the place of a stream; there is one for all requests of a connection.

    Attributes:
        connection: That of the request that is being answered, or None.
        ended: Whether its client has sent all that it will.
        leave: Called when that is so, with what closes the connection. It must not
            know the connection, which would be kept alive by its own stream.
        always: Whether it is so of each request, from the end of its headers on.
    """

    __slots__ = ("_stream", "always", "connection", "ended", "leave")

    def __init__(self, stream: IOStream) -> None:
        self._stream = weakref.ref(stream)
        self.connection: weakref.ref[HTTP1Connection] | None = None
        self.ended = False
        self.leave: Leave | None = None
        self.always = False

    def read(self, buffer: bytearray | memoryview) -> int | None:
        """Read what there is, None if nothing: the end is nothing before the answer."""
        stream = self._stream()
        assert stream is not None  # the stream itself calls this
        if self._answered(stream):
            return None
        count = type(stream).read_from_fd(stream, buffer)
        if count != 0 or not self._awaited(stream):
            return count
        self.ended = True
        stream.io_loop.add_callback(self._listen_no_more, stream)
        leave, self.leave = self.leave, None
        if leave is not None:
            leave(self.close)
        return None

    def close(self) -> None:
        """Close the connection: its client is given up."""
        connection = None if self.connection is None else self.connection()
        if connection is not None:
            connection.close()

    def _awaited(self, stream: IOStream) -> bool:
        """Tell whether a request has come, and is not answered yet."""
        connection = None if self.connection is None else self.connection()
        is_open = self.always
        if connection is not None:
            is_open = not connection._finish_future.done()
        return is_open and not stream.reading()

    def _answered(self, stream: IOStream) -> bool:
        """Tell whether a request has been answered, and Tornado will read the next."""
        connection = None if self.connection is None else self.connection()
        return (
            connection is not None
            and connection._finish_future.done()
            and connection.stream is stream  # else it was detached
            and not stream.reading()
        )

    def _listen_no_more(self, stream: IOStream) -> None:
        """Stop asking whether there is something to read: there is, and it is the end.

        Tornado asks again when it writes, or reads the next request.
        """
        state = stream._state
        if state is not None and state & IOLoop.READ and self._awaited(stream):
            stream._state = state & ~IOLoop.READ
            stream.io_loop.update_handler(stream.fileno(), stream._state)


def keep_open(connection: Any, leave: Leave) -> None:
    """Keep a connection open from now on until its request is answered.

    Args:
        connection: Tornado's; one that is not HTTP/1 stays as it is.
        leave: Called when the client has sent all that it will: it may be gone. Given
            what closes the connection.
    """
    stream = getattr(connection, "stream", None)
    if not isinstance(connection, HTTP1Connection) or not isinstance(stream, IOStream):
        return
    if stream.closed():  # before its request began: nothing tells of that any more
        leave(stream.close)
        return
    reader = _reader_for(connection, stream)
    if reader.ended:
        leave(reader.close)
    else:
        reader.leave = leave


def keep_open_always(stream: IOStream) -> None:
    """Keep a connection open while any request of it has come and is not answered.

    Stock Tornado loses a request whose client shuts down its side right after it, if
    that is seen before the handler has begun. For a stream that only a front serves:
    what waits there is kept open (`keep_open`), and all else is handed over.
    """
    _read_by(stream).always = True


def leave_next(connection: Any) -> None:
    """Leave the next request unread until Tornado reads it; this one is answered."""
    stream = getattr(connection, "stream", None)
    if isinstance(connection, HTTP1Connection) and isinstance(stream, IOStream):
        _reader_for(connection, stream)


def _reader_for(connection: HTTP1Connection, stream: IOStream) -> _Reader:
    reader: _Reader | None = vars(stream).get(_ATTRIBUTE)
    if reader is None:
        reader = _read_by(stream)
    reader.connection = weakref.ref(connection)
    return reader


def _read_by(stream: IOStream) -> _Reader:
    reader = vars(stream)[_ATTRIBUTE] = _Reader(stream)
    stream.read_from_fd = reader.read  # type: ignore[assignment, method-assign] # here
    return reader


def let_close(connection: Any) -> None:
    """Let a connection be closed when its client has sent all, as Tornado does it."""
    reader = _reader_of(connection)
    if reader is not None:
        reader.connection = reader.leave = None
        if reader.ended:
            connection.stream._maybe_add_error_listener()


def _reader_of(connection: Any) -> _Reader | None:
    return getattr(getattr(connection, "stream", None), _ATTRIBUTE, None)
