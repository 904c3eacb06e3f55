"""Every patch: what of Tornado and of the standard library is replaced, and why.

`PATCHES` and `MADE_BELOW` are the whole list. What takes the place of each stands in
the module that needs it, and gets there by `patch`, which refuses all else.

Not in the list: methods replaced on single objects (a handler, a stream), which go with
these; and what `txloop.check.rehearsal` replaces while it rehearses a program, when
no request is served.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tornado import gen, httputil
from tornado.http1connection import HTTP1Connection, HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.iostream import BaseIOStream
from tornado.platform.asyncio import AsyncIOMainLoop
from tornado.tcpserver import TCPServer
from tornado.web import Application, RequestHandler
from tornado.websocket import (
    WebSocketHandler,
    WebSocketProtocol,
    WebSocketProtocol13,
)

from txloop.errors import TxInternalError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MADE_BELOW", "PATCHES", "Patch", "PatchBelow", "extend", "patch"]

_ANYTHING = "*args, **kwargs"


class PatchBelow(NamedTuple):
    """Replacements that a lower room makes.

    Attributes:
        what: What is replaced, in words.
        by: The module of txloop that does it.
        reason: Why nothing less will do.
    """

    what: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Patch:
    """One replacement.

    Attributes:
        owner: The class, module or function of others that is changed.
        name: What of it is replaced; or what is called to extend it.
        takes: The parameters of what is replaced, as relied upon; None for others.
        by: The module of txloop that has the replacement.
        reason: Why nothing less will do.
        stock: What stood there when this module was imported.
    """

    owner: object
    name: str
    takes: str | None
    by: str
    reason: str
    stock: object = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stock", getattr(self.owner, self.name))


PATCHES: tuple[Patch, ...] = (
    # Loops
    Patch(
        AsyncIOMainLoop,
        "__new__",
        "cls, " + _ANYTHING,
        "loop.ioloop",
        "IOLoop.current() makes an AsyncIOMainLoop, whatever class is configured",
    ),
    *(
        Patch(
            PeriodicCallback,
            name,
            "self",
            "loop.ioloop",
            "in an attempt it would change, or ask, what may be a copy",
        )
        for name in ("is_running", "start", "stop")
    ),
    Patch(
        gen.convert_yielded,
        "register",
        "cls, func",
        "loop.ioloop",
        "`yield function, args` in a coroutine is a transaction; it is only extended",
    ),
    # Requests
    Patch(
        Application,
        "get_handler_delegate",
        "self, request, target_class, target_kwargs, path_args, path_kwargs",
        "web.delegate",
        "what it returns serves a request; a marked one becomes a transaction",
    ),
    Patch(
        HTTPServer,
        "handle_stream",
        "self, stream, address",
        "web.repeated",
        "each new connection comes by; a front may get it",
    ),
    Patch(
        HTTP1ServerConnection,
        "start_serving",
        "self, delegate",
        "web.repeated",
        "each request has a timer of an hour, which is taken back when it begins",
    ),
    Patch(
        BaseIOStream,
        "read_until_regex",
        "self, regex, max_bytes",
        "web.repeated",
        "the headers are read by it; so long a connection waits for a request",
    ),
    Patch(
        HTTP1Connection,
        "detach",
        "self",
        "web.repeated",
        "a connection that leaves HTTP, as WebSockets do, is as Tornado has made it",
    ),
    Patch(
        TCPServer,
        "add_sockets",
        "self, sockets",
        "web.announcing",
        "every server that begins to listen comes by; one line says how it runs",
    ),
    Patch(
        RequestHandler,
        "flush",
        "self, include_footers",
        "web.watched",
        "what unmarked code changed is noticed before an answer can tell of it",
    ),
    Patch(
        Application,
        "__init__",
        "self, handlers, default_host, transforms, **settings",
        "web.targets",
        "workers know handlers by their applications, of which Tornado keeps no list",
    ),
    Patch(
        Application,
        "log_request",
        "self, handler",
        "web.watched",
        "handlers run in tasks, which pass no hook; each ends with its access log",
    ),
    Patch(
        WebSocketProtocol,
        "_run_callback",
        "self, callback, " + _ANYTHING,
        "web.watched",
        "what a WebSocket does has no access log, and begins with one of these",
    ),
    *(
        Patch(
            WebSocketHandler,
            name,
            takes,
            "web.sockets",
            "in a transaction it waits for the commit, whichever object is asked",
        )
        for name, takes in (
            ("write_message", "self, message, binary"),
            ("close", "self, code, reason"),
            ("ping", "self, data"),
        )
    ),
    Patch(
        WebSocketProtocol13,
        "_run_callback",
        "self, callback, " + _ANYTHING,
        "web.messages",
        "a message comes by here; that for a marked handler is a transaction",
    ),
    Patch(
        RequestHandler,
        "write",
        "self, chunk",
        "web.containers",
        "it takes dicts, and refuses all else that becomes JSON",
    ),
    Patch(
        httputil,
        "format_timestamp",
        "ts",
        "web.repeated",
        "each handler formats the time, which is the same for many of them",
    ),
    Patch(
        HTTP1Connection,
        "_parse_headers",
        "self, data",
        "web.repeated",
        "a client's headers are parsed for each of its requests, and seldom change",
    ),
    Patch(
        RequestHandler,
        "_template_loaders",
        None,
        "web.templates",
        "debug mode compiles all templates for each request, and here for each attempt",
    ),
    # The standard library
    Patch(
        json.JSONEncoder,
        "default",
        "self, o",
        "cells.likeness",
        "all JSON encoding asks it, and only it, about what it does not know",
    ),
    Patch(
        logging.Logger,
        "handle",
        "self, record",
        "stm.log_capture",
        "records of an attempt wait for its commit, before any filter or handler",
    ),
)
"""What is replaced here and in the web room."""

MADE_BELOW: tuple[PatchBelow, ...] = (
    PatchBelow(
        "traceback.TracebackException and extract_tb, after like_plain()",
        "stm.tracebacks",
        "a program shows tracebacks, in which plain objects have no frames",
    ),
    PatchBelow(
        "the methods of asyncio's loops by which a loop is changed",
        "executors.refusing",
        "a forked worker has copies of loops that never run, and attempts must not use"
        " them; in workers only",
    ),
    PatchBelow(
        "threading.Thread.start; on PyPy the functions of os that raise no audit event",
        "watch.outside",
        "a guarded attempt has to be stopped before it acts, and an event of a thread"
        " comes when there is one; in guarded processes only",
    ),
    PatchBelow(
        "json.JSONEncoder.iterencode",
        "cells.likeness",
        "a `default` of the program's own would be asked about what passes for a dict"
        " or list; after like_plain() only",
    ),
    PatchBelow(
        "pprint.PrettyPrinter._safe_repr and how it breaks lines, the names of"
        " reprlib.Repr, and what dataclasses.asdict and astuple do with each part",
        "cells.part_by_part",
        "they tell by the very class of an object whether it has parts; after"
        " like_plain() only",
    ),
    PatchBelow(
        "cloudpickle's search for the names of globals",
        "executors.codec.by_value",
        "PyPy's `dis` fails at variables of closures; on PyPy only",
    ),
    PatchBelow(
        "sys.breakpointhook, where the program has not chosen one",
        "executors.debugging",
        "a forked process has no terminal: pdb would end with an error in the handler;"
        " in workers and fronts only",
    ),
)
"""What rooms below replace by themselves, as they cannot know this one."""

_rows = {(id(row.owner), row.name): row for row in PATCHES}


def patch(owner: object, name: str, replacement: object) -> None:
    """Put `replacement` in the place of something in the list.

    Raises:
        TxInternalError: if it is not in the list.
    """
    _check(owner, name)
    setattr(owner, name, replacement)


def extend(function: object, kind: type, implementation: Callable[..., object]) -> None:
    """Let a `functools.singledispatch` function in the list take objects of a kind.

    Raises:
        TxInternalError: if it is not in the list.
    """
    _check(function, "register")
    function.register(kind, implementation)  # type: ignore[attr-defined] # a singledispatch


def _check(owner: object, name: str) -> None:
    if (id(owner), name) not in _rows:
        raise TxInternalError(f"{owner!r}.{name} is not in the list of patches")
