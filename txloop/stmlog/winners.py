"""Who has committed what lately, and at which line: the other side of a conflict."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from txloop.stm.store import committed
from txloop.stm.traced import here
from txloop.stm.types import Key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from txloop.stm.container import Write
    from txloop.stm.types import Cell, Conflict, Site, Trace

__all__ = ["Winners"]

_MOST = 2000  # commits that are remembered


class Winners:
    """Follows the store; used by the loop thread only."""

    def __init__(self) -> None:
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
            cells: dict[Cell, int] = {(one._number, Key.ALL): 0 for one, _, _ in writes}
            self._remember(version, "", cells, (site,))

    def dropped(self, number: int) -> None:
        """Do nothing: what has died cannot be in a conflict."""

    def of(self, conflict: Conflict) -> tuple[str, Site | None]:
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
