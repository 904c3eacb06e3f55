"""Whether many values can be stored as they are: asked of their classes, not of each.

A dict of a million values has few classes among them. Their parts are looked at as a
whole as well: those of all tuples at once, then those of all tuples in these. What this
module does not know, `shareable` and `check_key` ask of each value, which takes some
fifty times as long, and raises the error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias, cast

from txloop.cells.kinds import has_changing_hash
from txloop.stm.immutability import CHANGEABLE, FAMILIES, SCALARS

__all__ = ["are_constant"]

_CHANGEABLE = frozenset(CHANGEABLE)
_LEVELS = 6  # of parts in parts; a frozen dataclass may even contain itself

_Parts: TypeAlias = Callable[[], Iterable[Any]]
"""Goes through the same values each time that it is called; they are in no list."""


def are_constant(values: Collection[Any]) -> bool:
    """Tell whether all can be stored as they are, and be keys, without doubt.

    No means that each has to be asked about. That all are scalars, callers ask first:
    it is so most of the time, and takes one call less then.
    """
    kinds = set(map(type, values))
    if not _CHANGEABLE.isdisjoint(kinds):
        return False
    if len(kinds) > 1:
        return _are_constant(lambda: values, kinds, _LEVELS)
    return _has_constant_parts(kinds.pop(), values, _LEVELS)


def _are_constant(values: _Parts, kinds: set[type], levels: int) -> bool:
    for kind in kinds - SCALARS:
        # Each once: else what is reached on many ways would be gone through as often.
        group = {id(value): value for value in values() if type(value) is kind}
        if not _has_constant_parts(kind, group.values(), levels):
            return False
    return True


def _has_constant_parts(kind: type, group: Collection[Any], levels: int) -> bool:
    """Tell whether objects of one class are constant, by their parts."""
    parts = _parts_of(kind, group)
    if parts is None or not levels:
        return False
    try:
        kinds = set(map(type, parts()))
    except AttributeError:  # a field without a value
        return False
    return _are_constant(parts, kinds, levels - 1)


def _parts_of(kind: type, group: Collection[Any]) -> _Parts | None:
    """Return all parts of objects of one class; None where each has to be asked."""
    frozen = getattr(kind, "__dataclass_params__", None)
    if frozen is None:
        if issubclass(kind, FAMILIES):
            return None if has_changing_hash(kind) else tuple  # no parts
        if _goes_through(kind, tuple) or _goes_through(kind, frozenset):
            return partial(chain.from_iterable, group)
        return None
    by_identity: Any = object  # as in classes that define neither
    if (
        not frozen.frozen
        or issubclass(kind, FAMILIES)
        or kind.__eq__ is by_identity.__eq__
        or kind.__hash__ is by_identity.__hash__
    ):
        return None
    names = [field.name for field in dataclasses.fields(cast("Any", kind))]
    return lambda: chain.from_iterable(map(attrgetter(name), group) for name in names)


def _goes_through(kind: type, plain: type[Iterable[Any]]) -> bool:
    """Tell whether it is that class, or a class derived from it as named tuples are."""
    return issubclass(kind, plain) and kind.__iter__ is plain.__iter__
