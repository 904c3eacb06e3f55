"""The contents of a container at a version, and how a commit changes them.

The order of the keys is that of the dict in which the cells lie. Only a key that comes
back while its deletion is still there, because of a snapshot, is out of order. It and
all that are inserted after it keep an entry with their place for as long as there is
anything in the container, and are sorted by that when somebody asks.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from txloop.stm.types import MISSING
from txloop.stm.versions import Entry

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from txloop.stm.container import Container

__all__ = ["put", "settle", "update", "values_of"]

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
    shuffled = container._shuffled  # after the copy: the owner sets it before
    found = []
    for key, cell in cells.items():
        if type(cell) is not Entry:
            found.append((0, key, cell))
            continue
        entry: Entry | None = cell
        while entry is not None and entry.version > version:
            entry = entry.older
        if entry is not None and entry.value is not MISSING:
            shown = key if entry.key is MISSING else entry.key
            place = entry.place if entry.place >= shuffled else 0
            found.append((place, shown, entry.value))
    if shuffled:
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
    cells = container._cells
    cell = cells.get(key, MISSING)
    if (
        not kept
        and MISSING is not value
        and cell is not MISSING
        and type(cell) is not Entry
    ):
        # As most writes are: the rest below would come to the same.
        container._changed = version
        if container._view is not None:
            container._view = None
        cells[key] = value
        return False
    entry = cell if type(cell) is Entry else None
    is_there = (cell if entry is None else entry.value) is not MISSING
    if value is MISSING and not is_there:
        return False
    container._changed = version
    if container._view is not None:
        container._view = None
    shown: Hashable = MISSING
    if not is_there:
        container._resized = version
        container._size += 1
        if entry is not None:
            # It belongs at the end. But while it moved there, the readers of an older
            # version would miss it.
            shown = key
            container._shuffled = container._shuffled or place
    else:
        if value is MISSING:
            container._resized = version
            container._size -= 1
        shown, place = (MISSING, 0) if entry is None else (entry.key, entry.place)
    if kept:
        if entry is None and cell is not MISSING:
            entry = Entry(0, MISSING, cell, 0, None)
        cells[key] = Entry(version, shown, value, place, entry)
        return True
    if value is MISSING:
        _delete(container, key)
    elif entry is not None or (container._shuffled and not is_there):
        cells[key] = Entry(version, shown, value, place, None)
    else:
        cells[key] = value
    return False


def update(
    container: Container, items: Mapping[Hashable, object], version: int
) -> bool:
    """Write many cells at once, where no snapshot is open; return whether it could."""
    cells = container._cells
    if container._shuffled or type(cells) is not dict:
        return False
    container._changed = version
    container._view = None
    before = len(cells)
    cells.update(items)
    if len(cells) != before:
        container._resized = version
        container._size = len(cells)
    return True


def settle(container: Container, key: Hashable, oldest: int) -> None:
    """Let go of the values of a cell that no snapshot from `oldest` on can read."""
    cells = container._cells
    entry: Any = cells.get(key, MISSING)
    if type(entry) is not Entry:
        return
    if entry.version <= oldest:
        shuffled = container._shuffled
        if entry.value is MISSING:
            _delete(container, key)
        elif shuffled and entry.place >= shuffled:
            entry.older = None
        else:
            cells[key] = entry.value
        return
    while entry is not None and entry.version > oldest:
        entry = entry.older
    if entry is not None:
        entry.older = None


def _delete(container: Container, key: Hashable) -> None:
    cells = container._cells
    del cells[key]
    if not cells:
        container._shuffled = 0
