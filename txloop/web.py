"""Requests as transactions.

A marked handler's request is frozen into a call. Each attempt runs a fresh handler
object through Tornado's own ``_execute`` (prepare, the verb, finish, etag, write_error)
against a connection that records; at commit the loop replays the recorded response on
the real connection, once, and then runs ``on_finish`` and the access log.

What cannot run that way (coroutine verbs, streamed bodies, WebSockets) runs on the loop
as in stock Tornado.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import Any

from tornado import httputil
from tornado.ioloop import IOLoop
from tornado.log import app_log
from tornado.web import Application, Finish, RequestHandler, _HandlerDelegate

from txloop.errors import TxError
from txloop.loop import TransactionLoop
from txloop.requests.attempt import run_request
from txloop.requests.eligible import Plan, plan_for
from txloop.requests.frozen import FrozenRequest
from txloop.requests.response import Response
from txloop.requests.targets import register_all, target_of
from txloop.scan import scan_handler
from txloop.types import Call

__all__ = ["TransactionDelegate"]
