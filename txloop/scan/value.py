"""What an expression stands for, as far as the scan can tell without running it.

A value is one of the classes below, or None: local, or unknown and not shared. The
live objects in them are looked at with `type`, `is` and the methods of builtin types
only, never through code of the program.
"""

from __future__ import annotations

import enum
import os
import threading
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property, partial
from inspect import getattr_static
from logging import Logger
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from txloop.scan.frame import Nested

_Kind = TypeVar("_Kind")
Slot: TypeAlias = tuple[object, str]
"""A name in a namespace: the owner's identity or role, and the attribute."""

MUTATORS = frozenset(
    [
        *("__delitem__", "__iadd__", "__ior__", "__setitem__", "add", "append"),
        *("appendleft", "clear", "difference_update", "discard", "extend"),
        *("extendleft", "insert", "intersection_update", "move_to_end", "pop"),
        *("popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort"),
        *("subtract", "symmetric_difference_update", "update"),
    ]
)
"""The methods by which the builtin containers change."""

GETTERS = frozenset(["__getitem__", "get", "pop", "popleft", "setdefault"])
"""Those that return an element."""

METHODS = MUTATORS | GETTERS | {"items", "values"}
"""Those whose name tells that an unknown object is such a container."""

PLAIN = (list, dict, set, bytearray, deque)
_HARMLESS = (
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    ModuleType,
    type,
    Logger,
    threading.local,
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Semaphore,
)


_INNER: Mapping[type, str] = MappingProxyType(
    {
        MethodType: "__func__",
        staticmethod: "__func__",
        classmethod: "__func__",
        partial: "func",
        cached_property: "func",
        property: "fget",
    }
)
"""Where what wraps a function keeps it."""


class Unknown(enum.Enum):
    """The object that is shared but cannot be looked at."""

    UNKNOWN = enum.auto()


UNKNOWN = Unknown.UNKNOWN


class Family(enum.Enum):
    """Through what an object is shared."""

    GLOBAL = enum.auto()
    CLASS = enum.auto()
    CLOSURE = enum.auto()
    APPLICATION = enum.auto()


class Role(enum.Enum):
    """Which part of a Tornado program an object is, where the scan must know."""

    APPLICATION = enum.auto()
    SETTINGS = enum.auto()


@dataclass(frozen=True, slots=True, eq=False)
class Live:
    """A shared object.

    Attributes:
        thing: The object, or UNKNOWN.
        name: What the program calls it.
        family: Through what it is shared.
        slots: Where it was read from; an element has those of what holds it.
        role: Set for the application and its settings, which are known by role: one
            program has one of each.
    """

    thing: object
    name: str
    family: Family
    slots: tuple[Slot, ...] = ()
    role: Role | None = None

    @property
    def key(self) -> object:
        """What identifies it as the owner of a slot."""
        return self.role or id(self.thing)


@dataclass(slots=True, eq=False)
class Instance:
    """An object that every attempt makes anew, such as the handler.

    Attributes:
        type: Its class.
        attributes: The shared values that were assigned on it.
    """

    type: type
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """Functions that one call runs, with what they get as their first argument."""

    functions: tuple[FunctionType, ...]
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Getter:
    """A property: reading it runs its functions."""

    functions: tuple[FunctionType, ...]
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A method of a builtin container."""

    holder: Live
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """What `super()` gives: the classes after one, for a receiver."""

    after: type
    receiver: Value


Value: TypeAlias = "Live | Instance | Bound | Getter | Member | Super | Nested | None"


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """The values that a call passes."""

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)

    def identity(self) -> tuple[object, ...]:
        """Return what tells these arguments from others."""
        named = ((name, identity(value)) for name, value in self.keywords.items())
        return (*map(identity, self.positional), *named)


def identity(value: Value) -> object:
    """Return a key that is the same for values that a walk need not tell apart."""
    if isinstance(value, Live):
        unknown = value.thing is UNKNOWN and value.role is None
        return value.slots if unknown else value.key
    if isinstance(value, Instance):
        return id(value.type)
    return None


def module_label(namespace: Mapping[str, object]) -> str:
    """Return the module's name, for a script that of its file."""
    name = str(namespace.get("__name__", "?"))
    if name != "__main__":
        return name
    file = os.path.basename(str(namespace.get("__file__", name)))
    return os.path.splitext(file)[0]


def class_label(cls: type) -> str:
    """Return the qualified name of the class with its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


def shared(
    thing: object, name: str, family: Family, slots: tuple[Slot, ...] = ()
) -> Live:
    """Return the value of a shared object, which may be the application."""
    if is_application(type(thing)):
        return application(thing)
    return Live(thing, name, family, slots)


def application(thing: object = UNKNOWN) -> Live:
    """Return the value of the application."""
    return Live(thing, "application", Family.APPLICATION, role=Role.APPLICATION)


def is_application(cls: type) -> bool:
    """Return whether objects of the class are Tornado applications."""
    return any(
        each.__name__ == "Application" and each.__module__ == "tornado.web"
        for each in cls.__mro__
    )


def is_container(cls: type) -> bool:
    """Return whether objects of the class are containers of txloop."""
    modules = (str(each.__module__) for each in cls.__mro__ if each is not Unknown)
    return any(module.startswith("txloop.") for module in modules)


def has_type(thing: object, *kinds: type[_Kind]) -> TypeGuard[_Kind]:
    """Return whether the object is of one of the types.

    Unlike `isinstance` it never asks the object, which may be a proxy that answers by
    running code of the program.
    """
    return issubclass(type(thing), kinds)


def is_plain(thing: object) -> bool:
    """Return whether the object is a builtin container that can change."""
    return has_type(thing, *PLAIN) and not is_container(type(thing))


def is_harmless(thing: object) -> bool:
    """Return whether it matters to nobody that a worker has a copy of the object."""
    return has_type(thing, *_HARMLESS)


def is_iterator(thing: object) -> bool:
    """Return whether `next` would change the object."""
    return hasattr(type(thing), "__next__") and not is_container(type(thing))


def functions_of(thing: object) -> tuple[FunctionType, ...]:
    """Return the functions that a call of the object runs, wrappers first."""
    found: list[FunctionType] = []
    for _ in range(32):  # a chain that long goes round in a circle
        if has_type(thing, FunctionType):
            found.append(thing)
        name = next(
            (name for kind, name in _INNER.items() if has_type(thing, kind)), None
        )
        if name is None:
            thing = getattr_static(thing, "__wrapped__", None)
        else:
            thing = getattr(thing, name)
    return tuple(found)
