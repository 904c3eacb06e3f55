"""The HTTP connections of a loop that is to end: each may answer once more.

Tornado serves each connection in a task; its coroutine is the only thing that leads to
it. A client is told with its next answer that it is the last one on this connection, so
that it sends the following request to the process that serves then.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Connections", "end_after_answers", "served"]


@dataclass(frozen=True, slots=True)
class Connections:
    """How many there are.

    Attributes:
        busy: Those in the midst of a request.
        idle: Those whose client may send another one at any moment, or never.
    """

    busy: int
    idle: int


def end_after_answers(loop: asyncio.AbstractEventLoop) -> Connections:
    """Let the next answer on each connection be its last one, and count them.

    Called again and again, for the sake of connections that are new.
    """
    busy = idle = 0
    for server_connection, connection in served(loop):
        server_connection.params.no_keep_alive = True
        if _is_busy(connection):
            busy += 1
            if connection._response_start_line is None:  # it can still be said
                connection._disconnect_on_finish = True
        else:
            idle += 1
    return Connections(busy, idle)


def served(loop: asyncio.AbstractEventLoop) -> Iterator[tuple[Any, Any]]:
    """Yield Tornado's HTTP1ServerConnections, with the HTTP1Connection of each."""
    for task in asyncio.all_tasks(loop):
        coroutine = task.get_coro()
        name = getattr(coroutine, "__qualname__", "")
        frame = getattr(coroutine, "cr_frame", None)
        if name == "HTTP1ServerConnection._server_request_loop" and frame is not None:
            found = frame.f_locals
            connection = found.get("conn")
            if connection is not None and connection.stream is not None:
                yield found["self"], connection


def _is_busy(connection: Any) -> bool:
    if connection._finish_future.done():
        return False
    begun = connection._request_start_line is not None
    return begun or bool(getattr(connection.stream, "_read_buffer_size", 0))
