"""What never conflicts: the time, new numbers, and what each thread has for itself."""

from __future__ import annotations

import threading
import time as _time
import weakref
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["clock", "count", "threadlocalproperty", "time"]


def time() -> float:
    """Return the seconds since the epoch.

    A transaction reads the clock when it runs, not when it commits: the times of two
    may tell another order than that of their commits.
    """
    return _time.time()


def clock() -> float:
    """Return the CPU seconds that this process, or this worker, has used."""
    return _time.process_time()


def count() -> int:
    """Return a number that no other call has got, in whichever thread or worker.

    Numbers are not given out in order, and an attempt that is undone loses its own.
    """
    return committed.new_number()


V = TypeVar("V")


class _Own(threading.local, Generic[V]):
    """The value of one object's attribute, as one thread sees it."""

    value: V


class threadlocalproperty(Generic[V]):
    """Make an attribute of which every thread and every worker has its own.

    For what is scratch or a cache: it is not shared, so it neither conflicts nor is
    it undone. A transaction that runs again may find what its last attempt left.

    >>> class Parser:
    ...     buffer = threadlocalproperty(list)

    Attributes:
        default_factory: Makes the value that a thread finds first; None: an attribute
            that was not assigned is an `AttributeError`.
    """

    def __init__(self, default_factory: Callable[[], V] | None = None) -> None:
        self.default_factory = default_factory
        self._name = "?"
        # By the object's identity, with a reference that takes it out again. Relies on
        # dict.setdefault and dict.pop being atomic without the GIL.
        self._own: dict[int, tuple[weakref.ref[object], _Own[V]]] = {}

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> threadlocalproperty[V]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(
        self, instance: object | None, owner: type
    ) -> threadlocalproperty[V] | V:
        if instance is None:
            return self
        own = self._own_of(instance)
        if not hasattr(own, "value"):
            if self.default_factory is None:
                raise AttributeError(
                    f"{type(instance).__name__}.{self._name} was not assigned in this "
                    "thread"
                )
            own.value = self.default_factory()
        return own.value

    def __set__(self, instance: object, value: V) -> None:
        self._own_of(instance).value = value

    def __delete__(self, instance: object) -> None:
        own = self._own_of(instance)
        if not hasattr(own, "value"):
            raise AttributeError(
                f"{type(instance).__name__}.{self._name} was not assigned in this "
                "thread"
            )
        del own.value

    def clear(self, obj: object) -> None:
        """Forget the values that all threads of this process have for `obj`."""
        self._own.pop(id(obj), None)

    def __reduce__(self) -> tuple[object, ...]:
        return threadlocalproperty, (self.default_factory,)

    def _own_of(self, instance: object) -> _Own[V]:
        known = self._own.get(id(instance))
        if known is None:
            key, kept = id(instance), self._own
            reference = weakref.ref(instance, lambda _: kept.pop(key, None) and None)
            known = self._own.setdefault(key, (reference, _Own()))
        return known[1]
