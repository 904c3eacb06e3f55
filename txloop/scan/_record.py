"""The walk's notebook: which reads, changes and assignments of shared state count."""

from __future__ import annotations

import abc
import ast
import os
import threading
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

from txloop.scan.access import ANY_CLASS, ANY_MODULE, WHOLE, Access, Act
from txloop.scan.evidence import DISPLAYS
from txloop.scan.finding import FindingKind
from txloop.scan.frame import Frame
from txloop.scan.live_objects import (
    UNKNOWN,
    can_change,
    has_type,
    is_container,
    is_harmless,
    is_iterator,
    module_label,
)
from txloop.scan.member import (
    class_attribute_label,
    class_slots,
    is_per_thread,
    member,
    setter,
)
from txloop.scan.parts import (
    container_of,
    is_lost,
    is_risky,
    made_of,
    part_of,
)
from txloop.scan.value import (
    SOMETHING,
    Arguments,
    Bound,
    Family,
    Instance,
    Live,
    Parts,
    Role,
    Several,
    Slot,
    Unfollowed,
    Value,
    alternatives,
    constant,
    either,
    element,
    sample,
    setting,
)
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from types import FunctionType

    from txloop.scan.source import Sources

_ANY = {Family.CLASS: ANY_CLASS, Family.GLOBAL: ANY_MODULE}

_CHANGES = {
    Family.GLOBAL: FindingKind.MUTATES_GLOBAL,
    Family.CLASS: FindingKind.WRITES_CLASS,
    Family.CLOSURE: FindingKind.WRITES_CLOSURE,
    Family.APPLICATION: FindingKind.WRITES_APPLICATION,
    Family.ARGUMENT: FindingKind.WRITES_ARGUMENT,
}


_MOST_SHOWN = 60  # characters of an expression

_ENVIRONMENT: Slot = ("os.environ", "contents")


