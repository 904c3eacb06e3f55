"""Attributes that have nothing but numbers and texts.

Those that are given nothing else, wherever they are set: ``row["id"] =
self.store.next_id`` stores no part of the store then. They are told by their names
alone, so each line counts that sets one of the name, and each method.

And those of the objects that some modules make: ``uuid.uuid4().hex``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import MODULES, PARTS, SETTING
from txloop.scan.syntax import last_name
from txloop.sharing.bindings import bindings
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import each_given, leaves, root_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.habits import Habits
    from txloop.sharing.meanings import Meanings
    from txloop.sharing.texts import Text

__all__ = [
    "has_scalars_only",
    "scalar_attributes",
    "set_by_call",
    "sets_any",
]

_SETTING = SETTING | {"__setattr__"}

_OF_SCALARS = MODULES - {"decimal", "logging"}
"""Modules whose objects have attributes that cannot change: dates, times, UUIDs."""


def scalar_attributes(texts: Iterable[Text], habits: Habits) -> set[str]:
    """Return the names of these attributes."""
    scalar: set[str] = set()
    others = {*habits.callees.fields}
    if habits.has_arrays:  # whose comparisons are arrays
        return set()
    for text in texts:
        called = {id(n.func): n for n in walked(text.tree) if isinstance(n, ast.Call)}
        for node in walked(text.tree):
            if sets_any(node, called.get(id(node))):
                return set()
            for name, value in _set_by(node):
                is_known = value is not None and _is_scalar(value, habits)
                (scalar if is_known else others).add(name)
    return scalar - others


def has_scalars_only(meanings: Meanings, scope: ast.AST, value: ast.expr) -> bool:
    """Tell whether all attributes of a value, and of these, are numbers and texts."""
    if isinstance(value, ast.Name) and meanings.home(scope, value.id) is scope:
        given, others = bindings(scope, value.id)
        return (
            bool(given)
            and not others
            and all(_is_made(meanings, scope, one) for one in given)
        )
    return _is_made(meanings, scope, value)


def _is_made(meanings: Meanings, scope: ast.AST, value: ast.expr) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return (
        isinstance(value, ast.Call)
        and last_name(value.func) not in PARTS
        and meanings.imported_from(scope, root_name(value.func)) in _OF_SCALARS
    )


def sets_any(node: ast.AST, call: ast.Call | None) -> bool:
    """Tell whether a node may set attributes by a name that is not in the text.

    Args:
        node: The node.
        call: The call of which it is the function, if it is one.
    """
    name = last_name(node)
    if name in ("__dict__", "vars"):
        return True
    if name not in _SETTING:
        return False
    match call:
        case ast.Call(args=[_, ast.Constant(), *_]):
            return False
    return True


def set_by_call(call: ast.Call) -> list[str]:
    """Return the attribute that a call of `setattr` or the like names, if it is one."""
    match call.args:
        case [_, ast.Constant(value=str(name)), *_] if last_name(call.func) in _SETTING:
            return [name]
    return []


def _set_by(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the attributes that a node sets, with what they get; None for any value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                for one, given in each_given(target, value):
                    for leaf in leaves(one):
                        yield from _named(leaf, given if leaf is one else None)
        case ast.AnnAssign() | ast.AugAssign():
            yield from _named(node.target, node.value)
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _all_in(target)
        case (
            ast.comprehension(target=target)
            | ast.withitem(optional_vars=ast.expr() as target)
        ):
            yield from _all_in(target)
        case ast.Call():
            yield from ((name, None) for name in set_by_call(node))
        case ast.ClassDef(body=body):
            for line in body:
                yield getattr(line, "name", ""), None
                yield from _set_in_class(line)


def _set_in_class(line: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            pass
        case _:  # of what is declared, constructors may be given another value
            for one in ast.walk(line):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    yield one.id, None


def _named(
    target: ast.expr, value: ast.expr | None
) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Attribute):
        yield target.attr, value


def _all_in(target: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    for one in ast.walk(target):
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
            yield one.attr, None


def _is_scalar(value: ast.expr, habits: Habits) -> bool:
    """Tell whether an expression gives a number, a text, or another constant."""
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Compare():
            return True
        case ast.UnaryOp(op=operator, operand=one):
            return isinstance(operator, ast.Not) or _is_scalar(one, habits)
        case ast.IfExp(body=one, orelse=other):
            return _is_scalar(one, habits) and _is_scalar(other, habits)
        case ast.Call():
            return habits.is_scalar(value)
        case ast.BinOp():
            return habits.is_scalar_sum(None, value)
    return False
