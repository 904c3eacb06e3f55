"""The walk through expressions that call: their arguments, and what builtins do."""

from __future__ import annotations

import ast
import os
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

from txloop.scan.assignments import store_attribute
from txloop.scan.calls import all_in, call, call_passed, change_first
from txloop.scan.expressions import attribute, one_of, show
from txloop.scan.frame import Nested
from txloop.scan.libraries import changes_argument, home_and_name
from txloop.scan.live_objects import UNKNOWN, can_change, has_type
from txloop.scan.member import class_of
from txloop.scan.outside import act_of, process_changer
from txloop.scan.parts import is_risky, part_of
from txloop.scan.references import prefix_of
from txloop.scan.special import CALLERS, SHOWN_BY, asked_by
from txloop.scan.syntax import last_name
from txloop.scan.targets import is_own_code
from txloop.scan.value import (
    SOMETHING,
    Arguments,
    Family,
    Instance,
    Live,
    Member,
    Several,
    Super,
    Value,
    alternatives,
    constant,
    either,
)
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from txloop.scan.walk import Walk

_APPLYING = (filter, map, max, min, sorted)
"""Builtins that call the functions they get with what they go over only."""

_SETTING = (setattr, delattr, object.__setattr__, object.__delattr__)


def visit_call(walk: Walk, node: ast.Call) -> Value:
    """Walk through a call and its arguments, and return what it stands for."""
    nested = _nested_called(walk, node.func)
    callees = nested or alternatives(walk.visit(node.func))
    given = node.args
    if given and not walk.everything and _is_ours(callees[0], "on_commit"):
        given = _without_effect(given)
    passed = _passed(walk, callees, node)

    def value_of(one: ast.expr) -> Value:
        return passed[one] if one in passed else walk.visit(one)

    values = [value_of(each) for each in given]
    stars = (n for n, each in enumerate(given) if isinstance(each, ast.Starred))
    first = next(stars, len(given))
    named = [(each.arg, value_of(each.value)) for each in node.keywords]
    keywords = {name: value for name, value in named if name is not None}
    spread = (part_of(value) for name, value in named if name is None)
    others = tuple(one for one in (*values[first:], *spread) if is_risky(one))
    arguments = Arguments(tuple(values[:first]), keywords, others)
    return either(_call(walk, each, arguments, node) for each in callees)


def _nested_called(walk: Walk, function: ast.expr) -> tuple[Value, ...]:
    """Return the functions of this one that a name means, if these are called."""
    if not isinstance(function, ast.Name):
        return ()
    found = alternatives(walk.frame.value(function.id))
    are_nested = all(isinstance(one, Nested) and not one.is_decorated for one in found)
    return found if are_nested else ()


def _passed(
    walk: Walk, callees: tuple[Value, ...], node: ast.Call
) -> dict[ast.expr, Value]:
    """Return the values of what a builtin applies, and of what it goes over.

    Nothing where the call is not of such a builtin, nor of the `sort` of what is no
    object of the program's.
    """
    things = [one.thing if isinstance(one, Live) else None for one in callees]
    given = [*node.args, *(one.value for one in node.keywords)]
    sorts = isinstance(node.func, ast.Attribute) and node.func.attr == "sort"
    if sorts:
        applies = any(_applied(walk, each) is not None for each in given)
        if not applies or any(map(is_own_code, callees)):
            return {}
    elif not all(any(one is each for each in _APPLYING) for one in things):
        return {}
    values = {each: walk.visit(each) for each in given if _applied(walk, each) is None}
    one_each = len(node.args) == 1 or not any(
        one is max or one is min for one in things
    )
    over = [*values.values()]
    if isinstance(node.func, ast.Attribute) and sorts:
        over = [walk.visit(node.func.value)]
    element = either(map(_element, over) if one_each or sorts else over)
    for each in given:
        function = _applied(walk, each)
        if isinstance(function, Nested):
            walk.walk_nested(function, element)
            values[each] = function
        elif function is not None:
            values[each] = walk.walk_lambda(function, element)
    return values


def _applied(walk: Walk, given: ast.expr) -> ast.Lambda | Nested | None:
    """Return the function that an argument is, if it stands in this one."""
    if isinstance(given, ast.Lambda):
        return given
    found = walk.frame.value(given.id) if isinstance(given, ast.Name) else None
    return found if isinstance(found, Nested) else None


