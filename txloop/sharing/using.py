"""Whether a variable is changed, or kept elsewhere, after it was stored."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from txloop.scan.known import GETTERS, PARTS
from txloop.scan.syntax import bound_in, last_name
from txloop.sharing.again import reached_again
from txloop.sharing.bindings import bindings
from txloop.sharing.mattering import (
    are_stored_together,
    is_stored_again,
    matters,
    taking,
)
from txloop.sharing.scopes import functions_in, walked
from txloop.sharing.syntax import (
    is_after,
    is_in_inner_function,
    may_see,
    nodes_with_loops,
    parent_of,
)

if TYPE_CHECKING:
    from txloop.sharing.habits import Habits
    from txloop.sharing.storing import Store

__all__ = ["is_read_once", "is_used_on", "wholes_of"]


def is_used_on(habits: Habits, scope: ast.AST, store: Store, names: set[str]) -> bool:
    """Tell whether the variable is changed, or kept, after it was stored.

    Reading it is harmless, as long as nothing else changes meanwhile; or if a
    function has stored it, which few do with what changes.
    """
    where = (getattr(store.node, "end_lineno", 0), store.node.end_col_offset)  # type: ignore[attr-defined] # a statement or a call
    own = {*walked(store.node)}
    again = {name: _run_again(scope, store, name) for name in names}
    apart = own | _left_out(scope, store)
    later = [
        use
        for use in _uses_of(scope, names)
        if use in again[use.id] or (is_after(use, where) and use not in apart)
    ]

    def is_same(one: ast.AST) -> bool:
        return isinstance(one, ast.Name) and one.id in names

    if are_stored_together(habits, scope, store.node, is_same) or any(
        matters(habits, scope, use)
        or is_stored_again(habits, scope, use, store.node, is_same)
        for use in later
    ):
        return True
    others = [one for one in walked(scope) if is_after(one, where) and one not in own]
    is_again = any(use in again[use.id] for use in later)
    return (bool(later) and not store.by_call) and any(
        habits.acts(one) and (is_again or may_see(scope, later, one, store.node))
        for one in others
    )


def is_read_once(habits: Habits, scope: ast.AST, name: str) -> bool:
    """Tell whether a variable gets what is made for it only, and is read but once."""
    values, others = bindings(scope, name)
    uses = [
        all(isinstance(loop, ast.For) and one in walked(loop.iter) for loop in loops)
        for one, loops in nodes_with_loops(scope)
        if isinstance(one, ast.Name) and one.id == name
        if isinstance(one.ctx, ast.Load)
    ]
    return uses == [True] and not (others or any(map(habits.handed_on, values)))


def wholes_of(value: ast.AST) -> set[str]:
    """Return the variables of whose objects an expression gives parts, or all."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.Subscript(value=inner) | ast.Starred(value=inner):
            return wholes_of(inner)
        case ast.IfExp(body=one, orelse=other):
            return wholes_of(one) | wholes_of(other)
        case ast.BoolOp(values=values):
            return set().union(*map(wholes_of, values))
        case ast.Call(func=function, args=given) if (
            last_name(function) in PARTS | GETTERS
        ):
            base = getattr(function, "value", function)
            of = [base] if last_name(function) in GETTERS else [base, *given]
            return set().union(*map(wholes_of, of))
    return set()


def _uses_of(scope: ast.AST, names: set[str]) -> list[ast.Name]:
    """Return where variables of a function are read, or added to."""
    added_to = {one.target for one in walked(scope) if isinstance(one, ast.AugAssign)}
    others = {
        node
        for inner, _ in functions_in(scope)
        for node in walked(inner)
        if isinstance(node, ast.Name) and node.id in bound_in(inner)
    }
    return [
        node
        for node in walked(scope)
        if isinstance(node, ast.Name) and node.id in names and node not in others
        if isinstance(node.ctx, ast.Load) or node in added_to
    ]


def _run_again(scope: ast.AST, store: Store, name: str) -> set[ast.AST]:
    """Return what may run after a store although it stands before it.

    There a variable has what it had when that was stored, or a part of the same.
    """
    rounds = [(loop, reached_again(scope, loop, name)) for loop in store.loops]
    loops = [loop for loop, reached in rounds if store.node in reached]
    every = {node for _, reached in rounds for node in reached}
    found: list[ast.AST] = [inner for inner, _ in functions_in(scope)]  # at any time
    # What is yielded is used on by others.
    found += (one for one in walked(scope) if isinstance(one, ast.Yield))
    every |= {node for one in found for node in walked(one)}
    if len(loops) == 1:
        every -= _taken_once(scope, loops[0], store)
    return every


def _left_out(scope: ast.AST, store: Store) -> set[ast.AST]:
    """Return what does not run in the round in which a store does: other branches."""
    found: set[ast.AST] = set()
    for node in walked(scope):
        match node:
            case ast.If(body=body, orelse=orelse):
                branches = [body, orelse]
            case ast.Match(cases=cases):
                branches = [one.body for one in cases]
            case _:
                continue
        inside = [{each for one in body for each in walked(one)} for body in branches]
        if any(store.node in one for one in inside):
            found = found.union(*(one for one in inside if store.node not in one))
    return found


def _taken_once(scope: ast.AST, loop: ast.AST, store: Store) -> set[ast.AST]:
    """Return the uses of a variable in a loop of which each round takes another part.

    So it is with ``for k in names: setattr(self, k, given[k])``: what it takes again,
    it puts into the same place.
    """
    match loop, store.node:
        case (
            ast.For(target=ast.Name(id=key)),
            ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=of), to, value])
            | ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=of), slice=to)], value=value
            ),
        ) if isinstance(to, ast.Name) and to.id == key:
            pass
        case _:
            return set()
    bound = [one.id for one in walked(loop) if _is_bound(one)]
    if bound.count(key) > 1 or of in bound:
        return set()
    taken: set[ast.AST] = {
        one
        for one in walked(loop)
        if isinstance(one, ast.Name) and one.id == store.name
        if _is_taken_by(scope, one, key) and not is_in_inner_function(scope, one)
    }
    others = (one for one in walked(value) if getattr(one, "id", "") == store.name)
    return taken if taken.issuperset(others) else set()


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _is_taken_by(scope: ast.AST, use: ast.Name, key: str) -> bool:
    """Tell whether a part of a variable is taken by a key that a variable holds."""
    parent, _ = parent_of(scope, use)
    asked = parent.slice if isinstance(parent, ast.Subscript) else None
    if isinstance(parent, ast.Attribute) and (call := taking(scope, parent)):
        asked = call.args[0]
    return isinstance(asked, ast.Name) and asked.id == key
