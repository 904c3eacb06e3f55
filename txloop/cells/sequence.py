"""What lists and deques have in common: items in an order."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, MutableSequence
from typing import Any, ClassVar, Self, SupportsIndex, TypeVar

from txloop.cells.list_cells import ListCells
from txloop.cells.list_chunks import Splice
from txloop.cells.shareable import shareable

__all__ = ["SequenceCells"]

T = TypeVar("T")


class SequenceCells(ListCells, MutableSequence[T]):
    """Items by index; what is read and written of them is told in `TList`."""

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment] # mutable, compares by contents

    def __len__(self) -> int:
        return self._length()

    def __bool__(self) -> bool:
        """Tell whether there is a first item; where it is, the length is not read."""
        return self._has(0)

    def __contains__(self, value: object) -> bool:
        return value in self._contents()

    def count(self, value: T) -> int:
        """Return how often `value` is there."""
        return self._contents().count(value)

    def __copy__(self) -> Self:
        return self._tx_like(self._contents())

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        made = memo[id(self)] = self._tx_like(())
        made.extend(copy.deepcopy(list(self), memo))
        return made

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self._compared(operator.eq, other)

    def __lt__(self, other: Any) -> bool:
        return self._compared(operator.lt, other)

    def __le__(self, other: Any) -> bool:
        return self._compared(operator.le, other)

    def __gt__(self, other: Any) -> bool:
        return self._compared(operator.gt, other)

    def __ge__(self, other: Any) -> bool:
        return self._compared(operator.ge, other)

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

    def _tx_as_json(self) -> list[T]:
        return self._contents()

    def _compared(self, compare: Callable[[Any, Any], bool], other: object) -> bool:
        theirs = self._items_of(other)
        if theirs is None:
            return NotImplemented  # type: ignore[no-any-return] # for the operator
        return bool(compare(self._contents(), theirs))

    def _empty(self) -> Any:
        """Return an empty plain one of the kind that it stands for."""
        raise NotImplementedError

    def _plus(self, other: object) -> Any:
        """Return what comes of something else that is added to it, as to a plain one.

        A plain one asks the other operand first, and raises then in its own words.
        """
        reflected = getattr(type(other), "__radd__", None)
        sum_ = NotImplemented if reflected is None else reflected(other, self)
        return self._empty().__add__(other) if sum_ is NotImplemented else sum_

    def _place(self, index: SupportsIndex) -> int:
        """Return where an index points to, or raise what the plain one raises."""
        try:
            return self._from_start(index)
        except TypeError:
            self._empty()[index]
            raise

    def _from_start(self, index: SupportsIndex) -> int:
        place = operator.index(index)
        return place if place >= 0 else place + len(self)

    def _set_item(self, index: SupportsIndex, value: object, message: str) -> None:
        place = self._place(index)
        if not self._has(place):
            raise IndexError(message)
        self._put({place: shareable(value)})

    def _delete_item(self, index: SupportsIndex, message: str) -> None:
        place = self._place(index)
        if not self._has(place):
            raise IndexError(message)
        self._do(Splice(place, place + 1))
