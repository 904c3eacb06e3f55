"""What cells are called in the log: found in seconds' distance, known at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from txloop.naming import container_names, name_in

if TYPE_CHECKING:
    from txloop.types import Cell

__all__ = ["CellNames"]

_LEAST_SECONDS = 1.0
_PAUSES = 100  # times as long as a search took: they cost one per cent at most


class CellNames:
    """Remembers the names of containers; used by the loop thread only.

    A conflict on a container that has no name, because it is new or the program keeps
    it where nobody looks, has all names looked for again; but not too often, and until
    then it goes by its number.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._next_search = 0.0

    def name(self, cell: Cell) -> str:
        """Return what a cell is called, such as ``grid[3]``."""
        number = cell[0]
        if number not in self._names and time.monotonic() >= self._next_search:
            self._search()
        try:
            return name_in(self._names.get(number), cell)
        except Exception as error:  # whatever the repr of the program's keys raises
            return f"a key of {self._names.get(number, number)}, {error!r}"

    def _search(self) -> None:
        began = time.monotonic()
        self._names = container_names()
        now = time.monotonic()
        self._next_search = now + max(_LEAST_SECONDS, _PAUSES * (now - began))
