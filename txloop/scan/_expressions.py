"""The walk through expressions: what each stands for, and what it does on the way.

Every expression is visited once, in the order in which the interpreter would run it.

Of a condition, the walk asks what live objects answer to it. `if cache is None: cache =
load()` does not write if the cache is there when requests come, as long as nothing else
takes it away. What would take it away is not known while a function is walked through:
so what stands behind such a condition is walked through all the same, and noted with
where the answer was found (`Access.unless`). Only what is known for certain is an
answer: that a name, or an attribute that leads from one, is None, or is a builtin
object that is true or false, or has a key.
"""

from __future__ import annotations

import abc
import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from txloop.scan._record import Record
from txloop.scan.access import of_thing
from txloop.scan.contents import Contents
from txloop.scan.frame import Comprehension, Nested, parameters
from txloop.scan.live_objects import (
    MUTATORS,
    UNKNOWN,
    can_change,
    changes_by,
    has_type,
    is_cache,
    is_iterator,
    makes_values,
)
from txloop.scan.member import member, settings
from txloop.scan.parts import made_of, may_be_several, part_of, passes_on
from txloop.scan.special import SHOWING, TRUTH, calculating, comparing
from txloop.scan.unfollowed import is_of_library
from txloop.scan.value import (
    FOREIGN,
    SOMETHING,
    Arguments,
    Bound,
    Getter,
    Live,
    Member,
    Parts,
    Role,
    Several,
    Slot,
    Unfollowed,
    Value,
    alternatives,
    application,
    either,
    element,
    key_of,
    sample,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from txloop.scan.source import Sources

ROUTING = frozenset(["add_handlers", "add_transform", "listen"])
"""Methods of an application that change what it does with requests."""

_SIMPLE = (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Types whose objects tell whether they are true without running code."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition is, if it is known, and where that was found."""

    truth: bool | None = None
    slots: frozenset[Slot] = frozenset()

    def __invert__(self) -> Answer:
        return Answer(None if self.truth is None else not self.truth, self.slots)


_UNKNOWN = Answer()


class Expressions(Record):
    """Visits expressions; each visit returns a value."""

    def __init__(
        self, sources: Sources, evidence: Mapping[str, object], app: object
    ) -> None:
        super().__init__(sources)
        self.contents = Contents(sources)
        self._evidence = evidence
        self._application = app

    @abc.abstractmethod
    def walk_nested(self, nested: Nested, given: Value = SOMETHING) -> None:
        """Walk through a function that stands in the one being walked.

        Args:
            nested: The function.
            given: What each of its parameters is.
        """

    def visit_Name(self, node: ast.Name) -> Value:
        value = self.frame.value(node.id)
        if isinstance(value, Nested):
            self.walk_nested(value)
        elif isinstance(value, Live) and self.frame.holder(node.id) is None:
            self.notes.read(value, node)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        owner, name = self.any_value(node.value), self.frame.attribute(node.attr)
        if isinstance(owner, Several):
            return either(self.attribute(each, name, node) for each in owner.values)
        return self.attribute(owner, name, node)

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """Return what `owner.name` stands for, and write down what reading it does."""
        if (
            name in ROUTING
            and isinstance(owner, Live)
            and owner.role is Role.APPLICATION
        ):
            self.notes.change_process(f"application.{name}", node)
        if isinstance(owner, Live) and is_cache(owner.thing):
            if name == "cache_clear":
                self.notes.clear_cache(owner, node)
            elif name == "cache_info":
                self.notes.ask_cache(owner, node)
        if owner is None:
            self.notes.read_of_any_class(name, node)
            for one in self.contents.called(name):
                if isinstance(one, Getter):
                    self.run(one.functions, one.receiver, one.arguments)
        self.notes.use(owner)
        asked = self.run_special(owner, ("__getattribute__",))
        found = self._known(member(owner, name, self.sources))
        if isinstance(found, Member):
            holder = found.holder
            if isinstance(holder, Live) and changes_by(holder.thing, name):
                # Code that takes the method is going to call it.
                self.notes.change(holder, node)
        elif isinstance(found, Getter):
            return self.run(found.functions, found.receiver, found.arguments)
        elif isinstance(found, Live):
            self.notes.read(found, node)
        elif isinstance(found, Unfollowed) and found.foreign and name in MUTATORS:
            self.notes.lose(node)
        elif (
            found is None
            and isinstance(owner, Live)
            and is_of_library(type(owner.thing))
        ):
            return FOREIGN
        missing = isinstance(found, Live) and found.thing is UNKNOWN
        if missing or found in (None, SOMETHING):
            return self.run_special(owner, ("__getattr__",)) or asked or found
        return found

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        holders = alternatives(self.any_value(node.value))
        key, found = key_of(node.slice, self.any_value(node.slice)), []
        for holder in holders:
            if isinstance(holder, Live) and has_type(holder.thing, dict):
                self._miss(holder, node)
            whole = isinstance(holder, Parts) and isinstance(node.slice, ast.Slice)
            found.append(holder if whole else self.item(holder, key, node))
        return either(found)

    def _miss(self, holder: Live, node: ast.AST) -> None:
        """Write down what reading a key does that is not there."""
        if makes_values(holder.thing):
            self.notes.change(holder, node)
        missing = member(holder, "__missing__", self.sources)
        if isinstance(missing, Bound):
            self.run(missing.functions, missing.receiver, Arguments())

    def item(self, holder: Value, key: object, node: ast.AST) -> Value:
        """Return what `holder[key]` stands for, and write down what reading it does."""
        if isinstance(holder, Live) and holder.role is Role.SETTINGS:
            found = self._known(setting(holder, key))
            if isinstance(found, Live):
                self.notes.read(found, node)
            return found
        if isinstance(holder, Unfollowed):
            return holder
        if isinstance(holder, Parts):
            return part_of(holder)
        called = member(holder, "__getitem__", self.sources)
        if isinstance(called, Bound):
            return self.run(called.functions, called.receiver, Arguments())
        if not isinstance(holder, Live):
            return None
        some = may_be_several(holder) and not has_type(key, type)
        return part_of(holder) if some else element(holder, key)

    def _known(self, value: Value) -> Value:
        """Return the value with what is known of the application filled in."""
        if not isinstance(value, Live) or value.thing is not UNKNOWN:
            return value
        if value.role is Role.APPLICATION:
            return application(self._application)
        if value.role is Role.SETTINGS:
            return settings(self._application)
        owner, name = value.slots[0] if value.slots else (None, "")
        if isinstance(owner, Role):
            return replace(value, thing=self._evidence.get(name, UNKNOWN))
        return value

    def visit_Lambda(self, node: ast.Lambda) -> Value:
        return self.walk_lambda(node, SOMETHING)

    def walk_lambda(self, node: ast.Lambda, given: Value) -> Value:
        """Walk through a lambda each of whose parameters is given that."""
        frame = self.frame
        self.frame = frame.inner("<lambda>")
        self.frame.local.update(dict.fromkeys(parameters(node), given))
        self.frame.enter(node)
        self.visit(node.body)
        self.frame = frame
        return None

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.any_value(node.value)
        self.store(node.target, value)
        return value

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        return sample(either([self.any_value(each) for each in node.values]))

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        self.visit(node.test)
        return sample(either([self.any_value(node.body), self.any_value(node.orelse)]))

    def _display(self, node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> Value:
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if key is not None:
                self.visit(key)
        return made_of([self.any_value(each) for each in parts])

    visit_Tuple = visit_List = visit_Set = visit_Dict = _display

    def visit_Starred(self, node: ast.Starred) -> Value:
        value = self.any_value(node.value)
        return part_of(value) if passes_on(value) else None

    def visit_Await(self, node: ast.Await) -> Value:
        return self.any_value(node.value)

    def visit_ListComp(self, node: ast.ListComp) -> Value:
        return self._comprehension(node, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> Value:
        return self._comprehension(node, node.elt)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        return self._comprehension(node, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> Value:
        return self._comprehension(node, node.key, node.value)

    def _comprehension(self, node: Comprehension, *results: ast.expr) -> Value:
        frame = self.frame
        self.frame = frame.inner("")
        self.frame.transparent = True
        for each in node.generators:
            names = (it for it in ast.walk(each.target) if isinstance(it, ast.Name))
            self.frame.local.update((name.id, None) for name in names)
            self.iterate(each.target, each.iter)
            for condition in each.ifs:
                self.visit(condition)
        values = [self.any_value(result) for result in results]
        self.frame = frame
        return made_of(values)

    def iterate(self, target: ast.expr, source: ast.expr) -> None:
        """Write down what `for target in source` does."""
        pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
        counted = self._enumerated(source)
        if pair and counted is not None:
            assert isinstance(target, ast.Tuple)
            self.store(target.elts[0], None)
            self.iterate(target.elts[1], counted)
            return
        values = alternatives(self.any_value(source))
        items = [isinstance(one, Member) and one.name == "items" for one in values]
        if pair and all(items):
            assert isinstance(target, ast.Tuple)
            self.store(target.elts[0], None)
            target = target.elts[1]
        found = []
        for value in values:
            if isinstance(value, Live) and is_iterator(value.thing):
                self.notes.change(value, source)
            found.append(one_of(self.run_special(value, ("__iter__",)) or value))
        self.store(target, either(found))

    def _enumerated(self, source: ast.expr) -> ast.expr | None:
        """Return what `enumerate` counts, if that is what the expression calls."""
        match source:
            case ast.Call(func=ast.Name(id=name), args=[first, *_], keywords=[]):
                callee = self.frame.value(name)
                found = isinstance(callee, Live) and callee.thing is enumerate
                return first if found else None
        return None

    # Conditions

    def ask(self, node: ast.expr) -> Answer:
        """Visit a condition, and return what it is."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return ~self.ask(inner)
            case ast.BoolOp(op=op, values=parts):
                decisive = isinstance(op, ast.Or)
                answers = [self.ask(each) for each in parts]
                found = (each for each in answers if each.truth is decisive)
                return next(found, _UNKNOWN)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(left, op, right)
        return self._is_true(node, self.any_value(node))

    def visit_Compare(self, node: ast.Compare) -> Value:
        values = [self.any_value(each) for each in (node.left, *node.comparators)]
        for op, one, other in zip(node.ops, values, values[1:], strict=False):
            self._compared(op, one, other)
        return None

    def _compared(self, op: ast.cmpop, one: Value, other: Value) -> None:
        """Walk through what a comparison calls."""
        if isinstance(op, ast.In | ast.NotIn):
            one, other = other, one
        self.run_special(one, comparing(op), other)

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.any_value(node.left), self.any_value(node.right)
        return self.run_special(left, calculating(node.op), right)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Value:
        self.run_special(self.any_value(node.value), SHOWING)
        if node.format_spec is not None:
            self.visit(node.format_spec)
        return None

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Answer:
        one, other = self.any_value(left), self.any_value(right)
        self._compared(op, one, other)
        if isinstance(op, ast.Is | ast.IsNot) and _is_none(right):
            live = self._certain(left, one)
            if live is None:
                return _UNKNOWN
            found = Answer(live.thing is None, frozenset(live.slots))
            return found if isinstance(op, ast.Is) else ~found
        live = self._certain(right, other)
        key = key_of(left, one)
        if (
            isinstance(op, ast.In | ast.NotIn)
            and live is not None
            and key is not UNKNOWN
            and type(live.thing) in (dict, set, frozenset)
        ):
            found = Answer(key in live.thing, _with_contents(live))  # type: ignore[operator] # of these types
            return found if isinstance(op, ast.In) else ~found
        return _UNKNOWN

    def _is_true(self, node: ast.expr, value: Value) -> Answer:
        self.run_special(value, TRUTH)
        live = self._certain(node, value)
        if live is None or not (live.thing is None or type(live.thing) in _SIMPLE):
            return _UNKNOWN
        return Answer(bool(live.thing), _with_contents(live))

    def _certain(self, node: ast.expr, value: Value) -> Live | None:
        """Return the value if it is that of the expression, and of no other."""
        if not isinstance(value, Live) or value.sample or value.thing is UNKNOWN:
            return None
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        # What was called, or taken from a container, may have been something else.
        return value if value.slots and isinstance(root, ast.Name) else None


def one_of(value: Value) -> Value:
    """Return what going over a value gives: of a dict its keys."""
    if isinstance(value, Live) and has_type(value.thing, dict):
        return None
    return part_of(value)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with_contents(live: Live) -> frozenset[Slot]:
    slots = frozenset(live.slots)
    return slots | {of_thing(live.thing)} if can_change(live.thing) else slots
