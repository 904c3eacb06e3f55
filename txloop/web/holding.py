"""Which objects of Tornado a container may hold, for the loop thread.

They are made of sockets, or belong to a loop. `txloop.stm.held` says what becomes of
them; it may not import Tornado.
"""

from __future__ import annotations

from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import BaseIOStream
from tornado.locks import Condition, Event, Lock, Semaphore
from tornado.queues import Queue
from tornado.tcpserver import TCPServer
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClientConnection

from txloop.stm.held import register_held

__all__ = ["hold_what_is_tied"]


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
