"""The special methods that operators call.

What a class of the program has of these runs without standing in the code: the scan
walks through it as through a method that is called by name.
"""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SHOWING", "TRUTH", "calculating", "comparing"]

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


def comparing(op: ast.cmpop) -> tuple[str, ...]:
    """Return the methods of which a comparison calls the first that there is.

    For `in` they are those of what stands right of it.
    """
    return _COMPARING.get(type(op), ())


def calculating(op: ast.operator) -> tuple[str, ...]:
    """Return the method that an operator calls on what stands left of it."""
    return (f"__{_CALCULATING[type(op)]}__",)
