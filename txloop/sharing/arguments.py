"""What the program's calls give for the parameters of its functions, by their names.

A constructor is called by the name of its class and of those derived from it, by
``cls(...)``, ``type(self)(...)``, ``super().__init__(...)``, and by whatever else may
mean a class: an element of a table, a variable.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from txloop.sharing.bindings import bindings, given_to
from txloop.sharing.scopes import FUNCTIONS, bound_in, functions_in, nodes_of
from txloop.sharing.scopes import parameters as parameters_of
from txloop.sharing.syntax import VERBS, is_handler_class, last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.sharing.habits import Habits
    from txloop.sharing.scopes import Function
    from txloop.sharing.texts import Text

__all__ = ["Arguments"]

_MADE = (
    ast.Call,
    ast.Dict,
    ast.DictComp,
    ast.List,
    ast.ListComp,
    ast.Set,
    ast.SetComp,
)
"""Expressions that make objects, or get them from functions."""

_CALLING_LATER = frozenset(["map", "partial", "starmap", "submit"])
"""Functions that call what they are given first."""


class _Argument(NamedTuple):
    """What a call gives, and in which function of which module."""

    text: Text
    scope: ast.AST
    value: ast.expr


class _Called(NamedTuple):
    """A function, and the parameters that a call gives something for."""

    function: Function
    names: list[str]


class Arguments:
    """All that is given for each parameter."""

    def __init__(self, texts: list[Text]) -> None:
        """Look at all functions and calls.

        Args:
            texts: The modules.
        """
        self._given: dict[tuple[object, str], list[_Argument]] = {}
        self._called_elsewhere: set[object] = set()
        self._constant: set[tuple[object, str]] = set()
        self._functions: dict[str, list[_Called]] = {}
        self._constructors: list[_Called] = []
        self._bases: dict[str, set[str]] = {}
        self._aliases: set[str] = set()  # what may mean a class
        for text in texts:
            self._find_functions(text)
        for text in texts:
            self._find_aliases(text)
        called: set[int] = set()
        later: set[str] = set()
        for text in texts:
            for scope in (text.tree, *(one for one, _ in functions_in(text.tree))):
                for node in nodes_of(scope):
                    if isinstance(node, ast.Call):
                        called.add(id(node.func))
                        if last_name(node.func) in _CALLING_LATER and node.args:
                            later.add(last_name(node.args[0]))
                        for one in self._called_by(node, text, scope):
                            self._note(node, text, scope, one)
        for text in texts:
            for node in ast.walk(text.tree):
                is_name = isinstance(node, ast.Name | ast.Attribute)
                if is_name and id(node) not in called:
                    name = last_name(node)
                    if name not in VERBS and name not in self._bases:
                        later.add(name)
        for name in later:
            for one in self._functions.get(name, ()):
                self._called_elsewhere.add(one.function)

    def _find_functions(self, text: Text) -> None:
        for node in ast.walk(text.tree):
            if isinstance(node, ast.ClassDef):
                self._bases.setdefault(node.name, set()).update(
                    map(last_name, node.bases)
                )
        for function, owner in functions_in(text.tree):
            name = getattr(function, "name", "")
            names = parameters_of(function)[owner is not None :]
            one = _Called(function, names)
            if owner is not None and name == "__init__":
                self._constructors.append(one)
                name = owner.name
            self._functions.setdefault(name, []).append(one)
            if is_handler_class(owner) and name in VERBS:
                self._constant.update((function, each) for each in names)

    def _find_aliases(self, text: Text) -> None:
        for node in ast.walk(text.tree):
            pairs = [*given_to(node)]
            if isinstance(node, ast.keyword) and node.arg:
                pairs.append((ast.Name(node.arg), node.value))
            for target, value in pairs:
                if isinstance(value, ast.Name) and value.id in self._bases:
                    self._aliases.add(last_name(target))

    def _line(self, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """Return the names of a class and of those that it is derived from."""
        found = {name}
        for base in self._bases.get(name, set()) - seen - {name}:
            found |= self._line(base, seen | {name})
        return found

    def _called_by(
        self, call: ast.Call, text: Text, scope: ast.AST
    ) -> Iterator[_Called]:
        """Yield the functions that a call may run."""
        function = call.func
        name = last_name(function)
        if name in self._bases:
            for each in self._line(name):
                yield from self._functions.get(each, ())
            return
        yield from self._functions.get(name, ())
        if name == "__init__":
            # Of a class's, not of an object's, the first argument is `self`.
            base = function.value if isinstance(function, ast.Attribute) else None
            shift = last_name(base) in self._bases if base is not None else False
            for one in self._constructors:
                yield one._replace(names=["", *one.names] if shift else one.names)
        elif self._may_mean_class(function, text, scope):
            yield from self._constructors

    def _may_mean_class(self, function: ast.expr, text: Text, scope: ast.AST) -> bool:
        if isinstance(function, ast.Attribute):
            return function.attr in self._aliases or function.attr == "__class__"
        if not isinstance(function, ast.Name):
            return True
        if function.id in self._functions:
            return False
        local = bound_in(scope) if isinstance(scope, FUNCTIONS) else set()
        return function.id in local or function.id in self._aliases

    def _note(self, call: ast.Call, text: Text, scope: ast.AST, one: _Called) -> None:
        pairs = [*zip(one.names, call.args, strict=False)]
        pairs += [(each.arg, each.value) for each in call.keywords if each.arg]
        spread = any(isinstance(each, ast.Starred) for each in call.args) or any(
            each.arg is None for each in call.keywords
        )
        if spread:
            self._called_elsewhere.add(one.function)
        for name, value in pairs:
            argument = _Argument(text, scope, value)
            self._given.setdefault((one.function, name), []).append(argument)

    def staying(self, habits: Habits) -> dict[tuple[object, str], bool]:
        """Return of which parameters every argument stays what it is when stored."""
        found = dict.fromkeys(self._constant, True)
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
        if given is None or scope in self._called_elsewhere or _is_bound(scope, name):
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


def _is_bound(scope: ast.AST, name: str) -> bool:
    """Tell whether a function binds a parameter again."""
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
        for one in ast.walk(scope)
    )
