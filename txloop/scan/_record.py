"""The walk through what is assigned: names, attributes, items."""

from __future__ import annotations

import abc
import ast
import threading
import weakref
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

from txloop.scan.frame import Frame
from txloop.scan.live_objects import (
    UNKNOWN,
    can_change,
    has_type,
    is_container,
    module_label,
)
from txloop.scan.member import (
    class_attribute_label,
    class_slots,
    is_per_thread,
    member,
    setters,
)
from txloop.scan.notebook import Notebook, Place, shown
from txloop.scan.parts import container_of, is_risky, made_of, part_of
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

if TYPE_CHECKING:
    from types import FunctionType

    from txloop.scan.source import Sources


class Record(ast.NodeVisitor, abc.ABC):
    """Visits syntax, and writes down what assignments do to shared state.

    Attributes:
        frame: The names that the code being visited sees.
        notes: What was seen.
        unless: Where the code being visited has asked before: see `Access`.
    """

    def __init__(self, sources: Sources) -> None:
        self.frame = Frame("", "", {})  # in no function yet
        self.sources = sources
        self.unless: frozenset[Slot] = frozenset()
        walk = weakref.proxy(self)  # what is not needed any more goes at once
        self.notes = Notebook(
            lambda: Place(walk.frame.file, walk.frame.qualname, walk.unless)
        )

    @abc.abstractmethod
    def run(
        self,
        functions: tuple[FunctionType, ...],
        receiver: Value,
        arguments: Arguments,
        *,
        anew: bool = False,
    ) -> Value:
        """Walk through the program's functions among these, as called like this.

        Args:
            functions: The functions.
            receiver: Of what they are methods, or None.
            arguments: What they are given.
            anew: Whether to walk also through what has been walked through.
        """

    def run_special(self, value: Value, names: tuple[str, ...], *given: Value) -> Value:
        """Walk through the first of these methods that the program gives a value."""
        results = []
        for each in alternatives(value):
            methods = (member(each, name, self.sources) for name in names)
            found = next((one for one in methods if isinstance(one, Bound)), None)
            if found is not None:
                results.append(
                    self.run(found.functions, found.receiver, Arguments(given))
                )
        return either(results) if results else None

    def value(self, node: ast.AST) -> Value:
        """Visit the expression and return what it stands for, if that is one value.

        Else it is written down that it could not be followed.
        """
        found = self.any_value(node)
        if isinstance(found, Several):
            self.notes.lose(node, f"{shown(node)}, which may be one of several")
            return found.values[0]
        return found

    def any_value(self, node: ast.AST) -> Value:
        """Visit the expression and return what it stands for, which may be several."""
        found: Value = self.visit(node)
        return found

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
                    self.notes.keep(holder, value, node)
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
        self.run_special(owner, ("__setattr__",), None, value)
        called = setters(owner, name, value)
        for one, arguments in called:
            self.run(one.functions, one.receiver, arguments)
        if called and name != "?":
            return
        if isinstance(owner, Instance):
            if name == "__dict__" and is_risky(value):
                self.notes.lose(node)  # which others may have
            _keep(owner, name, value)
        elif isinstance(owner, Unfollowed):
            self.notes.lose(node)
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
            self.notes.assign(live, node)
        elif name not in frame.outer_names:
            frame.local[name] = sample(value)
        elif holder is not None:
            slots = ((holder.variables, name),)
            live = Live(UNKNOWN, name, Family.CLOSURE, slots)
            self.notes.assign(live, node, certain=False)
            holder.local[name] = sample(value)
        else:
            found = frame.value(name)
            if isinstance(found, Live):
                self.notes.assign(found, node)

    def _store_shared(self, owner: Live, name: str, node: ast.AST) -> None:
        thing = owner.thing
        label = f"{owner.name}.{name}"
        slots: tuple[Slot, ...] = ((owner.key, name),)
        found = member(owner, name, self.sources)
        old = found.thing if isinstance(found, Live) else UNKNOWN
        if thing is UNKNOWN and owner.role is None:
            self.notes.change(owner, node)
        elif has_type(thing, ModuleType):
            label = f"{module_label(thing.__dict__)}.{name}"
            slots = ((id(thing.__dict__), name),)
            self.notes.assign(Live(old, label, Family.GLOBAL, slots), node)
        elif has_type(thing, type):
            label, slots = class_attribute_label(thing, name), class_slots(thing, name)
            self.notes.assign_part(Live(old, label, Family.CLASS, slots), node)
        elif has_type(thing, threading.local):
            self.notes.lose(node)  # a worker's thread has values of its own
        elif not (is_container(type(thing)) or is_per_thread(type(thing), name)):
            self.notes.assign_part(Live(old, label, owner.family, slots), node)

    def _store_item(
        self, holder: Value, key: object, node: ast.AST, method: str = "__setitem__"
    ) -> None:
        if isinstance(holder, Live) and holder.role is Role.SETTINGS:
            live = setting(holder, key)
            self.notes.assign_part(replace(live, slots=live.slots[:1]), node)
            return
        called = member(holder, method, self.sources)
        if isinstance(called, Bound):
            self.run(called.functions, called.receiver, Arguments())
        if isinstance(holder, Unfollowed):
            self.notes.lose(node)
        if isinstance(holder, Live):
            unknown = holder.thing is UNKNOWN
            if unknown or can_change(holder.thing):
                self.notes.change(holder, node)


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
