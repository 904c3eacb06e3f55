"""Channel: hands things from transactions to transactions, which wait for them.

The things lie in a list, from which those at the front are deleted. As that moves all
the others, it is done for many at once: what was taken leaves a hole, and `_taken`
counts the holes. An empty channel has none, so it looks the same each time, and
transactions that wait for a thing stay asleep while others come and go.
"""

from __future__ import annotations

from asyncio import QueueEmpty, QueueFull
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from txloop.cells.tlist import TList
from txloop.cells.tvar import TVar
from txloop.errors import TxConfigurationError, TxError
from txloop.stm.attempt import current
from txloop.stm.primitives import retry

__all__ = ["Channel"]

T = TypeVar("T")

_MOST_HOLES = 256


@dataclass(frozen=True, eq=False)
class Channel(Generic[T]):
    """A queue between transactions: what is put in first is taken out first, once.

    Inside a transaction, `get` waits while the channel is empty and `put` while it is
    full, as `retry` does: without a worker or a thread. Of several that wait, the one
    that came first is served first. What a transaction takes is gone, and what it puts
    is there, when it commits. Two that take conflict; one that puts conflicts with the
    others only while the channel is nearly empty or full.

    A channel can be stored in containers and given to transactions. Unmarked code on
    the loop thread uses it directly, but cannot wait; coroutines do, by
    ``await txloop.atomically(channel.get)``. What does not wait has the names that it
    has in `asyncio.Queue`.

    >>> jobs: Channel[str] = Channel(capacity=100)
    >>> jobs.put("wash up")
    >>> jobs.get()
    'wash up'

    Attributes:
        capacity: How many things it holds, or None for any number.
    """

    capacity: int | None = None
    _items: TList[T] = field(default_factory=TList, init=False, repr=False)
    _taken: TVar[int] = field(default_factory=lambda: TVar(0), init=False, repr=False)

    def __post_init__(self) -> None:
        capacity = self.capacity
        if capacity is not None and (
            not isinstance(capacity, int) or isinstance(capacity, bool) or capacity < 1
        ):
            raise TxConfigurationError(
                f"capacity must be a number from 1, or None, not {capacity!r}"
            )

    def put(self, item: T, timeout: float | None = None) -> None:
        """Add `item` at the end, when there is room.

        Raises:
            TimeoutError: if there is no room within `timeout` seconds.
            TxError: outside a transaction, if there is no room.
            TxValueError: if it is a mutable plain object.
        """
        if self._is_full():
            self._wait("is full", "put", timeout)
        self._items.append(item)

    def get(self, timeout: float | None = None) -> T:
        """Take the first thing out and return it, when there is one.

        Raises:
            TimeoutError: if there is none within `timeout` seconds.
            TxError: outside a transaction, if there is none.
        """
        items, taken = self._items, self._taken.value
        if not items._has(taken):
            self._wait("is empty", "get", timeout)
        item = items[taken]
        if taken == self._most_holes() or not items._has(taken + 1):
            del items[: taken + 1]
            if taken:
                self._taken.value = 0
        else:
            items[taken] = None  # type: ignore[assignment] # it is not read again
            self._taken.value = taken + 1
        return item

    def put_nowait(self, item: T) -> None:
        """Add `item` at the end, if there is room; nothing is waited for.

        Raises:
            asyncio.QueueFull: if there is no room.
            TxValueError: if it is a mutable plain object.
        """
        if self._is_full():
            raise QueueFull
        self._items.append(item)

    def get_nowait(self) -> T:
        """Take the first thing out and return it, if there is one.

        Raises:
            asyncio.QueueEmpty: if there is none.
        """
        if not self:
            raise QueueEmpty
        return self.get()

    def qsize(self) -> int:
        """Return how many things are in it, as `len` does."""
        return len(self)

    def empty(self) -> bool:
        """Tell whether there is nothing in it."""
        return not self

    def full(self) -> bool:
        """Tell whether there is no room in it."""
        return self._is_full()

    @property
    def maxsize(self) -> int:
        """How many things it holds, or 0 for any number, as that of a queue."""
        return self.capacity or 0

    def __len__(self) -> int:
        """Return how many things are in it; conflicts with every put and get."""
        return len(self._items) - self._taken.value

    def __bool__(self) -> bool:
        """Tell whether there is something in it."""
        return self._items._has(self._taken.value)

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same channel, though it came by another way."""
        return isinstance(other, Channel) and self._items is other._items

    def __hash__(self) -> int:
        return hash(self._items._number)

    def _is_full(self) -> bool:
        # Not by the length, which every other put and get changes; and by the holes
        # only if it matters.
        if self.capacity is None or not self._items._has(self.capacity - 1):
            return False
        return self._items._has(self._taken.value + self.capacity - 1)

    def _most_holes(self) -> int:
        """Return how many to leave: few enough to matter seldom to a put."""
        if self.capacity is None:
            return _MOST_HOLES
        return min(self.capacity // 8, _MOST_HOLES)

    def _wait(self, state: str, verb: str, timeout: float | None) -> None:
        if current() is None:
            raise TxError(
                f"the channel {state}, and only a transaction can wait: use "
                f"await txloop.atomically(channel.{verb}, ...)"
            )
        retry(timeout)
        raise TimeoutError(f"the channel {state} after {timeout:g} s")
