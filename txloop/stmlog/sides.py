"""The two sides of a conflict: where they are in the source, and what won.

A marker names a place in the source, and a cell by its name; it is made once. The other
side of a conflict is found among what was committed lately, with its line.
"""

from __future__ import annotations

import functools
import os
import time
from collections import deque
from typing import TYPE_CHECKING

from txloop.stm.attempt_kinds import here
from txloop.stm.cell_names import container_names, name_in
from txloop.stm.joining import Follower
from txloop.stm.store import committed
from txloop.stm.types import Key
from txloop.stmlog.c7_format import (
    CONTENTION_WRITE_READ,
    CONTENTION_WRITE_WRITE,
    marker,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from txloop.stm.container import Write
    from txloop.stm.types import Cell, Conflict, Site, Trace
    from txloop.stmlog.log_threads import Contention

__all__ = ["CellNames", "Places", "Winners"]

_LEAST_SECONDS = 1.0
_PAUSES = 100  # times as long as a search took: they cost one per cent at most

_MOST = 2000  # commits that are remembered


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


class Winners(Follower):
    """Follows the store; used by the loop thread only."""

    hears_births = False  # nothing conflicts with them
    grows = False

    def __init__(self, places: Places) -> None:
        self._places = places
        self._known: dict[int, tuple[str, Mapping[Cell, int], Sequence[Site]]] = {}
        self._versions: deque[int] = deque()
        committed.follow(self)

    def close(self) -> None:
        """Stop following."""
        if self in committed.followers:
            committed.followers.remove(self)

    def note(self, version: int, label: str, trace: Trace) -> None:
        """Remember the transaction that has committed as `version`."""
        self._remember(version, label, trace.writes, trace.sites)

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        """Remember the line of unmarked code that has changed shared state."""
        site = here() if direct else None  # of a transaction, `note` is called at once
        if site is not None:
            cells: dict[Cell, int] = {
                (one._tx_number, Key.ALL): 0 for one, _, _ in writes
            }
            self._remember(version, "", cells, (site,))

    def dropped(self, number: int) -> None:
        """Do nothing: what has died cannot be in a conflict."""

    def contention(self, label: str, trace: Trace, conflict: Conflict) -> Contention:
        """Return what an attempt has lost to which other, and at which lines."""
        cell, victim, culprit = conflict.cell, b"", b""
        wrote = cell in trace.writes
        kind = CONTENTION_WRITE_WRITE if wrote else CONTENTION_WRITE_READ
        mine, winner, theirs = self.sides(trace, conflict)
        if mine is not None:
            victim = self._places.marker(mine, label, cell)
        if theirs is not None:
            culprit = self._places.marker(theirs, winner, cell)
        return kind, victim, culprit

    def sides(
        self, trace: Trace | None, conflict: Conflict
    ) -> tuple[Site | None, str, Site | None]:
        """Return where an attempt used the cell; what has changed it, and where."""
        index = None
        if trace is not None:
            cell = conflict.cell
            index = trace.writes.get(cell, trace.reads.get(cell))
        mine = None if trace is None or index is None else trace.sites[index]
        return mine, *self._winner(conflict)

    def _winner(self, conflict: Conflict) -> tuple[str, Site | None]:
        """Return the label and the line that changed what a conflict is about."""
        label, writes, sites = self._known.get(conflict.version, ("", {}, ()))
        number, key = conflict.cell
        index = writes.get((number, key), writes.get((number, Key.ALL)))
        if index is None:
            same = [cell for cell in writes if cell[0] == number]
            within = [cell for cell in same if _is_within(cell[1], key)]
            index = writes[(within or same)[0]] if same else None
        return label, None if index is None else sites[index]

    def _remember(
        self,
        version: int,
        label: str,
        writes: Mapping[Cell, int],
        sites: Sequence[Site],
    ) -> None:
        self._known[version] = label, writes, sites
        self._versions.append(version)
        if len(self._versions) > _MOST:
            self._known.pop(self._versions.popleft(), None)


def _is_within(index: object, key: object) -> bool:
    """Tell whether an index of a list lies in what may be a span of it."""
    return (
        isinstance(key, tuple) and isinstance(index, int) and key[0] <= index < key[1]
    )
