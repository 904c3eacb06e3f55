"""What the parameters of a program's functions are given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.sharing.scopes import (
    defaults_of,
    functions_in,
    nodes_of,
    parameters,
    walked,
)
from txloop.sharing.syntax import VERBS, is_handler_class, last_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from txloop.sharing.callees import Owned
    from txloop.sharing.habits import Habits
    from txloop.sharing.scopes import Function

__all__ = ["Arguments"]


class Arguments:
    """All arguments of a program's functions, as far as they are seen."""

    def __init__(
        self, trees: Collection[ast.Module], functions: Sequence[Owned], habits: Habits
    ) -> None:
        """Look for them in some modules, where the functions are, too."""
        self._trees = trees
        self._habits = habits
        self._by_name: dict[str, list[tuple[Function, list[str]]]] = {}
        self._verbs: list[tuple[Function, str]] = []
        for function, owner, skipped in functions:
            names = parameters(function)[skipped:]
            name = habits.callees.key_of(function, owner)
            self._by_name.setdefault(name, []).append((function, names))
            if is_handler_class(owner) and name in VERBS:
                self._verbs += [(function, one) for one in names]

    def staying(self) -> dict[tuple[object, str], bool]:
        """Return of which parameters every argument stays what it is, once stored."""
        given: dict[tuple[object, str], bool] = dict.fromkeys(self._verbs, True)
        called: set[int] = set()
        for tree in self._trees:
            for scope in (tree, *(one for one, _ in functions_in(tree))):
                for node in nodes_of(scope):
                    if isinstance(node, ast.Call):
                        called.add(id(node.func))
                        self._take(node, scope, given)
        for tree in self._trees:
            for node in walked(tree):
                if (
                    isinstance(node, ast.Name | ast.Attribute)
                    and id(node) not in called
                ):
                    given.update(dict.fromkeys(self._of_value(last_name(node)), False))
        return given

    def _take(
        self, call: ast.Call, scope: ast.AST, given: dict[tuple[object, str], bool]
    ) -> None:
        """Take note of what a call gives."""
        spread = any(isinstance(one, ast.Starred) for one in call.args) or any(
            one.arg is None for one in call.keywords
        )
        for called, others in self._habits.callees.of(call):
            for function, names in self._by_name.get(called, ()):
                values = defaults_of(function)
                values |= {one.arg: one.value for one in call.keywords if one.arg}
                values |= dict(zip(names, call.args[others:], strict=False))
                for name, value in values.items():
                    stays = not spread and self._habits.stays(scope, value)
                    given[function, name] = given.get((function, name), True) and stays

    def _of_value(self, name: str) -> list[tuple[Function, str]]:
        """Return the parameters of a function that is used as a value."""
        if name in VERBS or self._habits.is_class(name):
            return []
        functions = self._by_name.get(name, ())
        return [(function, one) for function, names in functions for one in names]
