"""The walk into what a call runs: code of the program, and past everything else."""

from __future__ import annotations

import ast
import enum
from functools import partial
from operator import attrgetter, methodcaller
from types import BuiltinMethodType, FunctionType, MethodWrapperType
from typing import TYPE_CHECKING, Any

from txloop.scan.assignments import store_attribute, taint_by
from txloop.scan.expressions import attribute, item
from txloop.scan.frame import Nested
from txloop.scan.known import GETTERS, METHODS, MUTATORS
from txloop.scan.libraries import (
    CHANGERS,
    READING,
    calls_later,
    changes_argument,
    give,
    home_and_name,
    leads_anywhere,
    may_change,
    names_in,
    outcome,
    tells_process,
)
from txloop.scan.live_objects import (
    UNKNOWN,
    can_change,
    changes_by,
    class_attribute,
    has_type,
    is_cache,
    is_plain,
)
from txloop.scan.logging_only import only_reads, only_reads_by_name
from txloop.scan.member import class_value, member, own_functions
from txloop.scan.notebook import shown
from txloop.scan.parts import (
    copied,
    is_lost,
    is_risky,
    made_of,
    part_of,
    put_by,
    taken_by,
)
from txloop.scan.rendering import render
from txloop.scan.targets import bound_to, is_own_code, target
from txloop.scan.value import (
    FOREIGN,
    NO_ARGUMENTS,
    SOMETHING,
    Arguments,
    Bound,
    Family,
    Inherited,
    Instance,
    Live,
    Member,
    Parts,
    Unfollowed,
    Value,
    alternatives,
    constant,
    either,
    members_of,
    shared,
)
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.scan.walk import Walk


