"""The contents of a container at a version, and how a commit changes them.

The order of the keys is that of the dict in which the cells lie. Only a key that comes
back while its deletion is still there, because of a snapshot, is out of order. It and
all that are inserted after it keep an entry with their place for as long as there is
anything in the container, and are sorted by that when they are asked for.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from txloop.stm.container import Clear, Update, setter
from txloop.stm.types import MISSING
from txloop.stm.versions import Entry, set_item, value_at

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from txloop.stm.container import Container, Operation

__all__ = ["put", "put_all", "put_in_row", "settle", "values_of"]

_set_changed = setter("_tx_changed")

_ENTRIES = frozenset({Entry})


def values_of(
    container: Container, cells: dict[Hashable, Any], version: int
) -> dict[Hashable, Any]:
    """Return the keys and values at `version`, in insertion order.

    Args:
        container: The container.
        cells: A copy of what is in it, which may be returned.
        version: One that is open, or the newest.
    """
    if _ENTRIES.isdisjoint(map(type, cells.values())):
        return cells
    shuffled = container._tx_shuffled  # after the copy: the owner sets it before
    changed = [key for key, cell in cells.items() if type(cell) is Entry]
    if not shuffled and all(cells[key].key is MISSING for key in changed):
        # In place, as these are few: a tuple for each cell, as below, wakes the
        # garbage collector where there are many.
        for key in changed:
            value = value_at(cells[key], version)
            if value is MISSING:
                del cells[key]
            else:
                cells[key] = value
        return cells
    found = []
    for key, cell in cells.items():
        shown, value, place = key, cell, 0
        while type(value) is Entry and value.version > version:
            value = value.older
        if type(value) is Entry:
            if value.key is not MISSING:
                shown = value.key
            if value.place >= shuffled:
                place = value.place
            value = value.value
        if value is not MISSING:
            found.append((place, shown, value))
    # A key that was deleted and came back stands at its newest or oldest place.
    found.sort(key=operator.itemgetter(0))
    return {key: value for _, key, value in found}


def put(
    container: Container,
    key: Hashable,
    value: object,
    version: int,
    place: int,
    kept: bool,
) -> bool:
    """Write one cell.

    Args:
        container: Its container.
        key: Its key.
        value: What it has from now on; MISSING deletes it.
        version: The commit that writes it.
        place: Its place, if it is inserted.
        kept: Whether a snapshot is open, so that what it had before is kept.

    Returns:
        Whether `settle` has to look after it.
    """
    cells = container._tx_cells
    cell = cells.get(key, MISSING)
    if (
        not kept
        and MISSING is not value
        and cell is not MISSING
        and type(cell) is not Entry
    ):
        # As most writes are: the rest below would come to the same.
        if type(cells) is dict:
            container._tx_changed = version
        else:
            _set_changed(container, version)
        if container._tx_view is not None:
            container._tx_view = None
        cells[key] = value
        return False
    entry = cell if type(cell) is Entry else None
    is_there = (cell if entry is None else entry.value) is not MISSING
    if value is MISSING and not is_there:
        return False
    _set_changed(container, version)
    if container._tx_view is not None:
        container._tx_view = None
    shown: Hashable = MISSING
    if not is_there:
        container._tx_resized = version
        container._tx_size += 1
        if entry is not None:
            # It belongs at the end. But while it moved there, the readers of an older
            # version would miss it.
            shown = key
            container._tx_shuffled = container._tx_shuffled or place
    else:
        if value is MISSING:
            container._tx_resized = version
            container._tx_size -= 1
        shown, place = (MISSING, 0) if entry is None else (entry.key, entry.place)
    if kept:
        cells[key] = Entry(version, shown, value, place, cell)
        return True
    if value is MISSING:
        _delete(container, key)
    elif entry is not None or (container._tx_shuffled and not is_there):
        cells[key] = Entry(version, shown, value, place, MISSING)
    else:
        cells[key] = value
    return False


def put_in_row(container: Any, index: int, value: object, version: int) -> bool:
    """Replace a value in a row, where no snapshot is open; tell whether it could."""
    row = container._tx_cells
    cell = row[index]
    if cell is MISSING or type(cell) is Entry or value is MISSING:
        return False
    _set_changed(container, version)
    set_item(row, index, value)
    return True


def put_all(
    container: Container, operation: Operation, version: int, place: int, kept: bool
) -> Collection[Hashable] | None:
    """Write many cells in one step, where an operation can be done so.

    Args:
        container: Their container.
        operation: What to do.
        version: The commit that writes them.
        place: The place of the first one.
        kept: Whether a snapshot is open.

    Returns:
        The keys that `settle` has to look after; None where nothing was done.
    """
    if type(operation) is Update:
        items = operation.items
        if kept:
            return _update_kept(container, items, version, place)
        return () if _update(container, items, version) else None
    if kept:
        return None
    if type(operation) is Clear:
        _clear(container, version)
        return ()
    return () if operation.put_at_once(container, version) else None


def _update(
    container: Container, items: Mapping[Hashable, object], version: int
) -> bool:
    """Write many cells at once, where no snapshot is open; return whether it could."""
    cells = container._tx_cells
    if container._tx_shuffled:
        return False
    is_row = not isinstance(cells, dict)
    before = container._tx_size if is_row else len(cells)
    if is_row and not _is_all_or_nothing(cells, before):
        return False
    _set_changed(container, version)
    if container._tx_view is not None:
        container._tx_view = None
    cells.update(items)
    now = (before or len(items)) if is_row else len(cells)
    if now != before:
        container._tx_resized = version
        container._tx_size = now
    return True


def _is_all_or_nothing(row: Collection[object], size: int) -> bool:
    """Tell whether a row without history has all values, or none yet, as most have."""
    return size in (0, len(row)) and _ENTRIES.isdisjoint(map(type, row))


def _clear(container: Container, version: int) -> None:
    """Delete all keys at once, where no snapshot is open."""
    if container._tx_size:
        container._tx_changed = container._tx_resized = version
        container._tx_view = None
        container._tx_size = container._tx_shuffled = 0
        container._tx_cells.clear()


def _update_kept(
    container: Container, items: Mapping[Hashable, object], version: int, place: int
) -> list[Hashable]:
    """Write many cells while a snapshot is open, as `put` does each.

    Args:
        container: Their container.
        items: Their keys and values.
        version: The commit that writes them.
        place: The place of the first one.

    Returns:
        The keys that `settle` has to look after.
    """
    cells = container._tx_cells
    container._tx_changed = version
    container._tx_view = None
    inserted = 0
    for key, value in items.items():
        cell = cells.get(key, MISSING)
        if type(cell) is Entry:
            put(container, key, value, version, place, True)
        elif cell is not MISSING:
            cells[key] = Entry(version, MISSING, value, 0, cell)
        else:
            container._tx_resized = version  # before the size: see `Store.size_at`
            cells[key] = Entry(version, MISSING, value, place, MISSING)
            inserted += 1
        place += 1
    container._tx_size += inserted
    return list(items)


def settle(container: Container, key: Hashable, oldest: int) -> None:
    """Let go of the values of a cell that no snapshot from `oldest` on can read."""
    cells = container._tx_cells
    entry: Any = cells.get(key, MISSING)
    if type(entry) is not Entry:
        return
    if entry.version <= oldest:
        shuffled = container._tx_shuffled
        if entry.value is MISSING:
            _delete(container, key)
        elif shuffled and entry.place >= shuffled:
            entry.older = MISSING
        else:
            cells[key] = entry.value
        return
    while type(entry) is Entry and entry.version > oldest:
        entry = entry.older
    if type(entry) is Entry:
        entry.older = MISSING


def _delete(container: Container, key: Hashable) -> None:
    cells = container._tx_cells
    del cells[key]
    if not cells:
        container._tx_shuffled = 0
