"""The line that says how a server runs, once for each process, when it listens.

It is made where it is logged (INFO, logger `txloop`), in a program that has called
`install`, and of a server that has handlers of the program. It tells what the scan says
of each verb and of messages to WebSockets now, and keeps nothing of that: the
application is judged when its first request comes. A name that no handler has, of those
that the command is to mark, is told with it, as a warning.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import os
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.tcpserver import TCPServer
from tornado.web import Application

from txloop.loop.ioloop import TransactionLoop
from txloop.loop.patches import patch
from txloop.loop.setup import is_installed
from txloop.scan import scan_once
from txloop.stm.origin import own_module_of
from txloop.web import marking
from txloop.web.eligible import (
    IS_WEBSOCKET,
    NO_VERB,
    forget_plans,
    may_wait,
    plan_for,
    verbs_of,
    why_not,
)
from txloop.web.fronts.servers import numbered_servers
from txloop.web.targets import mounted
from txloop.web.verdicts import forget_verdicts, held_because

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from socket import socket

    from tornado.web import RequestHandler

__all__ = ["announce_servers"]

_log = logging.getLogger("txloop")

_said_in = 0  # the process that has said it

_stock_add_sockets = TCPServer.add_sockets

_version = ""  # set by `announce_servers`


@functools.wraps(_stock_add_sockets)
def _add_sockets(self: TCPServer, sockets: Iterable[socket]) -> None:
    _stock_add_sockets(self, sockets)
    loop = IOLoop.current()
    if (
        isinstance(loop, TransactionLoop)
        and is_installed()
        and _said_in != os.getpid()
        and (_log.isEnabledFor(logging.INFO) or marking.has_patterns())
    ):
        # Not now: the program may be about to add handlers, and other servers.
        announce: Any = functools.partial(_announce, weakref.ref(loop))
        loop.asyncio_loop.call_soon(announce, context=contextvars.Context())


def _announce(tie: weakref.ref[TransactionLoop]) -> None:
    global _said_in
    loop = tie()
    if loop is None or _said_in == os.getpid() or loop.dispatcher.closed:
        return
    served = [server.request_callback for _, server in numbered_servers(loop)]
    applications = {id(one): one for one in served if isinstance(one, Application)}
    if applications:
        for message in marking.unmatched_patterns():
            _log.warning(message)
    if not _log.isEnabledFor(logging.INFO):
        _said_in = os.getpid()
        return
    places: Counter[str] = Counter()
    parallel = loop.dispatcher.executor.parallel
    with scan_once():
        for application in applications.values():
            for handler_class in mounted(application):
                places.update(_places(handler_class, application, parallel))
                forget_verdicts(handler_class)
    forget_plans()
    if places:
        _say(loop, places)


def _places(
    handler_class: type[RequestHandler], application: Application, parallel: bool
) -> Iterator[str]:
    """Yield where each verb of a class would run."""
    for verb in verbs_of(handler_class):
        plan = plan_for(handler_class, verb)
        if plan is not None and not plan.coroutine:
            held = not parallel or held_because(handler_class, verb, application)
            yield "loop" if held else "parallel"
        elif (
            why_not(handler_class, verb) not in (NO_VERB, IS_WEBSOCKET)
            and own_module_of(handler_class) is not None  # those of packages are theirs
        ):
            yield "coroutine" if may_wait(handler_class, verb) else "unmarked"


def _say(loop: TransactionLoop, places: Counter[str]) -> None:
    global _said_in
    _said_in = os.getpid()
    executor = loop.dispatcher.executor
    _log.info(
        "txloop %s serves in process %d: executor %s, workers %d, fronts %s; of the "
        "handlers' verbs %d run in parallel, %d on the loop thread, %d as coroutines, "
        "%d are not marked; 'txloop check' says why",
        _version,
        os.getpid(),
        executor.name,
        executor.workers,
        loop.options.fronts,
        places["parallel"],
        places["loop"],
        places["coroutine"],
        places["unmarked"],
    )


def announce_servers(version: str) -> None:
    """Say once for each process, at INFO, how its server's verbs run.

    Args:
        version: What the line says of it.
    """
    global _version
    _version = version
    patch(TCPServer, "add_sockets", _add_sockets)
