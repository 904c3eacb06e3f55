"""TDeque: a shared deque, which may have a greatest length."""

from __future__ import annotations

import reprlib
from collections import deque
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast

from txloop.cells import live
from txloop.cells.likeness import PassesFor, PassingType
from txloop.cells.list_chunks import Extend, KeepLast, ListOperation, Splice
from txloop.cells.searching import place_of
from txloop.cells.sequence import SequenceCells, as_plain
from txloop.cells.shareable import (
    Convert,
    converted,
    register,
    shareable,
    shareable_all,
)
from txloop.stm.attempt import running
from txloop.stm.container import reduced_with
from txloop.stm.store import committed
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["TDeque"]

T = TypeVar("T")


class TDeque(SequenceCells[T], metaclass=PassingType):
    """A deque of shared values, with the methods of `collections.deque`.

    `append`, `appendleft`, `extend` and `extendleft` read nothing, with a `maxlen`
    neither: two of them never conflict. `popleft` reads the first item, `pop` the
    length and the last one. Deleting at the left moves all items, which a transaction
    that has read one of them sees as a change. The rest is as in `TList`; to wait until
    there is something, use a `Channel`.

    >>> latest = TDeque(maxlen=2)
    >>> latest.extend("abc")
    >>> latest
    TDeque(['b', 'c'], maxlen=2)
    """

    __slots__ = ("_limit",)
    __class__ = PassesFor(deque, "[...]")
    _plain = deque

    _limit: int | None  # it never changes, and travels with each reference

    def __init__(self, items: Iterable[T] = (), maxlen: int | None = None) -> None:
        limit = _checked(maxlen)
        committed.adopt(self)
        self._limit = limit
        shared = tuple(shareable_all(tuple(items)))
        self._tx_begin(shared if limit is None else _last(shared, limit))

    def __iter__(self) -> Iterator[T]:
        """Iterate over what is there now; see `like_plain` for what comes later."""
        if live.on:
            twin = deque(self._contents())
            return live.follow(self, twin, iter(twin))
        return iter(list(self._contents()))

    def __reversed__(self) -> Iterator[T]:
        if live.on:
            twin = deque(self._contents())
            return live.follow(self, twin, reversed(twin))
        return iter(self._contents()[::-1])

    @property
    def maxlen(self) -> int | None:
        """How many items it holds at most, or None."""
        return self._limit

    # Reading

    def __getitem__(self, index: SupportsIndex) -> T:  # type: ignore[override] # no slices
        value = self._item(self._place(index))
        if value is MISSING:
            self._misses(index)
        return cast("T", value)  # it was stored as one

    def index(self, value: T, /, *bounds: int) -> int:
        """Return the first index of `value`, as that of a deque."""
        try:
            return self._contents().index(value, *bounds)
        except (TypeError, ValueError):
            return self.copy().index(value, *bounds)  # raises what a deque raises

    def copy(self) -> deque[T]:
        """Return a plain deque of the same items, with the same `maxlen`."""
        return deque(self._contents(), self._limit)

    def __add__(self, other: deque[T] | TDeque[T]) -> Any:
        made = self._asked(other, "__radd__")
        return self.copy() + as_plain(other) if made is NotImplemented else made

    def __radd__(self, other: deque[T]) -> deque[T]:
        return other + self.copy() if isinstance(other, deque) else NotImplemented

    @reprlib.recursive_repr("TDeque([...])")
    def __repr__(self) -> str:
        limit = "" if self._limit is None else f", maxlen={self._limit}"
        return f"{type(self).__name__}({self._contents()!r}{limit})"

    # Writing

    def __setitem__(self, index: SupportsIndex, value: T) -> None:  # type: ignore[override]
        if not (index.__class__ is int and self._put_bare(index, value)):
            self._set_item(index, value)

    def __delitem__(self, index: SupportsIndex) -> None:  # type: ignore[override]
        self._delete_item(index)

    def insert(self, index: SupportsIndex, value: T, /) -> None:
        """Insert `value` before `index`.

        Raises:
            IndexError: if it holds as many items as it may.
        """
        place = self._gap(index)
        if self._limit is not None and len(self) >= self._limit:
            raise IndexError("deque already at its maximum size")
        self._do(Splice(place, place, (shareable(value),)))

    def append(self, value: T, /) -> None:
        """Add `value` at the right end, wherever that is at the commit."""
        self._add((shareable(value),))

    def appendleft(self, value: T, /) -> None:
        """Add `value` at the left end."""
        self._add_left((shareable(value),))

    def extend(self, values: Iterable[T], /) -> None:
        """Add `values` at the right end, wherever that is at the commit."""
        self._add(tuple(shareable_all(tuple(values))))

    def extendleft(self, values: Iterable[T], /) -> None:
        """Add `values` at the left end one by one: the last one is the first then."""
        self._add_left(tuple(shareable_all(tuple(values)))[::-1])

    def pop(self) -> T:  # type: ignore[override] # as that of a deque
        """Delete and return the last item."""
        return self._pop(len(self) - 1)

    def popleft(self) -> T:
        """Delete and return the first item."""
        return self._pop(0)

    def remove(self, value: T, /) -> None:
        """Delete the first item that equals `value`."""
        place = place_of(self._contents(), value)
        if place is None:
            self.copy().remove(value)  # raises what a deque raises
            raise ValueError("deque.remove(x): x not in deque")
        self._do(Splice(place, place + 1))

    def rotate(self, n: SupportsIndex = 1, /) -> None:
        """Move the last `n` items to the left end; the first ones where negative."""
        items = self.copy()
        items.rotate(cast("int", n))  # it takes what has an index
        self._do(Splice(0, None, tuple(items)))

    # How

    def _add(self, values: tuple[object, ...]) -> None:
        if values and self._limit is None:
            self._do(Extend(values))
        elif values:
            self._do_both(Extend(values), KeepLast(cast("int", self._limit)))

    def _add_left(self, values: tuple[object, ...]) -> None:
        if values and self._limit is None:
            self._do(Splice(0, 0, values))
        elif values:
            self._do_both(Splice(0, 0, values), Splice(cast("int", self._limit), None))

    def _do_both(self, first: ListOperation, second: ListOperation) -> None:
        if running.attempt is None:
            # In one commit: no snapshot shows more than `maxlen` items.
            self._reads = 0
            committed.operate(self, first, second)
            if live.loops:
                live.note_operation(self, second)
        else:
            self._do(first)
            self._do(second)

    def _pop(self, place: int) -> T:
        value = self._item(place)
        if value is MISSING:
            deque[T]().pop()  # raises what a deque raises
        self._do(Splice(place, place + 1))
        return cast("T", value)  # it was stored as one

    def _items_of(self, other: object) -> list[Any] | None:
        if isinstance(other, TDeque):
            return other._contents()
        return list(other) if isinstance(other, deque) else None

    def _empty(self) -> deque[T]:
        return deque(maxlen=self._limit)

    def _tx_like(self, items: Iterable[T]) -> TDeque[T]:
        made: TDeque[T] = type(self).__new__(type(self))
        TDeque.__init__(made, items, self._limit)
        return made

    def _tx_start(self, number: int, cells: Any) -> None:
        super()._tx_start(number, cells)
        self._limit = None

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_with(self, "_limit")


def _checked(maxlen: object) -> int | None:
    if maxlen is None:
        return None
    if not isinstance(maxlen, int):
        raise TypeError("an integer is required")
    if maxlen < 0:
        raise ValueError("maxlen must be non-negative")
    return maxlen


def _last(items: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    return items[max(len(items) - count, 0) :]


def _fill(made: TDeque[Any], plain: deque[Any], convert: Convert) -> None:
    made._limit = plain.maxlen
    made._tx_begin(tuple(converted(plain, convert)))


register(deque, TDeque, _fill)
