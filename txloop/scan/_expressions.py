"""The walk through expressions: what each stands for, and what it does on the way.

Every expression is visited once, in the order in which the interpreter would run it.
"""

from __future__ import annotations

import abc
import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from txloop.scan._targets import Targets, constant
from txloop.scan.element import element, setting
from txloop.scan.frame import Comprehension, Nested
from txloop.scan.member import member, settings
from txloop.scan.things import MUTATORS, UNKNOWN, has_type, is_iterator
from txloop.scan.value import (
    Arguments,
    Bound,
    Getter,
    Live,
    Member,
    Role,
    Value,
    application,
    sample,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from txloop.scan.source import Sources


class Expressions(Targets):
    """Visits expressions; each visit returns a value."""

    def __init__(
        self, sources: Sources, evidence: Mapping[str, object], app: object
    ) -> None:
        super().__init__(sources)
        self._evidence = evidence
        self._application = app

    @abc.abstractmethod
    def walk_nested(self, nested: Nested) -> None:
        """Walk through a function that stands in the one being walked."""

    def visit_Name(self, node: ast.Name) -> Value:
        value = self.frame.value(node.id)
        if isinstance(value, Nested):
            self.walk_nested(value)
        elif isinstance(value, Live) and self.frame.holder(node.id) is None:
            self.read(value, node)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        return self.attribute(owner, self.frame.attribute(node.attr), node)

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """Return what `owner.name` stands for, and write down what reading it does."""
        found = self._known(member(owner, name, self.sources))
        if isinstance(found, Member) and name in MUTATORS:
            # Whoever takes the method is going to call it.
            self.change(found.holder, node)
        elif isinstance(found, Getter):
            return self.run(found.functions, found.receiver, Arguments())
        elif isinstance(found, Live):
            self.read(found, node)
        return found

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        holder = self.value(node.value)
        self.value(node.slice)
        return self.item(holder, constant(node.slice), node)

    def item(self, holder: Value, key: object, node: ast.AST) -> Value:
        """Return what `holder[key]` stands for, and write down what reading it does."""
        if isinstance(holder, Live) and holder.role is Role.SETTINGS:
            found = self._known(setting(holder, key))
            if isinstance(found, Live):
                self.read(found, node)
            return found
        called = member(holder, "__getitem__", self.sources)
        if isinstance(called, Bound):
            return self.run(called.functions, called.receiver, Arguments())
        return element(holder, key) if isinstance(holder, Live) else None

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
        frame = self.frame
        self.frame = frame.inner("<lambda>")
        self.frame.enter(node)
        self.value(node.body)
        self.frame = frame
        return None

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.store(node.target, value)
        return value

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        values = [self.value(each) for each in node.values]
        return sample(next((value for value in values if value is not None), None))

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        values = [self.value(node.body), self.value(node.orelse)]
        return sample(next((value for value in values if value is not None), None))

    def visit_Await(self, node: ast.Await) -> Value:
        return self.value(node.value)

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
                self.value(condition)
        for result in results:
            self.value(result)
        self.frame = frame
        return None

    def iterate(self, target: ast.expr, source: ast.expr) -> None:
        """Write down what `for target in source` does."""
        value = self.value(source)
        if isinstance(value, Member):
            pairs = value.name == "items" and isinstance(target, ast.Tuple)
            if pairs and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                target = target.elts[1]
            self.store(target, element(value.holder))
        elif isinstance(value, Live) and not has_type(value.thing, dict):
            if is_iterator(value.thing):
                self.change(value, source)
            self.store(target, element(value))
        else:
            self.store(target, None)
