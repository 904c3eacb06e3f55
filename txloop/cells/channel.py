"""Channel: hands things from transactions to transactions, which wait for them.

How they lie there is told in `channel_cells`; here is what the program sees.
"""

from __future__ import annotations

from asyncio import QueueEmpty, QueueFull
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from txloop.cells.channel_cells import ChannelCells
from txloop.cells.shareable import shareable
from txloop.errors import TxConfigurationError, TxError
from txloop.stm.attempt import current
from txloop.stm.primitives import retry
from txloop.stm.types import MISSING

__all__ = ["Channel"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Channel(Generic[T]):
    """A queue between transactions: what is put in first is taken out first, once.

    Inside a transaction, `get` waits while the channel is empty and `put` while it is
    full, as `retry` does: without a worker or a thread. Of several that wait, the one
    that came first is served first. What a transaction takes is gone, and what it puts
    is there, when it commits. Two that take conflict; one that puts conflicts only with
    those that have found the channel empty, or while it is nearly full.

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
    _things: ChannelCells = field(default_factory=ChannelCells, init=False, repr=False)

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
        self._things.put(shareable(item))

    def get(self, timeout: float | None = None) -> T:
        """Take the first thing out and return it, when there is one.

        Raises:
            TimeoutError: if there is none within `timeout` seconds.
            TxError: outside a transaction, if there is none.
        """
        item: Any = self._things.take()  # it was put in as a T
        if item is MISSING:
            self._wait("is empty", "get", timeout)
        return item  # type: ignore[no-any-return] # a cast takes as long as the rest

    def put_nowait(self, item: T) -> None:
        """Add `item` at the end, if there is room; nothing is waited for.

        Raises:
            asyncio.QueueFull: if there is no room.
            TxValueError: if it is a mutable plain object.
        """
        if self._is_full():
            raise QueueFull
        self._things.put(shareable(item))

    def get_nowait(self) -> T:
        """Take the first thing out and return it, if there is one.

        Raises:
            asyncio.QueueEmpty: if there is none.
        """
        item: Any = self._things.take()  # it was put in as a T
        if item is MISSING:
            raise QueueEmpty
        return item  # type: ignore[no-any-return] # as in `get`

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
        return self._things.count()

    def __bool__(self) -> bool:
        """Tell whether there is something in it."""
        return self._things.has(0)

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same channel, though it came by another way."""
        return isinstance(other, Channel) and self._things is other._things

    def __hash__(self) -> int:
        return hash(self._things._tx_number)

    def _is_full(self) -> bool:
        # Not by the length, which every other put and get changes.
        return self.capacity is not None and self._things.has(self.capacity - 1)

    def _wait(self, state: str, verb: str, timeout: float | None) -> None:
        if current() is None:
            raise TxError(
                f"the channel {state}, and only a transaction can wait: use "
                f"await txloop.atomically(channel.{verb}, ...)"
            )
        retry(timeout)
        raise TimeoutError(f"the channel {state} after {timeout:g} s")
