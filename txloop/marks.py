"""The mark that makes a function or a handler a transaction."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar, overload

from txloop.errors import TxConfigurationError

__all__ = ["Mark", "mark_of", "transactional"]

T = TypeVar("T", bound=Callable[..., object])

_ATTRIBUTE = "__txloop_mark__"


@dataclass(frozen=True, slots=True)
class Mark:
    """How a marked function runs.

    Attributes:
        on_error: What an exception does to the writes made before it.
        trust: Whether the scan for unshared state is skipped.
    """

    on_error: Literal["rollback", "commit"] = "rollback"
    trust: bool = False

    @property
    def commits_on(self) -> tuple[type[BaseException], ...]:
        """The exceptions that commit."""
        return (Exception,) if self.on_error == "commit" else ()


@overload
def transactional(target: T, /) -> T: ...
@overload
def transactional(
    *, on_error: Literal["rollback", "commit"] = "rollback", trust: bool = False
) -> Callable[[T], T]: ...
def transactional(
    target: T | None = None,
    /,
    *,
    on_error: Literal["rollback", "commit"] = "rollback",
    trust: bool = False,
) -> T | Callable[[T], T]:
    """Mark a handler class, a handler's method or a function as a transaction.

    A marked ``RequestHandler`` class runs its synchronous verbs (``get``, ``post`` ...)
    in parallel, a marked method only that verb. A marked function does so where the
    IOLoop calls it: ``add_callback``, timers, ``PeriodicCallback``, ``add_future``.
    Called directly it is the plain function that it was. It may run more than once, in
    another process, and takes effect once; without a txloop loop the mark does nothing.

    Args:
        target: What to mark; left out when options are given.
        on_error: ``"rollback"`` undoes the writes of a run that ends with an exception
            (except ``tornado.web.Finish``); ``"commit"`` keeps them, as a handler of
            stock Tornado would.
        trust: Run it in parallel although it uses plain module, class or application
            state: a write to such state stays in the worker that made it.

    Raises:
        TxConfigurationError: if `on_error` is neither.
    """
    if on_error not in ("rollback", "commit"):
        raise TxConfigurationError(
            f"on_error must be 'rollback' or 'commit', not {on_error!r}"
        )
    mark = Mark(on_error, trust)

    def set_mark(target: T) -> T:
        setattr(target, _ATTRIBUTE, mark)
        return target

    return set_mark if target is None else set_mark(target)


def mark_of(target: object) -> Mark | None:
    """Return the mark of a class or function, or None.

    A class inherits its bases' marks, a partial has that of its function.
    """
    while isinstance(target, functools.partial):
        target = target.func
    mark = getattr(target, _ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None
