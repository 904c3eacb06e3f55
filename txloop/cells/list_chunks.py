"""How a TList lies in cells: tuples of up to `CHUNK` items, and its size.

The cells 0, 1, 2 ... hold the chunks, all full but the last one; the cell `Key.KEYS`
holds the size. They are not written directly: a list is written by operations, which
are resolved into chunks when they commit. So an item is the unit of conflict (`item_at`
tells whether it is still the same object), a row of a grid is one tuple, and a change
of a long list costs one chunk.
"""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from txloop.errors import TxInternalError
from txloop.stm.container import NEWEST, Container, Operation
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Entry, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

__all__ = [
    "CHUNK",
    "Extend",
    "KeepLast",
    "ListOperation",
    "Put",
    "Splice",
    "cells_of",
    "changed_length",
    "changed_since",
    "contents_at",
    "item_at",
    "items_at",
    "size_at",
    "span_changed_since",
]

CHUNK = 256
"""A row of most grids; short enough that replacing one of its items is cheap."""

Contents = list[Any]


def size_at(container: Container, version: int) -> int:
    """Return the number of items at `version`."""
    size: Any = container._tx_cells.get(Key.KEYS, 0)
    if type(size) is Entry:
        size = value_at(size, version)
        return 0 if size is MISSING else size
    return size  # type: ignore[no-any-return] # the cell has nothing else


def item_at(container: Container, index: int, version: int) -> Any:
    """Return the item at `index` (0 or more) at `version`, or MISSING."""
    number, place = divmod(index, CHUNK)
    chunk: Any = container._tx_cells.get(number, MISSING)
    if type(chunk) is Entry:
        chunk = value_at(chunk, version)
    if chunk is MISSING or place >= len(chunk):
        return MISSING
    return chunk[place]


def cells_of(items: tuple[object, ...]) -> dict[Hashable, object]:
    """Return the cells of a list with these items."""
    if not items:
        return {}
    if len(items) <= CHUNK:
        return {0: items, Key.KEYS: len(items)}
    return {**dict(_chunked(items, 0)), Key.KEYS: len(items)}


def contents_at(container: Container, version: int) -> Contents:
    """Return all items at `version`."""
    return _from_chunk(container, 0, version)


def items_at(container: Container, start: int, stop: int, version: int) -> Contents:
    """Return the items from `start` to before `stop`, as far as there are any."""
    first = start // CHUNK
    before = first * CHUNK
    if stop <= before + CHUNK:
        # Not by `Store.read_at`: this is how a grid is read.
        chunk: Any = container._tx_cells.get(first, MISSING)
        if type(chunk) is Entry:
            chunk = value_at(chunk, version)
        return [] if chunk is MISSING else [*chunk[start - before : stop - before]]
    chunks = _from_chunk(container, first, version, _chunks_of(stop))
    return chunks[start - before : stop - before]


def changed_since(container: Container, index: int, snapshot: int) -> int:
    """Return the newest version after `snapshot` that replaced an item, or 0.

    An item that is the same object as before has not changed, whatever was moved.
    """
    if item_at(container, index, snapshot) is item_at(container, index, NEWEST):
        return 0
    number, place = divmod(index, CHUNK)
    entry: Entry = container._tx_cells[number]  # it has changed, so it is one
    older = entry.older
    while type(older) is Entry and _item(entry, place) is _item(older, place):
        entry, older = older, older.older
    return entry.version


def span_changed_since(
    container: Container, start: int, stop: int, snapshot: int
) -> int:
    """Return a version after `snapshot` that changed items of a span, or 0.

    It is one that changed the first of those items that have changed; where there are
    more or fewer than before, the newest one that changed the length.
    """
    before = items_at(container, start, stop, snapshot)
    now = items_at(container, start, stop, NEWEST)
    if len(before) != len(now):
        return changed_length(container)
    for place, (old, new) in enumerate(zip(before, now, strict=True), start):
        if old is not new:
            return changed_since(container, place, snapshot)
    return 0


def changed_length(container: Container) -> int:
    """Return the newest version that changed the length, after an open snapshot."""
    entry: Entry = container._tx_cells[Key.KEYS]  # it has changed, so it is one
    return entry.version


