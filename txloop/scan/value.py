"""What an expression stands for, as far as the scan can tell without running it.

A value is one of the classes below, or None: local, or unknown and not shared.
"""

from __future__ import annotations

import ast
import enum
import itertools
from collections import defaultdict, deque
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from txloop.scan.access import SOME
from txloop.scan.live_objects import (
    IMMUTABLE,
    UNKNOWN,
    bytes_behind,
    has_type,
    is_application,
    is_harmless,
    is_of_others,
    mapping_behind,
)
from txloop.stm.immutability import CHANGEABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import FunctionType

    from txloop.scan.frame import Nested

Slot: TypeAlias = tuple[object, str]
"""A name in a namespace: the owner's identity or role, and the attribute."""


_MOST_ALTERNATIVES = 16  # more of them count as a value that is not known


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
        unshared: The other attributes that were assigned.
    """

    type: type
    attributes: dict[str, Value] = field(default_factory=dict)
    unshared: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """The values that a call passes.

    Attributes:
        positional: Those that come first.
        keywords: Those that are passed by name.
        others: Those that come with or after ``*args``, or with ``**kwargs``: each may
            be for any parameter.
    """

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    others: tuple[Value, ...] = ()

    def before(self, later: Arguments) -> Arguments:
        """Return what a `partial` with these passes on when it is given others."""
        if not (self.positional or self.keywords or self.others):
            return later  # as most of the time
        keywords = {**self.keywords, **later.keywords}
        if self.others:  # how many they are is not known
            others = (*self.others, *later.positional, *later.others)
            return Arguments(self.positional, keywords, others)
        return replace(
            later, positional=self.positional + later.positional, keywords=keywords
        )

    def identity(self) -> tuple[object, ...]:
        """Return what tells these arguments from others."""
        named = ((name, identity(value)) for name, value in self.keywords.items())
        return (*map(identity, (*self.positional, *self.others)), *named)


NO_ARGUMENTS = Arguments()


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """Functions that one call runs, with what they get as their first argument.

    Attributes:
        functions: The functions.
        receiver: The argument, or None.
        cache: The `lru_cache` around them, or None.
        preset: What a `partial` passes before what a call does.
    """

    functions: tuple[FunctionType, ...]
    receiver: Value
    cache: object = None
    preset: Arguments = NO_ARGUMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Inherited:
    """A method of the standard library that may call some of the program's.

    Attributes:
        called: The names of these, methods of the receiver.
        receiver: What they get as their first argument.
    """

    called: tuple[str, ...]
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Descriptor:
    """A property or another descriptor: using the attribute runs its functions.

    Attributes:
        functions: The functions.
        receiver: What they get as their first argument.
        arguments: What they get besides.
    """

    functions: tuple[FunctionType, ...]
    receiver: Value
    arguments: Arguments = NO_ARGUMENTS


@dataclass(slots=True, eq=False)
class Parts:
    """A container that the attempt has made, and what may be in it.

    Attributes:
        values: Those that run the program's code, or may be shared.
    """

    values: list[Value]

    def add(self, value: Value) -> None:
        """Note that a value is put into it."""
        if value is not None and value is not self:
            self.values = list(alternatives(either((*self.values, value))))


class Entry(Parts):
    """A key of a dict with its value: the key changes nothing."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """One of some values; which, is not known, and they run different code."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A method of a builtin container."""

    holder: Live | Parts
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """What `super()` gives: the classes after one, for a receiver."""

    after: type
    receiver: Value


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """What may be shared, and is not known: see `libraries`.

    Attributes:
        foreign: Whether a library has given it: its methods are trusted, but for those
            by which containers change.
    """

    foreign: bool = False


SOMETHING = Unfollowed()
FOREIGN = Unfollowed(foreign=True)

Value: TypeAlias = (
    "Live | Instance | Bound | Descriptor | Inherited | Member | Super | Nested | Parts"
    " | Several | Unfollowed | None"
)


def identity(value: Value) -> object:
    """Return a key that is the same for values that a walk need not tell apart."""
    if isinstance(value, Live):
        unknown = value.thing is UNKNOWN and value.role is None
        return value.slots if unknown else (value.key, value.sample)
    if isinstance(value, Instance):
        return id(value.type)
    if isinstance(value, Several):
        return tuple(map(identity, value.values))
    if isinstance(value, Parts):
        return id(value), len(value.values)
    if isinstance(value, Bound):
        return value.functions, identity(value.receiver), value.preset.identity()
    return value if isinstance(value, Unfollowed) else None


def alternatives(value: Value) -> tuple[Value, ...]:
    """Return all that a value may be."""
    return value.values if isinstance(value, Several) else (value,)


