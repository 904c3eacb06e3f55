"""What calls give for ``*rows`` and ``**more``, where a function only spreads these.

An event bus hands on what it is told so: ``for one in listeners: one(**more)``. Then
the variable stands for each of the objects in it, and is not used itself.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from txloop.scan.syntax import FUNCTIONS, numbered
from txloop.sharing.scopes import walked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.meanings import Function

__all__ = ["parts_spread", "spread_by", "stars_of"]


def spread_by(
    call: ast.Call, placed: Sequence[ast.expr], function: Function
) -> Iterator[tuple[str, Sequence[ast.expr]]]:
    """Yield such variables of a function, and what a call gives for them.

    Args:
        call: The call.
        placed: What it gives by position for parameters that have a number.
        function: The function.
    """
    its, args = function.given, function.node.args
    first = sum(each in its for each in numbered(function.node))
    named = [one.value for one in call.keywords if one.arg not in (None, *its)]
    for star, values in ((args.vararg, placed[first:]), (args.kwarg, named)):
        if star is not None and _is_only_spread(function.node, star.arg):
            yield star.arg, values


def parts_spread(scope: ast.AST, value: ast.expr) -> ast.expr:
    """Return what stands for each of the objects that a value gives if it is spread."""
    if (
        isinstance(scope, FUNCTIONS)
        and isinstance(value, ast.Name)
        and value.id in stars_of(scope)
        and _is_only_spread(scope, value.id)
    ):
        return value
    return ast.Subscript(value, ast.Constant(0), ast.Load())


def stars_of(function: FunctionNode) -> set[str]:
    """Return the names of a function's ``*rows`` and ``**more``."""
    stars = (function.args.vararg, function.args.kwarg)
    return {each.arg for each in stars if each is not None}


@functools.lru_cache(maxsize=4096)
def _is_only_spread(function: FunctionNode, name: str) -> bool:
    """Tell whether a function does nothing with a variable but to spread it."""
    spread: set[ast.AST] = set()
    every: list[ast.Name] = []
    for node in walked(function):
        match node:
            case ast.Name(id=found) if found == name:
                every.append(node)
            case ast.Starred(value=value) | ast.keyword(arg=None, value=value):
                spread.add(value)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                spread.update(value for key, value in pairs if key is None)
    return all(one in spread and isinstance(one.ctx, ast.Load) for one in every)
