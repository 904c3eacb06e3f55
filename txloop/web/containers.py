"""Tornado's objects in containers, and containers in Tornado's answers.

Which objects a container may hold, for the loop thread: those that are made of sockets,
or belong to a loop. `txloop.stm.held` says what becomes of them; it may not import
Tornado. `RequestHandler.write`, and JSON, take containers as they take what is in them.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import BaseIOStream
from tornado.locks import Condition, Event, Lock, Semaphore
from tornado.queues import Queue
from tornado.tcpserver import TCPServer
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClientConnection

from txloop.cells.likeness import default, has_json
from txloop.loop.patches import patch
from txloop.stm.container import Container
from txloop.stm.held import register_held

__all__ = ["hold_what_is_tied", "write_containers"]

_stock_write = RequestHandler.write


def hold_what_is_tied() -> None:
    """Let containers hold handlers, applications, loops and the like."""
    register_held(
        Application,
        BaseIOStream,
        Condition,
        Event,
        HTTPServerRequest,
        IOLoop,
        Lock,
        PeriodicCallback,
        Queue,
        RequestHandler,
        Semaphore,
        TCPServer,
        WebSocketClientConnection,
    )


@functools.wraps(_stock_write)
def _write(self: RequestHandler, chunk: Any) -> None:
    if isinstance(chunk, Container) and has_json(chunk):
        chunk = chunk._tx_as_json()  # a TDict or TObject is written, a list refused
    _stock_write(self, chunk)


def write_containers() -> None:
    """Let handlers write a `TDict` or `TObject` as they write a dict.

    And every JSON encoder take containers; those with a `default` keep their own.
    """
    patch(RequestHandler, "write", _write)
    patch(json.JSONEncoder, "default", default)
