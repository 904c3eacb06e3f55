"""What the program's calls give for the parameters of its functions.

What may run any function may make an object of any class: ``cls(...)``,
``type(self)()``, an element of a table, a variable.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from txloop.sharing.bindings import bindings, is_bound_otherwise
from txloop.sharing.callees import ANY
from txloop.sharing.scopes import (
    defaults_of,
    functions_in,
    nodes_of,
    parameters,
    walked,
)
from txloop.sharing.syntax import DISPLAYS, VERBS, is_given_texts, last_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from txloop.sharing.callees import Callees, Owned
    from txloop.sharing.habits import Habits
    from txloop.sharing.scopes import Function
    from txloop.sharing.texts import Text

__all__ = ["Arguments"]

_MADE = (ast.Call, *DISPLAYS)
"""Expressions that make objects, or get them from functions."""

_CALLING_LATER = frozenset(["map", "partial", "starmap", "submit"])
"""Functions that call what they are given first."""


class _Argument(NamedTuple):
    """What a call gives, and in which function of which module."""

    text: Text
    scope: ast.AST
    value: ast.expr


class _Called(NamedTuple):
    """A function, its module, and the parameters that a call gives something for."""

    home: Text
    function: Function
    names: list[str]


class Arguments:
    """All that is given for each parameter."""

    def __init__(
        self, texts: list[Text], functions: Sequence[Owned], callees: Callees
    ) -> None:
        """Look at all functions and calls.

        Args:
            texts: The modules.
            functions: Theirs.
            callees: Tells what a call runs.
        """
        self._given: dict[tuple[object, str], list[_Argument]] = {}
        self._called_elsewhere: set[object] = set()
        self._constant: set[tuple[object, str]] = set()
        self._functions: dict[str, list[_Called]] = {}
        self._constructors: list[_Called] = []
        self._callees = callees
        homes = {id(one): text for text in texts for one, _ in functions_in(text.tree)}
        for owned in functions:
            self._take(owned, homes[id(owned[0])])
        called: set[int] = set()
        later: set[str] = set()
        for text in texts:
            for scope in (text.tree, *(one for one, _ in functions_in(text.tree))):
                for node in nodes_of(scope):
                    if isinstance(node, ast.Call):
                        called.add(id(node.func))
                        if last_name(node.func) in _CALLING_LATER and node.args:
                            later.add(last_name(node.args[0]))
                        for one, others in self._called_by(node):
                            self._note(node, others, text, scope, one)
        for text in texts:
            for node in walked(text.tree):
                is_name = isinstance(node, ast.Name | ast.Attribute)
                name = last_name(node)
                means_it = not (name in VERBS or callees.is_class(name))
                if is_name and id(node) not in called and means_it:
                    later.add(name)
        for name in later:
            for found in self._functions.get(name, ()):
                self._called_elsewhere.add(found.function)

    def _take(self, owned: Owned, home: Text) -> None:
        """Take note of a function, of a module."""
        function, owner, skipped = owned
        one = _Called(home, function, parameters(function)[skipped:])
        name = self._callees.key_of(function, owner)
        self._functions.setdefault(name, []).append(one)
        if owner is not None and getattr(function, "name", "") == "__init__":
            self._constructors.append(one)
        if is_given_texts(owner, name):
            self._constant.update((function, each) for each in one.names)

    def _called_by(self, call: ast.Call) -> Iterator[tuple[_Called, int]]:
        """Yield what a call may run, with how many arguments are not its own."""
        for name, others in self._callees.of(call):
            if name == ANY:  # it may be a class
                yield from ((one, 0) for one in self._constructors)
            yield from ((one, others) for one in self._functions.get(name, ()))

    def _note(
        self, call: ast.Call, others: int, text: Text, scope: ast.AST, one: _Called
    ) -> None:
        if any(isinstance(each, ast.Starred) for each in call.args) or any(
            each.arg is None for each in call.keywords
        ):
            self._called_elsewhere.add(one.function)
        given = {each.arg: each.value for each in call.keywords if each.arg}
        given |= dict(zip(one.names, call.args[others:], strict=False))
        for name, value in given.items():
            argument = _Argument(text, scope, value)
            self._given.setdefault((one.function, name), []).append(argument)
        for name, value in defaults_of(one.function).items():
            if name not in given:
                argument = _Argument(one.home, one.home.tree, value)
                self._given.setdefault((one.function, name), []).append(argument)

    def staying(self, habits: Habits) -> dict[tuple[object, str], bool]:
        """Return of which parameters every argument stays what it is when stored."""
        found = {key: key[0] not in self._called_elsewhere for key in self._constant}
        for (function, name), arguments in self._given.items():
            found[function, name] = function not in self._called_elsewhere and all(
                habits.stays(one.scope, one.value) for one in arguments
            )
        return found

    def made_by_callers(
        self, scope: ast.AST, name: str, habits: Habits
    ) -> list[tuple[Text, ast.expr]] | None:
        """Return what callers make and give for a parameter; None if not all is known.

        What stays what it is when it is stored is left out.
        """
        given = self._given.get((scope, name))
        if given is None or scope in self._called_elsewhere:
            return None
        if is_bound_otherwise(scope, name):
            return None
        found: list[tuple[Text, ast.expr]] = []
        for text, caller, value in given:
            values = [value]
            if isinstance(value, ast.IfExp):
                values = [value.body, value.orelse]
            if isinstance(value, ast.Name):
                values, unknown = bindings(caller, value.id)
                if unknown or not values:
                    return None
            for one in values:
                if habits.stays(caller, one):
                    continue
                if not isinstance(one, _MADE):
                    return None
                found.append((text, one))
        return found
