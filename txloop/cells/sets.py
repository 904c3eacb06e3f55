"""Methods of `set` as functions, for sets that are shared, too: its own take no others.

In the place of ``set.union(a, b)``, ``txloop.cells.sets.union(a, b)`` is called by
programs whose sets became containers (see `sharing`). What is given is made plain as a
whole, so that the result has its elements in the order that Python gives it.
"""

from __future__ import annotations

from typing import Any

from txloop.cells.tset import TSet

__all__ = [
    "difference",
    "intersection",
    "isdisjoint",
    "issubset",
    "issuperset",
    "symmetric_difference",
    "union",
]


def difference(*given: Any) -> set[Any]:
    """Do as ``set.difference``."""
    return set.difference(*map(_plain, given))


def intersection(*given: Any) -> set[Any]:
    """Do as ``set.intersection``."""
    return set.intersection(*map(_plain, given))


def isdisjoint(*given: Any) -> bool:
    """Do as ``set.isdisjoint``."""
    return set.isdisjoint(*map(_plain, given))


def issubset(*given: Any) -> bool:
    """Do as ``set.issubset``."""
    return set.issubset(*map(_plain, given))


def issuperset(*given: Any) -> bool:
    """Do as ``set.issuperset``."""
    return set.issuperset(*map(_plain, given))


def symmetric_difference(*given: Any) -> set[Any]:
    """Do as ``set.symmetric_difference``."""
    return set.symmetric_difference(*map(_plain, given))


def union(*given: Any) -> set[Any]:
    """Do as ``set.union``."""
    return set.union(*map(_plain, given))


def _plain(given: Any) -> Any:
    # Not by its own `__iter__`, which a class may have: a set's is not asked either.
    return TSet._as_plain(given) if issubclass(type(given), TSet) else given
