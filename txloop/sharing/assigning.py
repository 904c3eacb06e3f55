"""Assignments that run functions of the program: setters of attributes and items."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeVar

from txloop.scan.syntax import FUNCTIONS, bound_in, last_name
from txloop.sharing.bindings import is_fresh
from txloop.sharing.scopes import walked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.callees import Callees
    from txloop.sharing.meanings import Function
    from txloop.sharing.texts import Text

__all__ = ["assigned_by", "item_setters_in", "set_otherwise", "setters_in"]

_ITEMS_BY_NAME = frozenset(["ChainMap", "__setitem__", "setitem", "shuffle"])
"""What sets items where no line shows it."""

_FIRST = ("cls", "self")

_BARE = ("object", "txloop.TNamespace", "txloop.TObject")

_Target = TypeVar("_Target", ast.Attribute, ast.Subscript)


def setters_in(callees: Callees) -> dict[str, list[Function]]:
    """Return the setters of properties that are decorated as such, by their names."""
    found: dict[str, list[Function]] = {}
    for one in callees.every:
        marks = getattr(one.node, "decorator_list", [])
        is_setter = any(
            isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in marks
        )
        if is_setter and len(marks) == len(one.given) == 1:
            found.setdefault(one.name, []).append(one)
    return found


def item_setters_in(callees: Callees, texts: Iterable[Text]) -> set[ast.AST]:
    """Return the `__setitem__` methods that nothing but assignments to items calls.

    Those of a class that is derived from a library's may be called there.
    """
    nodes = [node for text in texts for node in walked(text.tree)]
    if any(last_name(one) in _ITEMS_BY_NAME for one in nodes):
        return set()
    classes = [one for one in nodes if isinstance(one, ast.ClassDef)]
    derived_from = {last_name(base) for one in classes for base in one.bases}
    return {
        one.node
        for one in callees.functions.get("__setitem__", ())
        if one.owner is not None and len(one.given) == 2
        if not one.node.decorator_list  # type: ignore[union-attr] # it has a name
        if one.owner.name not in derived_from
        if all(ast.unparse(base) in _BARE for base in one.owner.bases)
    }


def sets(node: ast.Subscript) -> bool:
    """Tell whether a node sets an item."""
    return isinstance(node.ctx, ast.Store)


def may_come_by_star(scope: ast.AST, name: str) -> bool:
    """Tell whether a variable of a function may be what calls give by a star.

    Of that it is not followed which classes it is of.
    """
    if not isinstance(scope, FUNCTIONS) or name in _FIRST:
        return False
    return name in bound_in(scope) and not is_fresh(scope, name)


def assigned_by(
    node: ast.AST, kind: type[_Target]
) -> Iterator[tuple[_Target, ast.expr]]:
    """Yield the attributes, or items, that a node assigns, with what each is given."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((one, value) for one in targets if isinstance(one, kind))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            if isinstance(target, kind):
                yield target, value
        case ast.AugAssign(target=target, op=op, value=value):
            if isinstance(target, kind):
                yield target, ast.BinOp(target, op, value)


def set_otherwise(node: ast.AST, setters: Iterable[str]) -> set[str]:
    """Return which setters a node may call with what is not known."""
    match node:
        case ast.Attribute(attr="fset" | "__set__" | "__setattr__"):
            return {*setters}
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return {name}.intersection(setters)
        case ast.Name(id="setattr"):
            return {*setters}
    return set()
