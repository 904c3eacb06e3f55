"""The walk through calls: into code of the program, and past everything else."""

from __future__ import annotations

import ast
import enum
import os
from dataclasses import replace
from functools import reduce
from operator import attrgetter, methodcaller
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from txloop.scan._expressions import Expressions, one_of
from txloop.scan.frame import Nested
from txloop.scan.live_objects import (
    GETTERS,
    METHODS,
    MUTATORS,
    UNKNOWN,
    has_type,
    is_cache,
    is_plain,
)
from txloop.scan.member import (
    changed_with,
    class_of,
    class_value,
    member,
    own_functions,
    target,
)
from txloop.scan.notebook import shown
from txloop.scan.outside import act_of, process_changer
from txloop.scan.parts import (
    is_lost,
    is_risky,
    made_of,
    part_of,
    put_by,
    taken_by,
)
from txloop.scan.references import prefix_of
from txloop.scan.unfollowed import (
    CHANGERS,
    READING,
    calls_later,
    changes_argument,
    leads_anywhere,
    may_change,
    outcome,
    tells_process,
)
from txloop.scan.value import (
    FOREIGN,
    SOMETHING,
    Arguments,
    Bound,
    Family,
    Getter,
    Instance,
    Live,
    Member,
    Parts,
    Several,
    Super,
    Unfollowed,
    Value,
    alternatives,
    constant,
    either,
    members_of,
)
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from txloop.scan.source import Sources

_CALLERS = (filter, map, max, min, reduce, sorted)
"""Builtins that call the functions they get, before they or their results end."""

_APPLYING = (filter, map, max, min, sorted)
"""Those of them that call these with what they go over, and nothing else."""


_SETTING = (setattr, delattr, object.__setattr__, object.__delattr__)


