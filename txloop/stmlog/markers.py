"""Places in the source, and cells by their names, as markers that are made once."""

from __future__ import annotations

import functools
import os
import time
from typing import TYPE_CHECKING

from txloop.stm.cell_names import container_names, name_in
from txloop.stmlog.c7_format import marker

if TYPE_CHECKING:
    from txloop.stm.types import Cell, Site, Trace

__all__ = ["CellNames", "Places"]

_LEAST_SECONDS = 1.0
_PAUSES = 100  # times as long as a search took: they cost one per cent at most


class CellNames:
    """Remembers the names of containers; used by the loop thread only.

    After a conflict on a container without a name, because it is new or kept where no
    names are looked for, all names are looked for again; but not too often, and until
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


_markers = functools.lru_cache(maxsize=4096)(marker)


class Places:
    """Writes markers, with files relative to where the program runs."""

    def __init__(self) -> None:
        self._names = CellNames()
        self._folder = os.path.join(os.getcwd(), "")

    def marker(self, site: Site, label: str, cell: Cell | None = None) -> bytes:
        """Return the marker of a line, the handler that ran it and a cell."""
        file, line, function = site
        if file.startswith(self._folder):
            file = file[len(self._folder) :]
        name = "" if cell is None else self._names.name(cell)
        return _markers(file, line, function, label, name)

    def first(self, label: str, trace: Trace) -> bytes:
        """Return the marker of one line of an attempt, a write if there is one."""
        index = next(iter(trace.writes.values()), 0)
        return self.marker(trace.sites[index], label) if trace.sites else b""
