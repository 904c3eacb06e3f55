"""Whether a variable that is stored is changed, or kept, after that."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.scan.live_objects import MUTATORS
from txloop.sharing.known import PARTS
from txloop.sharing.scopes import FUNCTIONS, bound_in, walked
from txloop.sharing.syntax import (
    is_after,
    is_in_inner_function,
    last_name,
    parent_of,
)

if TYPE_CHECKING:
    from txloop.sharing.habits import Habits
    from txloop.sharing.storing import Store

__all__ = ["Uses"]


@dataclass(frozen=True, slots=True)
class Uses:
    """Judges what follows a store, by what is known of the program's functions."""

    _habits: Habits

    def is_used_on(self, scope: ast.AST, store: Store, names: set[str]) -> bool:
        """Tell whether the variable is changed, or kept, after it was stored.

        Reading it is harmless, as long as nothing else changes meanwhile; or if a
        function has stored it, which few do with what changes.
        """
        where = (getattr(store.node, "end_lineno", 0), store.node.end_col_offset)  # type: ignore[attr-defined] # a statement or a call
        added_to = {
            id(node.target) for node in walked(scope) if isinstance(node, ast.AugAssign)
        }
        others = {
            id(node)
            for inner in walked(scope)
            if isinstance(inner, FUNCTIONS) and inner is not scope
            for node in walked(inner)
            if isinstance(node, ast.Name) and node.id in bound_in(inner)
        }
        uses = [
            node
            for node in walked(scope)
            if isinstance(node, ast.Name)
            and node.id in names
            and id(node) not in others
            and (isinstance(node.ctx, ast.Load) or id(node) in added_to)
        ]
        bound = [
            node
            for node in walked(scope)
            if isinstance(node, ast.Name)
            and node.id == store.name
            and isinstance(node.ctx, ast.Store)
        ]
        again: list[ast.AST] = []
        for loop in store.loops:
            inside = set(map(id, ast.walk(loop)))
            if not any(id(one) in inside for one in bound):
                again.append(loop)
        in_loops = {id(one) for loop in again for one in ast.walk(loop)}
        own = {id(one) for one in ast.walk(store.node)}
        again_ids = in_loops | {
            id(one)
            for inner in walked(scope)
            # What is yielded is used on by others; an inner function runs at any time.
            if isinstance(inner, (*FUNCTIONS, ast.Yield)) and inner is not scope
            for one in ast.walk(inner)
        }
        later = [
            use
            for use in uses
            if id(use) in again_ids
            or ((use.lineno, use.col_offset) >= where and id(use) not in own)
        ]
        if not later:
            return False
        if any(self._matters(scope, use) for use in later):
            return True
        return not store.by_call and any(
            self._habits.acts(node) and is_after(node, where)
            for node in walked(scope)
            if id(node) not in own
        )

    def _matters(self, scope: ast.AST, use: ast.expr) -> bool:
        """Tell whether a use changes the object, or gives it to what may."""
        parent, node = parent_of(scope, use)
        while isinstance(parent, ast.Subscript | ast.Attribute) and (
            getattr(parent, "value", None) is node
        ):
            if isinstance(getattr(parent, "ctx", None), ast.Store | ast.Del):
                return True
            if isinstance(parent, ast.Attribute) and parent.attr in MUTATORS:
                return True
            parent, node = parent_of(scope, parent)
        match parent:
            case ast.AugAssign() | ast.Return() | ast.Yield() | ast.NamedExpr():
                return True
            case ast.Assign(value=value):
                return value is use
            case ast.Call(func=function):
                name = last_name(function)
                if node is function:  # it reads; of what it returns, parts matter
                    return name in PARTS and self._matters(scope, parent)
                if self._habits.acts(parent) or self._habits.stored_by(parent):
                    return True
                if name in PARTS:
                    applied = [one for one in parent.args[:1] if one is not node]
                    acts = any(map(self._habits.may_act, applied))
                    return acts or self._matters(scope, parent)
                return not self._habits.only_reads(name)
            case ast.comprehension(iter=value) if node is value:
                around, _ = parent_of(scope, parent)
                return isinstance(around, ast.expr) and self._matters(scope, around)
            case ast.List() | ast.Tuple() | ast.Dict() | ast.keyword():
                return node is use
        return is_in_inner_function(scope, use)
