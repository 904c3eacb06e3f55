"""Noticing that unmarked code of the program has run, for the watch on plain objects.

Callbacks pass through the loop, but handlers run in tasks, which do not. Each ends with
its line in the access log; what a WebSocket does begins with a callback of its own.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.iostream import BaseIOStream
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketProtocol

from txloop.loop.ioloop import TransactionLoop
from txloop.loop.patches import patch
from txloop.stm.attempt import current
from txloop.web.eligible import plan_for

if TYPE_CHECKING:
    from tornado.httputil import HTTPServerRequest

__all__ = ["loop_serving", "notice_answers", "notice_handlers", "notice_nothing"]

_stock_log_request = Application.log_request
_stock_run_callback = WebSocketProtocol._run_callback


_stock_flush = RequestHandler.flush


def loop_serving(request: HTTPServerRequest) -> IOLoop | None:
    """Return the loop that serves a request, called on its thread; None for none.

    Before Python 3.12, to ask asyncio for the running loop is a call of the system.
    """
    stream = getattr(request.connection, "stream", None)
    if isinstance(stream, BaseIOStream):
        return stream.io_loop
    return IOLoop.current(instance=False)


@functools.wraps(_stock_flush)
def _flush(self: RequestHandler, include_footers: bool = False) -> Any:
    # In an attempt nothing is sent yet.
    loop = loop_serving(self.request) if current() is None else None
    if isinstance(loop, TransactionLoop) and loop.doorman is not None:
        loop.dispatcher.holds.note()
    return _stock_flush(self, include_footers)


def notice_answers() -> None:
    """Tell the watch before anything of an answer is sent.

    Where other processes answer requests, too, a client could otherwise ask them before
    they know what its last request has changed.
    """
    patch(RequestHandler, "flush", _flush)


def notice_nothing() -> None:
    """Undo both: in a process that has no loop of txloop's."""
    patch(RequestHandler, "flush", _stock_flush)
    patch(Application, "log_request", _stock_log_request)
    patch(WebSocketProtocol, "_run_callback", _stock_run_callback)


_noticed = False  # the patches below are made once


def _note() -> None:
    loop = IOLoop.current(instance=False)
    if isinstance(loop, TransactionLoop):
        loop.dispatcher.holds.note()


@functools.wraps(_stock_log_request)
def _log_request(self: Application, handler: RequestHandler) -> None:
    plan = plan_for(type(handler), handler.request.method or "")
    if plan is None or plan.coroutine:  # which may have run as if it had no mark
        _note()
    _stock_log_request(self, handler)


@functools.wraps(_stock_run_callback)
def _run_callback(
    self: WebSocketProtocol, callback: Any, *args: Any, **kwargs: Any
) -> Any:
    result = _stock_run_callback(self, callback, *args, **kwargs)
    _note()
    return result


def notice_handlers() -> None:
    """Tell the watch of each request that was answered, and of what WebSockets do.

    Called before the first request of a program whose attempts run beside the loop
    thread; again does nothing.
    """
    global _noticed
    if _noticed:
        return
    _noticed = True
    patch(Application, "log_request", _log_request)
    patch(WebSocketProtocol, "_run_callback", _run_callback)
