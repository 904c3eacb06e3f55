"""Looking for a dict among many: without a call of Python code for each of them.

``rows.remove(row)`` compares `row` with those before it. To compare two containers
takes twenty times as long as to compare two dicts; so their cells are compared, which
are dicts, where nothing has to be noted and the cells are their contents.
"""

from __future__ import annotations

import operator
from typing import Any

from txloop.cells.tdict import TDict
from txloop.stm.store import committed

__all__ = ["DICTS", "place_of"]

DICTS = (dict, TDict)
"""The classes of what is looked for so."""

_PART = 32
"""So many are looked at together: each is asked for its cells first."""

_cells = operator.attrgetter("_tx_cells")
_shuffled = operator.attrgetter("_tx_shuffled")


def place_of(items: list[Any], value: object) -> int | None:
    """Return the index of the first of these that equals a value.

    None if none does, or to compare them has raised a ValueError.
    """
    kind = type(value)
    if kind not in DICTS:
        try:
            return items.index(value)
        except ValueError:
            return None
    for start in range(0, len(items), _PART):
        part = items[start : start + _PART]
        plain = [value, *part] if kind is TDict else part
        sought: Any = value
        if _are_bare(plain):
            part = [*map(_cells, part)]
            sought = value if kind is dict else _cells(value)
        if sought in part:
            return start + part.index(sought)
    return None


def _are_bare(things: list[Any]) -> bool:
    """Tell whether these are TDicts, whose cells are all that there is to know."""
    return not (
        committed.noting
        or committed.settled < committed.version
        or {*map(type, things)} != {TDict}
        or any(map(_shuffled, things))
    )
