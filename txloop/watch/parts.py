"""What an object consists of: parts, attributes, what it wraps.

Objects are not asked themselves: that would run the program's code.
"""

from __future__ import annotations

import functools
import gc
import threading
import types
import weakref
from contextlib import suppress
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "BUILTIN",
    "attributes_of",
    "builtin_base",
    "class_attributes",
    "only_here",
    "parts_of",
    "texts_in_code",
    "wrapped",
]

BUILTIN = ("_collections", "builtins", "collections")
"""Modules of the builtin containers, which the interpreter knows."""


_Slot = types.MemberDescriptorType | types.GetSetDescriptorType
_FIELDS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def parts_of(thing: Any) -> Iterator[object]:
    """Return what iterates over a container as its builtin class does."""
    return iter(list(builtin_base(thing).__iter__(thing)))


def builtin_base(thing: object) -> Any:
    """Return the builtin class of a container from which its own class derives."""
    return next(one for one in type(thing).__mro__ if one.__module__ in BUILTIN)


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


def attributes_of(thing: Any) -> Callable[[], Mapping[str, object]] | None:
    """Return what returns an object's attributes; None if it has none."""
    cls: type = type(thing)  # not `isinstance`: it asks objects for their class
    if issubclass(cls, type):
        return class_attributes(thing)
    if issubclass(cls, threading.local):
        return lambda: vars(thing)
    slots = _slots_of(cls)  # type: ignore[arg-type] # classes can be hashed
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):  # the latter of a class with another's __dict__
        attributes = None
    if issubclass(cls, BaseException):
        return lambda: _in_exception(_in_slots(thing, slots, attributes or {}))
    if slots:
        return lambda: _in_slots(thing, slots, attributes or {})
    if isinstance(attributes, dict):
        return lambda: attributes
    referents = [one for one in gc.get_referents(thing) if one is not type(thing)]
    if not referents or issubclass(cls, list | dict | tuple | set | frozenset):
        return None
    return lambda: {str(n): one for n, one in enumerate(gc.get_referents(thing))}


_ATTRIBUTES = type.__dict__["__dict__"]


def class_attributes(cls: type) -> Callable[[], Mapping[str, object]]:
    """Return what returns a class's own attributes, in no Python frame."""
    return functools.partial(_ATTRIBUTES.__get__, cls)


@functools.lru_cache(maxsize=4096)
def _slots_of(cls: type) -> tuple[tuple[str, _Slot], ...]:
    found: dict[str, _Slot] = {
        name: value
        for each in reversed(cls.__mro__)
        if "__slots__" in vars(each)
        for name, value in vars(each).items()
        if type(value) is types.MemberDescriptorType
    }
    if issubclass(cls, BaseException):
        found.update(_fields_of(cls))
    return tuple(found.items())


def _fields_of(cls: type[BaseException]) -> Iterator[tuple[str, _Slot]]:
    """Yield what exceptions of the interpreter have beside a dict, such as `args`.

    Not their cause and context: raising an exception sets these.
    """
    for each in reversed(cls.__mro__):
        for name, value in vars(each).items():
            of_c = type(value) in _FIELDS and each.__module__ == "builtins"
            if of_c and not name.startswith("__"):
                yield name, value


def _in_slots(
    thing: object,
    slots: Iterable[tuple[str, _Slot]],
    attributes: dict[str, object],
) -> dict[str, object]:
    values = dict(attributes)
    for name, slot in slots:
        with suppress(AttributeError):
            values[name] = slot.__get__(thing)
    return values


def _in_exception(attributes: dict[str, Any]) -> dict[str, object]:
    """Return the attributes with each argument for itself: PyPy makes `args` anew."""
    arguments = attributes.pop("args", ())
    attributes.update((f"args[{n}]", one) for n, one in enumerate(arguments))
    return attributes


def only_here(thing: threading.local) -> list[str]:
    """Return the names of its attributes that another thread would not find.

    A forked worker has those of the thread that was forked. A worker thread has none
    but those that the object's class gives to each thread. They are not copied there:
    what is kept for each thread is mostly what threads must not share.

    Those that an ``__init__`` of its classes may set, which runs in each thread, are
    not meant, nor those that its classes have, too.
    """
    given: set[str] = set()
    for each in type(thing).__mro__:
        given.update(vars(each))
        begin = vars(each).get("__init__")
        code = begin.__code__ if isinstance(begin, FunctionType) else None
        if isinstance(code, CodeType):  # PyPy's own functions have another one
            given.update(texts_in_code(code))
    return [name for name in vars(thing) if name not in given]


def texts_in_code(code: CodeType) -> Iterator[str]:
    """Yield the names and strings in a code object, and in those inside it.

    Of strings may come arguments of `setattr`, or keys of `__dict__`.
    """
    yield from code.co_names
    waiting = [*code.co_consts]
    for constant in waiting:  # it grows
        if isinstance(constant, CodeType):
            yield from texts_in_code(constant)
        elif isinstance(constant, tuple):  # such as the names in a class pattern
            waiting += constant
        elif isinstance(constant, str):
            yield constant
