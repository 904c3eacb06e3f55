"""What containers hold: of the program's own, and of those that an attempt has made.

Of a container that is there, the parts can be looked at: one stands for all of its
kind. Of a new one, what was put into it is known (`Parts`), so that what is called on
its parts is followed.
"""

from __future__ import annotations

import ast
import itertools
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING

from txloop.scan.kinds import parts_of, unlike
from txloop.scan.known import GETTERS, METHODS, MUTATORS
from txloop.scan.live_objects import (
    IMMUTABLE,
    UNKNOWN,
    functions_of,
    has_type,
    is_container,
    is_harmless,
    is_plain,
)
from txloop.scan.value import (
    SOMETHING,
    Bound,
    Entry,
    Family,
    Instance,
    Live,
    Member,
    Parts,
    Several,
    Unfollowed,
    Value,
    either,
    element,
    sample,
    shared,
)
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "at",
    "container_of",
    "copied",
    "is_lost",
    "is_risky",
    "is_sliced",
    "made_of",
    "may_be_several",
    "part_of",
    "passes_on",
    "put_by",
    "taken_by",
]

_MOST = 20_000  # elements of a container that are looked at

_JOINING = frozenset(["__iadd__", "__ior__", "extend", "extendleft", "update"])
"""Methods of containers that put the parts of what they get into it."""

_TELLING = frozenset(["count", "index", "isdisjoint", "issubset", "issuperset", "keys"])
"""Methods of containers that give neither parts nor containers of them."""


def is_lost(value: Value) -> bool:
    """Tell whether it is a shared object that cannot be looked at."""
    return (
        isinstance(value, Live)
        and value.thing is UNKNOWN
        and value.role is None
        and value.family is not Family.CLOSURE  # a variable of the same attempt
    )


def is_risky(value: Value) -> bool:
    """Tell whether calls and changes cannot be followed once it is in a container."""
    if isinstance(value, Live):
        return is_lost(value) or (value.thing is not UNKNOWN and _is_risky(value.thing))
    if isinstance(value, Unfollowed):
        return not value.foreign
    if isinstance(value, Several):
        return any(map(is_risky, value.values))
    return isinstance(value, Instance | Bound | Member | Parts)


def made_of(values: Iterable[Value]) -> Value:
    """Return what a new container of these values is."""
    risky = [each for each in values if is_risky(each)]
    if not risky:
        return None
    parts = Parts([])
    for each in risky:
        parts.add(each)
    return parts


def part_of(value: Value) -> Value:
    """Return what stands for any part of a container."""
    if isinstance(value, Several):
        return either(map(part_of, value.values))
    if isinstance(value, Member):
        part = part_of(value.holder)
        return _entry_of(part) if value.name == "items" else part
    if isinstance(value, Parts):
        return either(value.values)
    if isinstance(value, Live):
        samples = [_sample_of(value, part) for part in unlike(value.thing)]
        return either(samples) if samples else element(value)
    return value if isinstance(value, Unfollowed) else None


def _entry_of(part: Value) -> Value:
    made = made_of([part])
    return Entry(made.values) if isinstance(made, Parts) else None


def at(parts: Parts, key: object) -> Value:
    """Return what is in a new container at a position, or for a key."""
    return None if isinstance(parts, Entry) and key == 0 else part_of(parts)


def copied(*values: Value) -> Value:
    """Return what a new container is that has the parts of some others."""
    return made_of(part_of(each) for each in values if passes_on(each))


def is_sliced(value: Value) -> bool:
    """Tell whether a slice of it is a new container of its parts."""
    if isinstance(value, Live):
        return is_plain(value.thing) or has_type(value.thing, tuple)
    return isinstance(value, Parts)


def _sample_of(holder: Live, part: object) -> Value:
    return sample(shared(part, holder.name, holder.family, holder.slots))


def passes_on(value: Value) -> bool:
    """Tell whether a container of its parts has some that cannot be followed."""
    if isinstance(value, Several):
        return any(map(passes_on, value.values))
    if isinstance(value, Member):
        value = value.holder
    if isinstance(value, Live) and (
        is_plain(value.thing) or has_type(value.thing, tuple)
    ):
        return any(map(_is_risky, itertools.islice(parts_of(value.thing), _MOST)))
    return is_risky(value)


def may_be_several(holder: Live) -> bool:
    """Tell whether what is taken from it is one of several that run other code."""
    thing = holder.thing
    if not (is_plain(thing) or has_type(thing, tuple)):
        return False
    return sum(map(_runs_own_code, unlike(thing))) > 1


def put_by(method: str, given: Iterable[Value]) -> list[Value]:
    """Return what a method of a container puts into it of what it is given."""
    if method in _JOINING:
        return list(map(part_of, given))
    return list(given) if method in MUTATORS else []


def taken_by(method: str, parts: Parts) -> Value:
    """Return what a method of a container gives; `SOMETHING` if it has no such one."""
    if method in ("items", "values"):
        return Member(parts, method)
    if method in GETTERS:
        return part_of(parts)
    if method == "popitem":
        return made_of([part_of(parts)])
    if method == "copy":
        return parts
    known = method in METHODS or method in _TELLING
    return None if known else SOMETHING


def container_of(node: ast.expr) -> ast.expr | None:
    """Return where the expression takes a part from, if it does."""
    match node:
        case ast.Subscript(value=inner):
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in GETTERS:
            return inner
    return None


def _is_risky(thing: object) -> bool:
    if has_type(thing, *IMMUTABLE) or is_container(type(thing)):
        return False
    if has_type(thing, tuple):
        return any(map(_is_risky, itertools.islice(thing, _MOST)))
    if is_harmless(thing):
        return _runs_own_code(thing)
    return True


def _runs_own_code(thing: object) -> bool:
    if has_type(thing, FunctionType, MethodType, partial):
        return any(map(is_own_function, functions_of(thing)))
    cls = thing if has_type(thing, type) else type(thing)
    return own_module_of(cls) is not None
