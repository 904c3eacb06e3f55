"""What is stored that no variable, and no name of an attribute, leads to.

``items.append(ns.rows)`` with ``ns = SimpleNamespace(rows=rows)`` stores what the
variable `rows` has, and so do ``items.extend(map(lambda n: rows, numbers))`` and
``items.append(error.args[0])``. Which expressions make such objects, `origins` tells;
whether they are used on after that is not followed.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from txloop.scan.known import READERS
from txloop.scan.syntax import (
    FUNCTIONS,
    bound_by,
    bound_in,
    declared_in,
    last_name,
)
from txloop.sharing.bindings import bindings
from txloop.sharing.decoding import gives_scalar
from txloop.sharing.handing import handed_on, is_of_future
from txloop.sharing.making import Site
from txloop.sharing.origins import Hazard
from txloop.sharing.scalars import has_scalars_only
from txloop.sharing.scopes import nodes_of, walked
from txloop.sharing.syntax import arguments_of, holder_name, results_of, root_name
from txloop.sharing.uncalled import is_other_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.origins import Origins
    from txloop.sharing.storing import Storing
    from txloop.sharing.texts import Text

__all__ = ["Unseen"]

Found: TypeAlias = "tuple[Text, ast.expr | None, Hazard]"

_HOLDERS = ("Error", "Exception", "Namespace", "StopIteration", "partial")
"""Ends of names of classes whose objects have as attributes what they are given."""

_NAMES = frozenset(["__module__", "__name__", "__qualname__"])
"""Attributes of classes and functions that are texts."""

_ANY_ATTRIBUTE = frozenset(
    [
        *("Namespace", "SimpleNamespace", "__dict__", "__getattr__"),
        *("__getattribute__", "__setattr__", "setattr", "vars"),
    ]
)
"""What gives objects attributes whose names are not in the text."""

_DEPTH = 6
"""The most variables and functions that are followed to one of these."""


class Unseen:
    """Finds what makes the objects that an expression hands on unseen."""

    def __init__(
        self,
        texts: Iterable[Text],
        origins: Origins,
        storing: Storing,
        changes: Callable[[str], bool],
    ) -> None:
        """Look at nothing yet.

        Args:
            texts: The modules.
            origins: Where values come from.
            storing: Tells what is stored where.
            changes: Tells whether what has a name is changed in place.
        """
        self._changes = changes
        self._texts = {text.file: text for text in texts}
        self._origins = origins
        self._storing = storing
        self._habits = storing.habits
        self._callees = storing.habits.callees
        self._nodes: dict[str, dict[Site, ast.expr]] = {}
        self._named_otherwise: bool | None = None

    def stored(self, text: Text, scope: FunctionNode | ast.Module) -> Iterator[Found]:
        """Yield what a function, or a module, stores so, with what it is stored in.

        The expression is None where a container would hold a copy.
        """
        outer = declared_in(scope) if isinstance(scope, FUNCTIONS) else set()
        local = bound_in(scope) - outer if isinstance(scope, FUNCTIONS) else set()
        stored: defaultdict[str, set[str]] = defaultdict(set)
        for one in self._storing.stores(scope, in_handler=False):
            stored[one.name] |= {one.into, *self._storing.others(one)}
        for node in nodes_of(scope):
            puts = [*self._storing.put(node, outer)]
            if not puts:
                continue
            places = self._habits.places_of(node) | self._habits.reached_by(node)
            for holder, value in puts:
                name = holder_name(holder)
                into = stored[name] if name in local else {name, *places}
                reason = f"{text.place(node)}, stores it by another way"
                if self.are_unknown(scope, value):
                    yield from ((text, None, Hazard(one, reason)) for one in into)
                    continue
                for home, made in self.makers(scope, value):
                    yield home, made, Hazard(min(into, default=name), reason)

    def makers(self, scope: ast.AST, value: ast.AST) -> list[tuple[Text, ast.expr]]:
        """Return the expressions that make what a value hands on by other ways."""
        found: list[tuple[Text, ast.expr]] = []
        for site in sorted({*self._sites(scope, value, 0)}):
            node = self._nodes_in(site.file).get(site)
            if node is not None:
                found.append((self._texts[site.file], node))
        return found

    def are_unknown(self, scope: ast.AST, value: ast.AST) -> bool:
        """Tell whether a value hands on what nothing in the program makes, and changes.

        That is an attribute of what a library has made, whatever that was made of, or
        the result of a future that is there already.
        """
        if any(_is_result(scope, one) for one in walked(value)):
            return True
        return any(
            isinstance(one, ast.Attribute)
            and not self._is_of_definition(one)
            and not self._origins.setting.knows(one)
            and self._changes(one.attr)
            and self._has_more(scope, one.value)
            for one in handed_on(value)
        )

    def _is_of_definition(self, asked: ast.Attribute) -> bool:
        """Tell whether it is a name that Python gives classes and functions: a text.

        Objects may have such attributes as well, if the program gives them any.
        """
        if self._named_otherwise is None:
            others = _NAMES | _ANY_ATTRIBUTE
            self._named_otherwise = any(
                not others.isdisjoint(_given_in(node))
                for text in self._texts.values()
                for node in walked(text.tree)
            )
        return asked.attr in _NAMES and not self._named_otherwise

    def _has_more(self, scope: ast.AST, value: ast.expr) -> bool:
        """Tell whether an object may have attributes that are no arguments of its."""
        if has_scalars_only(self._origins.meanings, scope, value):
            return False
        its = self._origins.of(scope, value)
        made = [one.site for one in its if one.site and not one.inside]
        nodes = (self._nodes_in(site.file).get(site) for site in made)
        return not its or any(
            isinstance(one, ast.Call) and not last_name(one.func).endswith(_HOLDERS)
            for one in nodes
        )

    def _nodes_in(self, file: str) -> dict[Site, ast.expr]:
        if file not in self._nodes:
            nodes = walked(self._texts[file].tree)
            expressions = (one for one in nodes if isinstance(one, ast.expr))
            self._nodes[file] = {Site.of(file, one): one for one in expressions}
        return self._nodes[file]

    def _sites(self, scope: ast.AST, value: ast.AST, depth: int) -> Iterator[Site]:
        if depth > _DEPTH:
            return
        for one in handed_on(value):
            match one:
                case ast.Attribute():
                    yield from self._all_of(scope, one)
                case ast.Name(id=name):
                    yield from self._of_name(scope, name, depth)
                case ast.Lambda(body=body):
                    yield from self._sites(one, body, depth + 1)
                case ast.Call():
                    yield from self._of_call(scope, one, depth)

    def _all_of(self, scope: ast.AST, value: ast.AST) -> Iterator[Site]:
        for one in self._origins.of(scope, value):
            if one.site is not None:
                yield one.site

    def _of_name(self, scope: ast.AST, name: str, depth: int) -> Iterator[Site]:
        home = self._origins.meanings.home(scope, name)
        if home is scope:
            for value in bindings(scope, name)[0]:
                yield from self._sites(scope, value, depth + 1)
        elif isinstance(home, FUNCTIONS):  # of the function around it
            yield from self._all_of(scope, ast.Name(name, ast.Load()))
        if not is_other_variable(home, name):
            yield from self._of_functions(name, depth)

    def _of_functions(self, name: str, depth: int) -> Iterator[Site]:
        """Yield what functions of a name return that they have not made."""
        for one in self._callees.functions.get(name, ()):
            if not self._callees.is_class(name):
                for result in results_of(one.node):
                    yield from self._sites(one.node, result, depth + 1)

    def _of_call(self, scope: ast.AST, call: ast.Call, depth: int) -> Iterator[Site]:
        is_variable = isinstance(call.func, ast.Name) and bool(
            bindings(scope, call.func.id)[0]
        )
        if is_variable or self._callees.runs_any(call):
            own = self._origins.site(scope, call)
            yield from (one for one in self._all_of(scope, call) if one != own)
            return
        for name, _ in self._callees.of(call):
            yield from self._of_functions(name, depth)
        if not self._callees.is_own(call.func) and self._may_return(scope, call):
            for one in arguments_of(call):
                if isinstance(one, ast.Lambda):
                    yield from self._sites(one, one.body, depth + 1)
                for name in self._callees.passed(one):
                    yield from self._of_functions(name, depth)
                for each in handed_on(one):
                    if isinstance(each, ast.Name):
                        yield from self._all_of(scope, each)

    def _may_return(self, scope: ast.AST, call: ast.Call) -> bool:
        """Tell whether a function that is not the program's may return its arguments.

        Of installed packages some want plain objects only.
        """
        name, meanings = last_name(call.func), self._origins.meanings
        home = meanings.imported_from(scope, root_name(call.func)).partition(".")[0]
        known = gives_scalar(call) or name in READERS
        known = known or meanings.is_scalar(scope, call.func)
        return not known and home in ("", "tornado", *sys.stdlib_module_names)


def _is_result(scope: ast.AST, value: ast.AST) -> bool:
    """Tell whether it is the result of a future that the scope has not made."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="result")):
            values, others = bindings(scope, name)
            return others or not all(isinstance(one, ast.Call) for one in values)
        case ast.Call(func=ast.Attribute(attr="result")):
            return is_of_future(value)
    return False


def _given_in(node: ast.AST) -> Iterator[str]:
    """Yield names that a node may give attributes, or things in a class."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()) | ast.keyword(arg=str(name)):
            yield name
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in _ANY_ATTRIBUTE:
            yield name
        case ast.Constant(value=str(name)) | ast.alias(name=name):
            yield name
        case _:
            yield from bound_by(node)
