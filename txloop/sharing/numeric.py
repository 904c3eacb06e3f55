"""Which values may be numbers, as far as lines tell."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.known import GETTERS
from txloop.scan.syntax import FUNCTIONS, last_name, parameters
from txloop.sharing.bindings import bindings
from txloop.sharing.orders_seen import LIKE
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import arguments_of, targets_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.origins import Origins
    from txloop.sharing.texts import Text

__all__ = ["Numbers"]

_NUMBERS = frozenset(
    [
        *("abs", "float", "hash", "int", "json_decode", "len", "loads", "ord"),
        *("randint", "randrange", "range", "round", "sum"),
    ]
)
"""Functions that give numbers, or what may have some."""

_MOST_STEPS = 4


class Numbers:
    """What a program's lines say of values: that they are numbers, or have some."""

    def __init__(self, texts: Iterable[Text], origins: Origins) -> None:
        """Note what attributes are given, and all calls, by their names."""
        self._origins = origins
        self._given: defaultdict[str, list[ast.expr]] = defaultdict(list)
        self._calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self._asked: dict[tuple[ast.AST, ast.AST, int], bool] = {}
        for node in (node for text in texts for node in walked(text.tree)):
            if isinstance(node, ast.Call):
                self._calls[last_name(node.func)].append(node)
            for target, each in targets_of(node):
                if isinstance(target, ast.Attribute):
                    self._given[target.attr].append(each)

    def is_number(self, scope: ast.AST, value: ast.AST, steps: int = 0) -> bool:
        """Tell whether a line says that an expression may be a number, or have some."""
        if steps > _MOST_STEPS:
            return False
        key = scope, value, steps
        if key not in self._asked:
            self._asked[key] = self._may_be_number(scope, value, steps + 1)
        return self._asked[key]

    def _may_be_number(self, scope: ast.AST, value: ast.AST, steps: int) -> bool:
        match value:
            case ast.Constant(value=int() | float()):
                return True
            case ast.Call(func=function):
                asked: list[ast.expr] = []
                if last_name(function) in _NUMBERS:
                    return True
                if last_name(function) in (*LIKE, "enumerate", "list", "map", "tuple"):
                    asked = arguments_of(value)
                elif last_name(function) in GETTERS:
                    asked = [getattr(function, "value", function)]
                return any(self.is_number(scope, one, steps) for one in asked)
            case ast.BinOp(left=left, right=right):
                return any(self.is_number(scope, o, steps) for o in (left, right))
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(self.is_number(scope, one, steps) for one in parts)
            case (
                ast.SetComp(elt=one) | ast.ListComp(elt=one) | ast.GeneratorExp(elt=one)
            ):
                return self.is_number(scope, one, steps)
            case ast.Subscript(value=one) | ast.UnaryOp(operand=one):
                return self.is_number(scope, one, steps)
            case ast.Attribute(attr=name):
                given = self._given.get(name, ())
                return any(self.is_number(scope, one, steps) for one in given)
            case ast.Name(id=name):
                return self._is_number_by_name(scope, name, steps)
        return False

    def _is_number_by_name(self, scope: ast.AST, name: str, steps: int) -> bool:
        home = self._origins.meanings.home(scope, name)
        where = home or self._origins.meanings.module_of(scope)
        values = bindings(where, name)[0]
        if any(self.is_number(where, one, steps) for one in values):
            return True
        if not isinstance(where, FUNCTIONS) or name not in parameters(where):
            return False
        for one in ast.walk(where.args):
            if isinstance(one, ast.arg) and one.arg == name and one.annotation:
                return "int" in ast.unparse(one.annotation)
        place = parameters(where).index(name)
        called = getattr(where, "name", "")
        return any(
            self.is_number(self._origins.meanings.scope_of(call), one, steps)
            for call in self._calls.get(called, ())
            for one in [
                *call.args[max(place - 1, 0) : place + 1],
                *(each.value for each in call.keywords if each.arg == name),
            ]
        )
