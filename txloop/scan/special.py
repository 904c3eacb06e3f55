"""The special methods that operators call.

What a class of the program has of these runs without standing in the code: the scan
walks through it as through a method that is called by name.
"""

from __future__ import annotations

import ast
from collections import deque
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "SHOWING",
    "TRUTH",
    "asked_by",
    "calculating",
    "comparing",
    "in_place",
    "reflected",
]

SHOWING = ("__format__", "__str__", "__repr__")
"""Those of what stands in an f-string: the first that there is."""

TRUTH = ("__bool__", "__len__")
"""Those of a condition."""

_COMPARING: Mapping[type[ast.cmpop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Eq: ("__eq__",),
        ast.NotEq: ("__ne__", "__eq__"),
        ast.Lt: ("__lt__",),
        ast.LtE: ("__le__",),
        ast.Gt: ("__gt__",),
        ast.GtE: ("__ge__",),
        ast.In: ("__contains__", "__iter__"),
        ast.NotIn: ("__contains__", "__iter__"),
    }
)

_REFLECTED: Mapping[type[ast.cmpop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Eq: ("__eq__",),
        ast.NotEq: ("__ne__", "__eq__"),
        ast.Lt: ("__gt__",),
        ast.LtE: ("__ge__",),
        ast.Gt: ("__lt__",),
        ast.GtE: ("__le__",),
    }
)

_CALCULATING: Mapping[type[ast.operator], str] = MappingProxyType(
    {
        ast.Add: "add",
        ast.Sub: "sub",
        ast.Mult: "mul",
        ast.MatMult: "matmul",
        ast.Div: "truediv",
        ast.FloorDiv: "floordiv",
        ast.Mod: "mod",
        ast.Pow: "pow",
        ast.LShift: "lshift",
        ast.RShift: "rshift",
        ast.BitAnd: "and",
        ast.BitXor: "xor",
        ast.BitOr: "or",
    }
)


_UNARY: Mapping[type[ast.unaryop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Invert: ("__invert__",),
        ast.Not: TRUTH,
        ast.UAdd: ("__pos__",),
        ast.USub: ("__neg__",),
    }
)

_GOING_OVER = (
    *(all, any, dict, deque, enumerate, filter, frozenset, iter, list, map, max, min),
    *(set, sorted, sum, tuple, zip),
)
_INDEX = ("__index__",)

_BUILTINS: tuple[tuple[object, tuple[str, ...]], ...] = (
    *((each, ("__iter__",)) for each in _GOING_OVER),
    *((each, _INDEX) for each in (bin, hex, oct, range)),
    (abs, ("__abs__",)),
    (bool, TRUTH),
    (bytes, ("__bytes__", "__iter__")),
    (float, ("__float__", "__index__")),
    (format, SHOWING),
    (hash, ("__hash__",)),
    (int, ("__int__", "__index__")),
    (len, ("__len__",)),
    (repr, ("__repr__",)),
    (reversed, ("__reversed__", "__len__")),
    (round, ("__round__",)),
    (str, ("__str__", "__repr__")),
)

_OF_PARTS: tuple[tuple[object, tuple[str, ...]], ...] = (
    (max, ("__gt__", "__lt__")),
    (min, ("__lt__", "__gt__")),
    (sorted, ("__lt__", "__gt__")),
    (sum, ("__radd__", "__add__")),
)


def asked_by(function: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a builtin calls of what it gets, and of the parts of that.

    Of each of the two it calls the first that there is.
    """
    whole = next((names for each, names in _BUILTINS if each is function), ())
    parts = next((names for each, names in _OF_PARTS if each is function), ())
    return whole, parts


def reflected(op: ast.operator | ast.cmpop | ast.unaryop) -> tuple[str, ...]:
    """Return the method that an operator calls on what stands right of it."""
    if isinstance(op, ast.unaryop):
        return _UNARY[type(op)]
    if isinstance(op, ast.operator):
        return (f"__r{_CALCULATING[type(op)]}__",)
    return _REFLECTED.get(type(op), ())


def comparing(op: ast.cmpop) -> tuple[str, ...]:
    """Return the methods of which a comparison calls the first that there is.

    For `in` they are those of what stands right of it.
    """
    return _COMPARING.get(type(op), ())


def calculating(op: ast.operator) -> tuple[str, ...]:
    """Return the method that an operator calls on what stands left of it."""
    return (f"__{_CALCULATING[type(op)]}__",)


def in_place(op: ast.operator) -> tuple[str, ...]:
    """Return the methods of which an operator such as `+=` calls the first there is."""
    return (f"__i{_CALCULATING[type(op)]}__", *calculating(op))