def _item(entry: Entry, place: int) -> object:
    chunk: Any = entry.value
    return chunk[place] if chunk is not MISSING and place < len(chunk) else MISSING


def _from_chunk(
    container: Container, number: int, version: int, end: int = sys.maxsize
) -> Contents:
    contents: Contents = []
    while number < end:
        chunk: Any = committed.read_at(container, number, version)
        if chunk is MISSING:
            break
        contents += chunk
        number += 1
    return contents


class ListOperation(Operation):
    """A write to a list, which also knows what it does to a plain one.

    Once made it is never changed.
    """

    __slots__ = ()

    def apply(self, contents: Contents) -> None:
        """Do to a plain list what this does to a TList."""
        raise NotImplementedError


@dataclass(slots=True)  # not frozen: making one would take twice as long
class Put(ListOperation):
    """Replace items that are there, as what makes one has read."""

    items: dict[int, object]  # by index, 0 or more

    def __reduce__(self) -> tuple[object, ...]:
        return Put, (self.items,)

    def apply(self, contents: Contents) -> None:
        for index, value in self.items.items():
            contents[index] = value

    def cells(self, container: Container) -> Iterator[tuple[Hashable, object]]:
        chunks: dict[int, Contents] = {}
        for index, value in self.items.items():
            number, place = divmod(index, CHUNK)
            if number not in chunks:
                chunks[number] = list(_chunk(container, number))
            chunks[number][place] = value
        for number, chunk in chunks.items():
            yield number, tuple(chunk)

    def put_at_once(self, container: Container, version: int) -> bool:
        if len(self.items) != 1:
            return False
        ((index, value),) = self.items.items()
        number, place = divmod(index, CHUNK)
        cells: dict[Hashable, Any] = container._tx_cells
        chunk = cells.get(number)
        if type(chunk) is not tuple or container._tx_shuffled:
            return False
        container._tx_changed = version
        container._tx_view = None
        items = list(chunk)
        items[place] = value
        cells[number] = tuple(items)
        return True

    def takes_in(self, later: object) -> bool:
        if type(later) is not Put:
            return False
        self.items.update(later.items)
        return True

    def mapped(self, convert: Callable[[object], object]) -> Put:
        return Put({index: convert(value) for index, value in self.items.items()})


@dataclass(slots=True)
class Extend(ListOperation):
    """Add items at the end, wherever that is."""

    values: tuple[object, ...]

    def __reduce__(self) -> tuple[object, ...]:
        return Extend, (self.values,)

    def apply(self, contents: Contents) -> None:
        contents.extend(self.values)

    def cells(self, container: Container) -> Iterator[tuple[Hashable, object]]:
        size = size_at(container, NEWEST)
        number, place = divmod(size, CHUNK)
        values = self.values
        if place:
            values = _chunk(container, number) + values
        if len(values) <= CHUNK:
            yield number, values  # as most are
        else:
            yield from _chunked(values, number)
        yield Key.KEYS, size + len(self.values)

    def put_at_once(self, container: Container, version: int) -> bool:
        cells: dict[Hashable, Any] = container._tx_cells
        size = cells.get(Key.KEYS, 0)
        if type(size) is not int or container._tx_shuffled:
            return False
        number, place = divmod(size, CHUNK)
        values = self.values
        if place:
            chunk = cells[number]
            if type(chunk) is Entry:
                return False
            values = chunk + values
        if len(values) > CHUNK:
            return False
        container._tx_changed = version
        container._tx_view = None
        if not place:
            container._tx_resized = version
            container._tx_size += 1 if Key.KEYS in cells else 2
        cells[number] = values
        cells[Key.KEYS] = size + len(self.values)
        return True

    def mapped(self, convert: Callable[[object], object]) -> Extend:
        return Extend(tuple(map(convert, self.values)))


