"""What each function of a program does with what it is given, learned in rounds.

What a function stores, hands on or returns depends on what those do that it calls. So
all are looked at again until nothing new is found.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from txloop.scan.syntax import bound_in, parameters
from txloop.sharing.bindings import names_of_parts, names_of_same
from txloop.sharing.callees import numbers_of
from txloop.sharing.habits import Habit, Habits
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.owning import Owning
from txloop.sharing.receiving import methods_by_name
from txloop.sharing.scopes import functions_in, walked
from txloop.sharing.sets import is_set, names_of_sets
from txloop.sharing.storing import Storing
from txloop.sharing.syntax import (
    changed_by,
    foreign_modules,
    is_cached,
    is_of_self,
    results_of,
    root_name,
    uses_arrays,
)
from txloop.sharing.uncalled import coroutines_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.arguments import Arguments
    from txloop.sharing.meanings import Function
    from txloop.sharing.origins import Origins
    from txloop.sharing.texts import Text

__all__ = ["Learned"]

_ROUNDS = 5


class Learned:
    """What is known of all functions.

    Attributes:
        habits: What each does.
        owning: What attributes of handlers are given, and what becomes of it.
        storing: What is stored where.
        cached: By a function's name, what it returns that `functools.cache` keeps.
    """

    def __init__(
        self,
        texts: list[Text],
        arguments: Arguments,
        named: Callable[[ast.AST], Set[str]],
        origins: Origins,
    ) -> None:
        """Look at all functions, as often as it takes; see `Aliases`."""
        callees, own = arguments.callees, {text.package for text in texts}
        trees = [text.tree for text in texts]
        foreign = {name for tree in trees for name in foreign_modules(tree, own)}
        alone = coroutines_alone(texts, origins.meanings)
        sets = functools.partial(is_set, origins, names_of_sets(texts))
        self.habits = Habits(callees, any(map(uses_arrays, trees)), alone)
        self.owning = Owning(texts, self.habits)
        self.storing = Storing(
            self.habits, foreign, named, self.owning, methods_by_name(texts), sets
        )
        self.cached: dict[str, list[tuple[Text, ast.expr]]] = {}
        for text in texts:
            for function, _ in functions_in(text.tree):
                self._find_cached(text, function)
        for _ in range(_ROUNDS):
            known = self.habits.known()
            self._is_more = False
            self._hashed: dict[str, Set[int]] = {}
            for one in callees.every:
                self._learn(one)
            self.habits.hashed = self._hashed
            self.habits.owned = self.owning.owned()
            self.habits.given = arguments.staying(self.habits)
            if known == self.habits.known() and not self._is_more:
                break

    def _find_cached(self, text: Text, function: FunctionNode) -> None:
        """Note what a function returns, if `functools.cache` keeps it."""
        if is_cached(function):
            results = [(text, one) for one in results_of(function)]
            self.cached.setdefault(getattr(function, "name", ""), []).extend(results)

    def _learn(self, called: Function) -> None:
        """Note what a function does, under its name."""
        habits, name, function = self.habits, called.name, called.node
        keys = habits.keys[function] = habits.keys_of(function)
        mutable = {*parameters(function)} - keys
        in_handler = is_handler_class(called.owner)
        every = [*self.storing.stores(function, in_handler=in_handler)]
        for one in every:
            if one.is_own:
                into = {one.into, *self.storing.others(one)}
                self._is_more |= self.owning.note_stored(one.name, into)
        stores = [one for one in every if one.name in mutable and not one.is_own]
        stored = {one.name for one in stores}
        results = results_of(function)
        stays = all(habits.stays(function, one) for one in results)
        handed = {each for one in results for each in habits.handed_on(one)}
        hands = {
            one
            for one in mutable
            if handed & names_of_parts(function, {one}, habits.handed_on)
            or handed & names_of_same(function, one)
        }
        before = habits.functions.get(name, Habit())
        habits.functions[name] = Habit(
            before.stored | numbers_of(called, stored),
            before.places | {one.into for one in stores},
            before.reached | {of for one in stores for of in self.storing.others(one)},
            before.handed | numbers_of(called, hands),
            before.changes or self._changes(function, called.owner),
            before.returns_same and stays,
        )
        # There may be several of that name: each has to use it so.
        hashed = numbers_of(called, keys)
        self._hashed[name] = hashed & self._hashed.get(name, hashed)

    def _changes(self, function: FunctionNode, owner: ast.ClassDef | None) -> bool:
        """Tell whether a function changes what it has not made."""
        names, local = parameters(function), bound_in(function)
        for node in walked(function):
            target = changed_by(node)
            root = root_name(target) if target is not None else None
            if target is not None and (root not in local or root in names):
                if not (is_handler_class(owner) and is_of_self(target)):
                    return True
            elif isinstance(node, ast.Call) and self.habits.acts(node):
                return True
        return False
