"""What dicts and sets have in common: cells with the keys of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from txloop.cells import live
from txloop.stm.attempt import running
from txloop.stm.container import NEWEST, Clear, Container, Update
from txloop.stm.store import committed
from txloop.stm.threads import asked_by_all
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Entry

if TYPE_CHECKING:
    from collections.abc import Hashable

    from txloop.stm.container import Write

__all__ = ["KeyedCells"]


class KeyedCells(Container):
    """Cells by key, in insertion order; which keys there are is read by itself."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        try:
            attempt = running.attempt if committed.noting else None
            if attempt is None:
                cell = self._tx_cells.get(key, MISSING)
                if type(cell) is Entry:
                    cell = cell.value
                return cell is not MISSING
            return attempt.has(self, key)
        except TypeError:
            other = self._hashable(key)
            if other is None:
                raise
        return other in self

    def _hashable(self, key: object) -> Hashable | None:
        """Return what is looked for in the place of a key without a hash, or None."""
        return None

    def __len__(self) -> int:
        attempt = running.attempt if committed.noting else None
        return self._tx_size if attempt is None else attempt.size(self)

    def clear(self) -> None:
        """Take out all that is there at the commit."""
        attempt = running.attempt
        if attempt is None:
            committed.install([(self, Key.ALL, Clear())])
        else:
            attempt.clear(self)
        if live.loops:
            live.note_call(self, "clear")

    def _keys(self) -> list[Hashable]:
        """Return the keys as they are now; later changes do not disturb it."""
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            return committed.keys_at(self, NEWEST)
        return attempt.keys(self)

    def _adopt(self, cells: dict[Any, Any]) -> None:
        """Begin to be, with what may be stored; it takes the dict over."""
        attempt = running.attempt
        if attempt is not None:
            committed.adopt(self)
            attempt.begin(self, cells)
        else:
            committed.adopt(self, None, cells)
            if cells:
                committed.begin(self)

    def _tx_begin(self, cells: dict[Any, Any]) -> None:
        """Fill it, while it is new, with what may be stored; it takes the dict over."""
        attempt = running.attempt
        if attempt is not None:
            attempt.begin(self, cells)
        elif cells:
            self._tx_cells = asked_by_all(cells)
            self._tx_size = len(cells)
            committed.begin(self)

    def _tx_told(self) -> Write:
        return self, Key.ALL, Update(self._tx_cells.copy())

    def _write(self, key: object, value: object) -> None:
        """Set a cell to what may be stored; MISSING deletes."""
        attempt = running.attempt
        if attempt is None:
            committed.write(self, key, value)
        else:
            attempt.write(self, key, value)
        if live.loops:
            live.note(self, key, value)

    def _update(self, cells: dict[Any, Any]) -> None:
        """Set many cells to what may be stored; the dict may be the program's."""
        attempt = running.attempt
        if attempt is not None:
            attempt.write_all(self, cells)
        elif cells:
            # Followers keep it.
            told = cells.copy() if committed.followers else cells
            committed.install([(self, Key.ALL, Update(told))])
        if live.loops:
            live.note_call(self, "update", cells)
