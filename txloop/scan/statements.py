"""The walk through statements, in the order of the source."""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from txloop.scan.assignments import remove, store, store_name
from txloop.scan.conditions import ask
from txloop.scan.expressions import iterate
from txloop.scan.frame import Nested
from txloop.scan.member import of_module
from txloop.scan.parts import made_of, part_of, passes_on
from txloop.scan.value import (
    SOMETHING,
    Family,
    Instance,
    Live,
    Parts,
    Slot,
    Unfollowed,
    Value,
    either,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from txloop.scan.walk import Walk


def visit_body(walk: Walk, statements: list[ast.stmt]) -> None:
    """Walk through statements one after another."""
    before = walk.unless
    for each in statements:
        if isinstance(each, ast.If):
            walk.unless |= _choose(walk, each)
        else:
            walk.visit(each)
    walk.unless = before


def _if(walk: Walk, node: ast.If) -> None:
    _choose(walk, node)


def _choose(walk: Walk, node: ast.If) -> frozenset[Slot]:
    """Walk through both branches; return what keeps the code from going on."""
    answer = ask(walk, node.test)
    before = walk.unless
    for branch, taken in ((node.body, True), (node.orelse, False)):
        skipped = answer.truth is not None and answer.truth is not taken
        walk.unless = before | answer.slots if skipped else before
        visit_body(walk, branch)
    walk.unless = before
    branch = node.body if answer.truth else node.orelse
    leaves = branch and isinstance(branch[-1], ast.Return | ast.Raise)
    known = answer.truth is not None
    return answer.slots if known and leaves else frozenset()


def _return(walk: Walk, node: ast.Return) -> None:
    value = None if node.value is None else walk.visit(node.value)
    walk.frame.returned = either((walk.frame.returned, value))


def _yield(walk: Walk, node: ast.Yield | ast.YieldFrom) -> Value:
    value = None if node.value is None else walk.visit(node.value)
    if isinstance(node, ast.YieldFrom):
        value = part_of(value)
    walk.frame.returned = either((walk.frame.returned, made_of([value])))
    return None


def _assign(walk: Walk, node: ast.Assign) -> None:
    target = node.targets[0]
    if (
        isinstance(target, ast.Tuple)
        and isinstance(node.value, ast.Tuple)
        and len(target.elts) == len(node.value.elts)
    ):
        values = [walk.visit(each) for each in node.value.elts]
        for each, value in zip(target.elts, values, strict=True):
            store(walk, each, value)
        return
    value = walk.visit(node.value)
    for each in node.targets:
        store(walk, each, value, node.value)


def _ann_assign(walk: Walk, node: ast.AnnAssign) -> None:
    if node.value is not None:
        store(walk, node.target, walk.visit(node.value))


def _aug_assign(walk: Walk, node: ast.AugAssign) -> None:
    target = copy.copy(node.target)
    target.ctx = ast.Load()
    old = walk.value(target)
    value = walk.visit(node.value)
    if isinstance(old, Parts) and passes_on(value):
        old.add(part_of(value))
        return
    if not (isinstance(target, ast.Name) and walk.frame.is_global(target.id)):
        walk.notes.change(old, node)
    if isinstance(target, ast.Name) and isinstance(old, Unfollowed):
        if isinstance(node.op, ast.Add) and not isinstance(
            node.value, ast.Constant | ast.JoinedStr
        ):
            walk.notes.lose(target)
    elif old is None and passes_on(value):
        old = made_of([part_of(value)])
    store(walk, node.target, old)


def _delete(walk: Walk, node: ast.Delete) -> None:
    for each in node.targets:
        remove(walk, each)


def _for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    iterate(walk, node.target, node.iter)
    visit_body(walk, [*node.body, *node.orelse])


def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    for each in node.items:
        value = entered = walk.value(each.context_expr)
        for name in ("__enter__", "__exit__"):
            walk.call_method(value, name)
        if each.optional_vars is not None:
            given = isinstance(entered, Instance | Live | Unfollowed)
            store(walk, each.optional_vars, SOMETHING if given else None)
    visit_body(walk, node.body)


def _function_def(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    arguments = node.args
    for each in (*node.decorator_list, *arguments.defaults, *arguments.kw_defaults):
        if each is not None:
            walk.visit(each)
    nested = Nested(node, walk.frame, node.name)
    store_name(walk, node.name, nested, node)
    if walk.everything or node.decorator_list:
        walk.walk_nested(nested)


def _class_def(walk: Walk, node: ast.ClassDef) -> None:
    for each in (*node.decorator_list, *node.bases):
        walk.visit(each)
    store_name(walk, node.name, None, node)
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = f"{node.name}.{statement.name}"
            walk.walk_nested(Nested(statement, walk.frame, name, in_class=True))


def _import(walk: Walk, node: ast.Import) -> None:
    for each in node.names:
        name = each.asname or each.name.partition(".")[0]
        module = sys.modules.get(each.name if each.asname else name)
        live = None if module is None else Live(module, name, Family.GLOBAL)
        store_name(walk, name, live, node)


def _import_from(walk: Walk, node: ast.ImportFrom) -> None:
    module = _imported(walk, node)
    for each in node.names:
        live = None if module is None else of_module(module, each.name)
        if live is not None:
            walk.notes.read(live, node)
        store_name(walk, each.asname or each.name, live, node)


def _imported(walk: Walk, node: ast.ImportFrom) -> ModuleType | None:
    """Return the module that `from ... import` names, if it is loaded."""
    name = "." * node.level + (node.module or "")
    try:
        package = str(walk.frame.namespace.get("__package__") or "")
        return sys.modules.get(importlib.util.resolve_name(name, package))
    except ImportError:
        return None


VISITS: Mapping[type[ast.AST], Callable[[Walk, Any], Value]] = {
    ast.AnnAssign: _ann_assign,
    ast.Assign: _assign,
    ast.AsyncFor: _for,
    ast.AsyncFunctionDef: _function_def,
    ast.AsyncWith: _with,
    ast.AugAssign: _aug_assign,
    ast.ClassDef: _class_def,
    ast.Delete: _delete,
    ast.For: _for,
    ast.FunctionDef: _function_def,
    ast.If: _if,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Return: _return,
    ast.With: _with,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
"""What walks through a statement of each kind; of others the parts are visited."""
