"""Which servers, and which of their connections, fronts can serve as the owner does.

A front has a copy of each server that there was when it was forked. Where all that a
server and its application do with a request is Tornado's own, up to the handler, the
copy does the same; where the program has put something of its own in between, the owner
does it alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from tornado.http1connection import HTTP1Connection, HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.routing import Router, RuleRouter
from tornado.web import Application, RequestHandler

from txloop.web.fronts.moving import MovableStream
from txloop.web.tornado_private import HTTPRequestContext

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tornado import httputil

    from txloop.loop.ioloop import TransactionLoop

__all__ = [
    "apart",
    "is_stock",
    "make_movable",
    "number_of",
    "numbered_servers",
    "server_of",
    "suits",
]

_STOCK = ("find_handler", "start_request", "get_handler_delegate", "__call__")

_numbers: WeakValueDictionary[int, HTTPServer] = WeakValueDictionary()  # a registry


def number_of(server: HTTPServer) -> int:
    """Return the number by which fronts know a server."""
    number: int | None = vars(server).get("_txloop_number")
    if number is None:
        number = vars(server)["_txloop_number"] = len(_numbers) + 1
        while number in _numbers:
            number += 1
        vars(server)["_txloop_number"] = number
        _numbers[number] = server
    return number


def numbered_servers(loop: TransactionLoop) -> Iterator[tuple[int, HTTPServer]]:
    """Yield the servers that listen on a loop."""
    for _, handler in list(loop.handlers.values()):
        for cell in getattr(handler, "__closure__", None) or ():
            server = getattr(cell.cell_contents, "__self__", None)
            if isinstance(server, HTTPServer):
                yield number_of(server), server


def server_of(
    request: httputil.HTTPServerRequest, servers: Mapping[int, HTTPServer]
) -> int:
    """Return the number of the server that has a request's connection, or 0."""
    for number, server in servers.items():
        if request.server_connection in server._connections:
            return number
    return 0


def apart(server: HTTPServer) -> HTTPServer:
    """Return a server that does the same, and has no connections or sockets yet."""
    other: HTTPServer = object.__new__(type(server))
    vars(other).update(vars(server))
    vars(other).update(_connections=set(), _sockets={}, _handlers={})
    return other


def suits(server: HTTPServer) -> bool:
    """Tell whether fronts can do what a server does: it is all Tornado's own."""
    application = server.request_callback
    return (
        server.ssl_options is None
        and all(
            getattr(type(server), name) is getattr(HTTPServer, name)
            for name in ("handle_stream", "start_request", "on_close")
        )
        and isinstance(application, Application)
        and _is_plain(application)
    )


def _is_plain(application: Application) -> bool:
    stock = all(
        getattr(type(application), name) is getattr(Application, name)
        for name in _STOCK
    )
    return stock and all(
        map(
            _leads_to_handlers,
            (application.default_router, application.wildcard_router),
        )
    )


def _leads_to_handlers(router: Router) -> bool:
    """Tell whether a router leads to handlers only, by rules of Tornado's."""
    if isinstance(router, Application):
        return _is_plain(router)
    if not isinstance(router, RuleRouter) or not _is_tornados(router):
        return False
    return all(
        _is_tornados(rule.matcher)
        and (
            _is_handler(rule.target)
            if not isinstance(rule.target, Router)
            else _leads_to_handlers(rule.target)
        )
        for rule in router.rules
    )


def _is_handler(target: object) -> bool:
    return isinstance(target, type) and issubclass(target, RequestHandler)


def _is_tornados(thing: object) -> bool:
    return type(thing).__module__ in ("tornado.routing", "tornado.web")


def is_stock(request: httputil.HTTPServerRequest) -> bool:
    """Tell whether a request's connection is as Tornado has made it.

    What a program keeps there does not move.
    """
    connection, server = request.connection, request.server_connection
    return (
        type(connection) is HTTP1Connection
        and type(connection.context) is HTTPRequestContext
        and vars(connection.context).keys() <= _OF_CONTEXT
        and type(server) is HTTP1ServerConnection
        and vars(server).keys() <= _OF_SERVER
    )


_OF_CONTEXT = {
    *("address", "address_family", "remote_ip", "protocol", "trusted_downstream"),
    *("_orig_remote_ip", "_orig_protocol"),
}
_OF_SERVER = {"stream", "params", "context", "_serving_future"}


def make_movable(stream: IOStream) -> bool:
    """Make a stream a `MovableStream` if it is Tornado's; return whether it is one."""
    if type(stream) is IOStream:
        stream.__class__ = MovableStream
    return isinstance(stream, MovableStream)
