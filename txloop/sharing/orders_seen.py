"""Whether an expression shows in which order a set has its elements.

Also what is made of a set has an order of its own, which comes from the first: that of
`ids - {1}` from how large the table of `ids` is.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import KEEPING, PUTTING
from txloop.scan.syntax import FUNCTIONS, last_name
from txloop.sharing.syntax import DISPLAYS, root_name

if TYPE_CHECKING:
    from txloop.sharing.origins import Origins

__all__ = ["LIKE", "OF_SETS", "SHRINKING", "Seen"]

OF_SETS = frozenset(
    [
        *("add", "difference_update", "discard", "intersection_update"),
        "symmetric_difference_update",
    ]
)
"""Methods that only sets have."""

SHRINKING = (OF_SETS - {"add"}) | {"clear", "pop", "remove"}

LIKE = frozenset(
    [
        *("copy", "difference", "frozenset", "intersection", "set"),
        *("symmetric_difference", "union"),
    ]
)
"""Functions and methods that make another set, whose order comes from the first."""

_NO_ORDER = frozenset(
    [
        *("all", "any", "bool", "id", "isinstance", "issubset", "issuperset", "len"),
        *("isdisjoint", "max", "min", "sorted", "sum", "type"),
    ]
)
"""Functions and methods that do the same whatever the order is, without a key."""

_PRINTING = frozenset(["format", "pformat", "pprint", "print", "repr", "str", "write"])

_MAKING = frozenset(["frozenset", "set"])


class Seen:
    """Tells of expressions of one module.

    Args:
        origins: Where values come from.
        above: What each node is in.
    """

    def __init__(self, origins: Origins, above: dict[ast.AST, ast.AST]) -> None:
        self._origins = origins
        self._above = above

    def in_any(self, node: ast.AST, whole: bool) -> bool:
        """Tell whether what is around an expression shows the order of what it gives.

        Args:
            node: The expression.
            whole: Whether it gives a set, rather than what has sets in it.
        """
        around = self._above.get(node)
        match around:
            case ast.FormattedValue():
                return True
            case ast.For(iter=one) | ast.AsyncFor(iter=one):
                return whole and one is node
            case ast.comprehension(iter=one):
                made = self._above[around]
                if not whole or one is not node or isinstance(made, ast.SetComp):
                    return False
                return not _has_no_order(self._above.get(made))
            case ast.Starred() | ast.YieldFrom():
                return whole
            case ast.Assign(targets=targets, value=one):
                unpacked = any(isinstance(o, ast.List | ast.Tuple) for o in targets)
                return whole and unpacked and one is node
            case ast.Attribute(attr=name):
                call = self._above.get(around)
                if not (whole and isinstance(call, ast.Call) and call.func is around):
                    return False
                return name == "pop" or (name in LIKE and self._of_made(call, node))
            case ast.BinOp(op=ast.Mod()):
                return around.right is node
            case ast.BinOp():
                return whole and self._of_made(around, node)
            case ast.Call(func=function) if function is not node:
                return self._by_call(around, node, whole)
            case ast.keyword():
                call = self._above[around]
                return isinstance(call, ast.Call) and self._by_call(call, node, whole)
            case ast.IfExp(test=test):
                return test is not node and self.in_any(around, whole)
            case ast.Await() | ast.BoolOp() | ast.NamedExpr() | ast.Tuple():
                return self.in_any(around, whole)
            case ast.expr() if isinstance(around, DISPLAYS):
                return self.in_any(around, whole)
        return False

    def as_taken(self, node: ast.AST) -> bool:
        """Tell whether another set that takes a set, or a dict, shows its order.

        Python takes one as a table; of a container it gets the elements.
        """
        around = self._above.get(node)
        match around:
            case ast.Call(args=args) if node in args:
                name = last_name(around.func)
                return name in _MAKING and self._of_made(around, node)
            case ast.Starred():
                made = self._above.get(around)
                return isinstance(made, ast.Set) and self._of_made(made, node)
        return False

    def as_added(self, node: ast.AST) -> bool:
        """Tell whether a set is put into another one as a whole."""
        around = self._above.get(node)
        match around:
            case ast.Call(func=ast.Attribute(attr=name), args=args) if node in args:
                return name == "update" or (
                    name == "union" and self._of_made(around, node)
                )
            case ast.AugAssign(op=ast.BitOr(), value=value):
                return value is node
        return False

    def _by_call(self, call: ast.Call, node: ast.AST, whole: bool) -> bool:
        name = last_name(call.func)
        if name in _PRINTING:
            return True
        if not whole or _has_no_order(call) or root_name(call.func) == "txloop":
            return False
        if name in LIKE:
            return self._of_made(call, node)
        keeps = name in KEEPING | PUTTING | SHRINKING
        return not (keeps or self._origins.meanings.named(call.func))

    def _of_made(self, made: ast.AST, node: ast.AST) -> bool:
        """Tell whether the order of a set that is made of another one may be seen.

        Of what is kept in a variable of a function, its uses tell.
        """
        around = self._above.get(made)
        match around:
            case ast.Call(func=function) if function is not made:
                return not _has_no_order(around) or last_name(function) in _MAKING
            case ast.Attribute(attr=name):
                call = self._above.get(around)
                if name in LIKE or name == "pop":
                    return call is None or self._of_made(call, node)
                return name not in _NO_ORDER | OF_SETS | {"remove", "update"}
            case ast.BinOp() | ast.IfExp() | ast.BoolOp():
                return self._of_made(around, node)
            case ast.comprehension():
                return self.in_any(made, whole=True)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return self._of_variable(around, name)
            case ast.Assign(targets=[target]):
                return ast.unparse(target) != ast.unparse(node)
            case ast.Compare() | ast.Expr() | ast.If() | ast.UnaryOp() | ast.While():
                return False
            case ast.AugAssign(op=ast.Sub() | ast.BitAnd()):
                return False
        return True

    def _of_variable(self, statement: ast.AST, name: str) -> bool:
        inside: ast.AST | None = statement
        while inside is not None and not isinstance(inside, FUNCTIONS):
            inside = self._above.get(inside)
        if inside is None:
            return True
        return any(
            name in one.names
            if isinstance(one, ast.Global | ast.Nonlocal)
            else isinstance(one, ast.Name)
            and one.id == name
            and isinstance(one.ctx, ast.Load)
            and self._of_made(one, one)
            for one in ast.walk(inside)
        )


def _has_no_order(node: ast.AST | None) -> bool:
    """Tell whether it is a call that does the same whatever the order is."""
    if not isinstance(node, ast.Call):
        return False
    named = any(one.arg == "key" for one in node.keywords)
    return not named and last_name(node.func) in _NO_ORDER | _MAKING
