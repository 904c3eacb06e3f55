"""What decorators of verbs give these, beside the texts that Tornado gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import MUTATORS
from txloop.scan.syntax import last_name
from txloop.sharing.scopes import imports_in, walked
from txloop.sharing.syntax import parent_of, root_name

if TYPE_CHECKING:
    from txloop.sharing.callees import Callees
    from txloop.sharing.texts import Text

__all__ = ["hands_on", "is_followed", "is_just_called"]

_LOOKING = frozenset(["iscoroutinefunction", "signature", "update_wrapper", "wraps"])
"""Functions that only look at a function."""

_TRUSTED = frozenset(["abc", "asyncio", "functools", "tornado", "txloop", "typing"])
"""What decorators of these give a verb, Tornado has given them."""


def is_followed(callees: Callees, home: Text, mark: ast.expr) -> bool:
    """Tell whether it is known what else than texts a decorator gives a verb."""
    root = root_name(getattr(mark, "func", mark))
    trusted = (
        one.bound == root and one.module.partition(".")[0] in _TRUSTED
        for one in imports_in(home.tree)
    )
    return any(trusted) or all(map(callees.is_own, callees.made_by(mark)))


def is_just_called(function: ast.AST, name: str) -> bool:
    """Tell whether a decorator calls or returns what it is given, and nothing else."""
    uses = [one for one in walked(function) if isinstance(one, ast.Name)]
    for use in uses:
        if use.id == name:
            parent, _ = parent_of(function, use)
            match parent:
                case ast.Attribute() | ast.arg() | ast.Return():
                    pass
                case ast.Call(func=called) if called is use:
                    pass
                case ast.Call(func=called) if last_name(called) in _LOOKING:
                    pass
                case _:
                    return False
    return True


def hands_on(scope: ast.AST, spread: list[ast.expr | ast.keyword]) -> bool:
    """Tell whether a function spreads only what it was itself given so."""
    rest = getattr(scope, "args", None)
    names = {
        getattr(getattr(rest, kind, None), "arg", "") for kind in ("vararg", "kwarg")
    }
    handed = {_name_spread(one) for one in spread}
    return handed <= names and not any(
        isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        and root_name(node) in handed
        and (not isinstance(node.ctx, ast.Load) or last_name(node) in MUTATORS)
        for node in walked(scope)
    )


def _name_spread(one: ast.expr | ast.keyword) -> str:
    """Return the variable that is spread, nothing for what else is given."""
    match one:
        case (
            ast.Starred(value=ast.Name(id=name)) | ast.keyword(value=ast.Name(id=name))
        ):
            return name
    return ""
