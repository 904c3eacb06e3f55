"""TList: a shared list with conflicts per item."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeVar, cast, overload

from txloop.cells import live
from txloop.cells.likeness import PassesFor, PassingType
from txloop.cells.list_chunks import Extend, Splice
from txloop.cells.owned import give_attributes
from txloop.cells.searching import place_of
from txloop.cells.sequence import SequenceCells, as_plain
from txloop.cells.shareable import (
    Convert,
    converted,
    register,
    shareable,
    shareable_all,
)
from txloop.cells.tdict import TDict
from txloop.stm.store import committed
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TList"]

T = TypeVar("T")


class TList(SequenceCells[T], metaclass=PassingType):
    """A list of shared values.

    Two transactions conflict only where one's answer depends on the other: reading an
    item conflicts with a change of what stands at that index; `len`, a negative index
    and an index beyond the end with a change of the length; slices whose bounds are not
    negative with a change of their items, from the first to the last of all that is
    read of one list so; iteration, other slices, comparison, `sort` and whatever else
    needs everything with any change. Setting an item needs only that it is there.
    `append`, `extend`, `insert`, `clear` and slice assignments and deletions from an
    index that is not negative read nothing: two of them never conflict. A
    transaction that reads single items 16 times, and at least once for every 16 items
    of the list, is treated as reading the whole list.

    Plain lists, dicts and sets in it become containers, so that ``grid[y][x] = 1``
    works. `sort` and `copy` work as for lists; `copy`, `+` and slices are plain lists.
    A `for` goes over the items as they are when it starts, except after
    ``like_plain(live=True)``. The rest is as in `TVar`.

    >>> row = TList([1, 2])
    >>> row.append(3)
    >>> row[0] += 10
    >>> row
    TList([11, 2, 3])
    """

    __slots__ = ()
    __class__ = PassesFor(list, "[...]")
    __hash__: ClassVar[None] = None
    _plain = list

    def __init_subclass__(cls, *, also: tuple[str, ...] = ()) -> None:
        """Let the objects of a class have attributes; see `give_attributes`."""
        super().__init_subclass__()
        give_attributes(cls, also, TDict)

    @overload
    def __init__(self, /, *, whole: bool = False) -> None: ...
    @overload
    def __init__(self, items: Iterable[T], /, *, whole: bool = False) -> None: ...
    def __init__(self, items: Iterable[T] = (), /, *, whole: bool = False) -> None:
        """Make a list of `items`.

        Args:
            items: What to fill it with.
            whole: Whether reading an item, a slice or the length counts as reading all
                of it: the fastest for a list that is mostly read as a whole.
        """
        committed.adopt(self)
        self._whole = whole
        self._tx_begin(tuple(shareable_all(tuple(items))))

    # Reading

    def __iter__(self) -> Iterator[T]:
        """Iterate over what is there now; see `like_plain` for what comes later."""
        return live.follow_list(self) if live.on else iter(list(self._contents()))

    def __reversed__(self) -> Iterator[T]:
        if live.on:
            return live.follow_list(self, backwards=True)
        return iter(self._contents()[::-1])

    @overload
    def __getitem__(self, index: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: Any) -> Any:
        view = self._tx_view
        if view is not None:
            return view[index]  # the fastest way to ask
        if index.__class__ is slice:
            return self._slice(index)
        if index.__class__ is int and index >= 0:
            value = self._item(index)
        else:
            value = self._item(self._place(index))
        if value is MISSING:
            self._misses(index)
        return value

    def index(self, value: T, /, *bounds: int) -> int:
        """Return the first index of `value`, as that of a list."""
        contents = self._contents()
        place = None if bounds else place_of(contents, value)
        return contents.index(value, *bounds) if place is None else place

    def copy(self) -> list[T]:
        """Return a plain list of the same items."""
        return list(self._contents())

    def __add__(self, other: list[T] | TList[T]) -> Any:
        if type(other) is list:
            return self._contents() + other
        made = self._asked(other, "__radd__")
        return self._contents() + as_plain(other) if made is NotImplemented else made

    def __radd__(self, other: list[T]) -> list[T]:
        return other + self.copy() if isinstance(other, list) else NotImplemented

    @reprlib.recursive_repr("TList([...])")
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._contents()!r})"

    # Writing

    @overload
    def __setitem__(self, index: SupportsIndex, value: T) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[T]) -> None: ...
    def __setitem__(self, index: Any, value: Any) -> None:
        if index.__class__ is int and self._put_bare(index, value):
            return
        if isinstance(index, slice):
            self._set_slice(index, value)
        else:
            self._set_item(index, value)

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        if isinstance(index, slice):
            self._delete_slice(index)
        else:
            self._delete_item(index)

    def insert(self, index: SupportsIndex, value: T, /) -> None:
        """Insert `value` before `index`, as a list does."""
        place = self._gap(index)
        self._do(Splice(place, place, (shareable(value),)))

    def append(self, value: T, /) -> None:
        """Add `value` at the end, wherever that is at the commit."""
        self._do(Extend((shareable(value),)))

    def extend(self, values: Iterable[T], /) -> None:
        """Add `values` at the end, wherever that is at the commit."""
        shared = tuple(shareable_all(tuple(values)))
        if shared:
            self._do(Extend(shared))

    def pop(self, index: SupportsIndex = -1, /) -> T:
        """Delete and return an item: the last one, or that at `index`."""
        place = operator.index(index)
        if place < 0:
            place += len(self)
        value = self._item(place)
        if value is MISSING:
            [None][: len(self)].pop(index)  # raises what a list raises
        self._do(Splice(place, place + 1))
        return cast("T", value)  # it was stored as one

    def remove(self, value: T, /) -> None:
        """Delete the first item that equals `value`."""
        place = place_of(self._contents(), value)
        if place is None:
            self.copy().remove(value)  # raises what a list raises
            raise ValueError("list.remove(x): x not in list")
        self._do(Splice(place, place + 1))

    def sort(
        self, *, key: Callable[[T], Any] | None = None, reverse: bool = False
    ) -> None:
        """Sort as a list does: stable, by `key` where it is given."""
        ordered = self.copy()
        try:
            ordered.sort(key=cast("Any", key), reverse=reverse)  # as for lists, any T
        except Exception:
            self._do(Splice(0, None, tuple(ordered)))  # sorted as far as it came
            raise
        self._do(Splice(0, None, tuple(ordered)))

    # How

    def _empty(self) -> list[T]:
        return []

    def _tx_like(self, items: Iterable[T]) -> TList[T]:
        made: TList[T] = type(self).__new__(type(self))
        TList.__init__(made, items, whole=self._whole)
        return made

    def _items_of(self, other: object) -> list[Any] | None:
        if isinstance(other, TList):
            return other._contents()
        return other if isinstance(other, list) else None

    def _bounds(self, where: slice) -> tuple[int, int | None]:
        """Return the bounds of a slice without a step, reading the length if needed."""
        try:
            start = 0 if where.start is None else operator.index(where.start)
            stop = None if where.stop is None else operator.index(where.stop)
        except TypeError:
            self._empty()[where]  # raises what a list raises
            raise
        if start < 0 or (stop is not None and stop < 0):
            start, stop, _ = where.indices(len(self))
        return start, stop

    def _set_slice(self, where: slice, values: Any) -> None:
        if not isinstance(values, Iterable):
            self._empty()[where] = values  # raises what a list raises
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
    made._tx_begin(tuple(converted(plain, convert)))


register(list, TList, _fill)
