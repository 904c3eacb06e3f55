"""A front as a forked process: what is different there, and its main function."""

from __future__ import annotations

import asyncio
import functools
import logging
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.web import Application

from txloop.executors.fronts.records import keep_records
from txloop.executors.fronts.replica import Replica
from txloop.loop.descriptors import LastingLoop
from txloop.loop.patches import patch
from txloop.web.fronts.front import Front
from txloop.web.noticing import notice_nothing

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from tornado.httpserver import HTTPServer
    from tornado.httputil import HTTPServerRequest

    from txloop.executors.fronts.page import Page
    from txloop.web.fronts.request import FrontDelegate

__all__ = ["run_front"]


def run_front(
    connection: socket.socket,
    number: int,
    *,
    page: Page,
    base: Any,
    servers: Mapping[int, HTTPServer],
    timeout_seconds: float | None,
) -> None:
    """Serve the owner over `connection` until it closes that.

    Args:
        connection: Carries what the modules of `txloop.executors.fronts` send.
        number: Tells this front from all others of the program's run.
        page: What is shared with the owner.
        base: The context that was inherited, as the desk keeps it.
        servers: The owner's servers, by number.
        timeout_seconds: How long a call may run whose mark does not say it.
    """
    replica = Replica(connection, number, page, base)
    asyncio._set_running_loop(None)
    IOLoop.configure(LastingLoop)
    # Made current by hand: to ask for the one that there is, as Tornado does, is
    # deprecated where there is none.
    loop = LastingLoop(make_current=False)
    asyncio.set_event_loop(loop.asyncio_loop)
    notice_nothing()
    front = Front(replica, loop.asyncio_loop, servers, timeout_seconds)
    patch(logging.Logger, "handle", keep_records(front.log))
    patch(Application, "get_handler_delegate", _delegates_of(front))
    replica.begin(loop.asyncio_loop, front.receive)
    loop.start()


def _delegates_of(front: Front) -> Any:
    """Return what makes delegates in the place of `Application`'s own method."""

    @functools.wraps(Application.get_handler_delegate)
    def get_handler_delegate(
        self: Application, request: HTTPServerRequest, *args: Any, **kwargs: Any
    ) -> FrontDelegate:
        return front.delegate(self, request, *args, **kwargs)

    return get_handler_delegate
