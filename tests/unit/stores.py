"""A plain container, and what a store holds of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.container import Container
from txloop.stm.types import MISSING
from txloop.stm.versions import Entry

if TYPE_CHECKING:
    from collections.abc import Hashable

    from txloop.stm.store import Store

__all__ = ["Box", "contents", "versions"]


class Box(Container):
    """A container that can do no more than any other."""

    __slots__ = ()


def contents(
    store: Store, box: Box, version: int | None = None
) -> list[tuple[Hashable, object]]:
    """Return the items at a version, the newest if none is given."""
    at = store.version if version is None else version
    return list(store.contents_at(box, at).items())


def versions(box: Box, key: Hashable) -> list[int]:
    """Return the versions that are still kept of a cell, newest first.

    0 stands for a value from before all open snapshots; a cell that has no other
    value has no versions.
    """
    found = []
    entry: object = box._tx_cells.get(key)
    while type(entry) is Entry:
        found.append(entry.version)
        entry = entry.older
        if not (entry is MISSING or type(entry) is Entry):
            found.append(0)
    return found
