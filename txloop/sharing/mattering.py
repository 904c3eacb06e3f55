"""Whether a use of a variable or an attribute changes its object, or hands it on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import GETTERS, MUTATORS, PARTS
from txloop.scan.syntax import last_name
from txloop.sharing.syntax import is_in_inner_function, parent_of

if TYPE_CHECKING:
    from txloop.sharing.habits import Habits

__all__ = ["matters"]

_GIVING = PARTS | GETTERS | {"get_nowait", "popitem", "result"}
"""Methods that return parts of their object."""


def matters(habits: Habits, scope: ast.AST, use: ast.expr) -> bool:
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
                return name in _GIVING and matters(habits, scope, parent)
            if habits.acts(parent) or habits.stored_by(parent):
                return True
            if name in PARTS:
                applied = [one for one in parent.args[:1] if one is not node]
                acts = any(map(habits.may_act, applied))
                return acts or matters(habits, scope, parent)
            return not habits.only_reads(name)
        case ast.BoolOp() | ast.IfExp():
            return matters(habits, scope, parent)
        case ast.comprehension(iter=value) if node is value:
            around, _ = parent_of(scope, parent)
            return isinstance(around, ast.expr) and matters(habits, scope, around)
        case ast.List() | ast.Tuple() | ast.Dict() | ast.keyword():
            return node is use
    return is_in_inner_function(scope, use)