class Calls(Expressions):
    """Visits calls.

    Attributes:
        everything: Whether to walk also what runs on the loop thread at commit.
    """

    def __init__(
        self,
        sources: Sources,
        evidence: Mapping[str, object],
        app: object,
        *,
        everything: bool,
    ) -> None:
        super().__init__(sources, evidence, app)
        self.everything = everything
        self._made: dict[object, Instance | Live] = {}
        self._uses_containers: dict[int, bool] = {}  # by the identity of a cache
        self._calling: list[type] = []  # by the `__call__` of their metaclasses

    def visit_Call(self, node: ast.Call) -> Value:
        callees = alternatives(self.any_value(node.func))
        given = node.args
        if given and not self.everything and _is_ours(callees[0], "on_commit"):
            given = _without_effect(given)
        passed = self._passed(callees, node)

        def value_of(one: ast.expr) -> Value:
            return passed[one] if one in passed else self.any_value(one)

        values = [value_of(each) for each in given]
        stars = (n for n, each in enumerate(given) if isinstance(each, ast.Starred))
        first = next(stars, len(given))
        named = [(each.arg, value_of(each.value)) for each in node.keywords]
        keywords = {name: value for name, value in named if name is not None}
        spread = (part_of(value) for name, value in named if name is None)
        others = tuple(one for one in (*values[first:], *spread) if is_risky(one))
        arguments = Arguments(tuple(values[:first]), keywords, others)
        return either(self._call(each, arguments, node) for each in callees)

    def _passed(
        self, callees: tuple[Value, ...], node: ast.Call
    ) -> dict[ast.expr, Value]:
        """Return the values of what a builtin applies, and of what it goes over.

        Nothing where the call is not of such a builtin.
        """
        things = [one.thing if isinstance(one, Live) else None for one in callees]
        if not all(any(one is each for each in _APPLYING) for one in things):
            return {}
        given = [*node.args, *(one.value for one in node.keywords)]
        values = {
            each: self.any_value(each) for each in given if self._applied(each) is None
        }
        one_each = len(node.args) == 1 or not any(
            one is max or one is min for one in things
        )
        over = map(_element, values.values()) if one_each else values.values()
        element = either(over)
        for each in given:
            function = self._applied(each)
            if isinstance(function, Nested):
                self.walk_nested(function, element)
                values[each] = function
            elif function is not None:
                values[each] = self.walk_lambda(function, element)
        return values

    def _applied(self, given: ast.expr) -> ast.Lambda | Nested | None:
        """Return the function that an argument is, if it stands in this one."""
        if isinstance(given, ast.Lambda):
            return given
        found = self.frame.value(given.id) if isinstance(given, ast.Name) else None
        return found if isinstance(found, Nested) else None

    def _call(self, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
        if isinstance(callee, Live):
            found, done = self._builtin(callee, arguments, node)
            if done:
                return found
        return self.call(callee, arguments, node)

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        """Walk into what the call runs, and return what it stands for."""
        if isinstance(callee, Unfollowed):
            if not callee.foreign:
                self.notes.lose(node)
            elif _called(node) not in READING:
                self._hand_over(_all_in(arguments), node)
            return callee
        if is_lost(callee):
            self.notes.lose(node)
            return SOMETHING
        if isinstance(callee, Member):
            return self._call_member(callee, arguments, node)
        if isinstance(callee, Instance):
            callee = member(callee, "__call__", self.sources)
        thing: object = UNKNOWN
        cache: Live | None = None
        if isinstance(callee, Live) and callee.thing is not UNKNOWN:
            thing = callee.thing
            if is_cache(thing):
                cache = callee
                self.notes.use_cache(callee, node)
            if has_type(thing, type):
                return self._make(thing, arguments, node)
            thing, callee, arguments = target(callee, arguments, self.sources)
        if isinstance(callee, Bound) and callee.cache is not None:
            name = str(getattr(callee.cache, "__qualname__", "a cache"))
            cache = Live(callee.cache, name, Family.CLASS)
            self.notes.use_cache(cache, node)
        if isinstance(callee, Bound) and any(map(is_own_function, callee.functions)):
            if callee.preset:
                positional = (*callee.preset, *arguments.positional)
                arguments = replace(arguments, positional=positional)
            if cache is not None:
                return self._run_cached(cache, callee, arguments, node)
            return self.run(callee.functions, callee.receiver, arguments)
        if isinstance(callee, Nested):
            return None
        passed = _all_in(arguments)
        for each in passed:
            self.notes.escape(each, node)
        if thing is not UNKNOWN:
            return self._outside(thing, arguments, node)
        func = node.func if isinstance(node, ast.Call) else None
        if callee is None and not isinstance(func, ast.Attribute):
            self.notes.run_anything(node)
            self._hand_over(passed, node)
        if isinstance(func, ast.Attribute) and any(map(is_risky, passed)):
            put = made_of(put_by(func.attr, passed))
            self.taint(func.value, put if func.attr in MUTATORS else SOMETHING)
        if any(map(_is_own_code, passed)):
            self.notes.lose(node, f"{shown(node)}, which is given a function")
        if callee is None and isinstance(func, ast.Attribute):
            if func.attr in CHANGERS:
                self._change_first(arguments, node)
            return self._call_on_unknown(func.attr, arguments)
        return None

    def _call_member(
        self, method: Member, arguments: Arguments, node: ast.AST
    ) -> Value:
        """Return what a method of a builtin container gives."""
        holder = method.holder
        if is_lost(holder):
            self.notes.lose(node)
        if method.name in MUTATORS and isinstance(node, ast.Call):
            for each, given in zip(arguments.positional, node.args, strict=False):
                self.notes.keep(holder, each, given)
        if isinstance(holder, Parts):
            return self._use_parts(holder, method.name, arguments, node)
        if method.name in {"items", "values"}:
            return method
        if method.name not in GETTERS:
            return None
        key: object = UNKNOWN
        if isinstance(node, ast.Call) and node.args:
            key = constant(node.args[0])
        return self.item(holder, key, node)

    def _run_cached(
        self, cache: Live, callee: Bound, arguments: Arguments, node: ast.AST
    ) -> Value:
        """Walk into a function of which an `lru_cache` keeps what it returns.

        Each process has such a cache of its own: what is in it must not depend on when
        it was made, and making it must change nothing.
        """
        key, before = id(cache.thing), self.notes.containers
        first = key not in self._uses_containers
        if first:
            self._uses_containers[key] = False  # as long as it calls itself
        functions, receiver = callee.functions, callee.receiver
        found = self.run(functions, receiver, arguments, anew=first)
        if first:
            self._uses_containers[key] = self.notes.containers > before
        if self._uses_containers[key]:
            self.notes.lose(node, f"{cache.name}, which keeps what it makes of others")
        return self._cached(cache, found)

    def _cached(self, cache: Live, found: Value) -> Value:
        """Return what an `lru_cache` keeps: one list, dict or set for all calls."""
        if found is not None and not isinstance(found, Parts):
            return found
        slots = ((id(cache.thing), "results"),)
        return Live(UNKNOWN, f"{cache.name}()", cache.family, slots)

    def _call_on_unknown(self, method: str, arguments: Arguments) -> Value:
        """Walk into what a method may be of an object out of a container."""
        found = [one for one in self.contents.called(method) if isinstance(one, Bound)]
        return either(self.run(o.functions, o.receiver, arguments) for o in found)

    def _outside(self, thing: object, arguments: Arguments, node: ast.AST) -> Value:
        """Return what a call gives that is not of the program's code."""
        given = _all_in(arguments)
        if leads_anywhere(thing) or tells_process(thing):
            self.notes.lose(node)
        if has_type(thing, attrgetter) or has_type(thing, methodcaller):
            return self._call_named(thing, arguments, node)
        self.notes.change(changed_with(thing, shown(node)), node)
        if changes_argument(thing):
            self._change_first(arguments, node)
        elif may_change(thing):
            self._hand_over(given, node)
        for each in given:
            if _is_own_code(each):
                if calls_later(thing):
                    self.notes.lose(node, f"{shown(node)}, which is given a function")
                else:
                    self._call_passed(each, node)
        return outcome(thing, given)

    def _change_first(self, arguments: Arguments, node: ast.AST) -> None:
        """Write down that what a call gets first is changed."""
        given = (*arguments.positional[:1], *arguments.keywords.values())
        for each in given or arguments.others:
            for one in alternatives(each):
                self.notes.change(one, node)

    def _hand_over(self, given: Iterable[Value], node: ast.AST) -> None:
        """Write down that a library gets plain objects that it may change."""
        for each in given:
            if isinstance(each, Live) and is_plain(each.thing):
                self.notes.hand_over(each, node)

    def _call_named(
        self, caller: attrgetter[Any] | methodcaller, given: Arguments, node: ast.AST
    ) -> Value:
        """Return what `operator` takes by a name, or calls by one, of what it gets."""
        made, names = cast("tuple[Any, tuple[str, ...]]", caller.__reduce__()[:2])
        names = (*getattr(made, "args", ()), *names)  # of one with keywords
        calls = has_type(caller, methodcaller)
        first = given.positional[0] if given.positional else either(given.others)
        found: list[Value] = []
        for name in names[:1] if calls else names:
            values = alternatives(first)
            for part in name.split("."):
                values = alternatives(
                    either(self.attribute(each, part, node) for each in values)
                )
            found += values
        if calls:
            return either(self.call(each, Arguments(), node) for each in found)
        return found[0] if len(names) == 1 and len(found) == 1 else made_of(found)

    def _use_parts(
        self, parts: Parts, method: str, arguments: Arguments, node: ast.AST
    ) -> Value:
        """Return what a method of a container gives that the attempt has made."""
        passed = _all_in(arguments)
        for each in passed:
            if _is_own_code(each) and method == "sort":
                self._call_passed(each, node)
        for each in filter(is_risky, put_by(method, passed)):
            parts.add(each)
        found = taken_by(method, parts)
        if found is SOMETHING and method not in METHODS:
            self.notes.lose(node)
        return found

    def _make(self, cls: type, arguments: Arguments, node: ast.AST) -> Value:
        """Return a new object of the class, walking through what makes it."""
        if own_module_of(cls) is None:
            for each in _all_in(arguments):
                self.notes.escape(each, node)
            found = self._outside(cls, arguments, node)
            return None if found == FOREIGN else found
        if has_type(cls, enum.EnumType) and members_of(cls):
            return part_of(class_value(cls))  # one of its members, by a value
        called = own_functions(type(cls), "__call__")
        if not called or cls in self._calling:
            return self._construct(cls, arguments, node)
        self._calling.append(cls)
        found = self.run(called, class_value(cls), arguments)
        self._calling.pop()
        if isinstance(found, Live) and found.thing is not UNKNOWN:
            return found  # the one that is there already
        return either((found, self._construct(cls, arguments, node)))

    def _construct(self, cls: type, arguments: Arguments, node: ast.AST) -> Value:
        """Return a new object of a class of the program, as `type.__call__` does."""
        key = (id(cls), self.unless, arguments.identity())
        if key not in self._made:
            known = self._new(cls, arguments)
            if known is not None:
                self._made[key] = known
                self.call_method(known, "__init__", arguments)
                return known
            self._made[key] = instance = Instance(cls)
            fields = getattr(cls, "__dataclass_fields__", ())
            named = dict(zip(fields, arguments.positional, strict=False))
            for name in fields:
                value = {**named, **arguments.keywords}.get(name)
                self.store_attribute(instance, name, value, node)
            for name in ("__init__", "__post_init__"):
                self.call_method(instance, name, arguments)
        self.notes.use(self._made[key])
        return self._made[key]

    def _new(self, cls: type, arguments: Arguments) -> Live | None:
        """Return what a `__new__` of the program returns, if that is there already."""
        functions = own_functions(cls, "__new__")
        made = self.run(functions, class_value(cls), arguments) if functions else None
        return made if isinstance(made, Live) else None

    def call_method(self, receiver: Value, name: str, arguments: Arguments) -> None:
        """Walk through the method or property of the receiver, if there is one."""
        found = member(receiver, name, self.sources)
        if isinstance(found, Getter):
            arguments = found.arguments
        if isinstance(found, (Bound, Getter)):
            self.run(found.functions, found.receiver, arguments)

    def _builtin(
        self, callee: Live, arguments: Arguments, node: ast.Call
    ) -> tuple[Value, bool]:
        """Return what a call of a builtin stands for, and whether it is known here."""
        thing, given = callee.thing, arguments.positional
        several = alternatives(given[0] if given else None)
        self._note_builtin(callee, arguments, node)
        if thing is super:
            return self._super(given), True
        if thing is type and len(given) == 1:
            return either(map(class_of, several)), True
        if thing is globals:
            return self._globals(), True
        if thing is getattr and len(node.args) > 1:
            return self._getattr(several, node)
        if any(thing is each for each in _SETTING) and len(given) > 1:
            name = constant(node.args[1])
            attribute = name if isinstance(name, str) else "?"
            for each in several:
                self.store_attribute(each, attribute, None, node)
            return None, True
        if thing is next:
            for each in several:
                self.notes.change(each, node)
                self.call_method(each, "__next__", Arguments())
            return part_of(given[0] if given else None), True
        return None, False

    def _note_builtin(self, callee: Live, arguments: Arguments, node: ast.Call) -> None:
        """Write down what a call of a builtin does, and walk into what that calls."""
        thing = callee.thing
        act = act_of(thing, node)
        if act is not None:
            self.notes.act_outside(act, node)
        changer = process_changer(thing)
        if changer is not None:
            self.notes.change_process(changer, node)
        if thing is os.getenv:
            self.notes.read_environment(node)
        if any(thing is each for each in _CALLERS) or _is_ours(callee, "or_else"):
            values = _all_in(arguments)
            for value in values:
                self._call_passed(value, node)
                if isinstance(value, Live) and changes_argument(value.thing):
                    parts = tuple(map(part_of, values))
                    self._change_first(Arguments(others=parts), node)

    def _getattr(
        self, several: tuple[Value, ...], node: ast.Call
    ) -> tuple[Value, bool]:
        """Return what `getattr` gives of one of these, and whether that is known."""
        name = constant(node.args[1])
        if isinstance(name, str):
            return either(self.attribute(each, name, node) for each in several), True
        for each in several:
            if isinstance(each, Live):
                self._call_any(each, prefix_of(node.args[1]))
        return None, isinstance(several[0], Live)

    def _call_any(self, owner: Live, prefix: str) -> None:
        """Walk into all methods of a shared object that a name may stand for."""
        thing = owner.thing
        if thing is UNKNOWN or has_type(thing, type, ModuleType):
            return
        for cls in type(thing).__mro__:
            own = own_module_of(cls) is not None
            for name in list(cls.__dict__) if own else ():
                if name.startswith(prefix) and not name.startswith("__"):
                    self.call_method(owner, name, Arguments())

    def _call_passed(self, value: Value, node: ast.AST) -> None:
        """Walk into a function that a builtin calls."""
        callable_live = isinstance(value, Live) and has_type(value.thing, FunctionType)
        if callable_live or isinstance(value, Bound):
            self.call(value, Arguments(), node)

    def _super(self, given: tuple[Value, ...]) -> Value:
        frame = self.frame.outermost
        after = frame.cells.get("__class__")
        receiver = frame.receiver
        if len(given) == 2 and isinstance(given[0], Live):
            after, receiver = given[0].thing, given[1]
        return Super(after, receiver) if has_type(after, type) else None

    def _globals(self) -> Live:
        label = self.frame.label("globals()")
        return Live(self.frame.namespace, label, Family.GLOBAL)


def _element(value: Value) -> Value:
    """Return what a function gets that is applied to what is in a value."""
    if isinstance(value, Several):
        return either(map(_element, value.values))
    pairs = isinstance(value, Member) and value.name == "items"
    return SOMETHING if pairs else one_of(value)


def _is_own_code(value: Value) -> bool:
    if isinstance(value, Bound):
        return any(map(is_own_function, value.functions))
    return (
        isinstance(value, Live)
        and has_type(value.thing, FunctionType)
        and is_own_function(value.thing)
    )


def _called(node: ast.AST) -> str:
    """Return the name of the method that is called; "" if it is none."""
    return str(getattr(getattr(node, "func", None), "attr", ""))


def _all_in(arguments: Arguments) -> tuple[Value, ...]:
    """Return all values that a call may pass."""
    given = (*arguments.positional, *arguments.keywords.values(), *arguments.others)
    return tuple(each for value in given for each in alternatives(value))


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
