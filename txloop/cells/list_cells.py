"""How a list reads and writes its cells, inside an attempt and outside.

What is read is remembered as little as possible: an item, that there is an item, a span
of them, the length, or everything. `TList` is the list that the program sees.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from txloop.cells import live
from txloop.cells.list_chunks import (
    Extend,
    ListOperation,
    Put,
    cells_of,
    changed_length,
    changed_since,
    contents_at,
    item_at,
    items_at,
    size_at,
    span_changed_since,
)
from txloop.cells.list_writes import ListWrites
from txloop.stm.attempt import Attempt, running
from txloop.stm.container import NEWEST, Container, reduced_with
from txloop.stm.held import STRANGE
from txloop.stm.store import committed
from txloop.stm.threads import asked_by_all
from txloop.stm.types import MISSING, Key, strange

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from txloop.stm.container import Write

__all__ = ["ListCells"]

# An attempt that has read this many single items of a list, or one more than it has,
# and a sixteenth of it, is treated as having read all of it: further reads cost next to
# nothing. Outside attempts, where nothing is noted, a second read without a write
# between them does for a short list.
_OFTEN = 16
_FEWEST = 8  # reads, after which that is looked at
_SHARE = 16

_FEW = 8  # items; a slice of as many is read one by one where some are written


class ListCells(Container):
    """The items of a list, by index."""

    __slots__ = ("_reads", "_whole")

    _reads: int  # of single items outside transactions, since it was shown or written
    _whole: bool  # whether reading anything is reading everything

    def _tx_start(self, number: int, cells: Any) -> None:
        Container._tx_start(self, number, cells)  # `super` takes longer than the rest
        self._reads = 0
        self._whole = False

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_with(self, "_whole") if self._whole else super().__reduce__()

    def _item(self, index: int) -> Any:
        """Return one item, or MISSING; a negative index is not there."""
        if index < 0:
            return MISSING
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            reads = self._reads = self._reads + 1
            if reads > 1 and reads * _SHARE >= size_at(self, NEWEST):
                self._reads = 0
                committed.show(self, contents_at(self, NEWEST))
            return item_at(self, index, NEWEST)
        number = self._tx_number
        view = attempt.views.get(number)
        if view is not None:
            return view[index] if index < len(view) else MISSING
        own: ListWrites | None = attempt.writes.get(number)
        if self._whole or (own is not None and not own.is_loose):
            contents = self._contents()
            return contents[index] if index < len(contents) else MISSING
        if own is not None and index in own.put:
            return own.put[index]
        value = item_at(self, index, attempt.snapshot)
        if self._tx_forgotten or strange.seen:
            attempt.check_read(self, index, value)
        if value is MISSING:
            return self._item_beyond(attempt, index)
        attempt.values.add((number, index))
        reads = attempt.item_reads[number] = attempt.item_reads.get(number, 0) + 1
        if reads > _FEWEST:
            size = size_at(self, attempt.snapshot)
            if reads * _SHARE >= size and (reads > size or reads >= _OFTEN):
                self._contents()
        return value

    def _item_beyond(self, attempt: Attempt, index: int) -> Any:
        """Return an item that was not there at the snapshot."""
        attempt.presences.add((self._tx_number, index))
        own: ListWrites | None = attempt.writes.get(self._tx_number)
        if own is None or not own.added:
            return MISSING
        place = index - self._base_size(attempt)
        return own.added[place] if place < len(own.added) else MISSING

    def _has(self, index: int) -> bool:
        """Tell whether there is an item at `index`, reading no more than that."""
        view = self._tx_view
        if view is not None:
            return 0 <= index < len(view)
        attempt = running.attempt if committed.noting else None
        if attempt is None or index < 0:
            return 0 <= index < size_at(self, NEWEST)
        own: ListWrites | None = attempt.writes.get(self._tx_number)
        if own is not None and not own.is_loose:
            return index < len(self._contents())
        if self._tx_forgotten:
            attempt.refuse(self)
        if index < size_at(self, attempt.snapshot):
            attempt.presences.add((self._tx_number, index))
            return True
        return self._item_beyond(attempt, index) is not MISSING

    def _base_size(self, attempt: Attempt) -> int:
        if self._tx_forgotten:
            attempt.refuse(self)
        size = size_at(self, attempt.snapshot)
        attempt.values.add((self._tx_number, Key.KEYS))
        return size

    def _contents(self) -> list[Any]:
        """Return everything; callers must not change it."""
        if self._tx_view is not None:
            return self._tx_view
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            return contents_at(self, NEWEST)
        own: ListWrites | None = attempt.writes.get(self._tx_number)
        if own is not None and own.known is not None:
            return own.known
        view = attempt.views.get(self._tx_number)
        if view is not None:
            return view
        contents = contents_at(self, attempt.snapshot)
        attempt.values.add((self._tx_number, Key.ALL))
        self._check(attempt, contents)
        if own is not None:
            return own.know(contents)
        if not committed.show(self, contents):
            attempt.views[self._tx_number] = contents
        return contents

    def _slice(self, wanted: slice) -> list[Any]:
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            places = range(*wanted.indices(size_at(self, NEWEST)))
            if wanted.step is None and places:
                return items_at(self, places.start, places.stop, NEWEST)
            return contents_at(self, NEWEST)[wanted]
        if wanted.step is None and wanted.stop is not None:
            start = operator.index(wanted.start or 0)
            stop = operator.index(wanted.stop)
            if 0 <= start <= stop:
                if self._tx_number not in attempt.writes and not self._whole:
                    return self._span(attempt, start, stop)
                if stop - start <= _FEW:
                    return list(self._items_until_end(start, stop))
        return self._contents()[wanted]

    def _span(self, attempt: Attempt, start: int, stop: int) -> list[Any]:
        """Return the items from `start` to before `stop`, as many as there are.

        All that is read so of one list is remembered as one span, which reaches from
        the first item of it to the last.
        """
        number = self._tx_number
        found = items_at(self, start, stop, attempt.snapshot)
        if strange.seen or self._tx_forgotten:
            self._check(attempt, found)
        if start == stop:
            return found
        spans = attempt.spans
        span = spans.get(number)
        if span is None:
            span = start, stop
        elif start < span[0] or stop > span[1]:
            span = min(start, span[0]), max(stop, span[1])
        spans[number] = span  # even again: see `Attempt.condemn`
        return found

    def _check(self, attempt: Attempt, items: list[Any]) -> None:
        if strange.seen:
            found = next((one for one in items if one.__class__ in STRANGE), None)
            if found is not None:
                attempt.check(self, found)
        if self._tx_forgotten:
            attempt.refuse(self)

    def _items_until_end(self, start: int, stop: int) -> Iterator[Any]:
        for index in range(start, stop):
            value = self._item(index)
            if value is MISSING:
                return
            yield value

    def _length(self) -> int:
        view = self._tx_view
        if view is not None:
            return len(view)
        attempt = running.attempt
        if attempt is None:
            return size_at(self, NEWEST)
        own: ListWrites | None = attempt.writes.get(self._tx_number)
        if self._whole or (own is not None and not own.is_loose):
            return len(self._contents())
        return self._base_size(attempt) + (len(own.added) if own is not None else 0)

    def _put(self, items: dict[int, object]) -> None:
        attempt = running.attempt
        if live.loops:
            live.note_operation(self, Put(dict(items)))
        if attempt is not None and items:
            own: ListWrites | None = attempt.writes.get(self._tx_number)
            if attempt.traced:
                attempt.note_write(self, items)
            if own is not None and own.is_loose and not own.added:
                own.put.update(items)  # as `_do` does in the end
                return
            if own is not None and own.added and not own.moved:
                size = self._base_size(attempt)
                for index in [index for index in items if index >= size]:
                    own.put_added(index, size, items.pop(index))
        if items:
            self._do(Put(items))

    def _do(self, operation: ListOperation) -> None:
        attempt = running.attempt
        if attempt is None:
            self._reads = 0
            committed.operate(self, operation)
        else:
            own: ListWrites | None = attempt.writes.get(self._tx_number)
            if own is None:
                if self._tx_forgotten:
                    attempt.refuse(self)
                own = attempt.writes[self._tx_number] = ListWrites(self)
                attempt.views.pop(self._tx_number, None)
            self._tx_view = None
            if attempt.traced and not isinstance(operation, Put):
                attempt.note_write(self, ())
            own.do(operation)
        if live.loops and not isinstance(operation, Put):  # see `_put`
            live.note_operation(self, operation)

    def _tx_begin(self, items: tuple[object, ...]) -> None:
        """Fill it, while it is new, with what may be stored."""
        if running.attempt is None:
            if items:
                self._tx_cells = asked_by_all(cells_of(items))
                self._tx_size = len(self._tx_cells)
                committed.begin(self)
        elif items:
            self._do(Extend(items))

    # What the store asks

    def _tx_told(self) -> Write:
        return self, Key.ALL, Extend(tuple(contents_at(self, NEWEST)))

    def _tx_converted(self, value: Any, convert: Callable[[object], object]) -> object:
        return tuple(map(convert, value)) if type(value) is tuple else value

    def _tx_changed_since(self, key: Hashable, presence: bool, snapshot: int) -> int:
        if self._tx_changed <= snapshot:
            return 0
        if key is Key.ALL:
            return self._tx_changed
        if isinstance(key, tuple):
            start, stop = key
            return span_changed_since(self, start, stop, snapshot)
        before, now = size_at(self, snapshot), size_at(self, NEWEST)
        if isinstance(key, int):
            if not presence:
                return changed_since(self, key, snapshot)
            before, now = before > key, now > key
        return 0 if before == now else changed_length(self)

    def _tx_stamp(self, key: Hashable, presence: bool) -> object:
        if key is Key.ALL or isinstance(key, tuple):
            return self._tx_changed
        size = size_at(self, NEWEST)
        if isinstance(key, int):
            return size > key if presence else item_at(self, key, NEWEST)
        return size