class Record(ast.NodeVisitor, abc.ABC):
    """Visits syntax and writes down what it does to shared state.

    Attributes:
        frame: The names that the code being visited sees.
        accesses: What was seen, in order, repetitions included.
        kept: The program's and the plain containers' classes of which new objects are
            put into shared ones, by what findings call these.
        outside: What was seen that changes the world outside the program.
        unfollowed: The uses of what may be shared, and is not known.
        unless: Where the code being visited has asked before: see `Access`.
    """

    def __init__(self, sources: Sources) -> None:
        self.frame = Frame("", "", {})  # in no function yet
        self.sources = sources
        self.accesses: list[Access] = []
        self.kept: dict[str, set[type]] = {}
        self.outside: list[Access] = []
        self.unfollowed: list[Access] = []
        self.unless: frozenset[Slot] = frozenset()

    @abc.abstractmethod
    def run(
        self,
        functions: tuple[FunctionType, ...],
        receiver: Value,
        arguments: Arguments,
    ) -> Value:
        """Walk through the program's functions among these, as called like this."""

    def value(self, node: ast.AST) -> Value:
        """Visit the expression and return what it stands for, if that is one value.

        Else it is written down that it could not be followed.
        """
        found = self.any_value(node)
        if isinstance(found, Several):
            self.lose(node, f"{shown(node)}, which may be one of several")
            return found.values[0]
        return found

    def any_value(self, node: ast.AST) -> Value:
        """Visit the expression and return what it stands for, which may be several."""
        found: Value = self.visit(node)
        return found

    def read(self, live: Live, node: ast.AST) -> None:
        """Write down that the slot of the value is read, and what is in it."""
        if live.thing is os.environ:
            self.read_environment(node)
            return
        inner = live.family is Family.CLOSURE and live.thing is UNKNOWN
        if live.slots and not inner and not is_harmless(live.thing):
            self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)

    def read_of_any_class(self, name: str, node: ast.AST) -> None:
        """Write down that an attribute is read of what may be a class."""
        live = Live(UNKNOWN, shown(node), Family.CLASS, ((ANY_CLASS, name),))
        self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)

    def run_anything(self, node: ast.AST) -> None:
        """Write down that a call may run any function of the program."""
        slots: tuple[Slot, ...] = tuple((one, WHOLE) for one in _ANY.values())
        live = Live(UNKNOWN, shown(node), Family.CLASS, slots)
        self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)

    def escape(self, value: Value, node: ast.AST) -> None:
        """Write down that code which is not scanned may read all of the object."""
        if not isinstance(value, Live) or is_harmless(value.thing):
            return
        cls = type(value.thing)
        if own_module_of(cls) is not None and not is_container(cls):
            whole = Live(value.thing, value.name, value.family, ((value.key, WHOLE),))
            self.read(whole, node)

    def assign(self, live: Live, node: ast.AST, *, certain: bool = True) -> None:
        """Write down that the slot of the value is assigned."""
        kind = _CHANGES[live.family]
        if live.family is Family.GLOBAL:
            kind = FindingKind.WRITES_GLOBAL
        self._write_down(Act.ASSIGN, kind, live, node, certain=certain)

    def assign_part(self, live: Live, node: ast.AST) -> None:
        """Write down that an attribute or a key of a shared object is assigned."""
        self._write_down(Act.ASSIGN, _CHANGES[live.family], live, node)

    def change(self, value: Value, node: ast.AST) -> None:
        """Write down that the object is changed, if it is plain or unknown."""
        if is_lost(value):
            self.lose(node)
        if not isinstance(value, Live):
            return
        thing, kind = value.thing, _CHANGES[value.family]
        if thing is os.environ:
            self._change_environment(node)
        elif value.role is Role.SETTINGS:
            self.assign_part(setting(value, UNKNOWN), node)
        elif thing is UNKNOWN:
            self._write_down(Act.CHANGE, kind, value, node, certain=False)
        elif can_change(thing) or is_iterator(thing):
            self._write_down(Act.CHANGE, kind, value, node)

    def change_process(self, changer: str, node: ast.AST) -> None:
        """Write down that a function is called that changes the whole process."""
        live = Live(UNKNOWN, changer, Family.GLOBAL)
        self._write_down(Act.ASSIGN, FindingKind.CHANGES_PROCESS, live, node)

    def clear_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that what an `lru_cache` keeps is thrown away."""
        live = replace(cache, slots=((id(cache.thing), "results"),))
        self.assign_part(live, node)

    def use_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that the function of an `lru_cache` is called.

        That reads what others may clear, and counts, which matters to `ask_cache` only.
        """
        live = replace(cache, slots=((id(cache.thing), "results"),))
        self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)
        words = f"{cache.name}, whose calls the program counts"
        self._lose(replace(cache, name=words, slots=_count_of(cache)), node)

    def ask_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that the calls matter which an `lru_cache` has counted."""
        live = replace(cache, slots=_count_of(cache))
        self._write_down(Act.ASSIGN, _CHANGES[live.family], live, node, certain=False)
        self.lose(node)

    def read_environment(self, node: ast.AST) -> None:
        """Write down that the environment is read, which other code may change."""
        words = "os.environ, which the program changes"
        self._lose(Live(UNKNOWN, words, Family.GLOBAL, (_ENVIRONMENT,)), node)

    def _change_environment(self, node: ast.AST) -> None:
        """Write down that the environment is changed, or set to what it is.

        That is no finding: the watch compares it, and most code sets it to the same.
        """
        live = Live(UNKNOWN, "os.environ", Family.GLOBAL, (_ENVIRONMENT,))
        kind = FindingKind.CHANGES_PROCESS
        self._write_down(Act.ASSIGN, kind, live, node, certain=False)

    def act_outside(self, words: str, node: ast.AST) -> None:
        """Write down that the world outside the program is changed."""
        live = Live(UNKNOWN, words, Family.GLOBAL)
        kind = FindingKind.ACTS_OUTSIDE
        self._write_down(Act.READ, kind, live, node, into=self.outside)

    def lose(self, node: ast.AST, words: str = "") -> None:
        """Write down that what the expression uses could not be followed."""
        self._lose(Live(UNKNOWN, words or shown(node), Family.GLOBAL), node)

    def lose_function(self, function: FunctionType) -> None:
        """Write down that a function has no source."""
        code, name = function.__code__, function.__qualname__
        around, self.frame = self.frame, Frame(code.co_filename, name, {})
        start = ast.Pass(lineno=code.co_firstlineno)
        self.lose(start, f"{name}, which has no source")
        self.frame = around

    def taint(self, holder: ast.expr, value: Value = SOMETHING) -> None:
        """Write down that the attempt's own object is, or holds, what may be shared."""
        inner = container_of(holder)
        while inner is not None:
            holder, value = inner, made_of([value])
            inner = container_of(holder)
        if isinstance(holder, ast.Name):
            known = self.frame.local.get(holder.id, holder)
            if known is None:
                self.frame.local[holder.id] = value
            elif isinstance(known, Parts):
                known.add(part_of(value))
        elif isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name):
            owner = self.frame.local.get(holder.value.id)
            name = self.frame.attribute(holder.attr)
            if isinstance(owner, Instance) and name in owner.unshared:
                owner.unshared.discard(name)
                owner.attributes[name] = value
            elif isinstance(owner, Instance):
                known = owner.attributes.get(name)
                if isinstance(known, Parts):
                    known.add(part_of(value))

    def keep(self, holder: Value, value: Value, node: ast.AST | None) -> None:
        """Write down that the value of the expression is put into a shared object."""
        made = DISPLAYS.get(type(node))
        cls = None if made is None else type(made)
        if isinstance(value, Instance) and own_module_of(value.type) is not None:
            cls = value.type
        if isinstance(holder, Live) and cls is not None and not is_container(cls):
            self.kept.setdefault(holder.name, set()).add(cls)

    def _lose(self, live: Live, node: ast.AST) -> None:
        kind = FindingKind.NOT_FOLLOWED
        self._write_down(Act.READ, kind, live, node, into=self.unfollowed)

    def _write_down(
        self,
        act: Act,
        kind: FindingKind,
        live: Live,
        node: ast.AST,
        *,
        certain: bool = True,
        into: list[Access] | None = None,
    ) -> None:
        slots = live.slots
        if live.family in _ANY and act is not Act.READ and certain:
            # What a container holds is not known where it is read.
            names = {name for _, name in slots}
            slots += tuple((_ANY[live.family], name) for name in names)
        access = Access(
            act,
            kind,
            live.name,
            slots,
            live.thing,
            certain,
            self.frame.file,
            getattr(node, "lineno", 0),
            self.frame.qualname,
            self.unless,
        )
        (self.accesses if into is None else into).append(access)

    # What stands left of `=`, and behind `del`

    def store(
        self, target: ast.expr, value: Value, node: ast.expr | None = None
    ) -> None:
        """Write down what assigning the value, that of the node, to the target does."""
        match target:
            case ast.Name(id=name):
                self.store_name(name, value, target)
            case ast.Attribute(value=owner, attr=name):
                name = self.frame.attribute(name)
                for one in alternatives(self.any_value(owner)):
                    self.store_attribute(one, name, value, target)
            case ast.Subscript(value=owner, slice=index):
                holders = alternatives(self.any_value(owner))
                self.visit(index)
                for holder in holders:
                    self.keep(holder, value, node)
                    if holder is None and is_risky(value):
                        self.taint(owner, made_of([value]))
                    elif isinstance(holder, Parts):
                        holder.add(value)
                    self._store_item(holder, constant(index), target)
            case ast.Starred(value=inner):
                self.store(inner, made_of([value]))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for position, each in enumerate(targets):
                    self.store(each, _part(value, position))

    def store_attribute(
        self, owner: Value, name: str, value: Value, node: ast.AST
    ) -> None:
        """Write down what `owner.name = value` does."""
        called = setter(owner, name)
        if called is not None:
            self.run(called.functions, called.receiver, Arguments((value,)))
        elif isinstance(owner, Instance):
            _keep(owner, name, value)
        elif isinstance(owner, Unfollowed):
            self.lose(node)
        elif isinstance(owner, Live):
            self._store_shared(owner, name, node)

    def remove(self, target: ast.expr) -> None:
        """Write down what `del target` does."""
        if isinstance(target, ast.Subscript):
            holder = self.value(target.value)
            self.visit(target.slice)
            self._store_item(holder, constant(target.slice), target, "__delitem__")
        else:
            self.store(target, None)

    def store_name(self, name: str, value: Value, node: ast.AST) -> None:
        """Write down what binding the name in the current frame does."""
        frame = self.frame
        while frame.transparent and name not in frame.local and frame.outer:
            frame = frame.outer
        holder = frame.holder(name)
        if name in frame.global_names:
            found = frame.value(name)
            thing = found.thing if isinstance(found, Live) else UNKNOWN
            slots = (frame.slot(name),)
            live = Live(thing, frame.label(name), Family.GLOBAL, slots)
            self.assign(live, node)
        elif name not in frame.outer_names:
            frame.local[name] = sample(value)
        elif holder is not None:
            slots = ((holder.variables, name),)
            live = Live(UNKNOWN, name, Family.CLOSURE, slots)
            self.assign(live, node, certain=False)
            holder.local[name] = sample(value)
        else:
            found = frame.value(name)
            if isinstance(found, Live):
                self.assign(found, node)

    def _store_shared(self, owner: Live, name: str, node: ast.AST) -> None:
        thing = owner.thing
        label = f"{owner.name}.{name}"
        slots: tuple[Slot, ...] = ((owner.key, name),)
        found = member(owner, name, self.sources)
        old = found.thing if isinstance(found, Live) else UNKNOWN
        if thing is UNKNOWN and owner.role is None:
            self.change(owner, node)
        elif has_type(thing, ModuleType):
            label = f"{module_label(thing.__dict__)}.{name}"
            slots = ((id(thing.__dict__), name),)
            self.assign(Live(old, label, Family.GLOBAL, slots), node)
        elif has_type(thing, type):
            label, slots = class_attribute_label(thing, name), class_slots(thing, name)
            self.assign_part(Live(old, label, Family.CLASS, slots), node)
        elif has_type(thing, threading.local):
            self.lose(node)  # a worker's thread has values of its own
        elif not (is_container(type(thing)) or is_per_thread(type(thing), name)):
            self.assign_part(Live(old, label, owner.family, slots), node)

    def _store_item(
        self, holder: Value, key: object, node: ast.AST, method: str = "__setitem__"
    ) -> None:
        if isinstance(holder, Live) and holder.role is Role.SETTINGS:
            live = setting(holder, key)
            self.assign_part(replace(live, slots=live.slots[:1]), node)
            return
        called = member(holder, method, self.sources)
        if isinstance(called, Bound):
            self.run(called.functions, called.receiver, Arguments())
        if isinstance(holder, Unfollowed):
            self.lose(node)
        if isinstance(holder, Live):
            unknown = holder.thing is UNKNOWN
            if unknown or can_change(holder.thing):
                self.change(holder, node)


def shown(node: ast.AST) -> str:
    """Return the source of an expression, not more than the beginning of a long one."""
    if isinstance(node, ast.Call):
        node = node.func
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _count_of(cache: Live) -> tuple[Slot, ...]:
    """Return the slot of the number of calls of an `lru_cache`."""
    return ((id(cache.thing), "count"),)


def _part(value: Value, position: int) -> Value:
    """Return what unpacking assigns at the position."""
    if isinstance(value, Several):
        return either(_part(each, position) for each in value.values)
    if isinstance(value, Parts):
        return part_of(value)
    if isinstance(value, Live) and has_type(value.thing, list, tuple):
        return element(value, position)
    return value if isinstance(value, Unfollowed) else None


def _keep(instance: Instance, name: str, value: Value) -> None:
    if value is None:
        instance.attributes.pop(name, None)
        instance.unshared.add(name)
    else:
        instance.unshared.discard(name)
        instance.attributes[name] = sample(value)
