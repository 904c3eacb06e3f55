"""Where a program stores its variables."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan.known import ADDING, GETTERS, KEEPING
from txloop.scan.syntax import (
    COMPREHENSIONS,
    FUNCTIONS,
    bound_in,
    declared_in,
    last_name,
    parameters,
)
from txloop.sharing.bindings import given_to, is_fresh
from txloop.sharing.filling import additions, is_filled, items_of
from txloop.sharing.lookups import may_keep
from txloop.sharing.operators import keys_given, operated
from txloop.sharing.receiving import put_by_methods
from txloop.sharing.scopes import nodes_of, walked
from txloop.sharing.syntax import (
    DISPLAYS,
    arguments_of,
    comes_out_of,
    each_given,
    holder_name,
    is_of_self,
    leaves,
    nodes_with_loops,
    root_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Set

    from txloop.scan.syntax import Comprehension, FunctionNode
    from txloop.sharing.habits import Habits
    from txloop.sharing.owning import Owning

__all__ = ["Store", "Storing", "is_kept"]


@dataclass
class Store:
    """A local variable that is put somewhere, or an attribute of a handler.

    Attributes:
        name: The variable's name.
        into: The last name of what it is put into.
        node: Where that is done.
        loops: Those around it.
        is_held_here: Whether it is put into another variable.
        by_call: Whether a function that is called there puts it somewhere.
        of: The expression that gives what it is put into, if there is one; or the call.
        is_own: Whether it is no variable, but an attribute of a handler.
        holder: The variable that it is put into, if it is that which is stored; what
            is done with that one later is asked for that one.
    """

    name: str
    into: str
    node: ast.AST
    loops: list[ast.AST] = field(default_factory=list)
    is_held_here: bool = False
    by_call: bool = False
    of: ast.AST | None = None
    is_own: bool = False
    holder: str = ""


_PUTTING = (
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.With, ast.AsyncWith),
    *(ast.Call, ast.BinOp, ast.Compare, ast.Subscript),
)


@functools.lru_cache(maxsize=4096)
def _comprehensions_in(scope: ast.AST) -> tuple[Comprehension, ...]:
    return tuple(one for one in walked(scope) if isinstance(one, COMPREHENSIONS))


class Storing:
    """Finds what is stored where.

    Attributes:
        habits: What is known of the program's functions.
    """

    def __init__(
        self,
        habits: Habits,
        foreign: Collection[str],
        named: Callable[[ast.AST], Set[str]],
        owning: Owning,
        methods: Mapping[str, list[ast.Attribute]],
        is_set: Callable[[ast.expr], bool],
    ) -> None:
        """Look for stores in functions that are asked for.

        Args:
            habits: What is known; it may grow meanwhile.
            foreign: The names of modules that are not the program's.
            named: Gives all names of what an expression may be, or be a part of.
            owning: Tells which attributes of handlers an expression stores.
            methods: Those of containers that are called by other names, by these.
            is_set: Tells whether an expression gives a set, and nothing else.
        """
        self.habits = habits
        self._methods = methods
        self._is_set = is_set
        self._foreign = foreign
        self._named = named
        self._owning = owning

    def stores(
        self, scope: FunctionNode | ast.Module, *, in_handler: bool
    ) -> Iterator[Store]:
        """Yield each local variable of a function that it stores.

        Args:
            scope: The function, or the whole module.
            in_handler: It is a method of a handler, whose own attributes live for one
                request.
        """
        local = bound_in(scope)
        outer = declared_in(scope) if isinstance(scope, FUNCTIONS) else set()
        names = set(parameters(scope)) if isinstance(scope, FUNCTIONS) else set()
        fresh = {
            name
            for name in local - names
            if isinstance(scope, FUNCTIONS) and is_fresh(scope, name)
        }
        for node, loops in nodes_with_loops(scope):
            if not isinstance(node, _PUTTING):
                continue
            places = self.habits.places_of(node)
            for holder, value in self.put(node, outer):
                root = root_name(holder)
                is_foreign = root in self._foreign and root not in local
                into = _into(holder, places)
                of = _object_of(node, holder)
                if root in fresh or is_foreign:
                    into = sorted(places) if self.habits.is_indirect(node) else []
                if is_foreign and of is not None and comes_out_of(of):
                    into = sorted({*into, *self._named(of)})
                if (
                    not (into or of is None or isinstance(of, ast.Name))
                    and root in fresh
                    and is_filled(scope, root)
                ):  # it may be in there that something else is put into
                    into = sorted(self._named(of))
                set_here = isinstance(node, ast.Assign | ast.AnnAssign)
                own = set_here and in_handler and is_of_self(holder)
                if own and self._owning.is_own(last_name(holder)):
                    # A handler lives for one request; what it stores lives on.
                    into, of = self._owning.places_of(last_name(holder)), None
                for name, at in self._names_in(scope, value, _done_at(node, holder)):
                    if name not in local or name in ("self", "cls"):
                        continue
                    if name != root or _is_part(holder, of):
                        is_name = isinstance(holder, ast.Name)
                        for one in into:
                            by_call = one in places
                            its = node if by_call else of
                            store = Store(name, one, at, loops, is_name, by_call, its)
                            yield store
                            yield from self._inner(scope, name, store, local)
                for name in sorted(self._owning.stored_in(value, holder)):
                    for one in into:
                        by_call = one in places
                        its = node if by_call else of
                        yield Store(name, one, node, loops, False, by_call, its, True)
        for inner in walked(scope) if isinstance(scope, FUNCTIONS) else ():
            if isinstance(inner, FUNCTIONS) and inner is not scope:
                yield from self._stores_of_inner(inner, local - bound_in(inner))

    def _stores_of_inner(self, inner: FunctionNode, local: Set[str]) -> Iterator[Store]:
        """Yield what a function stores of the one around it, once it is there."""
        for node in nodes_of(inner):
            if not isinstance(node, _PUTTING):
                continue
            places = self.habits.places_of(node)
            for holder, value in self.put(node):
                for name, _ in self._names_in(inner, value, node):
                    if name in local and name != root_name(holder):
                        for into in _into(holder, places):
                            yield Store(name, into, inner, [])

    def others(self, store: Store) -> Set[str]:
        """Return the names of what it is put into, but for the last one of that.

        That of a variable that is a part of ``table`` is ``table``, and so are those of
        all that is kept in there.
        """
        if store.of is None:
            return frozenset()
        if not store.by_call:
            return self._named(store.of)
        found = {*self.habits.reached_by(store.of)}
        if isinstance(store.of, ast.Call) and self.habits.is_indirect(store.of):
            others = (
                one for one in arguments_of(store.of) if last_name(one) != store.name
            )
            found.update(*map(self._named, others))
        return found

    def _names_in(
        self, scope: ast.AST, value: ast.AST, node: ast.AST
    ) -> Iterator[tuple[str, ast.AST]]:
        """Yield the variables that a node hands on, and where it is done with each.

        What a comprehension goes over is handed on when that is over.
        """
        names = self.habits.handed_on(value)
        yield from ((name, node) for name in sorted(names))
        for around in _comprehensions_in(scope):
            for loop in around.generators:
                for target, inside in given_to(loop):
                    if last_name(target) in names:
                        more = self.habits.handed_on(inside) - names
                        yield from ((name, around) for name in sorted(more))
                        names |= more

    def _inner(
        self, scope: ast.AST, name: str, outer: Store, local: Set[str]
    ) -> Iterator[Store]:
        """Yield what is put into a variable that is stored, and into that.

        Args:
            scope: The function.
            name: The variable.
            outer: Where it is stored.
            local: The variables of the function that are not yielded yet.
        """
        local = local - {name}
        for node, loops, every in additions(scope).get(name, ()):
            values = [one for one in every if not self._is_same_item(scope, one)]
            found = set().union(*map(self.habits.handed_on, values))
            for inner in sorted(found & local):
                of = None if outer.by_call else outer.of
                yield Store(inner, outer.into, node, loops, of=of, holder=name)
                yield from self._inner(scope, inner, outer, local)
            for own in sorted(set().union(*map(self._owning.stored_in, values))):
                if not self._owning.stays(own):
                    yield Store(own, outer.into, node, loops, is_own=True)

    def _is_same_item(self, scope: ast.AST, value: ast.expr) -> bool:
        """Tell whether it is an item of a list whose items are the same once stored."""
        match value:
            case ast.Subscript(value=ast.Name(id=name)):
                items = items_of(scope, name)
                return items is not None and all(
                    self.habits.stays(scope, one) for one in items
                )
        return False

    def put(
        self, node: ast.AST, outer: Collection[str] = ()
    ) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield what a node puts where; with names that a function says are global.

        Only nodes of `_PUTTING` do.
        """
        match node:
            case ast.Assign(targets=targets, value=value):
                for target, given in _each_given(targets, value):
                    if is_kept(target, outer):
                        yield target, given
                for target, key in keys_given(node):
                    if key in self.habits.stored_by(node):
                        yield target, key
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                if is_kept(target, outer):
                    yield target, value
            case ast.For(target=target, iter=value):
                yield from ((o, value) for o in leaves(target) if is_kept(o, outer))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    its = leaves(item.optional_vars) if item.optional_vars else ()
                    for leaf in its:
                        if is_kept(leaf, outer):
                            yield leaf, item.context_expr
            case ast.AugAssign(target=target):
                added = isinstance(node.value, (*DISPLAYS, ast.Tuple))  # no number
                is_name = isinstance(node.value, ast.Name)  # its parts are taken
                if added or (is_kept(target, outer) and not is_name):
                    yield target, node.value
                yield from ((target, one) for one in self.habits.stored_by(node))
            case ast.Call(func=function, args=[base, *given]) if (
                last_name(function) in ADDING
            ):
                yield from ((base, one) for one in given)
            case ast.Call(
                func=ast.Call(func=ast.Name(id="getattr"), args=[base, asked, *_])
            ) if not isinstance(asked, ast.Constant):
                if may_keep(asked):
                    yield from ((base, one) for one in arguments_of(node))
                yield from ((node.func, one) for one in self.habits.stored_by(node))
            case ast.Call(func=ast.Name(id="setattr"), args=[base, asked, value]):
                name = str(asked.value) if isinstance(asked, ast.Constant) else ""
                yield ast.Attribute(base, name, ast.Store()), value
            case ast.Call(func=ast.Attribute(value=base, attr=name)):
                if name == "add" and self._is_set(base):
                    pass  # it has a hash, and stays
                elif name in KEEPING:
                    skipped = name == "setdefault" and self._has_key(node)
                    for one in arguments_of(node)[skipped:]:
                        yield base, one
                else:
                    yield from ((base, one) for one in self.habits.stored_by(node))
            case ast.Call(func=function):
                yield from ((function, one) for one in self.habits.stored_by(node))
            case ast.BinOp() | ast.Compare() | ast.Subscript():
                for one in self.habits.stored_by(node):
                    yield from ((o, one) for o in operated(node) if o is not one)
        if isinstance(node, ast.Call):
            passed = self.habits.callees.passed
            yield from put_by_methods(node, self._methods, passed)

    def _has_key(self, call: ast.Call) -> bool:
        """Tell whether a call gives a key first: that has a hash, and stays."""
        starred = any(isinstance(one, ast.Starred) for one in call.args[:1])
        return not starred and last_name(call.func) not in self.habits.functions


