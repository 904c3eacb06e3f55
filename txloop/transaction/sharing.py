"""PyPy's shared containers: dicts and sets by value and by identity, and a queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import Empty
from typing import TYPE_CHECKING, Generic, Never, TypeVar, cast

from txloop.cells import Channel, TCounter, TDict, TSet
from txloop.errors import TransactionError
from txloop.stm.attempt import current
from txloop.stm.container import Container
from txloop.stm.primitives import retry
from txloop.transaction.pieces import Hindrance

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

__all__ = ["Empty", "queue", "stmdict", "stmiddict", "stmidset", "stmset"]

K = TypeVar("K")
V = TypeVar("V")


class stmdict(TDict[K, V]):
    """A `txloop.TDict` with the methods that PyPy's dict has besides.

    Unlike PyPy's it keeps the order of insertion, and its values are immutable or
    containers.
    """

    __slots__ = ()

    def iterkeys(self) -> Iterator[K]:
        """Iterate over the keys that are there now."""
        return iter(self.keys())

    def itervalues(self) -> Iterator[V]:
        """Iterate over the values that are there now."""
        return iter(self.values())

    def iteritems(self) -> Iterator[tuple[K, V]]:
        """Iterate over the items that are there now."""
        return iter(self.items())


class stmset(TSet[K]):
    """A `txloop.TSet`: two transactions conflict over the same element only."""

    __slots__ = ()


class _Pinned:
    """Keeps a plain object alive, and never leaves its process."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __reduce__(self) -> Never:
        raise TypeError(
            f"the identity of a {type(self.thing).__name__} is known in its own "
            "process only"
        )


def _identity(key: object) -> Hashable:
    """Return what tells `key` from all other objects, in every process."""
    if isinstance(key, Container):
        return "container", key._tx_number
    attempt = current()
    if attempt is not None and attempt.speculative:  # it may be a copy
        reason = (
            f"it looks a {type(key).__name__} up by its identity, and in a worker it "
            "may be a copy"
        )
        attempt.abandon(Hindrance(reason))
    return id(key)


def _kept(key: object) -> object:
    return key if isinstance(key, Container) else _Pinned(key)


@dataclass(frozen=True, eq=False)
class stmiddict(Generic[V]):
    """A dict whose keys are told apart by identity, and kept alive.

    Containers are the same key in every worker. A transaction that looks any other
    object up runs on the calling thread: a worker has only copies. Values are immutable
    or containers.
    """

    _values: TDict[Hashable, V] = field(default_factory=TDict, init=False, repr=False)
    _keys: TDict[Hashable, object] = field(
        default_factory=TDict, init=False, repr=False
    )

    def __getitem__(self, key: object) -> V:
        identity = _identity(key)
        if identity not in self._values:
            raise KeyError(key)
        return self._values[identity]

    def __setitem__(self, key: object, value: V) -> None:
        identity = _identity(key)
        self._values[identity] = value
        self._keys._write(identity, _kept(key))

    def __delitem__(self, key: object) -> None:
        identity = _identity(key)
        if identity not in self._values:
            raise KeyError(key)
        del self._values[identity]
        del self._keys[identity]

    def __contains__(self, key: object) -> bool:
        return _identity(key) in self._values

    def get(self, key: object, default: V | None = None) -> V | None:
        """Return the value of `key`, or `default`."""
        try:
            return self[key]
        except KeyError:
            return default

    def setdefault(self, key: object, default: V | None = None) -> V:
        """Return the value of `key`, after setting it to `default` if it is missing."""
        if key not in self:
            self[key] = cast("V", default)
        return self[key]


@dataclass(frozen=True, eq=False)
class stmidset:
    """A set whose elements are told apart by identity, and kept alive.

    The rest is as in `stmiddict`.
    """

    _keys: stmiddict[bool] = field(default_factory=stmiddict, init=False, repr=False)

    def add(self, key: object) -> None:
        """Put `key` in; nothing is read."""
        self._keys[key] = True

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def remove(self, key: object) -> None:
        """Remove `key`.

        Raises:
            KeyError: if it is not there.
        """
        del self._keys[key]

    def discard(self, key: object) -> None:
        """Remove `key`, if it is there."""
        if key in self._keys:
            del self._keys[key]


@dataclass(frozen=True, eq=False)
class queue(Generic[V]):
    """A queue between transactions, of things that are immutable or containers.

    Inside a transaction `get` and `join` wait, as `txloop.retry` does: without a worker
    or a thread. (PyPy's `get` raises an error there.) Outside of transactions there is
    nothing to wait for, as only this thread runs.
    """

    _items: Channel[V] = field(default_factory=Channel, init=False, repr=False)
    _unfinished: TCounter[int] = field(default_factory=TCounter, init=False, repr=False)

    def put(self, item: V) -> None:
        """Add `item`, which a `task_done` has to follow one day."""
        self._items.put(item)
        self._unfinished.add()

    def get(self, block: bool = True, timeout: float | None = None) -> V:
        """Remove the oldest item and return it.

        Args:
            block: Whether to wait while there is none.
            timeout: For how many seconds at most; None for ever.

        Raises:
            Empty: if there is none (in time).
            TransactionError: outside a transaction, if it would wait for ever.
        """
        if not self._items:
            if not block or (current() is None and timeout is not None):
                raise Empty
            if current() is None:
                raise TransactionError("get() would wait for ever: nothing else runs")
        try:
            return self._items.get(timeout)
        except TimeoutError:
            raise Empty from None

    def task_done(self) -> None:
        """Say that what a `get` has returned is done with."""
        self._unfinished.add(-1)

    def join(self) -> None:
        """Wait until `task_done` was called as often as `put`.

        Raises:
            ValueError: if it was called more often.
            TransactionError: outside a transaction, if it would wait.
        """
        unfinished = self._unfinished.value
        if unfinished < 0:
            raise ValueError("task_done() was called more often than put()")
        if unfinished and current() is None:
            raise TransactionError("join() would wait for ever: nothing else runs")
        if unfinished:
            retry()
