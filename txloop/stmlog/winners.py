"""What was committed lately, and at which line: the other side of a conflict."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from txloop.stm.store import Follower, committed
from txloop.stm.traced import here
from txloop.stm.types import Key
from txloop.stmlog.c7_format import CONTENTION_WRITE_READ, CONTENTION_WRITE_WRITE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from txloop.stm.container import Write
    from txloop.stm.types import Cell, Conflict, Site, Trace
    from txloop.stmlog.log_threads import Contention
    from txloop.stmlog.markers import Places

__all__ = ["Winners"]

_MOST = 2000  # commits that are remembered


class Winners(Follower):
    """Follows the store; used by the loop thread only."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._known: dict[int, tuple[str, Mapping[Cell, int], Sequence[Site]]] = {}
        self._versions: deque[int] = deque()
        committed.followers.append(self)

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
