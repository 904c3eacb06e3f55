"""What an expression stands for, as far as the scan can tell without running it.

A value is one of the classes below, or None: local, or unknown and not shared.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from txloop.scan.things import IMMUTABLE, UNKNOWN, has_type, is_application, is_harmless

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import (
        FunctionType,
    )

    from txloop.scan.frame import Nested

Slot: TypeAlias = tuple[object, str]
"""A name in a namespace: the owner's identity or role, and the attribute."""


class Family(enum.Enum):
    """Through what an object is shared."""

    GLOBAL = enum.auto()
    CLASS = enum.auto()
    CLOSURE = enum.auto()
    APPLICATION = enum.auto()
    ARGUMENT = enum.auto()


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
        sample: Whether it is one of several, and was looked at for all of them.
        role: Set for the application and its settings, which are known by role: one
            program has one of each.
    """

    thing: object
    name: str
    family: Family
    slots: tuple[Slot, ...] = ()
    role: Role | None = None
    sample: bool = False

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
        return value.slots if unknown else (value.key, value.sample)
    if isinstance(value, Instance):
        return id(value.type)
    return None


def sample(value: Value) -> Value:
    """Return the value as one of several that may stand there."""
    return replace(value, sample=True) if isinstance(value, Live) else value


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


def is_changeable(value: Value) -> bool:
    """Return whether a function may change the value that it is passed."""
    if not isinstance(value, Live):
        return False
    return not (is_harmless(value.thing) or has_type(value.thing, *IMMUTABLE))
