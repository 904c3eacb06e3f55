"""What the program's own functions write: the other half of a stale read.

Built once for each module, and again when its source or the set of its names changes.
What a module does while it is imported is not a write: it happens before the fork.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.scan._walk import Walk
from txloop.scan.evidence import evidence
from txloop.scan.member import class_at
from txloop.scan.own import file_of, is_own_module
from txloop.scan.source import Sources
from txloop.scan.things import UNKNOWN, class_label, has_type, is_application
from txloop.scan.value import Family, Instance, Live, Value, application
from txloop.scan.writes import Writes

if TYPE_CHECKING:
    from types import ModuleType

    from txloop.scan.source import Definition, Source


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
        self._plain_calls: dict[object, Value] = {}

    def writes(self) -> Writes:
        """Return what all functions of the program write."""
        self.sources.refresh()
        self._plain_calls.clear()
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
            writes = _writes_of(module, source, self.sources, self._plain_calls)
            known = _Indexed(module, source, len(namespace), writes)
            self._modules[name] = known
        return known


def _own_modules() -> list[ModuleType]:
    unique = {id(each): each for each in list(sys.modules.values())}
    return [each for each in unique.values() if is_own_module(each)]


def _writes_of(
    module: ModuleType,
    source: Source,
    sources: Sources,
    plain_calls: dict[object, Value],
) -> Writes:
    """Return what the functions of the module write."""
    walk = Walk(sources, {}, plain_calls=plain_calls)
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
    for name, prototype in evidence(source.tree):
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
