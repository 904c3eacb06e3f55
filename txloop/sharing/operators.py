"""What lines call without a call: operators, and setters, of the program's classes."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.special import calculating, in_place, reflected
from txloop.scan.syntax import last_name
from txloop.sharing.syntax import DISPLAYS, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["adds_elements", "assigned", "methods_of", "operands", "setters"]


def methods_of(node: ast.AST) -> tuple[str, ...]:
    """Return the methods that an operator may call."""
    if isinstance(node, ast.BinOp):
        return calculating(node.op) + reflected(node.op)
    return in_place(node.op) if isinstance(node, ast.AugAssign) else ()


def operands(node: ast.AST) -> list[ast.expr]:
    """Return what a node gives to such a method."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(value=value) | ast.Assign(value=value):
            return [value]
        case ast.AnnAssign(value=ast.expr() as value):
            return [value]
    return []


def assigned(node: ast.AST) -> list[ast.expr]:
    """Return the targets of an assignment."""
    match node:
        case ast.Assign(targets=targets):
            return [leaf for one in targets for leaf in leaves(one)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
    return []


def adds_elements(node: ast.AugAssign) -> bool:
    """Tell whether an assignment such as ``rows += [x]`` adds no number and no text."""
    displays = (*DISPLAYS, ast.Tuple)
    return isinstance(node.op, ast.BitOr) or isinstance(node.value, displays)


def setters(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Return the names of functions that set properties, by those of the properties."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name, decorator_list=marks):
                for one in marks:
                    if isinstance(one, ast.Attribute) and one.attr == "setter":
                        found[last_name(one.value)].add(name)
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="property"), args=[_, setter, *_]),
            ):
                found[name].add(last_name(setter))
    return found
