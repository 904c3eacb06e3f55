"""What handlers keep in attributes of their own, store, and use on.

Where ``self.body`` is stored, a container holds a copy, which does not change with it.
So what the attribute is given has to be a container from the start, as with variables
(see `aliases`); where that is not known, it is a hazard for what it is stored in. Of an
object of the program's own classes a container holds that object.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name, parameters
from txloop.sharing.bindings import bindings, given_to
from txloop.sharing.habits import Argument
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.mattering import are_stored_together, is_stored_again, matters
from txloop.sharing.scalars import scalar_attributes
from txloop.sharing.scopes import functions_in, nodes_of, scopes_in, walked
from txloop.sharing.syntax import (
    attribute_of_self,
    changed_by,
    is_of_self,
    parent_of,
    results_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.habits import Habits
    from txloop.sharing.texts import Text

__all__ = ["Owning"]

_OF_PROGRAM = ("application", "settings")
"""Attributes by which Tornado gives handlers what the program keeps."""

_DEPTH = 4  # variables that are followed


class Owning:
    """What attributes of handlers are given, and what becomes of that."""

    def __init__(self, texts: Iterable[Text], habits: Habits) -> None:
        """Look at all assignments and uses.

        Args:
            texts: The modules.
            habits: What is known of the program's functions.
        """
        self._habits = habits
        self._given: defaultdict[str, list[Argument]] = defaultdict(list)
        self._unknown: set[str] = set()  # are given what is not known, too
        self._uses: defaultdict[str, list[tuple[ast.AST, ast.expr]]]
        self._uses = defaultdict(list)
        self._own: dict[ast.AST, str] = {}  # what asks for an attribute of a handler
        self._initialize: dict[ast.AST, list[str]] = {}  # gets arguments of routes
        self._changed: set[str] = set()  # by way of `self`, in handlers
        self._by_name = False  # handlers ask for attributes by names that they make
        self._set_by: set[str] = set()  # attributes that something else may keep
        self._stored: defaultdict[str, set[str]] = defaultdict(set)
        texts = [*texts]
        self._scalars = scalar_attributes(texts, habits)
        for text in texts:
            for scope in scopes_in(text.tree):
                self._take(text, scope)
            for node in walked(text.tree):
                if isinstance(node, ast.ClassDef) and is_handler_class(node):
                    self._set_by.update(_set_by_others(node))
            for function, owner in functions_in(text.tree):
                if is_handler_class(owner):
                    self._take_own(function)
                    if getattr(function, "name", "") == "initialize":
                        self._initialize[function] = parameters(function)

    def _take(self, text: Text, scope: ast.AST) -> None:
        """Take note of what attributes are given."""
        known: set[ast.expr] = set()
        for node in nodes_of(scope):
            for target, value in given_to(node):
                if isinstance(target, ast.Attribute):
                    known.add(target)
                    self._given[target.attr].append(Argument(text, scope, value))
        for node in nodes_of(scope):
            if isinstance(node, ast.expr) and (name := _name_in(node)):
                self._uses[name].append((scope, node))
            is_stored = not isinstance(getattr(node, "ctx", None), ast.Load)
            if isinstance(node, ast.Attribute) and is_stored and node not in known:
                self._unknown.add(node.attr)

    def _take_own(self, method: ast.AST) -> None:
        """Take note of the attributes that a method of a handler names."""
        for node in walked(method):
            if name := own_attribute(node):
                self._own[node] = name
            target = changed_by(node)
            if target is not None and not is_of_self(node):
                self._changed.add(attribute_of_self(target))
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr="__dict__"):
                    self._by_name = True
                case ast.Call(
                    func=ast.Name(id="getattr" | "setattr" | "vars"),
                    args=[ast.Name(id="self"), *named],
                ):
                    texts = named and isinstance(named[0], ast.Constant)
                    self._by_name |= not texts

    def owned(self) -> dict[ast.AST, list[Argument] | None]:
        """Return what asks for attributes of handlers that are given what changes.

        With what these are given; None if that is not known.
        """
        changing = {name for name in {*self._own.values()} if not self.stays(name)}
        return {
            node: None if name in self._unknown else self._given[name]
            for node, name in self._own.items()
            if name in changing
        }

    def stays(self, name: str) -> bool:
        """Tell whether what attributes of a name are given is the same once stored.

        What classes have, or the program's routes or Tornado give, was there before,
        and so is a container, or nothing changes it.
        """
        return name not in self._unknown and all(
            self._is_of_routes(one) or self._habits.stays(one.scope, one.value)
            for one in self._given[name]
        )

    def _is_of_routes(self, one: Argument) -> bool:
        return last_name(one.value) in self._initialize.get(one.scope, ())

    def stored_in(self, value: ast.AST, holder: ast.AST | None = None) -> set[str]:
        """Return the own attributes that are stored, or parts of them, with a value.

        Args:
            value: What is stored.
            holder: What it is put into. Parts of what was there before are stored
                already, as in ``self.table.rows = [*self.table.rows]``.
        """
        nodes = [*ast.walk(value)]
        bases = {
            one.value
            for one in nodes
            if isinstance(one, ast.Attribute | ast.Subscript)
            if last_name(one) not in self._scalars
        }
        with_parts = {own_attribute(one) for one in bases}
        handed = {
            one.removeprefix("self.")
            for one in self._habits.handed_on(value)
            if one.startswith("self.")
        }
        handed &= {self._own[one] for one in nodes if one in self._own}
        handed = {one for one in handed if not self._was_there(one)}
        # Parts may be plain, whatever they are parts of; so may what Tornado gives.
        known = {one for one in handed if self._given[one] and self.stays(one)}
        again = {one for one in known if self._is_only_of(one, nodes, holder)}
        return handed - (known - with_parts) - again - {last_name(holder)}

    def _was_there(self, name: str) -> bool:
        """Tell whether an own attribute is a part of what the program keeps anyway.

        Where that is shared, parts of it are containers, and else nothing changes them.
        """
        functions = self._habits.callees.functions
        if name in self._unknown or name in functions:
            return False
        given = [*self._given[name]]
        if name in _OF_PROGRAM:
            return not given
        if name == "current_user":
            given += [
                Argument(one.home, one.node, result)
                for one in functions.get("get_current_user", ())
                for result in results_of(one.node)
            ]
        return bool(given) and all(
            self._is_of_routes(one) or self._comes_out(one.scope, one.value)
            for one in given
        )

    def _comes_out(self, scope: ast.AST, value: ast.expr, depth: int = 0) -> bool:
        """Tell whether an expression takes something out of what the program keeps."""
        match value:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                values, others = bindings(scope, name)
                if not values and not others:
                    return True  # of the module
                inside = (self._comes_out(scope, one, depth + 1) for one in values)
                return depth < _DEPTH and not others and all(inside)
            case ast.IfExp(body=one, orelse=other):
                both = (one, other)
                return all(self._comes_out(scope, each, depth) for each in both)
            case ast.BoolOp(values=parts):
                return all(self._comes_out(scope, each, depth) for each in parts)
            case ast.Call(func=ast.Attribute(value=base, attr="get"), args=[_, *more]):
                default = all(self._comes_out(scope, each, depth) for each in more)
                return default and self._comes_out(scope, base, depth)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name in _OF_PROGRAM
            case ast.Attribute(value=base, attr=name):
                is_stored = name not in self._habits.callees.functions  # no property
                return is_stored and self._comes_out(scope, base, depth)
            case ast.Subscript(value=base, slice=part):
                is_item = not isinstance(part, ast.Slice)
                return is_item and self._comes_out(scope, base, depth)
        return False

    def _is_only_of(
        self, name: str, nodes: Iterable[ast.AST], holder: ast.AST | None
    ) -> bool:
        """Tell whether all that is used of an own attribute is what a holder has."""
        match holder:
            case ast.Attribute(value=ast.Attribute(attr=attr) as owner) if attr == name:
                of_holder = {
                    one.value
                    for one in nodes
                    if isinstance(one, ast.Attribute) and one.attr == holder.attr
                }
                its = {one for one in nodes if own_attribute(one) == name}
                is_one = len(self._given[name]) == 1  # it is never another object
                is_set = name not in self._habits.callees.functions  # no property
                return is_of_self(owner) and is_one and is_set and its <= of_holder
        return False

    def with_inner(self, names: Iterable[str]) -> set[str]:
        """Return attributes with those that are stored in what these are given."""
        found: set[str] = set()
        waiting = [*names]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                for one in self._given[name]:
                    waiting += self.stored_in(one.value)
        return found

    def is_own(self, name: str) -> bool:
        """Tell whether assigning an attribute of a handler sets it, and nothing else.

        A property, or another descriptor, may keep what it is given elsewhere.
        """
        return not self._set_by & {name, "__setattr__"}

    def note_stored(self, name: str, into: Iterable[str]) -> bool:
        """Note what an own attribute is put into; return whether that is new."""
        before = len(self._stored[name])
        self._stored[name].update(into)
        return len(self._stored[name]) > before

    def places_of(self, name: str) -> list[str]:
        """Return the names of what an own attribute is known to be put into."""
        return sorted(self._stored.get(name, ()))

    def given(self, name: str) -> list[Argument] | None:
        """Return what an attribute is given; None if not all is known."""
        return None if name in self._unknown else self._given[name]

    def is_used_on(self, name: str, store: ast.AST) -> bool:
        """Tell whether an attribute is changed, or kept, but where it is stored."""
        if self._by_name:
            return True
        if self.stays(name):  # what Tornado gives seldom changes
            return name in self._changed
        here = {*walked(store)}

        def is_same(one: ast.AST) -> bool:
            return own_attribute(one) == name

        return are_stored_together(self._habits, None, store, is_same) or any(
            use not in here
            and (
                self._matters(scope, use)
                or is_stored_again(self._habits, scope, use, store, is_same)
            )
            for scope, use in self._uses[name]
        )

    def _matters(self, scope: ast.AST, use: ast.expr) -> bool:
        parent, _ = parent_of(scope, use)
        is_gone_over = isinstance(parent, ast.For | ast.comprehension)
        return is_gone_over or matters(self._habits, scope, use)


def _set_by_others(handler: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of which a class itself says what assigning them does."""
    for node in handler.body:
        match node:
            case ast.FunctionDef(name="__setattr__"):
                yield "__setattr__"
            case ast.FunctionDef(name=name, decorator_list=marks):
                if "setter" in map(last_name, marks):
                    yield name
            case ast.Assign(targets=targets, value=ast.Call()):
                yield from map(last_name, targets)


def own_attribute(node: ast.AST) -> str:
    """Return ``name`` of ``self.name``, or of `getattr` for that; "" of others."""
    if is_of_self(node):
        return last_name(node)
    return _name_asked(node) if _is_asked_of_self(node) else ""


def _is_asked_of_self(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="self"), *_]):
            return True
    return False


def _name_asked(node: ast.AST) -> str:
    match node:
        case ast.Call(
            func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]
        ):
            return name
    return ""


def _name_in(node: ast.AST) -> str:
    """Return the name of the attribute that a node asks for, if it is known."""
    return node.attr if isinstance(node, ast.Attribute) else _name_asked(node)
