"""Which handlers and verbs run as transactions."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from txloop.engine.marks import Mark, mark_of
from txloop.scan.live_objects import class_attribute
from txloop.stm.callables import is_coroutine, is_generator, is_native_coroutine
from txloop.stm.origin import own_module_of
from txloop.stm.threads import asked_by_all
from txloop.web.ending import ends_as_stock
from txloop.web.tornado_private import has_stream_request_body

__all__ = [
    "IS_WEBSOCKET",
    "NO_VERB",
    "ON_MESSAGE",
    "Plan",
    "forget_plans",
    "is_watched",
    "loggers_of",
    "logs_by_itself",
    "mark_matching",
    "mark_proved",
    "may_wait",
    "plan_for",
    "verbs_of",
    "why_not",
]

NO_VERB = "there is no such verb"
IS_WEBSOCKET = "it is a WebSocket"
"""Answers of `why_not` after which nothing is said of the verb."""

ON_MESSAGE = "on_message"
"""In the place of a verb: what a WebSocket does with each message."""

Matcher = Callable[[type[RequestHandler]], Mark | None]
Prover = Callable[[type[RequestHandler], str], Mark | None]

_matchers: list[Matcher] = []  # a registry, filled before the first request
_provers: list[Prover] = []  # a registry, filled at import


@dataclass(frozen=True, slots=True)
class Plan:
    """How one verb of one handler class runs.

    Attributes:
        mark: Its options.
        label: Its name in statistics and logs.
        commits_on: The exceptions that do not undo what the verb has written.
        watched: Whether the program looks at the handler after the response, so that
            what the body left in it has to travel.
        coroutine: Whether the verb, or what runs before it, may wait for something.
            Then it runs in attempts elsewhere as long as it does not, and on the loop
            thread as in stock Tornado.
        ends_as_stock: Whether nothing of the class's own runs between its verb and the
            end of its answer.
        keeps: Whether an error undoes nothing of what it has done, and nothing else
            does on the loop thread: it was written for stock Tornado, and waits for
            nothing. See `txloop.web.as_stock`.
    """

    mark: Mark
    label: str
    commits_on: tuple[type[BaseException], ...]
    watched: bool
    coroutine: bool = False
    ends_as_stock: bool = False
    keeps: bool = False


_waiting: weakref.WeakKeyDictionary[type[RequestHandler], dict[str, bool]]
_waiting = weakref.WeakKeyDictionary()  # what `may_wait` has found out

# By the class's `id`, for as long as it lives: a WeakKeyDictionary takes twice as long.
_plans: dict[int, dict[str, Plan | None]] = asked_by_all({})


def mark_matching(matcher: Matcher) -> None:
    """Treat handler classes as marked for which `matcher` returns a mark.

    For handlers of a program that is not to be changed. Call it before the first
    request.
    """
    _matchers.append(matcher)
    _plans.clear()


def mark_proved(prover: Prover) -> None:
    """Treat verbs as marked that have no other mark, and one that `prover` returns."""
    _provers.append(prover)


def forget_plans() -> None:
    """Ask again which verbs are marked."""
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
    if method not in verbs_of(handler_class):
        return None
    mark = _mark_for(handler_class, method)
    if mark is None or (not mark.proved and why_not(handler_class, method) is not None):
        return None
    label = f"{method} {handler_class.__qualname__}"
    waits = method != ON_MESSAGE and may_wait(handler_class, method)
    watched, ends = is_watched(handler_class), ends_as_stock(handler_class)
    commits_on = (Exception,) if waits else mark.commits_on
    keeps = mark.on_error == "commit" and not waits
    return Plan(mark, label, commits_on, watched, waits, ends, keeps)


def may_wait(handler_class: type[RequestHandler], method: str) -> bool:
    """Tell whether a verb, or `prepare`, is a coroutine."""
    known = _waiting.setdefault(handler_class, {})
    if method not in known:
        function = _attribute(handler_class, method.lower())
        known[method] = is_coroutine(function) or is_coroutine(handler_class.prepare)
    return known[method]


def verbs_of(handler_class: type[RequestHandler]) -> tuple[str, ...]:
    """Return what may be a transaction of a class: verbs, a WebSocket's messages."""
    verbs = tuple(handler_class.SUPPORTED_METHODS)
    return (
        (*verbs, ON_MESSAGE) if issubclass(handler_class, WebSocketHandler) else verbs
    )


def _mark_for(handler_class: type[RequestHandler], method: str) -> Mark | None:
    """Return the mark of a verb: its own, its class's, one by pattern, or by proof."""
    function = _attribute(handler_class, method.lower())
    mark = mark_of(function) or mark_of(handler_class)
    for matcher in _matchers:
        mark = mark or matcher(handler_class)
    if (
        mark is None
        and method != ON_MESSAGE
        and _provers
        and why_not(handler_class, method) is None
    ):
        for prover in _provers:
            mark = mark or prover(handler_class, method)
    return mark


def why_not(handler_class: type[RequestHandler], method: str) -> str | None:
    """Return why a verb cannot be a transaction even if it is marked, or None."""
    function = _attribute(handler_class, method.lower())
    if function is None or function in (
        RequestHandler._unimplemented_method,
        WebSocketHandler.on_message,
    ):
        return NO_VERB
    if method == ON_MESSAGE:
        return "on_message() is a coroutine" if is_coroutine(function) else None
    if issubclass(handler_class, WebSocketHandler):
        return IS_WEBSOCKET
    if handler_class.__module__ in ("tornado.web", "tornado.websocket"):
        return "it is Tornado's own"
    if has_stream_request_body(handler_class):
        return "its request body is streamed"
    for name in (method.lower(), "prepare"):
        if is_generator(_attribute(handler_class, name)):
            return f"{name}() is a generator"
    if not is_native_coroutine(_attribute(handler_class, "_execute")):
        return "its _execute() is not the coroutine that Tornado's is"
    return None


def _attribute(handler_class: type[RequestHandler], name: str) -> Any:
    """Return a verb as its class has it; no ``__get__`` of the program runs."""
    raw = class_attribute(handler_class, name, None)
    if own_module_of(type(raw)) is not None:
        return raw
    return getattr(handler_class, name, None)


def is_watched(handler_class: type[RequestHandler]) -> bool:
    """Tell whether the class looks at its handlers after the response."""
    return any(
        getattr(handler_class, name) is not getattr(RequestHandler, name)
        for name in ("on_finish", "_log", "_request_summary", "get_status")
    )


def logs_by_itself(application: Application) -> bool:
    """Tell whether the program's own access log looks at handlers."""
    return (
        "log_function" in application.settings
        or type(application).log_request is not Application.log_request
    )


def loggers_of(application: Application) -> tuple[Callable[..., object], ...]:
    """Return the functions of the program's own access log."""
    found = []
    if "log_function" in application.settings:
        found.append(application.settings["log_function"])
    if type(application).log_request is not Application.log_request:
        found.append(application.log_request)
    return tuple(found)
