"""The sets of an attempt: what it writes, and sets that are closed.

What it writes to one container stands in an object of its own until it is committed.
The read set is a plain set. Of an attempt that must not read any more, another thread
puts a closed one in its place, in the middle of the attempt: so it is no flag that each
read would have to ask for, but fails where the read would be noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never, Protocol

from txloop.errors import BecomeInevitable
from txloop.stm.container import Clear, Update
from txloop.stm.types import MISSING, Key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from txloop.stm.container import Container, Write
    from txloop.stm.types import Cell

__all__ = ["Closed", "ClosedSpans", "ClosedWrites", "KeyedWrites", "OwnWrites"]

_MANY = 32  # cells; as many are one write, as are those of what is empty


class OwnWrites(Protocol):
    """What one attempt writes to one container."""

    container: Container

    def in_order(self) -> Iterable[Write]:
        """Return the writes as `Store.install` takes them."""

    def copy(self) -> OwnWrites:
        """Return the same, to go back to."""


class KeyedWrites:
    """The writes to a container whose cells have the keys of the program."""

    __slots__ = ("cleared", "container", "deleted", "values")

    def __init__(self, container: Container) -> None:
        self.container = container
        self.cleared = False  # before the values, which are all that is there then
        self.values: dict[Hashable, object] = {}
        self.deleted: set[Hashable] = set()  # at least for a while

    def copy(self) -> KeyedWrites:
        """Return the same, to go back to."""
        copied = KeyedWrites(self.container)
        copied.cleared = self.cleared
        copied.values.update(self.values)
        copied.deleted.update(self.deleted)
        return copied

    def present(self) -> dict[Hashable, object]:
        """Return the keys and values that are written and not deleted again."""
        return {key: new for key, new in self.values.items() if new is not MISSING}

    def in_order(self) -> Iterator[Write]:
        """Yield the writes as `Store.install` takes them."""
        if self.cleared:
            yield self.container, Key.ALL, Clear()
        count = len(self.values)
        if count > _MANY or (count > 1 and not self.container._tx_size):
            for key in self.deleted:
                yield self.container, key, MISSING
            left = self.present() if self.deleted else self.values.copy()
            if left:
                yield self.container, Key.ALL, Update(left)
            return
        for key, value in self.values.items():
            if key in self.deleted and value is not MISSING:
                yield self.container, key, MISSING
            yield self.container, key, value


class Closed(set["Cell"]):
    """The cells read by an attempt that must not read any more."""

    def add(self, cell: Cell) -> Never:
        """Refuse: a read ends the attempt."""
        raise BecomeInevitable("this attempt was cancelled")

    def update(self, *cells: Iterable[Cell]) -> Never:
        """Refuse, likewise."""
        raise BecomeInevitable("this attempt was cancelled")


class ClosedSpans(dict[int, tuple[int, int]]):
    """The spans read by an attempt that must not read any more."""

    def __setitem__(self, number: int, span: tuple[int, int]) -> Never:
        raise BecomeInevitable("this attempt was cancelled")


class ClosedWrites(dict[int, Any]):
    """The writes of an attempt that must not write: what it has read is not noted.

    Attributes:
        asked: Whether it has tried to, or to do something else for which its reads
            would have to be known.
    """

    __slots__ = ("asked",)

    def __init__(self) -> None:
        super().__init__()
        self.asked = False

    def __setitem__(self, number: int, own: OwnWrites) -> Never:
        self.refuse()

    def refuse(self) -> Never:
        """End the attempt: it has to run again, and note what it reads."""
        self.asked = True
        raise BecomeInevitable("it does more than read")
