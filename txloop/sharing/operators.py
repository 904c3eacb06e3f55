"""What lines call without a call: operators, and setters, of the program's classes."""

from __future__ import annotations

import ast
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.special import calculating, comparing, in_place, reflected
from txloop.scan.syntax import last_name
from txloop.sharing.syntax import DISPLAYS, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "CALLED_BY_BUILTINS",
    "ORDERS",
    "adds_elements",
    "asked_by",
    "assigned",
    "keys_given",
    "methods_of",
    "operands",
    "operated",
    "setters",
]

CALLED_BY_BUILTINS = frozenset(
    [
        *("__divmod__", "__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"),
        *("__pow__", "__rdivmod__", "__rpow__"),
    ]
)
"""Methods that functions and methods call: `sorted`, `index`, `divmod`."""


ORDERS = frozenset(["__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"])
"""Methods of which `functools.total_ordering` makes the others."""


_UNARY: Mapping[type[ast.unaryop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Invert: ("__invert__",),
        ast.UAdd: ("__pos__",),
        ast.USub: ("__neg__",),
    }
)


def methods_of(node: ast.AST) -> tuple[str, ...]:
    """Return the methods that an operator may call."""
    if isinstance(node, ast.BinOp):
        return calculating(node.op) + reflected(node.op)
    if isinstance(node, ast.UnaryOp):
        return _UNARY.get(type(node.op), ())
    return in_place(node.op) if isinstance(node, ast.AugAssign) else ()


def asked_by(node: ast.AST) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """Yield the objects that a node asks for a part or compares; by what methods."""
    match node:
        case ast.Subscript(value=base, ctx=ast.Load()):
            yield base, ("__getitem__",)
        case ast.Subscript(value=base, ctx=ast.Del()):
            yield base, ("__delitem__",)
        case ast.Compare(left=left, ops=ops, comparators=others):
            for one, op, other in zip([left, *others], ops, others, strict=False):
                methods = comparing(op)
                if isinstance(op, ast.In | ast.NotIn):  # elements are compared
                    yield other, (*methods, "__eq__")
                    yield one, ("__eq__",)
                elif methods:
                    yield one, methods
                    yield other, methods


def operated(node: ast.AST) -> list[ast.expr]:
    """Return the objects of which an operator may call a method."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Subscript(value=base):
            return [base]
    return []


def keys_given(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Return the objects of which an assignment sets a part, with the keys of these."""
    found = (leaf for one in node.targets for leaf in leaves(one))
    return [(one, one.slice) for one in found if isinstance(one, ast.Subscript)]


def operands(node: ast.AST) -> list[ast.expr]:
    """Return what a node gives to such a method."""
    match node:
        case ast.BinOp() | ast.Compare():
            return operated(node)
        case ast.Subscript(slice=key):
            return [key]
        case ast.Assign(value=value):
            return [value, *(key for _, key in keys_given(node))]
        case ast.AugAssign(value=value):
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
    """Return the names of functions that set properties, by those of the properties.

    Those of other descriptors have the name that all of these have.
    """
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
            case ast.ClassDef(body=body):
                for line in body:
                    if isinstance(line, ast.Assign) and isinstance(
                        line.value, ast.Call
                    ):
                        for target in line.targets:
                            found[last_name(target)].add("__set__")
    return found
