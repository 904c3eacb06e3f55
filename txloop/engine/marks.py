"""The mark that makes a function or a handler a transaction."""

from __future__ import annotations

import functools
import inspect
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar, overload

from txloop.errors import TxConfigurationError
from txloop.stm.callables import is_coroutine, without_partials
from txloop.stm.origin import claim

__all__ = ["UNMARKED", "Mark", "check_timeout", "mark_of", "transactional"]

T = TypeVar("T", bound=Callable[..., object])

_ATTRIBUTE = "__txloop_mark__"

_log = logging.getLogger("txloop")


@dataclass(frozen=True, slots=True)
class Mark:
    """How a marked function runs.

    Attributes:
        on_error: What an exception does to the writes made before it.
        trust: Whether the scan for unshared state is skipped.
        timeout: After how many seconds a run of it is ended; None: as the loop says.
        vouched: Whether the program's author has marked it; a pattern on the command
            line vouches for nothing.
        proved: Whether it is marked only as long as the scan proves that it shares
            nothing.
    """

    on_error: Literal["rollback", "commit"] = "rollback"
    trust: bool = False
    timeout: float | None = None
    vouched: bool = True
    proved: bool = False

    @property
    def commits_on(self) -> tuple[type[BaseException], ...]:
        """The exceptions that commit."""
        return (Exception,) if self.on_error == "commit" else ()

    def timeout_seconds(self, of_loop: float | None) -> float | None:
        """Return after how long a run is ended, given what holds for all; or None."""
        seconds = of_loop if self.timeout is None else self.timeout
        return None if seconds == math.inf else seconds


_A_COROUTINE = (
    "a coroutine, which runs as in stock Tornado; in it, "
    "`await txloop.atomically(function, ...)` runs a transaction"
)

_VERBS = ("get", "post", "put", "delete", "patch", "head", "options")

UNMARKED = Mark()
"""How a function runs that has no mark, where one runs as a transaction."""


@overload
def transactional(target: T, /) -> T: ...
@overload
def transactional(
    *,
    on_error: Literal["rollback", "commit"] = "rollback",
    trust: bool = False,
    timeout: float | None = None,
) -> Callable[[T], T]: ...
def transactional(
    target: T | None = None,
    /,
    *,
    on_error: Literal["rollback", "commit"] = "rollback",
    trust: bool = False,
    timeout: float | None = None,
) -> T | Callable[[T], T]:
    """Mark a handler class, a handler's method or a function as a transaction.

    A marked ``RequestHandler`` class runs its verbs (``get``, ``post`` ...) in
    parallel, a marked method only that verb. A verb that is a coroutine does so as long
    as it never waits for anything; then, and on the loop thread, it runs as in stock
    Tornado, which keeps what it wrote before an exception. ``on_message`` of a marked
    ``WebSocketHandler`` runs so, too, unless it is a coroutine. A marked function does
    so where the IOLoop calls it: ``add_callback``, timers, ``PeriodicCallback``,
    ``add_future``. Called directly it is the plain function that it was. It may run
    more than once, in another process, and takes effect once; without a txloop loop the
    mark does nothing.

    Args:
        target: What to mark; left out when options are given.
        on_error: ``"rollback"`` undoes the writes of a run that ends with an exception
            (except ``tornado.web.Finish``); ``"commit"`` keeps them, as a handler of
            stock Tornado would.
        trust: Run it in parallel although it uses plain module, class or application
            state: a write to such state stays in the worker that made it.
        timeout: After how many seconds a run of it in a worker is ended and answered
            with 503, or with `TxTimeoutError` where it is awaited; None: what `install`
            says, ``math.inf``: never. Waiting for a worker does not count, and each
            attempt counts anew. What runs on the loop thread cannot be ended; a worker
            that is a thread goes on without effect.

    Raises:
        TxConfigurationError: if `on_error` is neither, or `timeout` no such number.
        TypeError: if `target` cannot be called.
    """
    if target is not None and not callable(target):
        raise TypeError(
            "transactional() marks a RequestHandler class, a method or a function, not "
            f"{target!r}; give options by name, as in @transactional(timeout=5)"
        )
    if on_error not in ("rollback", "commit"):
        raise TxConfigurationError(
            f"on_error must be 'rollback' or 'commit', not {on_error!r}"
        )
    check_timeout(timeout)
    mark = Mark(on_error, trust, timeout)

    def set_mark(target: T) -> T:
        _warn_if_useless(target)
        setattr(target, _ATTRIBUTE, mark)
        claim(str(getattr(target, "__module__", "")))
        return target

    return set_mark if target is None else set_mark(target)


def _warn_if_useless(target: Callable[..., object]) -> None:
    """Say so if the mark of a class or function makes no difference."""
    if isinstance(target, type):
        reason = _why_no_handler(target)
    elif inspect.iscoroutinefunction(target) and not _is_verb(target):
        reason = f"it is {_A_COROUTINE}"
    else:
        reason = None
    if reason is not None:
        name = getattr(target, "__qualname__", repr(target))
        _log.warning(
            "%s is marked @transactional, which changes nothing: %s", name, reason
        )


def _is_verb(function: Callable[..., object]) -> bool:
    """Tell whether it is a handler's verb, as far as its name says."""
    path = str(getattr(function, "__qualname__", "")).split(".")
    return len(path) > 1 and path[-1] in _VERBS and path[-2] != "<locals>"


def _why_no_handler(target: type) -> str | None:
    # By name: the engine does not import Tornado. What has a verb may be a mixin.
    names = {f"{base.__module__}.{base.__name__}" for base in target.__mro__}
    if "tornado.websocket.WebSocketHandler" in names:
        if is_coroutine(target.on_message):  # type: ignore[attr-defined] # that has one
            return f"its on_message is {_A_COROUTINE}"
        return None
    if "tornado.web.RequestHandler" in names or any(map(target.__dict__.get, _VERBS)):
        return None
    return "it is no RequestHandler"


def mark_of(target: object) -> Mark | None:
    """Return the mark of a class or function, or None.

    A class inherits its bases' marks, a partial has that of its function.
    """
    if isinstance(target, functools.partial):
        target = without_partials(target)
    mark = getattr(target, _ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None


def check_timeout(seconds: object) -> None:
    """Check what a program gives as `timeout`.

    Raises:
        TxConfigurationError: if it is neither None nor a number of seconds above 0.
    """
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (number and seconds > 0):  # type: ignore[operator] # a number
        raise TxConfigurationError(
            f"timeout must be a number of seconds above 0, or None, not {seconds!r}"
        )
