"""What an object consists of: parts, attributes, what it wraps, a function's cells.

Objects are not asked themselves: that would run the program's code.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
import types
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "BUILTIN",
    "attributes_of",
    "contents_of",
    "is_by_reference",
    "parts_of",
    "wrapped",
]

BUILTIN = ("_collections", "builtins", "collections")
"""Modules of the builtin containers, which the interpreter knows."""


def parts_of(thing: Any) -> Iterator[object]:
    """Return what iterates over a container as its builtin class does."""
    if type(thing) is types.MappingProxyType:
        return iter(list(thing.values()))
    base: Any = next(one for one in type(thing).__mro__ if one.__module__ in BUILTIN)
    return iter(list(base.__iter__(thing)))


def wrapped(thing: Any) -> Iterator[object]:
    """Yield what a method, a partial or a property leads to."""
    cls = type(thing)  # not `isinstance`: it asks objects for their class
    if issubclass(cls, functools.partial | functools.partialmethod):
        yield thing.func
        yield from thing.args
        yield thing.keywords
    elif issubclass(cls, property):
        yield from (thing.fget, thing.fset, thing.fdel)
    elif issubclass(cls, functools.cached_property):
        yield thing.func
    elif issubclass(cls, weakref.ref):
        yield weakref.ref.__call__(thing)
    else:
        for name in ("__func__", "__self__"):
            found = getattr(thing, name, None)
            if found is not None and not issubclass(type(found), types.ModuleType):
                yield found


def contents_of(function: types.FunctionType) -> dict[str, object]:
    """Return what the variables around a function hold, as far as they are assigned."""
    found = {}
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def is_by_reference(function: Any) -> bool:
    """Tell whether a function is the same one wherever it is unpickled."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def attributes_of(thing: Any) -> Callable[[], Mapping[str, object]] | None:
    """Return what returns an object's attributes; None if it has none."""
    cls: type = type(thing)  # not `isinstance`: it asks objects for their class
    if issubclass(cls, threading.local):
        return lambda: vars(thing)
    slots = _slots_of(cls)  # type: ignore[arg-type] # classes can be hashed
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        attributes = None
    if slots:
        return lambda: _in_slots(thing, slots, attributes or {})
    if isinstance(attributes, dict):
        return lambda: attributes
    referents = [one for one in gc.get_referents(thing) if one is not type(thing)]
    if not referents or issubclass(cls, list | dict | tuple | set | frozenset):
        return None
    return lambda: {str(n): one for n, one in enumerate(gc.get_referents(thing))}


@functools.lru_cache(maxsize=4096)
def _slots_of(cls: type) -> tuple[tuple[str, types.MemberDescriptorType], ...]:
    found = {
        name: value
        for each in reversed(cls.__mro__)
        if "__slots__" in vars(each)
        for name, value in vars(each).items()
        if type(value) is types.MemberDescriptorType
    }
    return tuple(found.items())


def _in_slots(
    thing: object,
    slots: Iterable[tuple[str, types.MemberDescriptorType]],
    attributes: dict[str, object],
) -> dict[str, object]:
    values = dict(attributes)
    for name, slot in slots:
        with suppress(AttributeError):
            values[name] = slot.__get__(thing)
    return values
