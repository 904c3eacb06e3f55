"""TList: a shared list with conflicts per item."""

from __future__ import annotations

import copy
import operator
import reprlib
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any, SupportsIndex, TypeVar, cast, overload

from txloop.cells.list_cells import ListCells
from txloop.cells.list_chunks import Extend, Splice
from txloop.cells.shareable import (
    Convert,
    converted,
    register,
    shareable,
    shareable_all,
)
from txloop.stm.store import committed
from txloop.stm.types import MISSING

__all__ = ["TList"]

T = TypeVar("T")


class TList(ListCells, MutableSequence[T]):
    """A list of shared values.

    Two transactions conflict only where one's answer depends on the other: reading an
    item conflicts with a change of what stands at that index; `len`, a negative index
    and an index beyond the end with a change of the length; slices whose bounds are not
    negative with a change of their items, from the first to the last of all that is
    read of one list so; iteration, other slices, comparison, `sort` and whatever else
    needs everything with any change. Setting an item needs only that it is there.
    `append`, `extend`, `insert`, `clear` and slice assignments and deletions from an
    index that is not negative read nothing: two of them never conflict. Who reads
    single items 16 times, and at least once for every 16 items of the list, counts as a
    reader of the whole list.

    Plain lists, dicts and sets in it become containers, so that ``grid[y][x] = 1``
    works. `sort` and `copy` work as for lists; `copy`, `+` and slices are plain lists.
    A `for` goes over the items as they are when it starts. The rest is as in `TVar`.

    >>> row = TList([1, 2])
    >>> row.append(3)
    >>> row[0] += 10
    >>> row
    TList([11, 2, 3])
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment] # mutable, compares by contents

    def __init__(self, items: Iterable[T] = (), /, *, whole: bool = False) -> None:
        """Make a list of `items`.

        Args:
            items: What to fill it with.
            whole: Whether reading an item, a slice or the length counts as reading all
                of it: the fastest for a list that is mostly read as a whole.
        """
        committed.adopt(self)
        self._whole = whole
        self._begin(tuple(shareable_all(tuple(items))))

    # Reading

    @overload
    def __getitem__(self, index: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: Any) -> Any:
        view = self._view
        if view is not None:
            return view[index]  # the fastest way to ask
        if index.__class__ is slice:
            return self._slice(index)
        if index.__class__ is int and index >= 0:
            value = self._item(index)
        else:
            value = self._item(self._from_start(index))
        if value is MISSING:
            raise IndexError("list index out of range")
        return value

    def __len__(self) -> int:
        return self._length()

    def __bool__(self) -> bool:
        """Tell whether there is a first item; where it is, the length is not read."""
        return self._has(0)

    def __iter__(self) -> Iterator[T]:
        return iter(self.copy())

    def __reversed__(self) -> Iterator[T]:
        return reversed(self.copy())

    def __contains__(self, value: object) -> bool:
        return value in self._contents()

    def index(self, value: T, *bounds: int) -> int:
        """Return the first index of `value`, as that of a list."""
        return self._contents().index(value, *bounds)

    def count(self, value: T) -> int:
        """Return how often `value` is there."""
        return self._contents().count(value)

    def copy(self) -> list[T]:
        """Return a plain list of the same items."""
        return list(self._contents())

    def __copy__(self) -> TList[T]:
        return self._like(self._contents())

    def __deepcopy__(self, memo: dict[int, object]) -> TList[T]:
        made = memo[id(self)] = self._like(())
        made.extend(copy.deepcopy(self.copy(), memo))
        return made

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self._compared(operator.eq, other)

    def __lt__(self, other: list[T] | TList[T]) -> bool:
        return self._compared(operator.lt, other)

    def __le__(self, other: list[T] | TList[T]) -> bool:
        return self._compared(operator.le, other)

    def __gt__(self, other: list[T] | TList[T]) -> bool:
        return self._compared(operator.gt, other)

    def __ge__(self, other: list[T] | TList[T]) -> bool:
        return self._compared(operator.ge, other)

    def __add__(self, other: list[T] | TList[T]) -> list[T]:
        if not isinstance(other, list | TList):
            return NotImplemented
        return self.copy() + list(other)

    def __radd__(self, other: list[T]) -> list[T]:
        if not isinstance(other, list):
            return NotImplemented
        return other + self.copy()

    def __mul__(self, times: SupportsIndex) -> list[T]:
        return self.copy() * times

    __rmul__ = __mul__

    def _as_json(self) -> list[T]:
        return self._contents()

    @reprlib.recursive_repr("TList([...])")
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._contents()!r})"

    # Writing

    @overload
    def __setitem__(self, index: SupportsIndex, value: T) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[T]) -> None: ...
    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._set_slice(index, value)
            return
        place = self._from_start(index)
        if not self._has(place):
            raise IndexError("list assignment index out of range")
        self._put({place: shareable(value)})

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        if isinstance(index, slice):
            self._delete_slice(index)
            return
        place = self._from_start(index)
        if not self._has(place):
            raise IndexError("list assignment index out of range")
        self._do(Splice(place, place + 1))

    def insert(self, index: SupportsIndex, value: T) -> None:
        """Insert `value` before `index`, as a list does."""
        place = max(self._from_start(index), 0)
        self._do(Splice(place, place, (shareable(value),)))

    def append(self, value: T) -> None:
        """Add `value` at the end, wherever that is at the commit."""
        self._do(Extend((shareable(value),)))

    def extend(self, values: Iterable[T]) -> None:
        """Add `values` at the end, wherever that is at the commit."""
        shared = tuple(shareable_all(tuple(values)))
        if shared:
            self._do(Extend(shared))

    def __iadd__(self, values: Iterable[T]) -> TList[T]:
        self.extend(values)
        return self

    def __imul__(self, times: SupportsIndex) -> TList[T]:
        self._do(Splice(0, None, tuple(self._contents() * times)))
        return self

    def pop(self, index: SupportsIndex = -1) -> T:
        """Delete and return an item: the last one, or that at `index`."""
        place = operator.index(index)
        if place < 0:
            place += len(self)
        value = self._item(place)
        if value is MISSING:
            if not self:
                raise IndexError("pop from empty list")
            raise IndexError("pop index out of range")
        self._do(Splice(place, place + 1))
        return cast("T", value)  # it was stored as one

    def remove(self, value: T) -> None:
        """Delete the first item that equals `value`."""
        try:
            place = self._contents().index(value)
        except ValueError:
            raise ValueError("list.remove(x): x not in list") from None
        self._do(Splice(place, place + 1))

    def clear(self) -> None:
        """Delete everything, whatever there is at the commit."""
        self._do(Splice(0, None))

    def reverse(self) -> None:
        """Turn the order round."""
        self._do(Splice(0, None, tuple(reversed(self._contents()))))

    def sort(
        self, *, key: Callable[[T], Any] | None = None, reverse: bool = False
    ) -> None:
        """Sort as a list does: stable, by `key` where it is given."""
        ordered = self.copy()
        ordered.sort(key=cast("Any", key), reverse=reverse)  # as for lists, unknown T
        self._do(Splice(0, None, tuple(ordered)))

    # How

    def _like(self, items: Iterable[T]) -> TList[T]:
        made: TList[T] = type(self).__new__(type(self))
        TList.__init__(made, items, whole=self._whole)
        return made

    def _from_start(self, index: SupportsIndex) -> int:
        place = operator.index(index)
        return place if place >= 0 else place + len(self)

    def _compared(self, compare: Callable[[Any, Any], bool], other: object) -> bool:
        if isinstance(other, TList):
            other = other._contents()
        if not isinstance(other, list):
            return NotImplemented  # type: ignore[no-any-return] # for the operator
        return bool(compare(self._contents(), other))

    def _bounds(self, where: slice) -> tuple[int, int | None]:
        """Return the bounds of a slice without a step, reading the length if needed."""
        start = 0 if where.start is None else operator.index(where.start)
        stop = None if where.stop is None else operator.index(where.stop)
        if start < 0 or (stop is not None and stop < 0):
            start, stop, _ = where.indices(len(self))
        return start, stop

    def _set_slice(self, where: slice, values: Iterable[T]) -> None:
        shared = tuple(shareable_all(tuple(values)))
        if where.step is None or where.step == 1:
            self._do(Splice(*self._bounds(where), shared))
            return
        places = range(*where.indices(len(self)))
        if len(places) != len(shared):
            raise ValueError(
                f"attempt to assign sequence of size {len(shared)} "
                f"to extended slice of size {len(places)}"
            )
        self._put(dict(zip(places, shared, strict=True)))

    def _delete_slice(self, where: slice) -> None:
        if where.step is None or where.step == 1:
            self._do(Splice(*self._bounds(where)))
            return
        left = self.copy()
        del left[where]
        self._do(Splice(0, None, tuple(left)))


def _fill(made: TList[Any], plain: list[Any], convert: Convert) -> None:
    made._begin(tuple(converted(plain, convert)))


register(list, TList, _fill)
