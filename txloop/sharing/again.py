"""What a further round of a loop does with what a variable had in the round before.

::

    for name in names:
        if name in seen:
            row.append(name)    # may still have what was stored in an earlier round
        else:
            row = [name]
        rows.append(row)

A round reaches what stands before the line that surely gives the variable another
object. A part of an object that all rounds have, as of ``row = table[0]``, is none.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import PARTS
from txloop.scan.syntax import bound_in, last_name
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import leaves, root_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

__all__ = ["reached_again"]

_GIVING_SAME = PARTS | {"__getitem__", "get", "setdefault"}
"""What may give the same part of an object again."""


def reached_again(scope: ast.AST, loop: ast.AST, name: str) -> set[ast.AST]:
    """Return what a further round reaches before a variable gets another object.

    Args:
        scope: The function, or the module.
        loop: A loop in it.
        name: The variable.
    """
    match loop:
        case ast.For(target=target) | ast.AsyncFor(target=target) if _binds(
            target, name
        ):
            return set()  # it goes over other parts
    again = _Again(bound_in(scope), loop, name)
    if not (isinstance(loop, ast.While) and again.tests(loop.test)):
        again.runs(loop.body)  # type: ignore[attr-defined] # a loop
    return again.reached


class _Again:
    """Follows the statements of a loop up to where a variable gets another object."""

    def __init__(self, own: Set[str], loop: ast.AST, name: str) -> None:
        self._own = own
        self._bound = {
            one.id
            for one in walked(loop)
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
        }
        self._name = name
        self.reached: set[ast.AST] = set()

    def runs(self, statements: Iterable[ast.stmt]) -> bool:
        """Add what statements do; tell whether the variable has another one then."""
        return any(map(self._run, statements))

    def tests(self, test: ast.expr) -> bool:
        """Add what a test does; tell whether the variable has another one then."""
        self.reached.update(walked(test))
        named = (one for one in walked(test) if isinstance(one, ast.NamedExpr))
        return any(one.target.id == self._name for one in named)

    def _run(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.For(target=target, iter=value, body=body, orelse=orelse):
                self.reached.update(walked(value))
                if not self._gives_another(target, value):
                    self.reached.update(walked(target))
                    self.runs(body)
                self.runs(orelse)  # the body may not have run
                return False
            case ast.While(test=test, body=body, orelse=orelse):
                if self.tests(test):
                    return True
                self.runs(body)
                self.runs(orelse)
                return False
            case ast.If(test=test, body=body, orelse=orelse):
                if self.tests(test):
                    return True
                sure = [self.runs(one) for one in (body, orelse)]
                return all(sure)
            case ast.With(items=items, body=body):
                self.reached.update(node for one in items for node in walked(one))
                return self.runs(body)
            case ast.Assign(targets=targets, value=value) if any(
                self._gives_another(one, value) for one in targets
            ):
                self.reached.update(walked(value))
                return True
            case ast.AnnAssign(target=target, value=ast.expr() as value) if (
                self._gives_another(target, value)
            ):
                self.reached.update(walked(value))
                return True
        self.reached.update(walked(statement))
        return False

    def _gives_another(self, target: ast.expr, value: ast.expr) -> bool:
        """Tell whether a target is the variable, and gets another one each time."""
        if not _binds(target, self._name):
            return False
        if isinstance(value, ast.Call) and last_name(value.func) not in _GIVING_SAME:
            return True
        names = {one.id for one in walked(value) if isinstance(one, ast.Name)}
        return root_name(value) not in self._own or not names.isdisjoint(self._bound)


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in leaves(target))
