"""Dicts that may be taken for their cells, which are dicts of the same contents.

To ask a container takes a call of Python code. Who looks at many, and only looks, may
take their cells instead, where nothing has to be noted and no cell has a history: C
code goes through these.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["are_bare", "cells_of", "kinds", "with_cells", "with_cells_inside"]

kinds: set[type] = set()
"""The classes whose objects may be taken so, themselves and not their derived ones."""

_PARTS = frozenset([dict, list])

_cells = operator.attrgetter("_tx_cells")
_shuffled = operator.attrgetter("_tx_shuffled")


def are_bare(things: Collection[object]) -> bool:
    """Tell whether these are dicts that may be taken for their cells, for now."""
    return not (
        committed.noting
        or committed.settled < committed.version
        or not kinds.issuperset(map(type, things))
        or any(map(_shuffled, things))
    )


def cells_of(things: Iterable[object]) -> list[Any]:
    """Return the cells of each, which nobody may change."""
    return [*map(_cells, things)]


def with_cells(content: Any) -> Any:
    """Return a plain list or dict with the cells of dicts in their place, or itself.

    It is for who only looks at it, and at once.
    """
    if type(content) is list:
        if content and are_bare(content):
            return cells_of(content)
    elif type(content) is dict:
        parts = content.values()
        if content and are_bare(parts):
            return dict(zip(content, map(_cells, parts), strict=True))
    return content


def with_cells_inside(content: Any) -> Any:
    """Do as `with_cells`, also for the lists and dicts in a dict."""
    if type(content) is dict and not _PARTS.isdisjoint(map(type, content.values())):
        return {key: with_cells(part) for key, part in content.items()}
    return with_cells(content)
