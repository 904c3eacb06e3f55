"""What a variable of a function is given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.sharing.scopes import FUNCTIONS, bound_in, parameters
from txloop.sharing.syntax import each_given, leaves, names_handed_on, root_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["bindings", "given_to", "is_fresh", "names_of_parts", "names_of_same"]

_DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
_MAKERS = ("copy", "deepcopy", "dict", "list", "loads", "set", "sorted")


def bindings(scope: ast.AST, name: str) -> tuple[list[ast.expr], bool]:
    """Return the values that a variable is given, and whether others are, too.

    A loop over an object gives it what is inside of that.
    """
    values: list[ast.expr] = []
    simple: set[int] = set()
    is_own = name in bound_in(scope)
    for node in ast.walk(scope):
        if is_own and isinstance(node, ast.comprehension):
            # It has another variable of that name.
            simple.update(map(id, ast.walk(node.target)))
            continue
        for target, value in given_to(node):
            if isinstance(target, ast.Name) and target.id == name:
                values.append(value)
                simple.add(id(target))
    others = name in (parameters(scope) if isinstance(scope, FUNCTIONS) else ())
    for node in ast.walk(scope):
        if (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
            and id(node) not in simple
        ):
            others = True
    return values, others


def given_to(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of a node, with what each is given or goes over."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from each_given(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.AugAssign(target=target):
            yield target, _IMMUTABLE  # or it stays the object that it was
        case ast.For(target=target, iter=value):
            yield from _elements(target, value)
        case ast.comprehension(target=target, iter=value):
            yield from _elements(target, value)


_IMMUTABLE = ast.Constant(0)
"""Stands for a number, a key: what no one can change."""


def _elements(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what the targets of a loop are given; nothing where that is not known."""
    parts = getattr(target, "elts", [])
    match value:
        case ast.Call(func=ast.Name(id="range")):
            yield target, _IMMUTABLE
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            if len(parts) == 2:
                yield parts[0], _IMMUTABLE
                yield from _elements(parts[1], inner)
        case ast.Call(func=ast.Name(id="list" | "reversed" | "sorted"), args=[inner]):
            yield from _elements(target, inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="items")):
            if len(parts) == 2:
                yield parts[0], _IMMUTABLE
                yield from _whole(parts[1], inner)
        case ast.Call(func=ast.Attribute(attr="keys")):
            yield target, _IMMUTABLE
        case ast.Call(func=ast.Attribute(value=inner, attr="values")):
            yield from _whole(target, inner)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for one in elements:
                inner_parts = getattr(one, "elts", [])
                if parts and len(inner_parts) == len(parts):
                    yield from zip(parts, inner_parts, strict=True)
                else:
                    yield from _whole(target, one)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield from _whole(target, value)


def _whole(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield all variables of a target with the whole value."""
    for one in ast.walk(target):
        if isinstance(one, ast.Name):
            yield one, value


def is_fresh(scope: ast.AST, name: str) -> bool:
    """Tell whether a variable holds nothing but what the function has made."""
    values, others = bindings(scope, name)
    return (
        bool(values)
        and not others
        and all(
            isinstance(one, _DISPLAYS)
            or (
                isinstance(one, ast.Call)
                and getattr(one.func, "attr", getattr(one.func, "id", "")) in _MAKERS
            )
            for one in values
        )
    )


def names_of_same(scope: ast.AST, name: str) -> set[str]:
    """Return the variables that may hold the very object which a variable holds."""
    pairs: list[tuple[str, str]] = []
    for node in ast.walk(scope):
        names = [
            target.id for target, _ in given_to(node) if isinstance(target, ast.Name)
        ]
        values = {one.id for _, one in given_to(node) if isinstance(one, ast.Name)}
        if isinstance(node, ast.For | ast.comprehension):
            continue
        pairs += [(names[0], other) for other in [*names[1:], *values] if names]
    return _closed({name}, pairs + [(other, one) for one, other in pairs])


def names_of_parts(
    scope: ast.AST,
    names: set[str],
    handed_on: Callable[[ast.expr], set[str]] = names_handed_on,
) -> set[str]:
    """Return these variables, and those that may hold a part of what they hold.

    Args:
        scope: The function.
        names: The variables.
        handed_on: Tells which variables an expression hands on, or parts of them.
    """
    pairs = []
    for node in ast.walk(scope):
        for target, value in given_to(node):
            pairs += [
                (of, one.id)
                for one in leaves(target)
                if isinstance(one, ast.Name)
                for of in {root_name(value), *handed_on(value)}
            ]
    return _closed(names, pairs)


def _closed(names: set[str], pairs: list[tuple[str, str]]) -> set[str]:
    found = {*names}
    while True:
        more = {other for one, other in pairs if one in found} - found
        if not more:
            return found
        found |= more
