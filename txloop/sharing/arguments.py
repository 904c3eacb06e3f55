"""What the program's calls give for the parameters of its functions.

What may run any function may make an object of any class: an element of a table, a
variable, a parameter of which not all is known.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from txloop.scan.known import GETTERS, MODULES, MUTATORS, PARTS
from txloop.scan.syntax import last_name, numbered, parameters
from txloop.sharing.assigning import (
    assigned_by,
    item_setters_in,
    may_come_by_star,
    set_otherwise,
    sets,
    setters_in,
)
from txloop.sharing.bindings import bindings, is_bound_otherwise
from txloop.sharing.callees import Callees
from txloop.sharing.decorators import hands_on, is_followed, is_just_called
from txloop.sharing.habits import Argument
from txloop.sharing.handlers import VERBS, is_given_texts
from txloop.sharing.scopes import defaults_of, functions_in, nodes_of, scopes_in
from txloop.sharing.spreading import parts_spread, spread_by, stars_of
from txloop.sharing.syntax import DISPLAYS, root_name
from txloop.sharing.uncalled import passed_on
from txloop.sharing.wholes import makes_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.flow import Flow
    from txloop.sharing.habits import Habits
    from txloop.sharing.meanings import Function, Meanings
    from txloop.sharing.texts import Text

__all__ = ["Arguments", "follow_calls"]

_MADE = (ast.Call, *DISPLAYS)
"""Expressions that make objects, or get them from functions."""

_SCALAR_MODULES = MODULES - {"random"}  # which shuffles what it is given

_DEPTH = 4
"""The most variables and parts that are followed to what makes them."""

_CALLING_LATER = frozenset(["map", "partial", "starmap", "submit"])
"""Functions that call what they are given first."""


class Arguments:
    """All that is given for each parameter.

    Attributes:
        callees: Tells what a call runs.
        taken: The names of functions that are not only called.
    """

    def __init__(self, texts: list[Text], callees: Callees) -> None:
        """Look at all functions and calls.

        Args:
            texts: The modules.
            callees: Tells what a call runs.
        """
        self._given: dict[tuple[ast.AST, str], list[Argument]] = {}
        self._called_elsewhere: set[object] = set()
        self._spread_to: set[tuple[ast.AST, str]] = set()  # what stars may give
        self.taken: set[str] = set()
        self._verbs: set[object] = set()
        self._constant: set[tuple[ast.AST, str]] = set()
        self.callees = callees
        for one in callees.every:
            if is_given_texts(one.owner, one.name):
                self._verbs.add(one.node)
                self._constant.update((one.node, each) for each in one.given)
                marks = getattr(one.node, "decorator_list", [])
                if not all(is_followed(callees, one.home, mark) for mark in marks):
                    self._called_elsewhere.add(one.node)
        called: set[ast.expr] = set()
        self._setters = setters_in(callees)
        for text in texts if self._setters else ():
            self._follow_assignments(text)
        for text in texts:
            for call, scope in _calls_in(text, callees):
                called.add(call.func)
                self._follow(call, text, scope)
        for name in passed_on(texts, callees.meanings, callees.every, called):
            if not callees.is_class(name):
                self._call_elsewhere(name)
        for one in callees.every:
            marks = getattr(one.node, "decorator_list", [])
            if one.node not in self._verbs and any(map(self._keeps, marks)):
                self._call_elsewhere(one.name)
        for (function, name), given in [*self._given.items()]:
            values = [last_name(one.value) for one in given]
            verbs = [one for each in values for one in callees.verbs_of(each)]
            if verbs:
                self._follow_decorator(function, name, verbs)
        items = item_setters_in(callees, texts)
        self._called_elsewhere |= callees.called_without_name - items
        for text in texts if items else ():
            self._follow_items(text, items)

    def _follow_decorator(
        self, decorator: ast.AST, name: str, verbs: list[Function]
    ) -> None:
        """Note what a decorator, or a function in it, gives the verbs that it is given.

        By its name a parameter may be mistaken for that of other functions.
        """
        if not is_just_called(decorator, name):
            self._called_elsewhere |= {one.node for one in verbs}
        home = next(one.home for one in self.callees.every if one.node is decorator)
        for scope in (decorator, *(inner for inner, _ in functions_in(decorator))):
            for call in nodes_of(scope):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == name:
                    for verb in verbs:
                        self._note(call, 1, home, scope, verb)

    def _keeps(self, mark: ast.expr) -> bool:
        """Tell whether a decorator of the program may keep what it is given."""
        for one in self.callees.made_by(mark):
            if not self.callees.is_own(getattr(one, "func", one)):
                continue
            its = self.callees.functions.get(last_name(one), [])
            if not its or not all(
                each.given and is_just_called(each.node, each.given[0]) for each in its
            ):
                return True
        return False

    def _follow(self, call: ast.Call, text: Text, scope: ast.AST) -> None:
        """Note what a call gives to the functions that it may run."""
        if last_name(call.func) in _CALLING_LATER and call.args:
            self._call_elsewhere(last_name(call.args[0]))
        for one, others in self.callees.run_by(call):
            self._note(call, others, text, scope, one)

    def _call_elsewhere(self, name: str) -> None:
        """Note that functions of that name are called by what is not known."""
        its = {one.node for one in self.callees.functions.get(name, ())}
        if name in VERBS:  # those of handlers are called by Tornado
            its -= self._verbs
        if its:
            self.taken.add(name)
            setters = {one.node for one in self._setters.get(name, ())}
            self._called_elsewhere |= its - setters

    def _follow_assignments(self, text: Text) -> None:
        """Note what assignments give to the setters of properties."""
        for scope in scopes_in(text.tree):
            seen: set[ast.AST] = set()
            for node in nodes_of(scope):
                for target, value in assigned_by(node, ast.Attribute):
                    seen.add(target)
                    for one in self._setters.get(last_name(target), ()):
                        argument = Argument(text, scope, value)
                        self._given.setdefault((one.node, one.given[0]), []).append(
                            argument
                        )
            for node in nodes_of(scope):
                if node not in seen:
                    self._called_elsewhere |= {
                        one.node
                        for name in set_otherwise(node, self._setters)
                        for one in self._setters[name]
                    }

    def _follow_items(self, text: Text, setters: Set[ast.AST]) -> None:
        """Note what assignments to items give to the program's own `__setitem__`."""
        for scope in scopes_in(text.tree):
            seen: set[ast.AST] = set()
            for node in nodes_of(scope):
                for target, value in assigned_by(node, ast.Subscript):
                    seen.add(target)
                    for one in self.callees.setting(target):
                        if one.node not in setters:
                            continue
                        both = zip(one.given, (target.slice, value), strict=False)
                        for name, given in both:
                            argument = Argument(text, scope, given)
                            key = one.node, name
                            self._given.setdefault(key, []).append(argument)
            for node in nodes_of(scope):
                if not (isinstance(node, ast.Subscript) and sets(node)):
                    continue
                called = {one.node for one in self.callees.setting(node)} & setters
                if node not in seen:
                    self._called_elsewhere |= called
                elif not called and may_come_by_star(scope, root_name(node)):
                    self._called_elsewhere |= setters

    def _note(
        self, call: ast.Call, others: int, text: Text, scope: ast.AST, one: Function
    ) -> None:
        placed = [*takewhile(lambda each: not isinstance(each, ast.Starred), call.args)]
        spread: list[ast.expr | ast.keyword] = [*call.args[len(placed) :]]
        spread += [each for each in call.keywords if each.arg is None]
        stars = [each for each in spread if isinstance(each, ast.Starred | ast.keyword)]
        given = {each.arg: each.value for each in call.keywords if each.arg}
        by_place = [name for name in one.given if name in numbered(one.node)]
        given |= dict(zip(by_place, placed[others:], strict=False))
        for star in stars_of(one.node):  # it is a new object, with these in it
            given.pop(star, None)
        by_stars = [*spread_by(call, placed[others:], one)]
        # What a decorator of a verb has made was called by Tornado.
        if spread and not (one.node in self._verbs and hands_on(scope, spread)):
            rest = {*one.given} - {*given}
            if self.callees.runs_any(call):  # what is called so may be given anything
                self._called_elsewhere.add(one.node)
            elif len(stars) == len(spread):  # each may get a part of any of these
                parts = [parts_spread(scope, each.value) for each in stars]
                rest -= stars_of(one.node) - {name for name, _ in by_stars}
                by_stars += [(name, parts) for name in rest]
            else:
                self._spread_to.update((one.node, name) for name in rest)
        for name, its in by_stars:
            found = self._given.setdefault((one.node, name), [])
            found += (Argument(text, scope, value) for value in its)
        for name, value in given.items():
            argument = Argument(text, scope, value)
            self._given.setdefault((one.node, name), []).append(argument)
        for name, value in defaults_of(one.node).items():
            if name not in given:
                argument = Argument(one.home, one.home.tree, value)
                self._given.setdefault((one.node, name), []).append(argument)

    def _are_known(self, function: ast.AST, name: str) -> bool:
        """Tell whether all calls that give something for a parameter are known."""
        unknown = function in self._called_elsewhere
        return not unknown and (function, name) not in self._spread_to

    def functions(self) -> dict[str, set[str] | None]:
        """Return the names of the functions that are given for parameters, by names.

        None for a parameter of which not all is known.
        """
        found: dict[str, set[str] | None] = {}
        for function in {one.node for one in self.callees.every}:
            for name in parameters(function):
                before = found.get(name, set())
                names = self._functions_for(function, name)
                if before is None or names is None:
                    found[name] = None
                else:
                    found[name] = before | names
        return found

    def _functions_for(self, function: FunctionNode, name: str) -> set[str] | None:
        """Return the names of those for one parameter; None if not all are known."""
        given = self._given.get((function, name))
        if given is None or not self._are_known(function, name):
            return None
        values = [one.value for one in given if not isinstance(one.value, ast.Constant)]
        if not all(map(self._is_function, values)):
            return None
        return set(map(self.callees.named, values))

    def _is_function(self, value: ast.expr) -> bool:
        """Tell whether an argument is a function that is known.

        That is one of the program's, or one that makes what cannot change: a method of
        a list may store what it is given, and ``copy.copy`` returns its parts.
        """
        name = self.callees.named(value)
        if isinstance(value, ast.Attribute) and name in MUTATORS | GETTERS:
            return False
        if name in self.callees.functions or self.callees.is_class(name):
            return True
        return root_name(value) in _SCALAR_MODULES and name not in PARTS

    def staying(self, habits: Habits) -> dict[tuple[object, str], bool]:
        """Return of which parameters every argument stays what it is when stored.

        All are thought to, until one does not: functions may give each other what
        they are given, as methods of one name seem to.
        """
        keys = [*self._constant, *self._given]
        found: dict[tuple[object, str], bool] = {
            key: self._are_known(*key) for key in keys
        }
        while True:
            guessed = replace(habits, given=found)
            lost = [
                key
                for key, arguments in self._given.items()
                if found[key]
                and not all(guessed.stays(one.scope, one.value) for one in arguments)
            ]
            if not lost:
                return found
            found = {**found, **dict.fromkeys(lost, False)}

    def made_by_callers(
        self,
        scope: ast.AST,
        name: str,
        habits: Habits,
        depth: int = 0,
        *,
        whole: bool = False,
    ) -> list[tuple[Text, ast.expr]] | None:
        """Return what callers make and give for a parameter; None if not all is known.

        What stays what it is when it is stored is left out.
        """
        texts: list[Argument] | None = [] if (scope, name) in self._constant else None
        given = self._given.get((scope, name), texts)
        if given is None or not self._are_known(scope, name):
            return None
        if is_bound_otherwise(scope, name):
            return None
        return self.makers(given, habits, depth, whole=whole)

    def makers(
        self,
        values: Iterable[Argument],
        habits: Habits,
        depth: int = 0,
        *,
        whole: bool = False,
    ) -> list[tuple[Text, ast.expr]] | None:
        """Return the expressions that make values, or what these are parts of.

        None if not all of them are known.

        Args:
            values: What is given.
            habits: What is known of the program's functions.
            depth: How many steps have led to these values.
            whole: Only parts of them are stored: they may be what is never shared.
        """
        found: list[tuple[Text, ast.expr]] = []
        for one in values:
            makers = self._makers_of(one, habits, depth, whole)
            if makers is None:
                return None
            found += makers
        return found

    def _makers_of(
        self, one: Argument, habits: Habits, depth: int, whole: bool
    ) -> list[tuple[Text, ast.expr]] | None:
        text, scope, value = one
        if habits.stays(scope, value):
            return []
        if value in habits.owned:
            its = habits.owned[value]
            known = its is not None and depth < _DEPTH
            found = self.makers(its or (), habits, depth + 1, whole=whole)
            return found if known else None
        if isinstance(value, _MADE):
            is_known = not whole or makes_whole(habits, scope, value)
            return [(text, value)] if is_known else None
        if depth == _DEPTH:
            return None
        made: list[tuple[Text, ast.expr]] | None = []
        match value:
            case ast.IfExp(body=body, orelse=orelse):
                values = [body, orelse]
            case ast.Name(id=name):
                values, others = bindings(scope, name)
                if others:
                    made = self.made_by_callers(
                        scope, name, habits, depth + 1, whole=whole
                    )
                elif not values:
                    return None
            case ast.Subscript(value=base, slice=ast.Constant()) if (
                isinstance(base, ast.Call | ast.Name) or base in habits.owned
            ):
                values, whole = [base], True
            case _:
                return None
        parts = [Argument(text, scope, each) for each in values]
        found = self.makers(parts, habits, depth + 1, whole=whole)
        return None if found is None or made is None else found + made


def follow_calls(texts: list[Text], meanings: Meanings, flow: Flow) -> Arguments:
    """Return what calls give for parameters, and run by these."""
    callees = Callees(texts, meanings, flow)
    first = Arguments(texts, callees)
    callees.learn(first.functions(), first.taken)
    return Arguments(texts, callees)


def _calls_in(text: Text, callees: Callees) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Yield all calls, which decorators are, too; each with its function or module."""
    for scope in scopes_in(text.tree):
        for node in nodes_of(scope):
            if isinstance(node, ast.Call):
                yield node, scope
            for mark in getattr(node, "decorator_list", []):
                for one in callees.made_by(mark):
                    yield ast.Call(one, [callees.decorated(node)], []), scope
