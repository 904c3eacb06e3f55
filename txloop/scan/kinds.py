"""Which parts of a plain container differ in what a use of them may run or change.

Parts of one type need not be alike: one row is empty, or None stands for it, and the
next one has a dict; two objects of a class keep different functions. So of all parts
those are looked at that lead to something to which none before them has led: to code of
the program, or to an object that can change.
"""

from __future__ import annotations

import enum
import itertools
from collections import deque
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from functools import partial
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import (
    IMMUTABLE,
    attributes_of,
    functions_of,
    has_type,
    in_slot,
    is_container,
    is_harmless,
    is_plain,
)
from txloop.scan.value import members_of
from txloop.stm.immutability import SCALARS
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

__all__ = ["parts_of", "unlike"]

_MOST = 100  # parts that are looked at
_MOST_INSIDE = 10  # parts of a part
_DEPTH = 3  # from a part to what is behind it
_MOST_BY_KEYS = 8  # samples, until keys are no longer told apart

_ANY = "[]"

_Step: TypeAlias = "str | tuple[str, object]"
_Sight: TypeAlias = "tuple[tuple[_Step, ...], object]"
"""A way from a part, and what kind of thing is at its end."""


def unlike(thing: object) -> list[object]:
    """Return the parts of a container that stand for all of them.

    Keys of records tell ways apart, names of people in a table hardly do: after some
    samples it counts no more by which key of a dict a way goes.
    """
    found: list[object] = []
    seen: set[_Sight] = set()
    seen_by_any_key: set[_Sight] = set()
    for part in itertools.islice(parts_of(thing), _MOST):
        sights = set(_sights(part, (), _DEPTH))
        by_any_key = {_without_keys(each) for each in sights}
        precise = len(found) < _MOST_BY_KEYS
        new = sights - seen if precise else by_any_key - seen_by_any_key
        if new:
            found.append(part)
            seen |= sights
            seen_by_any_key |= by_any_key
    return found


def parts_of(thing: object) -> Iterator[object]:
    """Iterate over the parts of builtin containers, enumerations, context variables.

    Of a dict these are its values, of a variable its default and what it has just now.
    """
    if has_type(thing, dict):
        return iter(list(dict.values(thing)))
    if has_type(thing, enum.EnumType):
        return iter(list(members_of(thing).values()))
    if has_type(thing, list, tuple, set, frozenset, deque):
        return iter(list(thing))
    if has_type(thing, ContextVar):
        return _values_of(thing)
    return iter(())


def _values_of(variable: ContextVar[object]) -> Iterator[object]:
    for context in (Context(), copy_context()):
        with suppress(LookupError):
            yield context.run(variable.get)


def _sights(thing: object, way: tuple[_Step, ...], depth: int) -> Iterator[_Sight]:
    """Yield what of interest is behind an object, itself included."""
    cls = type(thing)
    if has_type(thing, *IMMUTABLE) or cls in SCALARS:
        return
    if is_container(cls):  # what it holds is in cells
        if own_module_of(cls) is not None:
            yield way, cls
        return
    yield from ((way, kind) for kind in _kinds(thing))
    if depth:
        for step, inner in itertools.islice(_inside(thing), _MOST_INSIDE):
            yield from _sights(inner, (*way, step), depth - 1)


def _kinds(thing: object) -> Iterator[object]:
    if has_type(thing, type):
        if own_module_of(thing) is not None:
            yield thing
    elif has_type(thing, BuiltinFunctionType):
        if is_plain(thing.__self__):
            yield thing.__name__, id(thing.__self__)
    elif has_type(thing, partial) or is_harmless(thing):
        yield from (id(one) for one in functions_of(thing) if is_own_function(one))
    elif not has_type(thing, tuple) or own_module_of(type(thing)) is not None:
        yield type(thing)


def _inside(thing: object) -> Iterable[tuple[_Step, object]]:
    if has_type(thing, dict):
        return [((_ANY, key), value) for key, value in list(dict.items(thing))]
    if has_type(thing, tuple):
        return ((str(place), part) for place, part in enumerate(tuple(thing)))
    if is_plain(thing):
        return ((_ANY, part) for part in parts_of(thing))
    if has_type(thing, partial):
        return [("func", thing.func), *_inside(thing.args), *_inside(thing.keywords)]
    if has_type(thing, MethodType):
        return [("self", thing.__self__)]
    if has_type(thing, FunctionType, type) or own_module_of(type(thing)) is None:
        return ()
    return [*attributes_of(thing).items(), *_slots_of(thing)]


def _slots_of(thing: object) -> Iterator[tuple[str, object]]:
    for cls in type(thing).__mro__:
        for name, raw in list(vars(cls).items()):
            if has_type(raw, MemberDescriptorType):
                yield name, in_slot(raw, thing)


def _without_keys(sight: _Sight) -> _Sight:
    way, kind = sight
    return tuple(_ANY if isinstance(step, tuple) else step for step in way), kind
