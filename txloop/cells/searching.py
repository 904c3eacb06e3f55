"""Looking for a dict in a list, as in ``rows.remove(row)``.

It is compared with all before it. To compare two containers takes twenty times as long
as to compare two dicts; so their cells are compared, where that is the same.
"""

from __future__ import annotations

from typing import Any

from txloop.cells.bare import are_bare, cells_of, kinds

__all__ = ["is_dict", "place_of"]

_PART = 32
"""So many are looked at together: each is asked for its cells first."""


def is_dict(value: object) -> bool:
    """Tell whether it is a dict, plain or shared, and of no derived class."""
    return type(value) is dict or type(value) in kinds


def place_of(items: list[Any], value: object) -> int | None:
    """Return the index of the first of these that equals a value.

    None if none does, or to compare them has raised a ValueError.
    """
    if not is_dict(value):
        try:
            return items.index(value)
        except ValueError:
            return None
    for start in range(0, len(items), _PART):
        part = items[start : start + _PART]
        sought: Any = value
        if are_bare(part) and (type(value) is dict or are_bare([value])):
            part = cells_of(part)
            sought = value if type(value) is dict else cells_of([value])[0]
        if sought in part:
            return start + part.index(sought)
    return None
