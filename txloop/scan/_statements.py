"""The walk through statements, in the order of the source."""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
from typing import TYPE_CHECKING

from txloop.scan._questions import Questions
from txloop.scan.frame import Nested
from txloop.scan.member import of_module
from txloop.scan.value import Arguments, Family, Live

if TYPE_CHECKING:
    from types import ModuleType

    from txloop.scan.value import Slot


class Statements(Questions):
    """Visits statements."""

    def visit_body(self, statements: list[ast.stmt]) -> None:
        before = self.unless
        for each in statements:
            if isinstance(each, ast.If):
                self.unless |= self._choose(each)
            else:
                self.visit(each)
        self.unless = before

    def visit_If(self, node: ast.If) -> None:
        self._choose(node)

    def _choose(self, node: ast.If) -> frozenset[Slot]:
        """Walk through both branches; return what keeps the code from going on."""
        answer = self.ask(node.test)
        before = self.unless
        for branch, taken in ((node.body, True), (node.orelse, False)):
            skipped = answer.truth is not None and answer.truth is not taken
            self.unless = before | answer.slots if skipped else before
            self.visit_body(branch)
        self.unless = before
        branch = node.body if answer.truth else node.orelse
        leaves = branch and isinstance(branch[-1], ast.Return | ast.Raise)
        known = answer.truth is not None
        return answer.slots if known and leaves else frozenset()

    def visit_Return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.value(node.value)
        if self.frame.returned is None:
            self.frame.returned = value

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            values = [self.value(each) for each in node.value.elts]
            for each, value in zip(target.elts, values, strict=True):
                self.store(each, value)
            return
        value = self.value(node.value)
        for each in node.targets:
            self.store(each, value, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target = copy.copy(node.target)
        target.ctx = ast.Load()
        old = self.value(target)
        self.value(node.value)
        if not (isinstance(target, ast.Name) and self.frame.is_global(target.id)):
            self.change(old, node)
        self.store(node.target, old)

    def visit_Delete(self, node: ast.Delete) -> None:
        for each in node.targets:
            self.remove(each)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.iterate(node.target, node.iter)
        self.visit_body([*node.body, *node.orelse])

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for each in node.items:
            value = self.value(each.context_expr)
            for name in ("__enter__", "__exit__"):
                self.call_method(value, name, Arguments())
            if each.optional_vars is not None:
                self.store(each.optional_vars, None)
        self.visit_body(node.body)

    visit_AsyncWith = visit_With

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        for each in (*node.decorator_list, *arguments.defaults, *arguments.kw_defaults):
            if each is not None:
                self.value(each)
        nested = Nested(node, self.frame, node.name)
        self.store_name(node.name, nested, node)
        if self.everything or node.decorator_list:
            self.walk_nested(nested)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases):
            self.value(each)
        self.store_name(node.name, None, node)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{node.name}.{statement.name}"
                self.walk_nested(Nested(statement, self.frame, name))

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            name = each.asname or each.name.partition(".")[0]
            module = sys.modules.get(each.name if each.asname else name)
            live = None if module is None else Live(module, name, Family.GLOBAL)
            self.store_name(name, live, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self._imported(node)
        for each in node.names:
            live = None if module is None else of_module(module, each.name)
            if live is not None:
                self.read(live, node)
            self.store_name(each.asname or each.name, live, node)

    def _imported(self, node: ast.ImportFrom) -> ModuleType | None:
        """Return the module that `from ... import` names, if it is loaded."""
        name = "." * node.level + (node.module or "")
        try:
            package = str(self.frame.namespace.get("__package__") or "")
            return sys.modules.get(importlib.util.resolve_name(name, package))
        except ImportError:
            return None
