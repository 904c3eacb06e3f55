"""Threads: which one runs transactions, and what several may use either way.

Only one thread at a time runs transactions, on any number of its loops. There is one
store in a process, and it belongs to one thread. The first transaction of a loop claims
it for the loop's thread; closing the loop gives it back. A claim is void when its
thread has ended or its event loop is closed, even without a `release`.

Whether threads exclude one another, the GIL decides; counters are right either way.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from txloop.errors import TxThreadError

__all__ = [
    "NO_THREAD",
    "Claimant",
    "Count",
    "Owned",
    "acquire",
    "asked_by_all",
    "counting_from",
    "gil_enabled",
    "recheck",
    "release",
]

NO_THREAD = 0
"""The owner of a replica: no thread has this number, so none may write."""


def gil_enabled() -> bool:
    """Tell whether threads of this interpreter exclude one another."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


K = TypeVar("K")
V = TypeVar("V")


class _AskedByAll(dict[K, V]):
    """A dict whose `get` takes as long on every thread.

    That of CPython 3.13 without the GIL takes 17 us, not 60 ns, where another thread
    has made the key or the value: it waits for a lock that it holds itself.

    Where another thread may write, its keys are taken by `keys()`, `items()` or
    `copy()`: to iterate over the dict itself is one step for a plain dict only. It has
    no `__iter__` of its own for this, as that would take `copy()` apart, too.
    """

    __slots__ = ()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, as a dict does."""
        try:
            return self[key]
        except KeyError:  # which may be that of a key's own `__eq__`
            return super().get(key, default)


if TYPE_CHECKING or gil_enabled():

    def asked_by_all(made: dict[K, V]) -> dict[K, V]:
        """Return a dict with these items whose `get` is as fast on every thread."""
        return made

else:
    asked_by_all = _AskedByAll


class _LockedCount:
    """Counts for any thread, where `itertools.count` is not atomic."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first)
        # Reentrant: the garbage collector may run finalizers that count, anywhere.
        self._lock = threading.RLock()

    def __next__(self) -> int:
        with self._lock:
            return next(self._numbers)


Count: TypeAlias = "itertools.count[int] | _LockedCount"


def counting_from(first: int) -> Count:
    """Return a counter for any thread, whatever the interpreter."""
    # The GIL may be turned on while the program runs, but not off.
    return itertools.count(first) if gil_enabled() else _LockedCount(first)


class Owned(Protocol):
    """What is claimed: the store.

    Attributes:
        owner: The thread that alone may write; None before the first transaction, and
            `NO_THREAD` in a replica.
    """

    owner: int | None


class Claimant(Protocol):
    """What claims the store for its thread: a loop's dispatcher."""

    def is_over(self) -> bool:
        """Tell whether its event loop is closed, so that it cannot commit any more."""


_lock = threading.Lock()  # guards the claims and the store's owner
_claims: WeakKeyDictionary[Claimant, int] = WeakKeyDictionary()  # a registry


def acquire(claimant: Claimant, store: Owned) -> None:
    """Make this thread the owner of the store, beside other loops of this thread.

    Raises:
        TxThreadError: if a loop of another thread has it, or this process is a worker.
    """
    if store.owner == NO_THREAD:
        raise TxThreadError(
            "this process is a worker, which runs the transactions of another process "
            "and none of its own; call the function directly"
        )
    here = threading.get_ident()
    with _lock:
        _claims.pop(claimant, None)
        _drop_void_claims()
        for thread in _claims.values():
            if thread != here:
                raise TxThreadError(
                    f"transactions run on one thread, and {_name_of(thread)} has them; "
                    "close the loop there first, or hand the call over to it with its "
                    "add_callback"
                )
        _claims[claimant] = here
        store.owner = here


def release(claimant: Claimant, store: Owned) -> None:
    """Give back what was claimed; without a claim, do nothing."""
    with _lock:
        if _claims.pop(claimant, None) is not None:
            store.owner = next(iter(_claims.values()), None)


def _drop_void_claims() -> None:
    alive = set(sys._current_frames())  # not the frames: ours is among them
    for claimant, thread in list(_claims.items()):
        if claimant.is_over() or thread not in alive:
            del _claims[claimant]


def recheck(store: Owned) -> None:
    """Correct the owner of a store, whose loop may have ended without `release`."""
    with _lock:
        _drop_void_claims()
        store.owner = next(iter(_claims.values()), None)


def _name_of(thread: int) -> str:
    names = [one.name for one in threading.enumerate() if one.ident == thread]
    return names[0] if names else f"thread {thread}"
