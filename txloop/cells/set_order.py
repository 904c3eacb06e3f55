"""The order in which a plain set would go over its elements.

On CPython it is that of a hash table: which slot an element wants, and how many slots
there are, which depends on how the set was made and on how large it has been. A shared
set keeps its elements as they came, and so the order has to be found again.

What is known of a set that was plain once is the size of its table then. With that,
the order is right after any additions, or any removals, or both, as long as no two
elements want the same slot; but not where

- two elements want the same slot, and something was added (then the first to come has
  it, and which that was depends on all that was there before),
- the set has grown, since it was shared, and lost elements then: it stays large,
- it gets and loses elements by turns, which makes a table larger at some time,
- `update` is given a set, for which a table is made larger at once,
- `pop` comes after an `add` that came after a `pop`: each goes on where the last ended.

To know all that, each commit would have to keep a set beside the cells, and to copy it
for each snapshot, which costs more than the commit does.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["Shape", "has_no_order", "in_order", "shape_of"]

Shape: TypeAlias = tuple[int, int, int] | None
"""What is known of a set: from how many elements on `set` finds their order.

With fewer, how many slots its table has; 0 where the elements are in order as they
came, which they are as long as there are no more. And how many they were at first. None
of one that was made empty.
"""

# PyPy's sets have the order of insertion.
_HASHED = sys.implementation.name == "cpython"
_LEAST = 8
_ENTRY = struct.calcsize("nP")
_EMPTY = sys.getsizeof(set()) if _HASHED else 0

_LARGE = 50_000  # elements; from there on, a table grows by less


def shape_of(plain: set[Any]) -> Shape:
    """Return what has to be known of a plain set to find its order again."""
    if not (_HASHED and plain):
        return None
    elements, slots = list(plain), _slots_of(plain)
    count = len(elements)
    if [*in_order(elements, (sys.maxsize, slots, count))] != elements:
        return count + 1, 0, count
    return _fewest(slots), slots, count


def in_order(elements: list[Any], shape: Shape) -> Collection[Any]:
    """Return elements, as they came, in the order that a set of such a shape has."""
    fewest, slots, count = shape or (0, 0, 0)
    if len(elements) < fewest and not slots:
        return elements
    made = set(elements)
    if len(elements) >= fewest:
        return made
    wanted = _grown(slots, len(elements))
    if wanted == _slots_of(made):
        return made
    made = set(dict.fromkeys(elements[:count]))  # a table as for another set's copy
    if slots == _slots_of(made):
        made.update(elements[count:])
        if wanted == _slots_of(made):
            return made
    return sorted(elements, key=lambda element: hash(element) & (wanted - 1))


def has_no_order(elements: Iterable[object]) -> bool:
    """Tell whether no program can rely on an order of them: it differs by the run."""
    return all(type(element) is str for element in elements)


def _slots_of(plain: set[Any]) -> int:
    return (sys.getsizeof(plain) - _EMPTY) // _ENTRY or _LEAST


def _fewest(slots: int) -> int:
    """Return with how many elements a table that grows one by one has so many slots."""
    fewest, grown = 0, _LEAST
    while grown < slots:
        fewest = -(-(grown - 1) * 3 // 5)
        grown = _grown(grown, fewest)
    return fewest if grown == slots else sys.maxsize


def _grown(slots: int, count: int) -> int:
    """Return how many slots a table has that had so many, with `count` elements now."""
    while count * 5 >= (slots - 1) * 3:
        filled = -(-(slots - 1) * 3 // 5)
        wanted = filled * (2 if filled > _LARGE else 4)
        slots = _LEAST
        while slots <= wanted:
            slots *= 2
    return slots
