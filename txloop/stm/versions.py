"""What is in a cell: a value, or the values that open snapshots may still read.

Most cells hold their value and nothing else, so that a container of a million is one
dict. A cell that changes while a snapshot is open holds an `Entry` instead: the newest
of a chain, at whose end is the value from before, which every snapshot that is open may
read. When no snapshot needs the chain any more, `settle` puts the value back::

    value --put while a snapshot is open--> Entry -> ... -> Entry -> value
      ^                                       |
      `---------------- settle ---------------'

Whether a cell has changed since an open snapshot is then told by what it holds: a value
has not.

Another way was rejected: a second dict for the chains. Readers in other threads would
have to look into both, and between these looks a cell may move from one to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

__all__ = [
    "PLACE_BITS",
    "Entry",
    "Row",
    "row_of",
    "set_item",
    "value_at",
]

PLACE_BITS = 32
"""An insertion's place: the version that inserted, then the cell in that commit."""


class Entry:
    """One committed value of one cell, and what was in the cell before it.

    Attributes:
        version: The commit that wrote it.
        key: The key as it was inserted, if that is not the one in the dict: what came
            back may be equal to what was deleted and yet look otherwise, as ``1`` and
            ``True`` do. MISSING if it is.
        value: What was written; MISSING if it was deleted.
        place: When the key was inserted; 0 where only the dict's order tells.
        older: What was there before, as long as a snapshot may read it; else MISSING.
    """

    __slots__ = ("key", "older", "place", "value", "version")

    def __init__(
        self,
        version: int,
        key: Hashable,
        value: object,
        place: int,
        older: object,
    ) -> None:
        self.version = version
        self.key = key
        self.value = value
        self.place = place
        self.older = older


set_item = list.__setitem__  # `super` takes longer than all the rest
"""Sets a cell of a row by its index: the row's own one takes keys."""


class Row(list[Any]):
    """The cells of a container whose keys are known to its class, in a third of a dict.

    It acts as a dict as far as the store asks; one that is not there holds MISSING.
    """

    __slots__ = ()

    places: ClassVar[Mapping[Hashable, int]] = {}
    empty: ClassVar[tuple[object, ...]] = ()  # what one is made from

    @classmethod
    def filled(cls, contents: dict[Any, Any]) -> Row:
        """Return one with these values."""
        # By way of a tuple: a list made from a `map` is longer than it need be.
        return cls(tuple(map(contents.get, cls.places, cls.empty)))

    def get(self, key: Hashable, default: object) -> Any:
        """Return the cell of a key."""
        place = self.places.get(key)
        return default if place is None else self[place]

    def __setitem__(self, key: Any, cell: object) -> None:
        set_item(self, self.places[key], cell)

    def __delitem__(self, key: Any) -> None:
        set_item(self, self.places[key], MISSING)

    def update(self, cells: Mapping[Hashable, object]) -> None:
        """Set several cells."""
        for key, cell in cells.items():
            set_item(self, self.places[key], cell)

    def copy(self) -> dict[Hashable, Any]:  # type: ignore[override] # as a dict
        """Return the cells that are there, by key."""
        cells = zip(self.places, self, strict=True)
        return {key: cell for key, cell in cells if cell is not MISSING}

    def clear(self) -> None:
        """Empty all cells."""
        set_item(self, slice(None), self.empty)


def row_of(keys: Iterable[Hashable]) -> type[Row]:
    """Return the class of the rows that have these keys."""
    places = {key: place for place, key in enumerate(keys)}
    empty = (MISSING,) * len(places)
    return type("Row", (Row,), {"__slots__": (), "places": places, "empty": empty})


def value_at(cell: Any, version: int) -> object:
    """Return the value that what is in a cell has at `version`, or MISSING."""
    while type(cell) is Entry:
        if cell.version <= version:
            return cell.value
        cell = cell.older
    return cell
