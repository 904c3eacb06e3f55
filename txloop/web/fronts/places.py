"""Where a front runs: as a forked process, or as a thread of the owner's.

A process has copies of all. In a thread, where there is no GIL, the application is the
owner's own. What Tornado changes while it serves is not shared: each front has a loop,
and copies of the servers, whose lists of connections are its own. What is patched for
the owner asks first which thread this is.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.web import Application

from txloop.executors.fronts.replica import Replica
from txloop.executors.refusing import guard_loop
from txloop.loop.closing import served
from txloop.loop.descriptors import LastingLoop
from txloop.loop.patches import patch
from txloop.stm.attempt import current
from txloop.stm.log_capture import handle, send_records
from txloop.web.fronts.front import Front
from txloop.web.fronts.servers import apart
from txloop.web.watched import notice_nothing

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from tornado import httputil
    from tornado.httpserver import HTTPServer

    from txloop.executors.fronts.board import Board
    from txloop.executors.fronts.commit_lock import CommitLock
    from txloop.executors.fronts.page import Page
    from txloop.executors.fronts.thread_carrier import ThreadCarrier
    from txloop.web.fronts.request import FrontDelegate

__all__ = ["ThreadServing", "run_front", "serve_in_threads"]

_log = logging.getLogger("txloop")


def run_front(
    connection: socket.socket,
    number: int,
    *,
    page: Page,
    board: Board,
    lock: CommitLock,
    base: Any,
    servers: Mapping[int, HTTPServer],
    timeout_seconds: float | None,
) -> None:
    """Serve the owner over `connection` until it closes that.

    Args:
        connection: Carries what the modules of `txloop.executors.fronts` send.
        number: Tells this front from all others of the program's run.
        page: What is shared with the owner.
        board: Likewise.
        lock: Likewise.
        base: The context that was inherited, as the desk keeps it.
        servers: The owner's servers, by number.
        timeout_seconds: How long a call may run whose mark does not say it.
    """
    replica = Replica(connection, number, page, board, lock, base)
    asyncio._set_running_loop(None)
    IOLoop.configure(LastingLoop)
    # Made current by hand: to ask for the one that there is, as Tornado does, is
    # deprecated where there is none.
    loop = LastingLoop(make_current=False)
    asyncio.set_event_loop(loop.asyncio_loop)
    notice_nothing()
    front = Front(replica, loop.asyncio_loop, servers, timeout_seconds)
    patch(logging.Logger, "handle", _handle_with(front.log))
    patch(Application, "get_handler_delegate", _delegates_of(front))
    replica.begin(loop.asyncio_loop, front.receive)
    loop.start()


def _handle_with(sink: Callable[[logging.LogRecord], object]) -> Callable[..., None]:
    """Return what takes the place of `Logger.handle`.

    Args:
        sink: Takes the records that are made outside attempts.
    """

    def handle_in_front(self: logging.Logger, record: logging.LogRecord) -> None:
        if current() is None:
            sink(record)
        else:
            handle(self, record)

    return handle_in_front


def _delegates_of(front: Front) -> Any:
    """Return what makes delegates in the place of `Application`'s own method."""

    @functools.wraps(Application.get_handler_delegate)
    def get_handler_delegate(
        self: Application,
        request: httputil.HTTPServerRequest,
        *args: Any,
        **kwargs: Any,
    ) -> FrontDelegate:
        return front.delegate(self, request, *args, **kwargs)

    return get_handler_delegate


class _Here(threading.local):
    front: Front | None = None


_here = _Here()


class ThreadServing:
    """What runs in the thread of one front: a `Serving`."""

    def __init__(
        self,
        carrier: ThreadCarrier,
        *,
        servers: Mapping[int, HTTPServer],
        timeout_seconds: float | None,
    ) -> None:
        """Make what is needed; on the owner's thread: loops are listed by Tornado.

        Args:
            carrier: Leads to the owner.
            servers: The owner's, by number.
            timeout_seconds: How long a call may run whose mark does not say it.
        """
        self._carrier = carrier
        self._loop = LastingLoop(make_current=False)
        guard_loop(self._loop.asyncio_loop)
        own = {number: apart(server) for number, server in servers.items()}
        self._front = Front(carrier, self._loop.asyncio_loop, own, timeout_seconds)

    def serve(self) -> None:
        """Serve until the owner wants this front to end; on its thread."""
        front, loop = self._front, self._loop.asyncio_loop
        asyncio.set_event_loop(loop)
        _here.front = front
        send_records(front.log)
        self._carrier.begin(loop, front.receive, loop.stop)
        while not self._carrier.ended:
            try:
                loop.run_forever()
            except BaseException:  # SystemExit, say: it would end this thread alone
                _log.exception("a front goes on after what would have ended it")
        loop.run_until_complete(_end_connections(loop))
        _here.front = None

    def close(self) -> None:
        """Close the loop; on the owner's thread, when the other has ended."""
        self._loop.close(all_fds=True)


async def _end_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Close all connections, and let what serves them end."""
    for _, connection in list(served(loop)):
        connection.stream.close()
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_stock: Any = None  # what stood there before, of the owner's


def serve_in_threads() -> None:
    """Have requests in the threads of fronts served by these; again does nothing."""
    global _stock
    if _stock is None:
        _stock = Application.get_handler_delegate
        patch(Application, "get_handler_delegate", functools.wraps(_stock)(_delegate))


def _delegate(
    self: Application, request: httputil.HTTPServerRequest, *args: Any, **kwargs: Any
) -> httputil.HTTPMessageDelegate:
    front = _here.front
    if front is not None:
        return front.delegate(self, request, *args, **kwargs)
    delegate: httputil.HTTPMessageDelegate = _stock(self, request, *args, **kwargs)
    return delegate
