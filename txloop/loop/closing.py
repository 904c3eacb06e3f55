"""Ports and connections of a loop that is to end: no client loses what it has begun.

Closing a listening socket resets the connections that wait in its queue. A new process
that listens on the same port (``reuse_port=True``) has a queue of its own, and the
kernel goes on dealing connections out to both until the moment of closing. So first no
more may begin here: a filter drops each SYN, which its client sends again a second
later, to the process that listens then. The handshakes that are under way get time to
end, what is in the queue is accepted, and then there is nothing left to lose.

Each connection may answer once more. A client is told with its next answer that it is
the last one on this connection, so that it sends the following request to the process
that serves then. Tornado serves each connection in a task; its coroutine is the only
thing that leads to it.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import select
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "HANDSHAKE_SECONDS",
    "Connections",
    "accept_and_close",
    "end_after_answers",
    "served",
    "turn_newcomers_away",
]

HANDSHAKE_SECONDS = 0.25
"""How long a handshake may take that has begun before."""

_MOST_ROUNDS = 32  # of accepting; more than that is a flood, and never ends

_SO_ATTACH_FILTER = 26
_SO_DETACH_FILTER = 27

# Of a TCP header, byte 13 holds the flags: refuse what has SYN (2) and no ACK (16).
_DROP_SYN = (
    (0x30, 0, 0, 13),  # load the byte
    (0x54, 0, 0, 0x12),  # and
    (0x15, 0, 1, 0x02),  # if it is equal go on, else skip one
    (0x06, 0, 0, 0),  # return 0: drop
    (0x06, 0, 0, 0xFFFFFFFF),  # return all: keep
)

_imported_by = os.getpid()


class ListeningLoop(Protocol):
    """What is asked of the loop."""

    @property
    def handlers(self) -> Mapping[int, tuple[object, Callable[..., object]]]:
        """What is watched, and what handles it, by descriptor."""

    def remove_handler(self, fd: int) -> None:
        """Watch a descriptor no more."""


def turn_newcomers_away(loop: ListeningLoop) -> bool:
    """Leave new connections to other processes, where there may be some.

    Returns:
        Whether handshakes are under way that need `HANDSHAKE_SECONDS` to end.
    """
    filtered = [_filter(one) for _, one, _ in _sockets(loop) if _is_shared(one)]
    return any(filtered)


def accept_and_close(loop: ListeningLoop) -> None:
    """Accept the connections that wait in the queues, and close the queues."""
    for fd, listening, accept in list(_sockets(loop)):
        queue = select.poll()  # not `select`, which fails beyond 1023 open files
        queue.register(listening, select.POLLIN)
        for _ in range(_MOST_ROUNDS):
            if not queue.poll(0):
                break
            with suppress(OSError):  # perhaps there are too many open files
                accept(listening, select.POLLIN)
        loop.remove_handler(fd)
        if os.getpid() != _imported_by and _is_shared(listening):
            # It may be the very socket of other forks: these stay open.
            with suppress(OSError):
                listening.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
        listening.close()


def _sockets(
    loop: ListeningLoop,
) -> Iterator[tuple[int, socket.socket, Callable[..., object]]]:
    for fd, (thing, handler) in list(loop.handlers.items()):
        if isinstance(thing, socket.socket) and thing.getsockopt(
            socket.SOL_SOCKET, socket.SO_ACCEPTCONN
        ):
            yield fd, thing, handler


def _is_shared(listening: socket.socket) -> bool:
    """Tell whether another process may listen on the same port, with its own queue."""
    return (
        sys.platform.startswith("linux")
        and listening.family in (socket.AF_INET, socket.AF_INET6)
        and bool(listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT))
    )


def _filter(listening: socket.socket) -> bool:
    code = b"".join(struct.pack("HBBI", *one) for one in _DROP_SYN)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", len(_DROP_SYN), ctypes.addressof(buffer))
    try:
        listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    except OSError:  # a kernel that has none: those in the queue are accepted
        return False
    return True


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
