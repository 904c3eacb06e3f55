"""What dicts and sets have in common: cells with the keys of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.attempt import current
from txloop.container import Container
from txloop.store import committed
from txloop.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["KeyedCells"]


class KeyedCells(Container):
    """Cells by key, in insertion order; which keys there are is read by itself."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        attempt = current()
        if attempt is None:
            entry = self._entries.get(key)
            return entry is not None and entry.value is not MISSING
        return attempt.has(self, key)

    def __len__(self) -> int:
        attempt = current()
        return self._size if attempt is None else attempt.size(self)

    def _keys(self) -> list[Hashable]:
        """Return the keys as they are now; later changes do not disturb it."""
        attempt = current()
        if attempt is None:
            return [key for key, _ in committed.items_at(self, committed.version)]
        return attempt.keys(self)
