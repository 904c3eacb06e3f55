"""The walk through expressions: what each stands for, and what it does on the way.

Every expression is visited once, in the order in which the interpreter would run it.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from txloop.scan.assignments import store
from txloop.scan.frame import Nested
from txloop.scan.known import MUTATORS
from txloop.scan.libraries import is_of_library, streams_behind
from txloop.scan.live_objects import (
    UNKNOWN,
    changes_by,
    has_type,
    is_cache,
    is_iterator,
    makes_values,
)
from txloop.scan.member import member, settings
from txloop.scan.parts import (
    at,
    copied,
    is_sliced,
    made_of,
    may_be_several,
    part_of,
    passes_on,
)
from txloop.scan.special import SHOWING, calculating, comparing, reflected
from txloop.scan.syntax import last_name
from txloop.scan.value import (
    FOREIGN,
    SOMETHING,
    Bound,
    Descriptor,
    Family,
    Live,
    Member,
    Parts,
    Role,
    Several,
    Unfollowed,
    Value,
    alternatives,
    application,
    either,
    element,
    has_part,
    key_of,
    sample,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from txloop.scan.syntax import Comprehension
    from txloop.scan.walk import Walk

_SHOWN_DEPTH = 3  # an object, one in a list, one in a list of these

_ROUTING = frozenset(["add_handlers", "add_transform", "listen"])
"""Methods of an application that change what it does with requests."""


def _name(walk: Walk, node: ast.Name) -> Value:
    value = walk.frame.value(node.id)
    for one in alternatives(value):
        if isinstance(one, Nested):
            walk.walk_nested(one)
    if isinstance(value, Live) and walk.frame.holder(node.id) is None:
        walk.notes.read(value, node)
        missing = value.thing is UNKNOWN and value.family is Family.GLOBAL
        if missing and walk.sources.is_unbound(node.id):
            return replace(value, thing=None)  # a NameError: nothing is done with it
    return value


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    if _is_connection(node):  # which is another object in a transaction
        walk.notes.lose(node)
    of, name = node.value, walk.frame.attribute(node.attr)
    if _is_connection(of) and not name.startswith("__"):
        # What it has the real one has.
        owner = attribute(walk, walk.visit(of.value), of.attr, of)
    else:
        owner = walk.visit(of)
    if isinstance(owner, Several):
        return either(attribute(walk, each, name, node) for each in owner.values)
    return attribute(walk, owner, name, node)


def _is_connection(node: ast.expr) -> TypeGuard[ast.Attribute]:
    """Tell whether an expression is the connection of a request itself."""
    match node:
        case ast.Attribute(value=base, attr="connection"):
            return last_name(base) == "request"
    return False


def attribute(walk: Walk, owner: Value, name: str, node: ast.AST) -> Value:
    """Return what `owner.name` stands for, and write down what reading it does."""
    if name in _ROUTING and isinstance(owner, Live) and owner.role is Role.APPLICATION:
        walk.notes.change_process(f"application.{name}", node)
    if isinstance(owner, Live) and is_cache(owner.thing):
        if name == "cache_clear":
            walk.notes.clear_cache(owner, node)
        elif name == "cache_info":
            walk.notes.ask_cache(owner, node)
    if owner is None:
        walk.notes.read_of_any_class(name, node)
        for one in walk.contents.called(name):
            if isinstance(one, Descriptor):
                walk.run(one)
    elif isinstance(owner, Live):
        for stream in streams_behind(owner):
            walk.notes.change(stream, node)
    walk.notes.use(owner)
    if name == "__dict__":
        walk.notes.escape(owner, node)  # what has it may read all
    if name in MUTATORS:
        walk.notes.use_to_change(owner)
    asked = walk.run_special(owner, ("__getattribute__",))
    found = _known(walk, member(owner, name, walk.sources))
    if isinstance(found, Member):
        holder = found.holder
        if isinstance(holder, Live) and changes_by(holder.thing, name):
            # Code that takes the method is going to call it.
            walk.notes.change(holder, node)
    elif isinstance(found, Descriptor):
        return walk.run(found)
    elif isinstance(found, Live):
        walk.notes.read(found, node)
        if found.thing is UNKNOWN and _is_lacking(walk, owner, name):
            return replace(found, thing=None)  # an AttributeError, likewise
    elif isinstance(found, Unfollowed) and found.foreign and name in MUTATORS:
        walk.notes.lose(node)
    elif found is None and isinstance(owner, Live) and is_of_library(type(owner.thing)):
        return FOREIGN
    missing = isinstance(found, Live) and found.thing is UNKNOWN
    if missing or found in (None, SOMETHING):
        return walk.run_special(owner, ("__getattr__",)) or asked or found
    return found


def _is_lacking(walk: Walk, owner: Value, name: str) -> bool:
    if not isinstance(owner, Live) or not has_type(owner.thing, ModuleType):
        return False
    return walk.sources.lacks(owner.thing, name)


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    holders = alternatives(walk.visit(node.value))
    key, found = key_of(node.slice, walk.visit(node.slice)), []
    for holder in holders:
        if isinstance(holder, Live) and has_type(holder.thing, dict):
            if makes_values(holder.thing):
                walk.notes.change(holder, node)
            walk.call_method(holder, "__missing__")
        whole = isinstance(node.slice, ast.Slice) and is_sliced(holder)
        called = isinstance(member(holder, "__getitem__", walk.sources), Bound)
        if whole and not called:
            found.append(copied(holder))
        else:
            found.append(item(walk, holder, key, node))
    return either(found)


def item(walk: Walk, holder: Value, key: object, node: ast.AST) -> Value:
    """Return what `holder[key]` stands for, and write down what reading it does."""
    if isinstance(holder, Live) and holder.role is Role.SETTINGS:
        found = _known(walk, setting(holder, key))
        if isinstance(found, Live):
            walk.notes.read(found, node)
        return found
    if isinstance(holder, Unfollowed):
        return holder
    if isinstance(holder, Parts):
        return at(holder, key)
    called = member(holder, "__getitem__", walk.sources)
    if isinstance(called, Bound):
        return walk.run(called)
    if not isinstance(holder, Live):
        return None
    any_of_them = may_be_several(holder) and not has_type(key, type)
    known = not any_of_them and has_part(holder.thing, key)
    return element(holder, key) if known else part_of(holder)


def _known(walk: Walk, value: Value) -> Value:
    """Return the value with what is known of the application filled in."""
    if not isinstance(value, Live) or value.thing is not UNKNOWN:
        return value
    if isinstance(value.role, Role):
        walk.asked = True
    if value.role is Role.APPLICATION:
        return application(walk.application)
    if value.role is Role.SETTINGS:
        return settings(walk.application)
    owner, name = value.slots[0] if value.slots else (None, "")
    if isinstance(owner, Role):
        return replace(value, thing=walk.evidence.get(name, UNKNOWN))
    return value


def _lambda(walk: Walk, node: ast.Lambda) -> Value:
    return walk.walk_lambda(node)


def _named_expr(walk: Walk, node: ast.NamedExpr) -> Value:
    value = walk.visit(node.value)
    store(walk, node.target, value)
    return value


def _bool_op(walk: Walk, node: ast.BoolOp) -> Value:
    return sample(either([walk.visit(each) for each in node.values]))


def _if_exp(walk: Walk, node: ast.IfExp) -> Value:
    walk.visit(node.test)
    return sample(either([walk.visit(node.body), walk.visit(node.orelse)]))


def _compare(walk: Walk, node: ast.Compare) -> Value:
    values = [walk.visit(each) for each in (node.left, *node.comparators)]
    for op, one, other in zip(node.ops, values, values[1:], strict=False):
        compared(walk, op, one, other)
    return None


def compared(walk: Walk, op: ast.cmpop, one: Value, other: Value) -> None:
    """Walk through what a comparison calls."""
    if isinstance(op, ast.In | ast.NotIn):
        one, other = other, one
    walk.run_special(one, comparing(op), other)
    walk.run_special(other, reflected(op), one)


def _bin_op(walk: Walk, node: ast.BinOp) -> Value:
    left, right = walk.visit(node.left), walk.visit(node.right)
    found = walk.run_special(left, calculating(node.op), right)
    other = walk.run_special(right, reflected(node.op), left)
    if isinstance(node.op, ast.Mod):
        show(walk, right)
    return either((found, other, copied(left, right)))


def show(walk: Walk, value: Value) -> None:
    """Walk through what makes a text of a value, and of what is in it."""
    for _ in range(_SHOWN_DEPTH):
        walk.run_special(value, SHOWING)
        value = part_of(value)


def _unary_op(walk: Walk, node: ast.UnaryOp) -> Value:
    return walk.run_special(walk.visit(node.operand), reflected(node.op))


def _formatted_value(walk: Walk, node: ast.FormattedValue) -> Value:
    show(walk, walk.visit(node.value))
    if node.format_spec is not None:
        walk.visit(node.format_spec)
    return None


def _display(walk: Walk, node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> Value:
    parts = node.values if isinstance(node, ast.Dict) else node.elts
    for key in node.keys if isinstance(node, ast.Dict) else ():
        if key is not None:
            walk.visit(key)
    return made_of([walk.visit(each) for each in parts])


def _starred(walk: Walk, node: ast.Starred) -> Value:
    value = walk.visit(node.value)
    return part_of(value) if passes_on(value) else None


def _list_comprehension(
    walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp
) -> Value:
    return _comprehension(walk, node, node.elt)


def _dict_comprehension(walk: Walk, node: ast.DictComp) -> Value:
    return _comprehension(walk, node, node.key, node.value)


def _comprehension(walk: Walk, node: Comprehension, *results: ast.expr) -> Value:
    frame = walk.frame
    walk.frame = frame.inner("")
    walk.frame.transparent = True
    for each in node.generators:
        names = (it for it in ast.walk(each.target) if isinstance(it, ast.Name))
        walk.frame.local.update((name.id, None) for name in names)
        iterate(walk, each.target, each.iter)
        for condition in each.ifs:
            walk.visit(condition)
    values = [walk.visit(result) for result in results]
    walk.frame = frame
    return made_of(values)


def iterate(walk: Walk, target: ast.expr, source: ast.expr) -> None:
    """Write down what `for target in source` does."""
    pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
    counted = _enumerated(walk, source)
    if pair and counted is not None:
        assert isinstance(target, ast.Tuple)
        store(walk, target.elts[0], None)
        iterate(walk, target.elts[1], counted)
        return
    values = alternatives(walk.visit(source))
    items = [isinstance(one, Member) and one.name == "items" for one in values]
    if pair and all(items):
        assert isinstance(target, ast.Tuple)
        store(walk, target.elts[0], None)
        target = target.elts[1]
        values = tuple(replace(one, name="values") for one in values)  # type: ignore[type-var] # each is a Member
    found = []
    for value in values:
        if isinstance(value, Live) and is_iterator(value.thing):
            walk.notes.change(value, source)
        found.append(one_of(walk.run_special(value, ("__iter__",)) or value))
    store(walk, target, either(found))


def _enumerated(walk: Walk, source: ast.expr) -> ast.expr | None:
    """Return what `enumerate` counts, if that is what the expression calls."""
    match source:
        case ast.Call(func=ast.Name(id=name), args=[first, *_], keywords=[]):
            callee = walk.frame.value(name)
            found = isinstance(callee, Live) and callee.thing is enumerate
            return first if found else None
    return None


def one_of(value: Value) -> Value:
    """Return what going over a value gives: of a dict its keys."""
    if isinstance(value, Live) and has_type(value.thing, dict):
        return None
    return part_of(value)


def _await(walk: Walk, node: ast.Await) -> Value:
    return walk.visit(node.value)


VISITS: Mapping[type[ast.AST], Callable[[Walk, Any], Value]] = {
    ast.Attribute: _attribute,
    ast.Await: _await,
    ast.BinOp: _bin_op,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.Dict: _display,
    ast.DictComp: _dict_comprehension,
    ast.FormattedValue: _formatted_value,
    ast.GeneratorExp: _list_comprehension,
    ast.IfExp: _if_exp,
    ast.Lambda: _lambda,
    ast.List: _display,
    ast.ListComp: _list_comprehension,
    ast.Name: _name,
    ast.NamedExpr: _named_expr,
    ast.Set: _display,
    ast.SetComp: _list_comprehension,
    ast.Starred: _starred,
    ast.Subscript: _subscript,
    ast.Tuple: _display,
    ast.UnaryOp: _unary_op,
}
"""What walks through an expression of each kind; of others the parts are visited."""