def _outer(holder: ast.AST) -> ast.AST:
    """Return ``rows`` of ``rows.get(key)[0]``, which is in there, or the holder."""
    while True:
        match holder:
            case ast.Subscript(value=base):
                holder = base
            case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in GETTERS:
                holder = base
            case _:
                return holder


def _done_at(node: ast.AST, holder: ast.AST) -> ast.AST:
    """Return where a node puts something: loops and the like do before their bodies."""
    return holder if isinstance(node, ast.For | ast.With | ast.AsyncWith) else node


def _object_of(node: ast.AST, holder: ast.AST) -> ast.AST | None:
    """Return the expression that gives the object which a node changes, if any does."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.With, ast.AsyncWith)):
        return holder.value if isinstance(holder, ast.Subscript) else None
    is_set = isinstance(holder, ast.Attribute) and isinstance(holder.ctx, ast.Store)
    is_called = isinstance(node, ast.Call) and node.func is holder
    return None if is_set or is_called else holder


def _is_part(holder: ast.AST, of: ast.AST | None) -> bool:
    """Tell whether what is changed is a part of a variable, which may get another one.

    As in ``pair[0].rows = pair[1]``.
    """
    base = holder.value if isinstance(holder, ast.Attribute) else of
    return isinstance(base, ast.Attribute | ast.Subscript)


def _into(holder: ast.AST, places: set[str]) -> list[str]:
    """Return the last names of what a holder, or a function's places, may be.

    The object of ``super().keep(x)`` has no name of its own.
    """
    its = {holder_name(_outer(holder))} - ({""} if places else set())
    return sorted(its | places)


def _each_given(
    targets: list[ast.expr], value: ast.expr
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what is assigned to what; what gets a part of it, with the whole."""
    for target in targets:
        for one, given in each_given(target, value):
            for leaf in leaves(one):
                yield leaf, given


def is_kept(target: ast.AST, outer: Collection[str]) -> bool:
    """Tell whether what is assigned is kept; `outer` are names of the module."""
    return isinstance(target, ast.Attribute | ast.Subscript) or (
        isinstance(target, ast.Name) and target.id in outer
    )
