"""Looking for a dict in a list, as in ``rows.remove(row)``.

It is compared with all before it. To compare two containers takes twenty times as long
as to compare two dicts; so their contents are compared, where that is the same.
"""

from __future__ import annotations

from typing import Any

from txloop.cells.bare import Look, are_dicts, kinds

__all__ = ["is_dict", "place_of"]

_FIRST = 16
"""So many are looked at together, then twice as many each time: it may be the first."""


def is_dict(value: object) -> bool:
    """Tell whether it is a dict, plain or shared, and of no derived class."""
    return type(value) is dict or type(value) in kinds


def place_of(items: list[Any], value: object) -> int | None:
    """Return the index of the first of these that equals a value, or None."""
    if not is_dict(value):
        return _index(items, value)
    start, count = 0, _FIRST
    while start < len(items):
        part = items[start : start + count]
        place = _place_in(part, value)
        if place is not None:
            return start + place
        start, count = start + count, 2 * count
    return None


def _place_in(part: list[Any], value: object) -> int | None:
    """Do as `place_of` with some of them, which are looked at together."""
    if are_dicts(part):
        sought: Any = value
        own = Look([] if type(value) is dict else [value], ordered=False)
        if own.contents:
            (sought,) = own.contents
        look = Look(part, ordered=False)
        place = _index(look.contents, sought)
        count = len(part) if place is None else place + 1
        if look.was_right(count) and own.was_right():
            return place
    return _index(part, value)


def _index(items: list[Any], value: object) -> int | None:
    # With the value itself behind them: who asks first looks through all of them twice.
    place = [*items, value].index(value)
    return None if place == len(items) else place
