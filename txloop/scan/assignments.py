"""The walk through what is assigned: names, attributes, items."""

from __future__ import annotations

import ast
import threading
from dataclasses import replace
from inspect import getattr_static
from types import GetSetDescriptorType, ModuleType
from typing import TYPE_CHECKING

from txloop.scan.known import MUTATORS
from txloop.scan.live_objects import (
    UNKNOWN,
    can_change,
    has_type,
    is_container,
    is_of_others,
    module_label,
)
from txloop.scan.member import (
    class_attribute_label,
    class_slots,
    is_per_thread,
    member,
    setters,
)
from txloop.scan.parts import at, container_of, is_risky, made_of, part_of, put_by
from txloop.scan.value import (
    SOMETHING,
    Family,
    Instance,
    Live,
    Parts,
    Role,
    Several,
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
    from txloop.scan.value import Slot
    from txloop.scan.walk import Walk


def store(
    walk: Walk, target: ast.expr, value: Value, node: ast.expr | None = None
) -> None:
    """Write down what assigning the value, that of the node, to the target does."""
    match target:
        case ast.Name(id=name):
            store_name(walk, name, value, target)
        case ast.Attribute(value=owner, attr=name):
            name = walk.frame.attribute(name)
            for one in alternatives(walk.visit(owner)):
                if one is None and walk.only_reads:
                    walk.notes.lose(target)
                store_attribute(walk, one, name, value, target)
        case ast.Subscript(value=owner, slice=index):
            holders = alternatives(walk.visit(owner))
            walk.visit(index)
            for holder in holders:
                walk.notes.keep(holder, value, node)
                if holder is None and is_risky(value):
                    taint(walk, owner, made_of([value]))
                elif isinstance(holder, Parts):
                    holder.add(value)
                _store_item(walk, holder, constant(index), target)
        case ast.Starred(value=inner):
            store(walk, inner, made_of([value]))
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for position, each in enumerate(targets):
                store(walk, each, _part(value, position))


def store_attribute(
    walk: Walk, owner: Value, name: str, value: Value, node: ast.AST
) -> None:
    """Write down what `owner.name = value` does."""
    walk.notes.use_to_change(owner)
    walk.run_special(owner, ("__setattr__",), None, value)
    called = setters(owner, name, value)
    for one in called:
        walk.run(one)
    if called and name != "?":
        of_library = not any(one.functions for one in called)
        if of_library and isinstance(owner, Live) and is_of_others(owner.thing):
            walk.notes.change(owner, node)  # as ctypes has them on PyPy
        return
    if isinstance(owner, Instance):
        if name == "__dict__" and is_risky(value):
            walk.notes.lose(node)  # which others may have
        _keep(owner, name, value)
    elif isinstance(owner, Unfollowed):
        walk.notes.lose(node)
    elif isinstance(owner, Live):
        _store_shared(walk, owner, name, node)


def remove(walk: Walk, target: ast.expr) -> None:
    """Write down what `del target` does."""
    if isinstance(target, ast.Subscript):
        holder = walk.value(target.value)
        walk.visit(target.slice)
        _store_item(walk, holder, constant(target.slice), target, "__delitem__")
    else:
        store(walk, target, None)


def store_name(walk: Walk, name: str, value: Value, node: ast.AST) -> None:
    """Write down what binding the name in the current frame does."""
    frame = walk.frame
    while frame.transparent and name not in frame.local and frame.outer:
        frame = frame.outer
    holder = frame.holder(name)
    if name in frame.global_names:
        found = frame.value(name)
        thing = found.thing if isinstance(found, Live) else UNKNOWN
        slots = (frame.slot(name),)
        live = Live(thing, frame.label(name), Family.GLOBAL, slots)
        walk.notes.assign(live, node)
    elif name not in frame.outer_names:
        frame.local[name] = sample(value)
    elif holder is not None:
        slots = ((holder.variables, name),)
        live = Live(UNKNOWN, name, Family.CLOSURE, slots)
        walk.notes.assign(live, node, certain=False)
        holder.local[name] = sample(value)
    else:
        found = frame.value(name)
        if isinstance(found, Live):
            walk.notes.assign(found, node)


def _store_shared(walk: Walk, owner: Live, name: str, node: ast.AST) -> None:
    thing = owner.thing
    label = f"{owner.name}.{name}"
    slots: tuple[Slot, ...] = ((owner.key, name),)
    found = member(owner, name, walk.sources)
    old = found.thing if isinstance(found, Live) else UNKNOWN
    in_c = has_type(getattr_static(type(thing), name, None), GetSetDescriptorType)
    if (thing is UNKNOWN and owner.role is None) or (in_c and is_of_others(thing)):
        walk.notes.change(owner, node)
    elif has_type(thing, ModuleType):
        label = f"{module_label(thing.__dict__)}.{name}"
        slots = ((id(thing.__dict__), name),)
        walk.notes.assign(Live(old, label, Family.GLOBAL, slots), node)
    elif has_type(thing, type):
        label, slots = class_attribute_label(thing, name), class_slots(thing, name)
        walk.notes.assign_part(Live(old, label, Family.CLASS, slots), node)
    elif has_type(thing, threading.local):
        walk.notes.lose(node)  # a worker's thread has values of its own
    elif not (is_container(type(thing)) or is_per_thread(type(thing), name)):
        walk.notes.assign_part(Live(old, label, owner.family, slots), node)


def _store_item(
    walk: Walk, holder: Value, key: object, node: ast.AST, method: str = "__setitem__"
) -> None:
    if isinstance(holder, Live) and holder.role is Role.SETTINGS:
        live = setting(holder, key)
        walk.notes.assign_part(replace(live, slots=live.slots[:1]), node)
        return
    walk.notes.use_to_change(holder)
    walk.call_method(holder, method)
    if isinstance(holder, Unfollowed):
        walk.notes.lose(node)
    if isinstance(holder, Live):
        unknown = holder.thing is UNKNOWN
        if unknown or can_change(holder.thing):
            walk.notes.change(holder, node)


def taint(walk: Walk, holder: ast.expr, value: Value = SOMETHING) -> None:
    """Write down that the attempt's own object is, or holds, what may be shared."""
    inner = container_of(holder)
    while inner is not None:
        holder, value = inner, made_of([value])
        inner = container_of(holder)
    if isinstance(holder, ast.Name):
        known = walk.frame.local.get(holder.id, holder)
        if known is None:
            walk.frame.local[holder.id] = value
        elif isinstance(known, Parts):
            known.add(part_of(value))
    elif isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name):
        owner = walk.frame.local.get(holder.value.id)
        name = walk.frame.attribute(holder.attr)
        if isinstance(owner, Instance) and name in owner.unshared:
            owner.unshared.discard(name)
            owner.attributes[name] = value
        elif isinstance(owner, Instance):
            known = owner.attributes.get(name)
            if isinstance(known, Parts):
                known.add(part_of(value))


def taint_by(walk: Walk, method: ast.Attribute, given: tuple[Value, ...]) -> None:
    """Write down that the object of a method, not known, may hold what that is given.

    A method of the program's objects out of containers is walked through: what it puts
    into these is in cells, and what is called of that later is known by its name.
    """
    risky = [*filter(is_risky, given)]
    if not risky:
        return
    if method.attr in MUTATORS:
        taint(walk, method.value, made_of(put_by(method.attr, given)))
    elif not (walk.contents.called(method.attr) and all(map(_is_in_cells, risky))):
        taint(walk, method.value)


def _is_in_cells(value: Value) -> bool:
    """Tell whether it is an object, or are new ones, whose state is in cells."""
    if isinstance(value, Parts):
        return all(
            isinstance(one, Instance) and is_container(one.type) for one in value.values
        )
    return isinstance(value, Instance) and is_container(value.type)


def _part(value: Value, position: int) -> Value:
    """Return what unpacking assigns at the position."""
    if isinstance(value, Several):
        return either(_part(each, position) for each in value.values)
    if isinstance(value, Parts):
        return at(value, position)
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