def either(values: Iterable[Value]) -> Value:
    """Return what stands for one of these values."""
    found: dict[object, Value] = {}
    for value in values:
        for each in alternatives(value):
            if each is not None:
                found.setdefault(_identity_among(each), each)
    known = tuple(found.values())
    if len(known) <= 1:
        return known[0] if known else None
    return Several(known) if len(known) <= _MOST_ALTERNATIVES else SOMETHING


def _identity_among(value: Value) -> object:
    """Return what tells a value from others that may stand in its place."""
    if isinstance(value, Live):
        return type(value), identity(value)
    return value if isinstance(value, Unfollowed) else id(value)


def sample(value: Value) -> Value:
    """Return the value as one of several that may stand there."""
    if isinstance(value, Several):
        return Several(tuple(map(sample, value.values)))
    return replace(value, sample=True) if isinstance(value, Live) else value


def shared(
    thing: object, name: str, family: Family, slots: tuple[Slot, ...] = ()
) -> Live:
    """Return the value of a shared object, which may be the application."""
    if is_application(type(thing)):
        return application(thing)
    while has_type(thing, MappingProxyType):
        thing = mapping_behind(thing)
    if has_type(thing, memoryview):
        thing = bytes_behind(thing)
    return Live(thing, name, family, slots)


def application(thing: object = UNKNOWN) -> Live:
    """Return the value of the application."""
    return Live(thing, "application", Family.APPLICATION, role=Role.APPLICATION)


def is_changeable(value: Value) -> bool:
    """Tell whether a function may change the value that it is passed."""
    if not isinstance(value, Live):
        return isinstance(value, Instance | Parts | Several)  # such as `self`
    return not (is_harmless(value.thing) or has_type(value.thing, *IMMUTABLE))


def element(holder: Live, index: object = UNKNOWN) -> Live | Unfollowed | None:
    """Return the element of a plain container or tuple, or one that stands for all.

    One that cannot be looked up is None: it may be a container of txloop. That of a
    library's container may be a part of it, as a row of an array is.
    """
    thing = holder.thing
    if thing is UNKNOWN:
        return holder
    found: object = UNKNOWN
    if has_type(thing, dict):
        found = _value_of(thing, index)
    elif has_type(thing, list) or has_type(thing, tuple) or has_type(thing, deque):
        found = _item_of(thing, index)
    elif has_type(thing, enum.EnumType):
        found = _value_of(members_of(thing), index)
    if found is UNKNOWN:
        return FOREIGN if is_of_others(thing) else None
    value = shared(found, holder.name, holder.family, holder.slots)
    return replace(value, sample=True)


def has_part(thing: object, key: object) -> bool:
    """Tell whether a key or position that is known leads to a part."""
    if has_type(thing, dict):
        return key is not UNKNOWN and dict.__contains__(thing, key)
    if has_type(thing, list) or has_type(thing, tuple) or has_type(thing, deque):
        return isinstance(key, int) and -len(thing) <= key < len(thing)
    if has_type(thing, enum.EnumType):
        return key in members_of(thing)
    return not has_type(thing, set, ContextVar)


def members_of(cls: enum.EnumType) -> dict[object, object]:
    """Return the members of an enumeration, by name."""
    found: dict[object, object] = vars(cls).get("_member_map_", {})
    return found


def _value_of(thing: dict[object, object], index: object) -> object:
    found = dict.get(thing, index, UNKNOWN)
    if found is UNKNOWN:
        found = next(iter(dict.values(thing)), UNKNOWN)
    if found is UNKNOWN and has_type(thing, defaultdict):
        factory = thing.default_factory
        found = factory() if factory in CHANGEABLE else UNKNOWN
    return found


def _item_of(
    thing: list[object] | tuple[object, ...] | deque[object], index: object
) -> object:
    position = index if isinstance(index, int) else 0
    if not -len(thing) <= position < len(thing):
        position = 0
    return next(itertools.islice(thing, position % (len(thing) or 1), None), UNKNOWN)


def key_of(node: ast.expr, value: Value) -> object:
    """Return the key that the expression is: a constant, a class, or UNKNOWN."""
    if isinstance(value, Live) and not value.sample and has_type(value.thing, type):
        return value.thing
    return constant(node)


def constant(node: ast.expr) -> object:
    """Return the constant that the expression is, or UNKNOWN."""
    return node.value if isinstance(node, ast.Constant) else UNKNOWN


def setting(settings: Live, key: object) -> Live:
    """Return the value of one setting; any of them for a key that is not known."""
    if not isinstance(key, str):
        slot = (settings.key, SOME)
        return Live(settings.thing, settings.name, settings.family, (slot,))
    own = settings.thing
    thing = dict.get(own, key, UNKNOWN) if has_type(own, dict) else UNKNOWN
    slots = ((settings.key, key), (settings.key, SOME))
    return shared(thing, f'{settings.name}["{key}"]', settings.family, slots)