def call(walk: Walk, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Walk into what the call runs, and return what it stands for."""
    if isinstance(callee, Unfollowed):
        if not callee.foreign or walk.only_reads:
            walk.notes.lose(node)
        elif _called(node) not in READING:
            _hand_over(walk, all_in(arguments), node)
        give(walk.notes, "", _called(node), all_in(arguments), node)
        render(walk, _called(node), arguments, node)
        return callee
    if is_lost(callee):
        walk.notes.lose(node)
        return SOMETHING
    if isinstance(callee, Member):
        return _call_member(walk, callee, arguments, node)
    if isinstance(callee, Instance):
        callee = member(callee, "__call__", walk.sources)
    if isinstance(callee, Inherited):
        known = _run_overridden(walk, callee)
        return either((known, call(walk, None, arguments, node)))
    thing: object = UNKNOWN
    cache: Live | None = None
    if isinstance(callee, Live) and callee.thing is not UNKNOWN:
        thing = callee.thing
        if has_type(thing, type):
            return _make(walk, thing, arguments, node)
        cache = callee if is_cache(thing) else None
        thing, callee, arguments = target(walk, callee, arguments)
    if isinstance(callee, Bound) and callee.cache is not None:
        name = str(getattr(callee.cache, "__qualname__", "a cache"))
        cache = Live(callee.cache, name, Family.CLASS)
    if cache is not None:
        walk.notes.use_cache(cache, node)
    if isinstance(callee, Bound) and any(map(is_own_function, callee.functions)):
        arguments = callee.preset.before(arguments)
        if cache is not None:
            return _run_cached(walk, cache, callee, arguments, node)
        return walk.run(callee, arguments)
    if isinstance(callee, Nested):
        return None if callee.is_decorated else walk.run_nested(callee, arguments)
    passed = all_in(arguments)
    for each in passed:
        walk.notes.escape(each, node)
    if thing is not UNKNOWN:
        return _outside(walk, thing, arguments, node)
    give(walk.notes, "", _called(node), passed, node)
    render(walk, _called(node), arguments, node)
    func = node.func if isinstance(node, ast.Call) else None
    if callee is None and not isinstance(func, ast.Attribute):
        walk.notes.run_anything(node)
        _hand_over(walk, passed, node)
    elif walk.only_reads and not only_reads_by_name(_called(node)):
        walk.notes.lose(node)
    if isinstance(func, ast.Attribute):
        taint_by(walk, func, passed)
    for each in filter(is_own_code, passed):
        if _called(node) == "sort":
            call_passed(walk, each, node)
        else:
            walk.notes.lose(node, f"{shown(node)}, which is given a function")
    if callee is None and isinstance(func, ast.Attribute):
        if func.attr in CHANGERS:
            change_first(walk, arguments, node)
        # A method of an object out of a container may be one of several.
        found = walk.contents.called_on(func, walk.frame)
        return either(
            walk.run(one, arguments) for one in found if isinstance(one, Bound)
        )
    return None


def _run_overridden(walk: Walk, callee: Inherited) -> Value:
    """Walk into what a method of the standard library calls of the program's class."""
    methods = (member(callee.receiver, name, walk.sources) for name in callee.called)
    return either(walk.run(each) for each in methods if isinstance(each, Bound))


def _call_member(
    walk: Walk, method: Member, arguments: Arguments, node: ast.AST
) -> Value:
    """Return what a method of a builtin container gives."""
    holder = method.holder
    if is_lost(holder):
        walk.notes.lose(node)
    if method.name in MUTATORS and isinstance(node, ast.Call):
        for each, asked in zip(arguments.positional, node.args, strict=False):
            walk.notes.keep(holder, each, asked)
    if isinstance(holder, Parts):
        return _use_parts(walk, holder, method.name, arguments, node)
    if method.name in {"items", "values"}:
        return method
    if method.name in ("__iter__", "copy"):
        return copied(holder)
    if method.name not in GETTERS:
        return None
    given = node.args if isinstance(node, ast.Call) else []
    key = constant(given[0]) if given else UNKNOWN
    return item(walk, holder, key, node)


def _run_cached(
    walk: Walk, cache: Live, callee: Bound, arguments: Arguments, node: ast.AST
) -> Value:
    """Walk into a function of which an `lru_cache` keeps what it returns.

    Each process has such a cache of its own: what is in it must not depend on when
    it was made, and making it must change nothing.
    """
    notes, key = walk.notes, id(cache.thing)
    before = notes.containers, notes.changed
    first = key not in walk.uses_containers
    if first:  # nothing is known of it as long as it calls itself
        walk.uses_containers[key] = walk.changes_containers[key] = False
    found = walk.run(callee, arguments, anew=first)
    if first:
        walk.uses_containers[key] = notes.containers > before[0]
        walk.changes_containers[key] = notes.changed > before[1]
    if walk.changes_containers[key]:
        notes.fill_cache(cache, node)
    elif walk.uses_containers[key]:
        notes.lose(node, f"{cache.name}, which keeps what it makes of others")
    if found is not None and not isinstance(found, Parts):
        return found
    slots = ((id(cache.thing), "results"),)  # one list, dict or set for all calls
    return Live(UNKNOWN, f"{cache.name}()", cache.family, slots)


def _outside(walk: Walk, thing: object, arguments: Arguments, node: ast.AST) -> Value:
    """Return what a call gives that is not of the program's code."""
    given = all_in(arguments)
    lost = leads_anywhere(thing) or tells_process(thing)
    if lost or (walk.only_reads and not only_reads(thing)):
        walk.notes.lose(node)
    if has_type(thing, attrgetter) or has_type(thing, methodcaller):
        return _call_named(walk, thing, arguments, node)
    walk.notes.change(_changed_with(thing, shown(node)), node)
    give(walk.notes, *home_and_name(thing), given, node)
    if changes_argument(thing):
        change_first(walk, arguments, node)
    elif may_change(thing):
        _hand_over(walk, given, node)
    for each in given:
        if not is_own_code(each):
            _change_passed(walk, each, node)
        elif calls_later(thing):
            walk.notes.lose(node, f"{shown(node)}, which is given a function")
        else:
            call_passed(walk, each, node)
    return outcome(thing, given)


def _changed_with(thing: object, name: str) -> Value:
    """Return the object that a call of one of its methods, taken before, changes.

    Args:
        thing: What is called: such a method, or something else.
        name: What findings call the object.
    """
    if not (has_type(thing, BuiltinMethodType) or has_type(thing, MethodWrapperType)):
        return None
    owner = thing.__self__
    changes = can_change(owner) and changes_by(owner, thing.__name__)
    return shared(owner, name, Family.GLOBAL) if changes else None


def change_first(walk: Walk, arguments: Arguments, node: ast.AST) -> None:
    """Write down that what a call gets first is changed."""
    given = (*arguments.positional[:1], *arguments.keywords.values())
    for each in given or arguments.others:
        for one in alternatives(each):
            walk.notes.change(one, node)


def _hand_over(walk: Walk, given: Iterable[Value], node: ast.AST) -> None:
    """Write down that a library gets plain objects that it may change."""
    for each in given:
        if isinstance(each, Live) and is_plain(each.thing):
            walk.notes.hand_over(each, node)


def _call_named(
    walk: Walk,
    caller: attrgetter[Any] | methodcaller,
    given: Arguments,
    node: ast.AST,
) -> Value:
    """Return what `operator` takes by a name, or calls by one, of what it gets."""
    calls, names = has_type(caller, methodcaller), names_in(caller)
    first = given.positional[0] if given.positional else either(given.others)
    found: list[Value] = []
    for name in names:
        values = alternatives(first)
        for part in name.split("."):
            taken = (attribute(walk, each, part, node) for each in values)
            values = alternatives(either(taken))
        found += values
    if calls:
        return either(call(walk, each, NO_ARGUMENTS, node) for each in found)
    return found[0] if len(names) == 1 and len(found) == 1 else made_of(found)


def _use_parts(
    walk: Walk, parts: Parts, method: str, arguments: Arguments, node: ast.AST
) -> Value:
    """Return what a method of a container gives that the attempt has made."""
    passed = all_in(arguments)
    for each in passed:
        if is_own_code(each) and method == "sort":
            call_passed(walk, each, node)
    for each in filter(is_risky, put_by(method, passed)):
        parts.add(each)
    found = taken_by(method, parts)
    if found is SOMETHING and method not in METHODS:
        walk.notes.lose(node)
    return found


def _make(walk: Walk, cls: type, arguments: Arguments, node: ast.AST) -> Value:
    """Return a new object of the class, walking through what makes it."""
    if own_module_of(cls) is None:
        for each in all_in(arguments):
            walk.notes.escape(each, node)
        if cls is partial and (bound := bound_to(arguments)) is not None:
            return bound
        found = _outside(walk, cls, arguments, node)
        return None if found == FOREIGN else found
    if has_type(cls, enum.EnumType) and members_of(cls):
        return part_of(class_value(cls))  # one of its members, by a value
    called = own_functions(type(cls), "__call__")
    if not called or cls in walk.calling:
        return _construct(walk, cls, arguments, node)
    walk.calling.append(cls)
    found = walk.run(Bound(called, class_value(cls)), arguments)
    walk.calling.pop()
    if isinstance(found, Live) and found.thing is not UNKNOWN:
        return found  # the one that is there already
    return either((found, _construct(walk, cls, arguments, node)))


def _construct(walk: Walk, cls: type, arguments: Arguments, node: ast.AST) -> Value:
    """Return a new object of a class of the program, as `type.__call__` does."""
    key = (id(cls), walk.unless, arguments.identity())
    if key not in walk.made:
        new = Bound(own_functions(cls, "__new__"), class_value(cls))
        known = walk.run(new, arguments)
        if isinstance(known, Live):  # what it returns is there already
            walk.made[key] = known
            walk.call_method(known, "__init__", arguments)
            return known
        walk.made[key] = instance = Instance(cls)
        fields = class_attribute(cls, "__dataclass_fields__", ())
        named = dict(zip(fields, arguments.positional, strict=False))
        for name in fields:
            value = {**named, **arguments.keywords}.get(name)
            store_attribute(walk, instance, name, value, node)
        for name in ("__init__", "__post_init__"):
            walk.call_method(instance, name, arguments)
        walk.call_method(instance, "__del__")  # at the latest when another is kept
    walk.notes.use(walk.made[key])
    return walk.made[key]


def call_passed(walk: Walk, value: Value, node: ast.AST) -> None:
    """Walk into a function that a builtin calls."""
    callable_live = isinstance(value, Live) and has_type(value.thing, FunctionType)
    if callable_live or isinstance(value, Bound):
        call(walk, value, NO_ARGUMENTS, node)
    else:
        _change_passed(walk, value, node)


def _change_passed(walk: Walk, value: Value, node: ast.AST) -> None:
    """Write down what is changed by a method of it that something else calls."""
    if isinstance(value, Live):
        walk.notes.change(_changed_with(value.thing, value.name), node)


def _called(node: ast.AST) -> str:
    """Return the name of the method that is called; "" if it is none."""
    return str(getattr(getattr(node, "func", None), "attr", ""))


def all_in(arguments: Arguments) -> tuple[Value, ...]:
    """Return all values that a call may pass."""
    given = (*arguments.positional, *arguments.keywords.values(), *arguments.others)
    return tuple(each for value in given for each in alternatives(value))
