"""Iterators that a program keeps from one request to another.

One over a plain list sees what is put into the list later, and one over a plain dict
complains of it. Over a container it sees what its own call does, at most (see
`cells.live`). So what a kept iterator goes over stays plain.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import KEEPING, PUTTING
from txloop.scan.syntax import COMPREHENSIONS, FUNCTIONS, last_name
from txloop.sharing.demands import Wants
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.scopes import functions_in, nodes_of, walked
from txloop.sharing.syntax import (
    DISPLAYS,
    arguments_of,
    results_of,
    root_name,
    targets_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.demands import Demands
    from txloop.sharing.origins import Hazard, Origins
    from txloop.sharing.texts import Text

__all__ = ["LAZY", "iterators_kept"]

LAZY = frozenset(
    [
        *("accumulate", "batched", "chain", "compress", "cycle", "dropwhile"),
        *("enumerate", "filter", "filterfalse", "from_iterable", "groupby", "islice"),
        *("iter", "map", "pairwise", "reversed", "starmap", "takewhile", "tee", "zip"),
        "zip_longest",
    ]
)
"""Functions of Python that return an iterator over what they are given."""

_PUTTING_WHOLE = (KEEPING | PUTTING) - {
    *("__iadd__", "__ior__", "extend", "extendleft", "update")
}
"""Methods that keep what they are given itself, and not what it gives."""

_OWN_ITERATORS = frozenset(["__iter__", "__reversed__"])

_HANDING_ON = (
    *(ast.Await, ast.BoolOp, ast.Dict, ast.IfExp, ast.NamedExpr),
    *(*DISPLAYS, *COMPREHENSIONS),
)


def iterators_kept(
    texts: Iterable[Text], origins: Origins, demands: Demands
) -> Iterator[Hazard]:
    """Yield what has to stay plain since an iterator over it is kept."""
    its = _Iterators([*texts], origins)
    for text in its.texts:
        for scope, node in origins.meanings.nodes(text):
            over = its.gone_over(node)
            if over and its.is_kept(scope, node):
                reason = f"{text.place(node)}, keeps an iterator over it"
                for one in over:
                    yield from demands.on(one, [one], reason, Wants.PLAIN)


class _Iterators:
    """What of a program's expressions gives an iterator, and whether that is kept."""

    def __init__(self, texts: list[Text], origins: Origins) -> None:
        self.texts = texts
        self._origins = origins
        self._above: dict[ast.AST, ast.AST] = {}
        self._asked: set[str] = set()  # names of variables that functions use
        self._generators: dict[str, list[ast.expr]] = {}  # what they go over
        functions = [each for text in texts for each, _ in functions_in(text.tree)]
        for text in texts:
            for one in walked(text.tree):
                self._above.update((part, one) for part in ast.iter_child_nodes(one))
        for function in functions:
            if _is_generator(function):
                over = self._over_in(function)
                self._generators.setdefault(_name_of(function), []).extend(over)
            for one in walked(function):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
                    self._asked.add(one.id)
        before = -1
        while before != (before := len(self._generators)):
            for function in functions:
                self._take_returned(function)

    def _over_in(self, function: FunctionNode) -> list[ast.expr]:
        """Return what the loops go over that a generator may stop in."""
        found: list[ast.expr] = []
        for node in nodes_of(function):
            match node:
                case ast.For(iter=over) | ast.YieldFrom(value=over):
                    found += self._leaves(over)
                case ast.Assign(value=ast.expr() as over):
                    found += self.gone_over(over)
        return found

    def _take_returned(self, function: FunctionNode) -> None:
        """Take a function that returns an iterator as what makes it."""
        for value in results_of(function):
            if over := self.gone_over(value):
                self._generators.setdefault(_name_of(function), over)

    def gone_over(self, node: ast.AST) -> list[ast.expr]:
        """Return what an iterator goes over that an expression makes, if it does."""
        match node:
            case ast.GeneratorExp(generators=[first, *_]):
                return self._leaves(first.iter)
            case ast.Call(func=ast.Attribute(value=base, attr=name)) if (
                name in _OWN_ITERATORS
            ):
                return [base]
            case ast.Call(func=function):
                name = last_name(function)
                if name in LAZY:
                    return [o for one in arguments_of(node) for o in self._leaves(one)]
                if name and (over := self._generators.get(name)) is not None:
                    return over + [
                        o for one in arguments_of(node) for o in self._leaves(one)
                    ]
        return []

    def _leaves(self, value: ast.expr) -> list[ast.expr]:
        match value:
            case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in (
                "items",
                "keys",
                "values",
            ):
                return self._leaves(base)
            case ast.Call() | ast.GeneratorExp():
                return self.gone_over(value)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return [value]
            case ast.IfExp(body=one, orelse=other):
                return [*self._leaves(one), *self._leaves(other)]
            case ast.BoolOp(values=values):
                return [each for one in values for each in self._leaves(one)]
            case ast.Starred(value=one):
                return self._leaves(one)
        return []

    def is_kept(self, scope: ast.AST, node: ast.AST) -> bool:
        """Tell whether what an expression gives may be used by a later call."""
        around = self._above.get(node)
        match around:
            case ast.Call(func=function) if function is not node:
                return self._is_kept_by(scope, around)
            case ast.keyword():
                call = self._above[around]
                return isinstance(call, ast.Call) and self._is_kept_by(scope, call)
            case ast.Assign() | ast.AnnAssign():
                return any(
                    self._is_lasting(scope, target)
                    for target, value in targets_of(around)
                    if value is node or node in walked(value)
                )
            case ast.arguments() | ast.Yield():
                return True  # as a default
            case ast.comprehension():
                made = self._above[around]
                lazily = isinstance(made, ast.GeneratorExp)
                return lazily and self.is_kept(scope, made)
            case ast.NamedExpr() if self._is_lasting(scope, around.target):
                return True
        return isinstance(around, _HANDING_ON) and self.is_kept(scope, around)

    def _is_kept_by(self, scope: ast.AST, call: ast.Call) -> bool:
        name = last_name(call.func)
        if name in LAZY or name in self._generators:
            return self.is_kept(scope, call)
        if name in _PUTTING_WHOLE or name == "partial":
            return True
        return name in self._origins.meanings.classes

    def _is_lasting(self, scope: ast.AST, target: ast.expr) -> bool:
        """Tell whether a variable, or attribute, lasts longer than a call."""
        if isinstance(target, ast.Attribute) and root_name(target) == "self":
            return not is_handler_class(self._origins.meanings.owner_of(scope))
        if not isinstance(target, ast.Name):
            return isinstance(target, ast.Attribute | ast.Subscript)
        if isinstance(scope, FUNCTIONS):
            name = target.id
            return any(
                name in one.names
                if isinstance(one, ast.Global | ast.Nonlocal)
                else isinstance(one, FUNCTIONS)
                and any(getattr(o, "id", "") == name for o in walked(one))
                for one in walked(scope)
                if one is not scope
            )
        owner = self._above.get(self._above.get(target, target))
        return isinstance(owner, ast.ClassDef) or target.id in self._asked


def _is_generator(function: FunctionNode) -> bool:
    if isinstance(function, ast.Lambda) or function.decorator_list:
        return False
    return any(isinstance(o, ast.Yield | ast.YieldFrom) for o in nodes_of(function))


def _name_of(function: FunctionNode) -> str:
    return getattr(function, "name", "")
