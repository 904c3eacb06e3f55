"""The walk through what stands left of `=`, and behind `del` and `for`."""

from __future__ import annotations

import ast
import threading
from dataclasses import replace
from types import ModuleType

from txloop.scan._record import Record
from txloop.scan.element import element, setting
from txloop.scan.member import (
    class_attribute_label,
    class_slots,
    is_per_thread,
    member,
    setter,
)
from txloop.scan.things import UNKNOWN, has_type, is_container, is_plain, module_label
from txloop.scan.value import (
    Arguments,
    Bound,
    Family,
    Instance,
    Live,
    Role,
    Slot,
    Value,
    sample,
)


class Targets(Record):
    """Assigns names, attributes and items."""

    def store(
        self, target: ast.expr, value: Value, node: ast.expr | None = None
    ) -> None:
        """Write down what assigning the value, that of the node, to the target does."""
        match target:
            case ast.Name(id=name):
                self.store_name(name, value, target)
            case ast.Attribute(value=owner, attr=name):
                name = self.frame.attribute(name)
                self.store_attribute(self.value(owner), name, value, target)
            case ast.Subscript(value=owner, slice=index):
                holder = self.value(owner)
                self.value(index)
                self.keep(holder, value, node)
                self._store_item(holder, constant(index), target)
            case ast.Starred(value=inner):
                self.store(inner, None)
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
        elif isinstance(owner, Live):
            self._store_shared(owner, name, node)

    def remove(self, target: ast.expr) -> None:
        """Write down what `del target` does."""
        if isinstance(target, ast.Subscript):
            holder = self.value(target.value)
            self.value(target.slice)
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
        elif not (
            has_type(thing, threading.local)
            or is_container(type(thing))
            or is_per_thread(type(thing), name)
        ):
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
        if isinstance(holder, Live):
            unknown = holder.thing is UNKNOWN
            if unknown or is_plain(holder.thing):
                self.change(holder, node)


def constant(node: ast.expr) -> object:
    """Return the constant that the expression is, or UNKNOWN."""
    return node.value if isinstance(node, ast.Constant) else UNKNOWN


def _part(value: Value, position: int) -> Value:
    """Return what unpacking assigns at the position."""
    if isinstance(value, Live) and has_type(value.thing, list, tuple):
        return element(value, position)
    return None


def _keep(instance: Instance, name: str, value: Value) -> None:
    if value is None:
        instance.attributes.pop(name, None)
    else:
        instance.attributes[name] = sample(value)
