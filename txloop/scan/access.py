"""What a walk saw of shared state, and whether what is written makes a read stale.

Of what the program writes, some lies in libraries: attributes of their modules, classes
and objects. No look can tell what a library keeps from its caches. But what the program
sets there itself is state of the program's, which it may read through whatever the
library does.
"""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.live_objects import UNKNOWN, can_change, has_type
from txloop.stm.origin import is_own_module, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.scan.finding import FindingKind
    from txloop.scan.value import Slot

WHOLE = "*"
"""The attribute of the slot that is written with every other slot of its owner."""

SOME = "?"
"""The attribute of the slot for a key that the source does not tell."""

ANY_CLASS = "a class"
"""The owner of the slot that is written with that of each class."""

ANY_MODULE = "a module"
"""The same for modules."""


class Act(enum.Enum):
    """What is done to a slot, or to the object in it."""

    READ = enum.auto()
    ASSIGN = enum.auto()
    CHANGE = enum.auto()


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One act on shared state.

    Attributes:
        act: What is done.
        kind: The kind of finding that it gives; for a read, if it is written.
        name: To what, as findings call it.
        slots: Where that stands; a read looks at the first that is written.
        thing: The object in the slot, or UNKNOWN.
        certain: Whether it is known to be plain state. A change of an unknown object
            counts for the index only: a reader may know the object.
        file: The file of the line.
        line: The line.
        function: The qualified name of the function.
        unless: Where the code asks first what stands there, which is such that it does
            not come here as long as that stays.
    """

    act: Act
    kind: FindingKind
    name: str
    slots: tuple[Slot, ...]
    thing: object
    certain: bool
    file: str
    line: int
    function: str
    unless: frozenset[Slot] = frozenset()

    def targets(self) -> set[Slot]:
        """Return what the access writes: slots, and the object that is changed."""
        found = set(self.slots)
        if self.act is Act.CHANGE and self.certain:
            found.add(of_thing(self.thing))
        return found


def of_thing(thing: object) -> Slot:
    """Return the slot that stands for the contents of an object, whatever holds it."""
    return (id(thing), "contents")


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """What some functions write. The first writer of each slot and object is kept.

    Attributes:
        assigned: Assignments by slot.
        changed: Changes of the object in a slot.
        things: Changes by the identity of the object, which the access keeps alive.
        evidence: An object like the one that the source stores under an attribute or
            keyword of this name; UNKNOWN where it may be another.
        unsettled: What is written without asking first what stands there.
        loose: Attributes that are assigned on objects that are not known; "*" for any.
        late: Where attributes may be assigned at all: name, file and line.
    """

    assigned: dict[Slot, Access] = field(default_factory=dict)
    changed: dict[Slot, Access] = field(default_factory=dict)
    things: dict[int, Access] = field(default_factory=dict)
    evidence: dict[str, object] = field(default_factory=dict)
    unsettled: set[Slot] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    late: set[tuple[str, str, int]] = field(default_factory=set)

    def add(self, access: Access) -> None:
        """Add what the access writes."""
        by_slot = self.assigned if access.act is Act.ASSIGN else self.changed
        for owner, name in access.slots:
            by_slot.setdefault((owner, name), access)
            by_slot.setdefault((owner, WHOLE), access)
        if access.act is Act.CHANGE and access.certain:
            self.things.setdefault(id(access.thing), access)

    def may_happen(self, access: Access) -> bool:
        """Tell whether the code may come to the access when requests are served."""
        if not access.unless:
            return True
        names = {name for _, name in access.unless}
        return (
            "*" in self.loose
            or not names.isdisjoint(self.loose)
            or not access.unless.isdisjoint(self.unsettled)
        )

    def add_evidence(self, name: str, prototype: object) -> None:
        """Add that something like the prototype is stored under the name."""
        known = self.evidence.setdefault(name, prototype)
        if UNKNOWN in (known, prototype):
            self.evidence[name] = UNKNOWN

    def writer_of(self, read: Access) -> Access | None:
        """Return what makes the read stale, or None."""
        for slot in read.slots:
            if slot in self.assigned:
                return self.assigned[slot]
        inside = can_change(read.thing) or has_type(read.thing, tuple)
        for owner, name in read.slots:
            any_thing = inside or name == WHOLE or owner in (ANY_CLASS, ANY_MODULE)
            if any_thing and (owner, name) in self.changed:
                return self.changed[owner, name]
        return self.things.get(id(read.thing)) if inside else None


_GROWING = frozenset({"sys.modules"})
"""What Python itself adds to."""

_NO_LIBRARIES = frozenset({"builtins", "conflict_log", "logging", "txloop"})
"""Packages of which nothing is looked at, or all in any case."""


class Patch(NamedTuple):
    """An attribute that the program sets when requests are served.

    Attributes:
        home: The module in which that is.
        owner: What has it: a module, a class, an object that one of them has.
        label: What messages call that.
        name: Its name.
    """

    home: str
    owner: object
    label: str
    name: str


def patches_among(writes: Writes) -> Iterator[Patch]:
    """Yield what of all that the program writes lies in libraries.

    The scan knows owners by their identities, and calls them by their names.
    """
    for written in (writes.assigned, writes.changed):
        for (identity, name), access in written.items():
            if name not in (WHOLE, SOME):
                patch = _patch(identity, name, access)
                if patch is not None:
                    yield patch


def _patch(identity: object, name: str, access: Access) -> Patch | None:
    label = access.name.removesuffix(f".{name}")
    if label == access.name or label.partition(".")[0] in _NO_LIBRARIES:
        return None
    if access.name in _GROWING:
        return None
    home, rest = _home(label)
    if home is None or is_own_module(home):
        return None
    owner = _in(home, rest)
    known = owner.__dict__ if has_type(owner, ModuleType) else owner
    if id(known) != identity or own_module_of(owner) is not None:
        return None
    return Patch(home.__name__, owner, label, name)


def _home(label: str) -> tuple[ModuleType | None, list[str]]:
    """Return the module where a name begins, and what comes after that."""
    names = label.split(".")
    for count in range(len(names), 0, -1):
        module = sys.modules.get(".".join(names[:count]))
        if has_type(module, ModuleType):
            return module, names[count:]
    return None, names


def _in(module: ModuleType, names: list[str]) -> object:
    found: object = module
    for name in names:
        if not has_type(found, ModuleType, type):
            return UNKNOWN
        found = found.__dict__.get(name, UNKNOWN)
    return found
