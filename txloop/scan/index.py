"""What the program's own functions write: the other half of a stale read.

Built once for each module, and again when its source or the set of its names changes.
What a module does while it is imported is not a write: it happens before the fork.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from txloop.scan._walk import Walk
from txloop.scan.access import WHOLE, Access, Act
from txloop.scan.member import class_at
from txloop.scan.source import Sources, file_of, is_own_module
from txloop.scan.value import (
    UNKNOWN,
    Family,
    Instance,
    Live,
    Value,
    application,
    class_label,
    has_type,
    is_application,
    is_plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from txloop.scan.source import Definition, Source
    from txloop.scan.value import Slot

_DISPLAYS: Mapping[type, object] = MappingProxyType(
    {
        ast.Dict: {},
        ast.DictComp: {},
        ast.List: [],
        ast.ListComp: [],
        ast.Set: set(),
        ast.SetComp: set(),
    }
)
_MAKERS: Mapping[str, object] = MappingProxyType(
    {
        "Counter": {},
        "OrderedDict": {},
        "bytearray": bytearray(),
        "defaultdict": {},
        "deque": [],
        "dict": {},
        "list": [],
        "set": set(),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """What some functions write. The first writer of each slot and object is kept.

    Attributes:
        assigned: Assignments by slot.
        changed: Changes of the object in a slot.
        things: Changes by the identity of the object, which the access keeps alive.
        evidence: An object like the one that the source stores under an attribute or
            keyword of this name; UNKNOWN where it may be another.
    """

    assigned: dict[Slot, Access] = field(default_factory=dict)
    changed: dict[Slot, Access] = field(default_factory=dict)
    things: dict[int, Access] = field(default_factory=dict)
    evidence: dict[str, object] = field(default_factory=dict)

    def add(self, access: Access) -> None:
        """Add what the access writes."""
        if access.act is Act.READ:
            return
        by_slot = self.assigned if access.act is Act.ASSIGN else self.changed
        for owner, name in access.slots:
            by_slot.setdefault((owner, name), access)
            by_slot.setdefault((owner, WHOLE), access)
        if access.act is Act.CHANGE and access.certain:
            self.things.setdefault(id(access.thing), access)

    def add_evidence(self, name: str, prototype: object) -> None:
        """Add that something like the prototype is stored under the name."""
        known = self.evidence.setdefault(name, prototype)
        if UNKNOWN in (known, prototype):
            self.evidence[name] = UNKNOWN

    def merge(self, other: Writes) -> None:
        """Add what the other has."""
        for slot, access in other.assigned.items():
            self.assigned.setdefault(slot, access)
        for slot, access in other.changed.items():
            self.changed.setdefault(slot, access)
        for identity, access in other.things.items():
            self.things.setdefault(identity, access)
        for name, prototype in other.evidence.items():
            self.add_evidence(name, prototype)

    def writer_of(self, read: Access) -> Access | None:
        """Return what makes the read stale, or None."""
        for slot in read.slots:
            if slot in self.assigned:
                return self.assigned[slot]
        inside = is_plain(read.thing) or has_type(read.thing, tuple)
        for owner, name in read.slots:
            if (inside or name == WHOLE) and (owner, name) in self.changed:
                return self.changed[owner, name]
        return self.things.get(id(read.thing)) if inside else None


@dataclass(frozen=True, slots=True, eq=False)
class _Indexed:
    """The writes of a module as it was."""

    module: ModuleType
    source: Source
    names: int
    writes: Writes


class Program:
    """The program's own modules: their sources, and what they write.

    The loop thread's, like the scan.
    """

    def __init__(self) -> None:
        self.sources = Sources()
        self._modules: dict[str, _Indexed] = {}
        self._known: tuple[_Indexed, ...] = ()
        self._writes = Writes()

    def writes(self) -> Writes:
        """Return what all functions of the program write."""
        self.sources.refresh()
        indexed = tuple(map(self._indexed, _own_modules()))
        if indexed != self._known:
            self._known, self._writes = indexed, Writes()
            for each in indexed:
                self._writes.merge(each.writes)
        return self._writes

    def _indexed(self, module: ModuleType) -> _Indexed:
        name, namespace = module.__name__, module.__dict__
        source = self.sources.source(file_of(module), namespace)
        known = self._modules.get(name)
        if (
            known is None
            or known.module is not module
            or known.source is not source
            or known.names != len(namespace)
        ):
            writes = _writes_of(module, source, self.sources)
            known = _Indexed(module, source, len(namespace), writes)
            self._modules[name] = known
        return known


def _own_modules() -> list[ModuleType]:
    unique = {id(each): each for each in list(sys.modules.values())}
    return [each for each in unique.values() if is_own_module(each)]


def _writes_of(module: ModuleType, source: Source, sources: Sources) -> Writes:
    """Return what the functions of the module write."""
    walk = Walk(sources, {}, everything=True)
    instances: dict[type, Instance] = {}
    for definition in source.outermost:
        cls = class_at(module.__dict__, definition.owner)
        receiver = None
        if cls is not None and not isinstance(definition.node, ast.Lambda):
            receiver = _receiver(definition, cls, instances)
        local = _parameters(definition, receiver)
        cells = {} if cls is None else {"__class__": cls}
        walk.walk_definition(definition, module.__dict__, local, cells)
    walk.finish()
    writes = Writes()
    for access in walk.accesses:
        writes.add(access)
    for name, value in _stored(source.tree):
        for prototype in _prototypes(value):
            writes.add_evidence(name, prototype)
    return writes


def _receiver(
    definition: Definition, cls: type, instances: dict[type, Instance]
) -> Value:
    """Return what the first parameter of the method stands for."""
    name = definition.qualname.rpartition(".")[2]
    raw = cls.__dict__.get(name)
    implicit = name in {"__new__", "__init_subclass__", "__class_getitem__"}
    if has_type(raw, staticmethod) and not implicit:
        return None
    if has_type(raw, classmethod) or implicit:
        return Live(cls, class_label(cls), Family.CLASS)
    if is_application(cls) and name != "__init__":
        return application()
    return instances.setdefault(cls, Instance(cls))


def _parameters(definition: Definition, receiver: Value) -> dict[str, Value]:
    """Return the values of the parameters: unknown, but with a slot in initialize."""
    arguments = definition.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    local: dict[str, Value] = {}
    if receiver is not None and names:
        local[names.pop(0)] = receiver
    if definition.qualname.endswith(".initialize"):
        names += [each.arg for each in arguments.kwonlyargs]
        local.update((name, argument(UNKNOWN, name)) for name in names)
    return local


def argument(thing: object, name: str) -> Live:
    """Return the value of an argument with which handlers are registered."""
    label = f"initialize({name})"
    return Live(thing, label, Family.APPLICATION, (("initialize", name),))


def _stored(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Return what is stored as an attribute, or passed by keyword or key."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    if isinstance(each, ast.Attribute):
                        yield each.attr, value
            case ast.AnnAssign(ast.Attribute(attr=name), value=ast.expr() as value):
                yield name, value
            case ast.keyword(arg=str(name), value=value):
                yield name, value
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, value


def _prototypes(value: ast.expr) -> Iterator[object]:
    """Return an object like the value, UNKNOWN for a call, none for a name."""
    if type(value) in _DISPLAYS:
        yield _DISPLAYS[type(value)]
    elif isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        yield _MAKERS.get(name, UNKNOWN)