@dataclass(slots=True)
class Splice(ListOperation):
    """Replace the items from `start` to `stop` by others, as a slice assignment.

    Beyond the end both mean the end, as in a slice; a `stop` of None does, too.
    """

    start: int
    stop: int | None
    values: tuple[object, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        return Splice, (self.start, self.stop, self.values)

    @property
    def is_everything(self) -> bool:
        """Whether nothing of what was there stays."""
        return self.start == 0 and self.stop is None

    def apply(self, contents: Contents) -> None:
        contents[self.start : self.stop] = self.values

    def cells(self, container: Container) -> Iterator[tuple[Hashable, object]]:
        size = size_at(container, NEWEST)
        start = min(self.start, size)
        number = start // CHUNK
        before = number * CHUNK  # items that stay where they are
        contents = _from_chunk(container, number, NEWEST)
        old_count = len(contents)
        stop = None if self.stop is None else max(self.stop - before, 0)
        contents[start - before : stop] = self.values
        for cell, chunk in _chunked(contents, number):
            if not _is_there(container, cell, chunk):
                yield cell, chunk
        kept = number + _chunks_of(len(contents))
        for gone in range(kept, number + _chunks_of(old_count)):
            yield gone, MISSING
        if len(contents) != old_count:
            yield Key.KEYS, before + len(contents)

    def put_at_once(self, container: Container, version: int) -> bool:
        cells: dict[Hashable, Any] = container._tx_cells
        size = cells.get(Key.KEYS)
        if type(size) is not int or not 0 < size <= CHUNK or container._tx_shuffled:
            return False
        chunk = cells[0]
        if type(chunk) is Entry:
            return False
        items = list(chunk)
        items[self.start : self.stop] = self.values
        if not 0 < len(items) <= CHUNK:
            return False
        if len(items) == size and all(map(operator.is_, chunk, items)):
            return True
        container._tx_changed = version
        container._tx_view = None
        cells[0] = tuple(items)
        cells[Key.KEYS] = len(items)
        return True

    def mapped(self, convert: Callable[[object], object]) -> Splice:
        return Splice(self.start, self.stop, tuple(map(convert, self.values)))


@dataclass(slots=True)
class KeepLast(ListOperation):
    """Delete items at the beginning, of which there are more than `count`."""

    count: int

    def __reduce__(self) -> tuple[object, ...]:
        return KeepLast, (self.count,)

    def apply(self, contents: Contents) -> None:
        del contents[: max(len(contents) - self.count, 0)]

    def cells(self, container: Container) -> Iterable[tuple[Hashable, object]]:
        surplus = size_at(container, NEWEST) - self.count
        return Splice(0, surplus).cells(container) if surplus > 0 else ()

    def put_at_once(self, container: Container, version: int) -> bool:
        cells: dict[Hashable, Any] = container._tx_cells
        size = size_at(container, NEWEST)
        surplus = size - self.count
        if surplus <= 0:
            return True
        chunk = cells[0]
        if size > CHUNK or not self.count or type(chunk) is not tuple:
            return Splice(0, surplus).put_at_once(container, version)
        if container._tx_shuffled or type(cells[Key.KEYS]) is not int:
            return False
        container._tx_changed = version
        container._tx_view = None
        cells[0] = chunk[surplus:]
        cells[Key.KEYS] = self.count
        return True

    def mapped(self, convert: Callable[[object], object]) -> KeepLast:
        return self  # it stores nothing


def _chunk(container: Container, number: int) -> tuple[Any, ...]:
    chunk: Any = container._tx_cells.get(number, MISSING)
    if type(chunk) is Entry:
        chunk = chunk.value
    if chunk is MISSING:
        raise TxInternalError(
            f"chunk {number} of list {container._tx_number} is not there"
        )
    return tuple(chunk)


def _is_there(container: Container, number: Hashable, chunk: Any) -> bool:
    there: Any = committed.read_at(container, number, NEWEST)
    return (
        there is not MISSING
        and len(there) == len(chunk)
        and all(map(operator.is_, there, chunk))
    )


def _chunked(
    values: Contents | tuple[object, ...], number: int
) -> Iterable[tuple[Hashable, object]]:
    for start in range(0, len(values), CHUNK):
        yield number + start // CHUNK, tuple(values[start : start + CHUNK])


def _chunks_of(count: int) -> int:
    return -(-count // CHUNK)
