"""What the watch on plain objects is told of requests.

Where it begins: at what a verb can reach. And that unmarked code of the program has
run: callbacks pass through the loop, but handlers run in tasks, which do not. Each ends
with its line in the access log; what a WebSocket does begins with a callback of its
own.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.iostream import BaseIOStream
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketProtocol

from txloop.loop.ioloop import TransactionLoop
from txloop.loop.patches import patch
from txloop.stm.attempt import current
from txloop.watch import Roots, add_functions, held_in_reach, names_in_templates
from txloop.web.eligible import plan_for, verbs_of
from txloop.web.targets import all_targets, targets_of
from txloop.web.verdicts import is_served_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tornado.httputil import HTTPServerRequest

    from txloop.scan import Finding
    from txloop.web.frozen import FrozenRequest
    from txloop.web.targets import Target

__all__ = [
    "findings_in_reach",
    "loop_serving",
    "notice_answers",
    "notice_handlers",
    "notice_nothing",
    "roots_of_request",
    "roots_of_verb",
]

_VERBS = frozenset(verb.lower() for verb in RequestHandler.SUPPORTED_METHODS)

# What Tornado calls of a handler, or a handler of itself, besides its verb.
_METHODS = frozenset(
    name for name in dir(RequestHandler) if not name.startswith("__")
) - {
    *_VERBS,
    # These run on the loop thread, after the commit ...
    *("on_connection_close", "on_finish"),
    # ... and these are called by the program alone.
    *("render", "render_string", "reverse_url"),
}

_noticed = False  # whether `notice_handlers` has made its patches

_stock_log_request = Application.log_request
_stock_run_callback = WebSocketProtocol._run_callback
_stock_flush = RequestHandler.flush


def roots_of_request(target: Target, frozen: FrozenRequest, *_: object) -> Roots:
    """Return what a call of `run_request` really runs, given its arguments."""
    return roots_of_verb(target, frozen.method.lower())


def roots_of_verb(target: Target, verb: str) -> Roots:
    """Return where the walk of one verb begins."""
    roots = target.roots.get(verb)
    if roots is None:
        roots = target.roots[verb] = _roots(target, verb)
    return roots


def findings_in_reach(
    handler_class: type[RequestHandler], verb: str
) -> tuple[Finding, ...]:
    """Return which plain objects in a verb's reach keep it on the loop thread."""
    targets = targets_of(handler_class)
    found = [held_in_reach(roots_of_verb(target, verb.lower())) for target in targets]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _roots(target: Target, verb: str) -> Roots:
    handler_class, application = target.handler_class, target.application

    def template_names() -> Iterable[str]:
        module = sys.modules.get(handler_class.__module__)
        folder = os.path.dirname(getattr(module, "__file__", None) or "")
        return names_in_templates(application.settings, folder)

    return Roots(
        (target.number, verb),
        (
            (handler_class.__qualname__, handler_class),
            *target.handler_kwargs.items(),
            ("initialize", target.handler_kwargs),
        ),
        _METHODS | {verb, "transforms"},
        template_names,
        SimpleNamespace(
            application=application,
            settings=application.settings,
            # What Tornado uses of it, without any code that names it.
            reverse_url=_routes(application),
            transforms=application.transforms,
            ui=(application.ui_methods, application.ui_modules),
        ),
    )


def _routes(application: Application) -> tuple[object, ...]:
    """Return the lists and tables of routes, which may get more."""
    routers = (application.default_router, application.wildcard_router)
    return tuple(
        one for router in routers for one in (router.rules, router.named_rules)
    )


def _verbs() -> Iterator[Roots]:
    """Yield where the walks of all verbs begin that run as transactions.

    Those of applications that other loops have served are left out: there may be many
    in a process that runs tests, waiting to be collected.
    """
    loop = asyncio._get_running_loop()
    for target in all_targets():
        if is_served_elsewhere(target.application, loop):
            continue
        for verb in verbs_of(target.handler_class):
            plan = plan_for(target.handler_class, verb)
            if plan is not None and not plan.mark.trust:
                yield roots_of_verb(target, verb.lower())


add_functions(_verbs)


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
