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
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from functools import partial
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, ClassVar

from txloop.scan.live_objects import (
    IMMUTABLE,
    attributes_of,
    class_has,
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

__all__ = ["parts_of", "remembering", "unlike"]

_MOST = 10_000  # parts that are looked at
_MOST_UNLIKE = 100  # samples
_MOST_INSIDE = 20  # parts of a part, without values that cannot change
_MOST_SEEN = 5_000  # of all of them together, but for those like others
_DEPTH = 3  # from a part to what is behind it
_MOST_BY_KEYS = 8  # samples, until keys are no longer told apart

_ANY = "[]"

_Step: TypeAlias = "str | tuple[str, object]"
_Sight: TypeAlias = "tuple[tuple[_Step, ...], object]"
"""A way from a part, and what kind of thing is at its end."""


class _Memory:
    """What was found, while nothing of the program runs; on the loop thread."""

    depth = 0
    found: ClassVar[dict[int, tuple[object, list[object]]]] = {}


@contextmanager
def remembering() -> Iterator[None]:
    """Look at each container once only while the block runs, which runs no program."""
    _Memory.depth += 1
    try:
        yield
    finally:
        _Memory.depth -= 1
        if not _Memory.depth:
            _Memory.found.clear()


def unlike(thing: object) -> list[object]:
    """Return the parts of a container that stand for all of them.

    Keys of records tell ways apart, names of people in a table hardly do: after some
    samples it counts no more by which key of a dict a way goes.
    """
    if not _Memory.depth:
        return _unlike(thing)
    if id(thing) not in _Memory.found:
        _Memory.found[id(thing)] = thing, _unlike(thing)
    return _Memory.found[id(thing)][1]


def _unlike(thing: object) -> list[object]:
    found: list[object] = []
    seen: set[_Sight] = set()
    seen_by_any_key: set[_Sight] = set()
    shapes: set[object] = set()
    left = iter(range(_MOST_SEEN))
    for part in itertools.islice(parts_of(thing), _MOST):
        if len(found) == _MOST_UNLIKE:
            break
        if (shape := _shape(part, _DEPTH)) in shapes:
            continue
        shapes.add(shape)
        sights = set(_sights(part, (), _DEPTH, left))
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


def _shape(thing: object, depth: int) -> object:
    """Return what is the same for parts that lead to the same: most of a table are."""
    cls = type(thing)
    if cls in SCALARS:
        return None
    if cls in (list, set, tuple):
        parts = list(thing)  # type: ignore[call-overload] # it is one of these
        if SCALARS.issuperset(map(type, parts)):
            return cls
        inside = frozenset(_shape(one, depth - 1) for one in parts) if depth else None
        return cls, inside
    entries: list[tuple[object, object]]
    if cls is dict:
        entries = list(dict.items(thing))  # type: ignore[arg-type] # it is one
    elif has_type(thing, FunctionType, type) or class_has(cls, "__slots__"):
        return id(thing)
    elif own_module_of(cls) is not None and not is_container(cls):
        entries = list(attributes_of(thing).items())
    else:
        return id(thing)
    changing = [each for each in entries if type(each[1]) not in SCALARS]
    if not (changing and depth):
        return cls
    return cls, tuple([(key, _shape(one, depth - 1)) for key, one in changing])


def _sights(
    thing: object, way: tuple[_Step, ...], depth: int, left: Iterator[int]
) -> Iterator[_Sight]:
    """Yield what of interest is behind an object, itself included.

    Args:
        thing: The object.
        way: How it is reached.
        depth: How deep to look.
        left: Gives an item for each look, until these are too many.
    """
    cls = type(thing)
    if has_type(thing, *IMMUTABLE) or cls in SCALARS:
        return
    if is_container(cls):  # what it holds is in cells
        if own_module_of(cls) is not None:
            yield way, cls
        return
    yield from ((way, kind) for kind in _kinds(thing))
    if depth:
        its = (each for each in _inside(thing) if type(each[1]) not in SCALARS)
        inside = itertools.islice(its, _MOST_INSIDE)
        for (step, inner), _ in zip(inside, left, strict=False):
            yield from _sights(inner, (*way, step), depth - 1, left)


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
