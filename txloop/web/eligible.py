"""Which handlers and verbs run as transactions."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass

from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from txloop.engine.calls import is_coroutine
from txloop.engine.marks import Mark, mark_of
from txloop.web.tornado_private import has_stream_request_body

__all__ = ["Plan", "mark_for", "mark_matching", "plan_for", "why_not"]

Matcher = Callable[[type[RequestHandler]], Mark | None]

_matchers: list[Matcher] = []  # a registry, filled before the first request


@dataclass(frozen=True, slots=True)
class Plan:
    """How one verb of one handler class runs.

    Attributes:
        mark: Its options.
        label: Its name in statistics and logs.
        watched: Whether the program looks at the handler after the response, so that
            what the body left in it has to travel.
    """

    mark: Mark
    label: str
    watched: bool


# By the class's `id`, for as long as it lives: a WeakKeyDictionary takes twice as long.
_plans: dict[int, dict[str, Plan | None]] = {}


def mark_matching(matcher: Matcher) -> None:
    """Treat handler classes as marked for which `matcher` returns a mark.

    For handlers of a program that is not to be changed. Call it before the first
    request.
    """
    _matchers.append(matcher)
    _plans.clear()


def plan_for(handler_class: type[RequestHandler], method: str) -> Plan | None:
    """Return how requests of that kind run as transactions, or None: as in stock."""
    number = id(handler_class)
    plans = _plans.get(number)
    if plans is None:
        weakref.finalize(handler_class, _plans.pop, number, None).atexit = False
        plans = _plans[number] = {}
    if method not in plans:
        plans[method] = _plan(handler_class, method)
    return plans[method]


def _plan(handler_class: type[RequestHandler], method: str) -> Plan | None:
    if method not in handler_class.SUPPORTED_METHODS:
        return None
    mark = mark_for(handler_class, method)
    if mark is None or why_not(handler_class, method) is not None:
        return None
    return Plan(mark, f"{method} {handler_class.__qualname__}", _watched(handler_class))


def mark_for(handler_class: type[RequestHandler], method: str) -> Mark | None:
    """Return the mark of a verb: its own, its class's, or one by pattern."""
    function = getattr(handler_class, method.lower(), None)
    mark = mark_of(function) or mark_of(handler_class)
    for matcher in _matchers:
        mark = mark or matcher(handler_class)
    return mark


def why_not(handler_class: type[RequestHandler], method: str) -> str | None:
    """Return why a verb cannot be a transaction even if it is marked, or None."""
    function = getattr(handler_class, method.lower(), None)
    if function is None or function is RequestHandler._unimplemented_method:
        return "there is no such verb"
    if issubclass(handler_class, WebSocketHandler):
        return "it is a WebSocket"
    if handler_class.__module__ in ("tornado.web", "tornado.websocket"):
        return "it is Tornado's own"
    if has_stream_request_body(handler_class):
        return "its request body is streamed"
    if is_coroutine(function):
        return f"{method.lower()}() is a coroutine"
    if is_coroutine(handler_class.prepare):
        return "prepare() is a coroutine"
    return None


def _watched(handler_class: type[RequestHandler]) -> bool:
    return any(
        getattr(handler_class, name) is not getattr(RequestHandler, name)
        for name in ("on_finish", "_log")
    )


def logs_by_itself(application: Application) -> bool:
    """Tell whether the program's own access log looks at handlers."""
    return (
        "log_function" in application.settings
        or type(application).log_request is not Application.log_request
    )