def _call(walk: Walk, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
    """Return what a call of one value stands for, that of a builtin at once."""
    thing = callee.thing if isinstance(callee, Live) else UNKNOWN
    given = arguments.positional
    several = alternatives(given[0] if given else None)
    if not SHOWN_BY.isdisjoint((last_name(node.func), home_and_name(thing)[1])):
        for value in all_in(arguments):
            show(walk, value)
    if isinstance(callee, Live):
        _note_builtin(walk, callee, arguments, node)
    if thing is super:
        return _super(walk, given)
    if thing is type and len(given) == 1:
        return either(map(class_of, several))
    if thing is type and len(given) == 3:
        for base in alternatives(part_of(given[1])):
            walk.call_method(base, "__init_subclass__")
    if thing is globals:
        label = walk.frame.label("globals()")
        return Live(walk.frame.namespace, label, Family.GLOBAL)
    if thing is getattr and len(node.args) > 1:
        name = constant(node.args[1])
        if isinstance(name, str):
            return either(attribute(walk, each, name, node) for each in several)
        prefix = prefix_of(node.args[1])
        named = [_methods_named(each, prefix) for each in several]
        if all(named):
            found = [
                attribute(walk, each, name, node)
                for each, names in zip(several, named, strict=True)
                for name in names
            ]
            return either([*found, *given[2:]])
        for each in several:
            _call_any(walk, each, prefix)
        if isinstance(several[0], Live):
            return SOMETHING if can_change(several[0].thing) else None
    if thing is vars and len(given) == 1:
        return either(_namespace(walk, each, node) for each in several)
    if any(thing is each for each in _SETTING) and len(given) > 1:
        name = constant(node.args[1])
        for each in several:
            known = name if isinstance(name, str) else "?"
            store_attribute(walk, each, known, None, node)
        return None
    if thing is memoryview and given:
        return given[0]  # what is written to the one is in the other
    if thing is next:
        for each in several:
            walk.notes.change(each, node)
            walk.call_method(each, "__next__")
        return part_of(given[0] if given else None)
    return call(walk, callee, arguments, node)


def _namespace(walk: Walk, value: Value, node: ast.Call) -> Value:
    """Return the `__dict__` of an object; what modules and classes have may be any."""
    if isinstance(value, Live) and has_type(value.thing, ModuleType, type):
        return SOMETHING
    return attribute(walk, value, "__dict__", node)


def _note_builtin(
    walk: Walk, callee: Live, arguments: Arguments, node: ast.Call
) -> None:
    """Write down what a call of a builtin does, and walk into what that calls."""
    thing = callee.thing
    act = act_of(thing, node)
    if act is not None:
        walk.notes.act_outside(act, node)
    changer = process_changer(thing)
    if changer is not None:
        walk.notes.change_process(changer, node)
    asked, asked_parts = asked_by(thing)
    for value in all_in(arguments) if asked else ():
        walk.run_special(value, asked)
        walk.run_special(part_of(value), asked_parts, SOMETHING)
    if thing is os.getenv:
        walk.notes.read_environment(node)
    if any(thing is each for each in CALLERS) or _is_ours(callee, "or_else"):
        values = all_in(arguments)
        for value in values:
            call_passed(walk, value, node)
            if isinstance(value, Live) and any(value.thing is one for one in _TEXTS):
                show(walk, either(values))
            if isinstance(value, Live) and changes_argument(value.thing):
                parts = tuple(map(part_of, values))
                change_first(walk, Arguments(others=parts), node)


_MOST_METHODS = 12

_TEXTS = (ascii, format, repr, str)


def _methods_named(owner: Value, prefix: str) -> list[str]:
    """Return the names of an object's methods that begin so.

    There are none if it may have other attributes of such names, or too many methods.
    """
    if isinstance(owner, Instance):
        kind, attributes = owner.type, {*owner.attributes, *owner.unshared}
    elif isinstance(owner, Live) and own_module_of(type(owner.thing)) is not None:
        kind = type(owner.thing)
        attributes = {*getattr(owner.thing, "__dict__", ())}
    else:
        return []
    classes = [cls for cls in kind.__mro__ if own_module_of(cls) is not None]
    others = [cls for cls in kind.__mro__ if cls not in classes]
    asked = ("__getattr__", "__getattribute__")
    if any(name in cls.__dict__ for cls in classes for name in asked):
        return []
    found = {one: cls for cls in classes for one in cls.__dict__}
    attributes.update(*(cls.__dict__ for cls in others))
    names = sorted(one for one in {*found, *attributes} if one.startswith(prefix))
    plain = all(
        name in found
        and name not in attributes
        and has_type(found[name].__dict__[name], FunctionType)
        for name in names
    )
    known = prefix and "?" not in attributes and plain
    return names if known and len(names) <= _MOST_METHODS else []


def _call_any(walk: Walk, owner: Value, prefix: str) -> None:
    """Walk into all methods of a shared object that a name may stand for."""
    thing = owner.thing if isinstance(owner, Live) else UNKNOWN
    if thing is UNKNOWN or has_type(thing, type, ModuleType):
        return
    for cls in type(thing).__mro__:
        own = own_module_of(cls) is not None
        for name in list(cls.__dict__) if own else ():
            if name.startswith(prefix) and not name.startswith("__"):
                walk.call_method(owner, name)


def _super(walk: Walk, given: tuple[Value, ...]) -> Value:
    frame = walk.frame.outermost
    after = frame.cells.get("__class__")
    receiver = frame.receiver
    if len(given) == 2 and isinstance(given[0], Live):
        after, receiver = given[0].thing, given[1]
    return Super(after, receiver) if has_type(after, type) else None


def _element(value: Value) -> Value:
    """Return what a function gets that is applied to what is in a value."""
    if isinstance(value, Several):
        return either(map(_element, value.values))
    pairs = isinstance(value, Member) and value.name == "items"
    return SOMETHING if pairs else one_of(value)


def _is_ours(callee: Value, function: str) -> bool:
    """Tell whether it is txloop's function of that name."""
    if not isinstance(callee, Live):
        return False
    module = str(getattr(type(callee.thing), "__module__", ""))
    if module != "builtins":
        return False
    home = str(getattr(callee.thing, "__module__", ""))
    name = getattr(callee.thing, "__name__", "")
    return home.partition(".")[0] == "txloop" and name == function


def _without_effect(given: list[ast.expr]) -> list[ast.expr]:
    """Return the arguments without the function that runs at commit."""
    first = given[0]
    if isinstance(first, ast.Call):
        return [*first.args[1:], *given[1:]]
    named = isinstance(first, (ast.Lambda, ast.Name, ast.Attribute))
    return given[1:] if named else given
