"""Plain objects that are stored and used on: a container would hold a copy.

``item = {}; items.append(item); item["name"] = "x"`` changes what `items` holds. A
container holds one made of `item` as it was. So `item` has to be one from the start:
the expression that gave the variable its value is put into `txloop.share`. Where that
is not possible (a parameter, a loop's variable), it is a hazard for what it is stored
in.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, TypeAlias

from txloop.scan.syntax import FUNCTIONS, bound_in, declared_in, last_name, parameters
from txloop.sharing.bindings import (
    bindings,
    is_fresh,
    names_of_parts,
    names_of_same,
)
from txloop.sharing.habits import Argument
from txloop.sharing.handing import is_of_future
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.learning import Learned
from txloop.sharing.mattering import given_twice
from txloop.sharing.operators import CALLED_BY_BUILTINS
from txloop.sharing.origins import EVERYTHING, Hazard
from txloop.sharing.receiving import extends_others
from txloop.sharing.scopes import defaults_of, functions_in, nodes_of, walked
from txloop.sharing.storing import is_kept
from txloop.sharing.syntax import holder_name, is_coroutine
from txloop.sharing.unseen import Unseen
from txloop.sharing.using import is_read_once, is_used_on, wholes_of
from txloop.sharing.wholes import makes_container

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Set

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.arguments import Arguments
    from txloop.sharing.origins import Origins
    from txloop.sharing.storing import Store
    from txloop.sharing.texts import Text

__all__ = ["Alias", "Aliases"]

Alias: TypeAlias = "tuple[Text, ast.expr | None, Hazard]"
"""An expression that has to be shared, and why; None if that is not possible."""


class Aliases:
    """All that is stored under a variable in a program, and used on after that."""

    def __init__(
        self,
        texts: Iterable[Text],
        arguments: Arguments,
        named: Callable[[ast.AST], Set[str]],
        in_templates: Set[str],
        origins: Origins,
        changes: Callable[[str], bool],
    ) -> None:
        """Look at all functions.

        Args:
            texts: The modules.
            arguments: What calls give for parameters.
            named: Gives all names of what an expression may be, or be a part of.
            in_templates: The names in templates.
            origins: Where values come from.
            changes: Tells whether what has a name is changed in place.
        """
        self._in_templates = in_templates
        self._texts = list(texts)
        self._arguments = arguments
        learned = Learned(self._texts, arguments, named, origins)
        self._habits, self._owning = learned.habits, learned.owning
        self._storing, self._cached = learned.storing, learned.cached
        self._unseen = Unseen(self._texts, origins, self._storing, changes)
        self._sets_defaults = "setdefault" in arguments.callees.functions or (
            extends_others(arguments.callees.meanings, {"__setitem__"})
        )

    def found(self) -> Iterator[Alias]:
        """Yield all of them, module by module."""
        unseen = self._unseen
        yield from self._of_templates()
        for text in self._texts:
            for function, owner in functions_in(text.tree):
                yield from self._of(text, function, in_handler=is_handler_class(owner))
                yield from unseen.stored(text, function)
                yield from self._of_defaults(text, function, owner)
                if owner is not None:
                    yield from self._of_operands(text, function)
            yield from self._of(text, text.tree, in_handler=False)
            yield from unseen.stored(text, text.tree)
            for node in walked(text.tree):
                if isinstance(node, ast.ClassDef) and "NamedTuple" in map(
                    last_name, node.bases
                ):
                    yield from self._of_fields(text, node)

    def keeps(self, value: ast.expr) -> bool:
        """Tell whether an expression keeps what is made in it.

        A container that is made of its result is another object than what is kept.
        """
        if not isinstance(value, ast.Call):
            return False
        by_mapping = last_name(value.func) == "setdefault"
        return by_mapping or bool(self._habits.stored_by(value))

    def stays(self, scope: ast.AST, value: ast.expr) -> bool:
        """Tell whether a value is the same object once it is stored."""
        return self._habits.stays(scope, value)

    def _of_templates(self) -> Iterator[Alias]:
        """Yield what templates call that stores what these give it, and may use on."""
        for one in self._arguments.callees.every:
            its = self._habits.of(one.name)
            if its.stored and one.name in self._in_templates:
                reason = f"{one.home.place(one.node)}, stores what a template gives it"
                for into in sorted({*its.places, *its.reached}):
                    yield one.home, None, Hazard(into, reason)

    def _of(
        self, text: Text, scope: FunctionNode | ast.Module, *, in_handler: bool
    ) -> Iterator[Alias]:
        for node in nodes_of(scope):
            if isinstance(node, ast.Assign) and self._has_two_places(scope, node):
                reason = f"{text.place(node)}, stores it twice"
                yield text, node.value, Hazard(EVERYTHING, reason)
            yield from self._of_mappings(text, scope, node)
            yield from self._of_parts(text, scope, node)
        stores = [*self._storing.stores(scope, in_handler=in_handler)]
        for store in stores:
            if store.is_own:
                yield from self._of_own(text, store)
                continue
            same = names_of_same(scope, store.name)
            values, arguments = self._given_for(scope, same)
            stay = all(self._habits.stays(scope, one) for one in values)
            if stay and arguments == []:
                continue
            holders = {store.holder} - same
            there = functools.partial(self._habits.stays, scope)
            parts = names_of_parts(scope, same, self._habits.handed_on, holders, there)
            if store.is_held_here:
                parts -= {store.into} - same
            # A cache gives it to others, too, as handlers do with attributes; and what
            # was set as a future's result has the one who did that.
            owned = {
                each: one
                for one in values
                for each in self._owning.stored_in(one)
                if not self._owning.stays(each)
            }
            of_future = any(map(is_of_future, values))
            sent = not is_coroutine(scope) and any(
                isinstance(one, ast.Yield) for one in values
            )
            shown = (
                of_future
                or sent
                or any(self._results_kept(one) for one in values)
                or any(self._owning.is_used_on(*one) for one in owned.items())
            )
            if not (shown or is_used_on(self._habits, scope, store, parts)):
                continue
            reason = f"stores {store.name!r} and goes on with it"
            hazard = Hazard(store.into, f"{text.place(store.node)}, {reason}")
            waited = any(isinstance(one, ast.Await | ast.Yield) for one in values)
            comes_later = of_future or waited
            if arguments is None or comes_later:
                for into in {store.into, *self._storing.others(store)}:
                    yield text, None, hazard._replace(name=into)
                for one in stores:  # what has it from a line before or after
                    other = one.into != store.into and not (one.by_call or one.is_own)
                    if one.name in same and other:
                        yield text, None, hazard._replace(name=one.into)
                if arguments is None:
                    continue  # a container would hold a copy of what is not known
            else:
                yield from ((home, value, hazard) for home, value in arguments)
            for value in values:
                is_name = isinstance(value, ast.Name) and value.id in same
                waits = isinstance(value, ast.Await | ast.Yield | ast.YieldFrom)
                waits = waits or is_of_future(value)
                stays = self._habits.stays(scope, value)
                if is_name or waits or stays or value in self._habits.owned:
                    continue
                kept = self._results_kept(value) or [(text, value)]
                yield from ((*one, hazard) for one in kept)
                yield from self._of_whole(text, scope, value, same, store, hazard)
            yield from self._made_for(text, store, hazard, owned)

    def _of_whole(
        self,
        text: Text,
        scope: ast.AST,
        value: ast.expr,
        same: Set[str],
        store: Store,
        hazard: Hazard,
    ) -> Iterator[Alias]:
        """Yield what makes the variables of which a value is a part.

        ``for row in rows: kept.append(row); row["id"] = 1`` changes what `rows` has.
        """
        own = bound_in(scope) - {"self", "cls"} - same
        for name in sorted(wholes_of(value) & own):
            given = [Argument(text, scope, ast.Name(name, ast.Load()))]
            made = self._arguments.makers(given, self._habits)
            if any(
                not makes_container(self._habits, scope, one) for _, one in made or ()
            ):
                made = None  # a container cannot take the place of an iterator
            if made and is_read_once(self._habits, scope, name):
                continue
            yield from ((*one, hazard) for one in made or ())
            if made is None:
                for into in {store.into, *self._storing.others(store)}:
                    yield text, None, hazard._replace(name=into)

    def _of_own(self, text: Text, store: Store) -> Iterator[Alias]:
        """Yield what an attribute of a handler is given that is stored, and used on."""
        names = self._owning.with_inner([store.name])
        used = any(self._owning.is_used_on(one, store.node) for one in names)
        if used or store.loops:
            reason = f"stores self.{store.name}, which changes"
            hazard = Hazard(store.into, f"{text.place(store.node)}, {reason}")
            yield from self._made_for(text, store, hazard, [store.name])

    def _made_for(
        self, text: Text, store: Store, hazard: Hazard, names: Iterable[str]
    ) -> Iterator[Alias]:
        """Yield what attributes of handlers are given that are stored."""
        for name in sorted(self._owning.with_inner(names)):
            made = self._makers_of_own(name)
            for home, value in made or ():
                kept = self._results_kept(value) or [(home, value)]
                yield from ((*one, hazard) for one in kept)
            if made is None:
                for into in {store.into, *self._storing.others(store)}:
                    yield text, None, hazard._replace(name=into)

    def _makers_of_own(self, name: str) -> list[tuple[Text, ast.expr]] | None:
        """Return what makes what an attribute is given; None if not all is known."""
        given = self._owning.given(name)
        if given is None or self._owning.stays(name):  # a part of it may be plain
            return None
        return self._arguments.makers(given, self._habits)

    def _given_for(
        self, scope: ast.AST, names: set[str]
    ) -> tuple[list[ast.expr], list[tuple[Text, ast.expr]] | None]:
        """Return what variables are given there, and what callers make for them.

        The latter is None if not all is known.
        """
        values: list[ast.expr] = []
        arguments: list[tuple[Text, ast.expr]] = []
        is_known = True
        for name in sorted(names):
            its, others = bindings(scope, name)
            values += its
            if others and not self._habits.stays(scope, ast.Name(name)):
                made = self._arguments.made_by_callers(scope, name, self._habits)
                is_known &= made is not None
                arguments += made or []
        return values, arguments if is_known else None

    def _of_mappings(
        self, text: Text, scope: ast.AST, node: ast.AST
    ) -> Iterator[Alias]:
        """Yield the default that a mapping of the program's own stores and returns."""
        match node:
            case ast.Call(
                func=ast.Attribute(value=base, attr="setdefault"), args=[_, value]
            ) if self._sets_defaults:
                # A dict that the function has made is none of these, and stays plain.
                is_dict = isinstance(base, ast.Name) and is_fresh(scope, base.id)
                if not (is_dict or self._habits.stays(scope, value)):
                    reason = f"{text.place(node)}, stores a default"
                    yield text, value, Hazard(holder_name(base), reason)

    def _of_parts(self, text: Text, scope: ast.AST, node: ast.AST) -> Iterator[Alias]:
        """Yield what is twice in something: its parts may be stored one by one."""
        for each in given_twice(node):
            places = [(text, each)]
            if isinstance(each, ast.Name):
                values, arguments = self._given_for(
                    scope, names_of_same(scope, each.id)
                )
                places = [*((text, one) for one in values), *(arguments or ())]
            reason = f"{text.place(node)}, gives {ast.unparse(each)} twice"
            for home, value in places:
                is_name = isinstance(value, ast.Name)
                if not (is_name or self._habits.stays(scope, value)):
                    yield home, value, Hazard(EVERYTHING, reason)

    def _results_kept(self, value: ast.expr) -> list[tuple[Text, ast.expr]]:
        """Return what the function returns that is called, if a cache keeps it."""
        return self._cached.get(last_name(getattr(value, "func", None)), [])

    def _of_defaults(
        self, text: Text, function: FunctionNode, owner: ast.ClassDef | None
    ) -> Iterator[Alias]:
        """Yield defaults that are stored: each is one object for all calls."""
        defaults = {
            name: value
            for name, value in defaults_of(function).items()
            if not isinstance(value, ast.Name)
            and not self._habits.stays(text.tree, value)
        }
        if not defaults:
            return
        for store in self._storing.stores(function, in_handler=is_handler_class(owner)):
            if store.is_own:
                continue
            for name in names_of_same(function, store.name) & defaults.keys():
                reason = f"{text.place(store.node)}, stores the default of {name!r}"
                yield text, defaults[name], Hazard(store.into, reason)

    def _of_operands(self, text: Text, method: FunctionNode) -> Iterator[Alias]:
        """Yield what a method stores that functions such as `sorted` call, too.

        What these are given is not followed.
        """
        name = getattr(method, "name", "")
        if name not in CALLED_BY_BUILTINS:
            return
        for store in self._storing.stores(method, in_handler=False):
            if store.name in parameters(method)[1:] and not store.is_own:
                reason = f"{name} stores {store.name!r}"
                hazard = Hazard(store.into, f"{text.place(store.node)}, {reason}")
                for into in {store.into, *self._storing.others(store)}:
                    yield text, None, hazard._replace(name=into)

    def _of_fields(self, text: Text, node: ast.ClassDef) -> Iterator[Alias]:
        """Yield the defaults of a named tuple, which are stored with it."""
        for one in node.body:
            match one:
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    is_name = isinstance(value, ast.Name)
                    if not is_name and not self._habits.stays(text.tree, value):
                        reason = f"{text.place(one)}, is a default"
                        yield text, value, Hazard(name, reason)

    def _has_two_places(self, scope: ast.AST, node: ast.Assign) -> bool:
        """Tell whether ``self.a = self.b = []`` gives one object to both."""
        outer = declared_in(scope) if isinstance(scope, FUNCTIONS) else set()
        kept = any(is_kept(one, outer) for one in node.targets)
        named = isinstance(node.value, ast.Name)
        return (
            len(node.targets) > 1
            and kept
            and not named
            and not self._habits.stays(scope, node.value)
        )
