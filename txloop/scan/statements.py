"""The walk through statements, in the order of the source, and through conditions.

What live objects answer to a condition counts: `if cache is None: cache = load()` does
not write if the cache is there when requests come, as long as nothing else takes it
away. What would take it away is not known while a function is walked through: so what
stands behind such a condition is walked through all the same, and noted with where the
answer was found (`Access.unless`). Only what is known for certain is an answer: that a
name, or an attribute that leads from one, is None, or is a builtin object that is true
or false, or has a key.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from txloop.scan.access import of_thing
from txloop.scan.assignments import remove, store, store_name
from txloop.scan.expressions import compared, iterate, show
from txloop.scan.frame import Nested
from txloop.scan.live_objects import UNKNOWN, can_change
from txloop.scan.member import of_module
from txloop.scan.parts import made_of, part_of, passes_on
from txloop.scan.special import TRUTH, in_place, reflected
from txloop.scan.value import (
    SOMETHING,
    Family,
    Instance,
    Live,
    Parts,
    Slot,
    Unfollowed,
    Value,
    alternatives,
    either,
    key_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from txloop.scan.walk import Walk


_SIMPLE = (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Types whose objects tell whether they are true without running code."""


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
    before, names, ends = walk.unless, {**walk.frame.local}, list[dict[str, Value]]()
    for branch, taken in ((node.body, True), (node.orelse, False)):
        skipped = answer.truth is not None and answer.truth is not taken
        walk.unless = before | answer.slots if skipped else before
        visit_branch(walk, names, branch, ends)
    rejoin(walk, ends)
    walk.unless = before
    branch = node.body if answer.truth else node.orelse
    known = answer.truth is not None
    return answer.slots if known and _leaves(branch) else frozenset()


def visit_branch(
    walk: Walk,
    names: Mapping[str, Value],
    branch: list[ast.stmt],
    ends: list[dict[str, Value]],
) -> None:
    """Walk through one of several branches, and add what names have at its end.

    Args:
        walk: In the frame whose names these are.
        names: What they are at its beginning. In a loop it is what the branch before
            has left: that may have run the last time.
        branch: The branch. If it leaves the function, nothing is added.
        ends: What is added to.
    """
    if not walk.frame.in_loop:
        walk.frame.local.update(names)
    visit_body(walk, branch)
    if not _leaves(branch):
        ends.append({**walk.frame.local})


def rejoin(walk: Walk, ends: list[dict[str, Value]]) -> None:
    """Let names have what any of the branches gives them."""
    for name in {name: None for end in ends for name in end}:
        walk.frame.local[name] = either(end.get(name) for end in ends)


def _leaves(branch: list[ast.stmt]) -> bool:
    """Tell whether the function ends with a branch."""
    return bool(branch) and isinstance(branch[-1], ast.Return | ast.Raise)


def _try(walk: Walk, node: ast.Try | ast.TryStar) -> None:
    names, ends = {**walk.frame.local}, list[dict[str, Value]]()
    visit_branch(walk, names, [*node.body, *node.orelse], ends)
    now = walk.frame.local
    failed = {name: either((old, now.get(name))) for name, old in names.items()}
    for handler in node.handlers:
        if handler.type is not None:
            walk.visit(handler.type)
        visit_branch(walk, failed, handler.body, ends)
    rejoin(walk, ends)
    visit_body(walk, node.finalbody)


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
    if isinstance(node.op, ast.Mod):
        show(walk, value)
    made = walk.run_special(old, in_place(node.op), value)
    made = either((made, walk.run_special(value, reflected(node.op), old)))
    if isinstance(target, ast.Name) and isinstance(old, Unfollowed):
        if isinstance(node.op, ast.Add) and not isinstance(
            node.value, ast.Constant | ast.JoinedStr
        ):
            walk.notes.lose(target)
    elif old is None and passes_on(value):
        old = made_of([part_of(value)])
    store(walk, node.target, either((old, made)))


def _delete(walk: Walk, node: ast.Delete) -> None:
    for each in node.targets:
        remove(walk, each)


def _for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    iterate(walk, node.target, node.iter)
    _loop(walk, node)


def _while(walk: Walk, node: ast.While) -> None:
    walk.visit(node.test)
    _loop(walk, node)


def _loop(walk: Walk, node: ast.For | ast.AsyncFor | ast.While) -> None:
    frame, before = walk.frame, walk.frame.in_loop
    frame.in_loop = True
    visit_body(walk, [*node.body, *node.orelse])
    frame.in_loop = before


def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    for each in node.items:
        value = entered = walk.value(each.context_expr)
        if walk.only_reads:
            walk.notes.lose(each.context_expr)
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
    known = alternatives(walk.frame.local.get(node.name))
    others = (one for one in known if isinstance(one, Nested))  # of other branches
    store_name(walk, node.name, either((*others, nested)), node)
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition is, if it is known, and where that was found."""

    truth: bool | None = None
    slots: frozenset[Slot] = frozenset()

    def __invert__(self) -> Answer:
        return Answer(None if self.truth is None else not self.truth, self.slots)


_UNKNOWN = Answer()


def ask(walk: Walk, node: ast.expr) -> Answer:
    """Visit a condition, and return what it is."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ~ask(walk, inner)
        case ast.BoolOp(op=op, values=parts):
            decisive = isinstance(op, ast.Or)
            answers = [ask(walk, each) for each in parts]
            found = (each for each in answers if each.truth is decisive)
            return next(found, _UNKNOWN)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(walk, left, op, right)
    return _is_true(walk, node, walk.visit(node))


def _compare(walk: Walk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Answer:
    one, other = walk.visit(left), walk.visit(right)
    compared(walk, op, one, other)
    if isinstance(op, ast.Is | ast.IsNot) and _is_none(right):
        live = _certain(left, one)
        if live is None:
            return _UNKNOWN
        found = Answer(live.thing is None, frozenset(live.slots))
        return found if isinstance(op, ast.Is) else ~found
    live = _certain(right, other)
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


def _is_true(walk: Walk, node: ast.expr, value: Value) -> Answer:
    walk.run_special(value, TRUTH)
    live = _certain(node, value)
    if live is None or not (live.thing is None or type(live.thing) in _SIMPLE):
        return _UNKNOWN
    return Answer(bool(live.thing), _with_contents(live))


def _certain(node: ast.expr, value: Value) -> Live | None:
    """Return the value if it is that of the expression, and of no other."""
    if not isinstance(value, Live) or value.sample or value.thing is UNKNOWN:
        return None
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    # What was called, or taken from a container, may have been something else.
    return value if value.slots and isinstance(root, ast.Name) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with_contents(live: Live) -> frozenset[Slot]:
    slots = frozenset(live.slots)
    return slots | {of_thing(live.thing)} if can_change(live.thing) else slots


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
    ast.Try: _try,
    ast.TryStar: _try,
    ast.While: _while,
    ast.With: _with,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
"""What walks through a statement of each kind; of others the parts are visited."""
