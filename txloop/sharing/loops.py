"""Loops that change what they go over: whether a program has any.

Containers go over what there is at the start, unless they are told to be live (see
`txloop.like_plain`), which makes all loops slower.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.live_objects import MUTATORS
from txloop.sharing.bindings import is_fresh
from txloop.sharing.effects import changes_by_function, name_of
from txloop.sharing.scopes import FUNCTIONS, bound_in, functions_in, nodes_of
from txloop.sharing.syntax import last_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from txloop.sharing.texts import Text

__all__ = ["changes_in_loops"]

_COPIES = frozenset(["copy", "dict", "list", "range", "set", "sorted", "tuple"])

_PASSED_ON = frozenset(["enumerate", "items", "keys", "reversed", "values"])
"""What a loop goes over through them is what it goes over."""


def changes_in_loops(all_texts: Iterable[Text]) -> bool:
    """Tell whether a loop may change what it goes over, and goes on."""
    texts = [*all_texts]
    changes = changes_by_function(texts)
    return any(
        _changes(node, scope) or _calls_what_changes(node, changes)
        for text in texts
        for scope in (text.tree, *(one for one, _ in functions_in(text.tree)))
        for node in nodes_of(scope)
        if isinstance(node, ast.For | ast.AsyncFor)
    )


def _changes(loop: ast.For | ast.AsyncFor, scope: ast.AST) -> bool:
    gone_over = loop.iter
    while isinstance(gone_over, ast.Call) and last_name(gone_over.func) in _PASSED_ON:
        called = gone_over.func
        if isinstance(called, ast.Attribute):
            gone_over = called.value
        elif gone_over.args:
            gone_over = gone_over.args[0]
        else:
            return False
    if isinstance(gone_over, ast.Name):
        local = bound_in(scope) if isinstance(scope, FUNCTIONS) else set()
        if gone_over.id in local and is_fresh(scope, gone_over.id):
            return False
    asked = ast.unparse(gone_over)
    return any(
        changed is not None
        and ast.unparse(changed) == asked
        and not _ends_at_once(loop.body, node)
        for statement in loop.body
        for node in ast.walk(statement)
        for changed in [_changed(node)]
    )


def _calls_what_changes(
    loop: ast.For | ast.AsyncFor, changes: Mapping[str, set[str]]
) -> bool:
    """Tell whether a function of the program changes what a loop goes over."""
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) in _COPIES:
        return False
    gone_over = {
        name_of(one)
        for one in ast.walk(loop.iter)
        if isinstance(one, ast.Name | ast.Attribute)
    }
    return any(
        isinstance(node, ast.Call)
        and gone_over & changes.get(last_name(node.func), set())
        and not _ends_at_once(loop.body, node)
        for statement in loop.body
        for node in ast.walk(statement)
    )


def _changed(node: ast.AST) -> ast.AST | None:
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in MUTATORS:
            return base
        case ast.Subscript(value=base, ctx=ast.Del() | ast.Store()):
            return base
        case ast.AugAssign(target=ast.Name() as base):
            return base
    return None


def _ends_at_once(body: list[ast.stmt], node: ast.AST) -> bool:
    """Tell whether the loop is left right after the statement."""
    for statement in body:
        for inner in ast.walk(statement):
            for field in ("body", "orelse"):
                block = getattr(inner, field, None)
                if not isinstance(block, list):
                    continue
                for number, one in enumerate(block):
                    if any(part is node for part in ast.walk(one)):
                        rest = block[number + 1 :]
                        if any(isinstance(r, ast.Break | ast.Return) for r in rest):
                            return True
    for number, one in enumerate(body):
        if any(part is node for part in ast.walk(one)):
            return any(
                isinstance(r, ast.Break | ast.Return) for r in body[number + 1 :]
            )
    return False
