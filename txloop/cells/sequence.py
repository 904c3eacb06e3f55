"""What lists and deques have in common: items in an order."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, MutableSequence
from types import CodeType
from typing import Any, ClassVar, Never, Self, SupportsIndex, TypeVar

from txloop.cells import live
from txloop.cells.copies import deep_copies
from txloop.cells.likeness import stands_for_plain
from txloop.cells.list_cells import ListCells
from txloop.cells.list_chunks import Put, Splice, size_at
from txloop.cells.searching import is_dict, place_of
from txloop.cells.shareable import shareable, shareable_all
from txloop.stm.attempt import running
from txloop.stm.container import NEWEST
from txloop.stm.immutability import SCALARS
from txloop.stm.store import committed

__all__ = ["SequenceCells"]

T = TypeVar("T")


class SequenceCells(ListCells, MutableSequence[T]):
    """Items by index; what is read and written of them is told in `TList`."""

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment] # mutable, compares by contents

    _plain: ClassVar[type]  # what it stands for

    def __len__(self) -> int:
        return self._length()

    def __bool__(self) -> bool:
        """Tell whether there is a first item; where it is, the length is not read."""
        return self._has(0)

    def __contains__(self, value: object) -> bool:
        contents = self._contents()
        if is_dict(value):
            return place_of(contents, value) is not None
        return value in contents

    def count(self, value: T, /) -> int:
        """Return how often `value` is there."""
        return self._contents().count(value)

    def __copy__(self) -> Any:
        return (
            self.copy() if stands_for_plain(self) else self._tx_like(self._contents())
        )

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        like_plain = stands_for_plain(self)
        made = memo[id(self)] = self._empty() if like_plain else self._tx_like(())
        made.extend(deep_copies(self._contents(), memo))
        return made

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> bool:
        if self is other:
            return False
        return self._compared(operator.ne, other)

    def __lt__(self, other: Any) -> bool:
        return self._compared(operator.lt, other)

    def __le__(self, other: Any) -> bool:
        return self._compared(operator.le, other)

    def __gt__(self, other: Any) -> bool:
        return self._compared(operator.gt, other)

    def __ge__(self, other: Any) -> bool:
        return self._compared(operator.ge, other)

    # What a program's own class makes of a plain one, it makes of this, too.

    def __mul__(self, times: SupportsIndex) -> Any:
        if type(times) is int:
            return self.copy() * times
        made = self._asked(times, "__rmul__")
        return self.copy() * as_plain(times) if made is NotImplemented else made

    def __rmul__(self, times: SupportsIndex) -> Any:
        return as_plain(times) * self.copy()

    def __imul__(self, times: SupportsIndex) -> Any:
        return self._in_place(operator.imul, times)

    def __iadd__(self, values: Iterable[T]) -> Any:
        if type(values) is list or not hasattr(values, "__radd__"):
            self.extend(values)
            return self
        return self._in_place(operator.iadd, values)

    def clear(self) -> None:
        """Delete everything, whatever there is at the commit."""
        self._do(Splice(0, None))

    def reverse(self) -> None:
        """Turn the order round."""
        self._do(Splice(0, None, tuple(reversed(self._contents()))))

    # How

    def _tx_like(self, items: Iterable[T]) -> Self:
        """Return a new container of the same kind."""
        raise NotImplementedError

    def _items_of(self, other: object) -> list[Any] | None:
        """Return the items of what it can be compared with, or None."""
        raise NotImplementedError

    def copy(self) -> Any:
        """Return a plain one of the same items."""
        raise NotImplementedError

    def _tx_as_json(self) -> list[T]:
        return self._contents()

    def _compared(self, compare: Callable[[Any, Any], bool], other: object) -> bool:
        theirs = self._items_of(other)
        if theirs is None:
            return NotImplemented  # type: ignore[no-any-return] # for the operator
        kind = type(other)
        if kind is not self._plain and not issubclass(kind, SequenceCells):
            return compare(self.copy(), other)  # it may have a method for it
        return bool(compare(self._contents(), theirs))

    def _empty(self) -> Any:
        """Return an empty plain one of the kind that it stands for."""
        raise NotImplementedError

    def _asked(self, other: object, name: str) -> Any:
        """Return what a method of the other operand makes of it, or NotImplemented.

        A plain one lets it come first, if it is none of a type that comes with Python.
        """
        method: Any = getattr(type(other), name, None)
        # On PyPy, those of types that come with it are functions, too, but of no code.
        if type(getattr(method, "__code__", None)) is not CodeType:
            return NotImplemented
        if isinstance(other, SequenceCells):
            return NotImplemented
        return method(other, self)

    def _in_place(self, how: Callable[[Any, Any], Any], other: object) -> Any:
        """Change it, or return what comes of the other operand instead."""
        before = self.copy()
        after = how(before, as_plain(other))
        if after is not before:
            return after
        self._do(Splice(0, None, tuple(shareable_all(tuple(after)))))
        return self

    def _place(self, index: SupportsIndex) -> int:
        """Return where an index points to, or raise what the plain one raises."""
        try:
            return self._from_start(index)
        except TypeError:
            self._empty()[index]
            raise

    def _gap(self, index: SupportsIndex) -> int:
        """Return before what to insert, or raise what the plain one raises."""
        if type(index) is not int or not -sys.maxsize <= index <= sys.maxsize:
            self._empty().insert(index, None)
        return max(self._from_start(index), 0)

    def _misses(self, index: SupportsIndex) -> Never:
        """Raise what the plain one raises where there is no item at an index."""
        self._empty()[index]
        raise IndexError(index)

    def _from_start(self, index: SupportsIndex) -> int:
        place = operator.index(index)
        return place if place >= 0 else place + len(self)

    def _set_item(self, index: SupportsIndex, value: object) -> None:
        place = self._place(index)
        if not self._has(place):
            self._empty()[index] = value  # raises what the plain one raises
        self._put({place: shareable(value)})

    def _put_bare(self, index: Any, value: object) -> bool:
        """Replace an item where nothing has to be noted; return whether it could.

        Args:
            index: An integer.
            value: What to put there.
        """
        if index < 0 or running.attempt is not None or live.loops:
            return False
        if index >= size_at(self, NEWEST):
            return False
        new = value if type(value) in SCALARS else shareable(value)
        self._reads = 0
        committed.operate(self, Put({index: new}))
        return True

    def _delete_item(self, index: SupportsIndex) -> None:
        place = self._place(index)
        if not self._has(place):
            del self._empty()[index]  # raises what the plain one raises
        self._do(Splice(place, place + 1))


def as_plain(operand: Any) -> Any:
    """Return the plain one in the place of a shared operand, which errors name."""
    return operand.copy() if isinstance(operand, SequenceCells) else operand
