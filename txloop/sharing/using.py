"""Whether a variable is changed, or kept elsewhere, after it was stored."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from txloop.scan.syntax import bound_in
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
    parent_of,
)

if TYPE_CHECKING:
    from txloop.sharing.habits import Habits
    from txloop.sharing.storing import Store

__all__ = ["is_used_on"]


def is_used_on(habits: Habits, scope: ast.AST, store: Store, names: set[str]) -> bool:
    """Tell whether the variable is changed, or kept, after it was stored.

    Reading it is harmless, as long as nothing else changes meanwhile; or if a
    function has stored it, which few do with what changes.
    """
    where = (getattr(store.node, "end_lineno", 0), store.node.end_col_offset)  # type: ignore[attr-defined] # a statement or a call
    own = {*walked(store.node)}
    again = _run_again(scope, store)
    later = [
        use
        for use in _uses_of(scope, names)
        if use in again or (is_after(use, where) and use not in own)
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
    is_again = not again.isdisjoint(later)
    return (bool(later) and not store.by_call) and any(
        habits.acts(one) and (is_again or may_see(scope, later, one, store.node))
        for one in others
    )


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


def _run_again(scope: ast.AST, store: Store) -> set[ast.AST]:
    """Return what may run after a store although it stands before it."""
    binds = {
        node
        for node in walked(scope)
        if isinstance(node, ast.Name)
        and node.id == store.name
        and isinstance(node.ctx, ast.Store)
    }
    loops = [loop for loop in store.loops if binds.isdisjoint(walked(loop))]
    found: list[ast.AST] = [*loops]
    found += (inner for inner, _ in functions_in(scope))  # they run at any time
    # What is yielded is used on by others.
    found += (one for one in walked(scope) if isinstance(one, ast.Yield))
    every = {node for one in found for node in walked(one)}
    if len(loops) == 1:
        every -= _taken_once(scope, loops[0], store)
    return every


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
