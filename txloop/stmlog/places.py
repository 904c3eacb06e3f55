"""Places in the source as markers, each made once."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from txloop.stmlog.names import CellNames
from txloop.stmlog.packets import marker

if TYPE_CHECKING:
    from txloop.types import Cell, Site

__all__ = ["Places"]

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
