"""What makes a plain object that may become a container with all that is in it.

Where only parts of an object are stored, as ``Note(**given)`` does, all of it becomes a
container: no iterator, no match of a regular expression can, nor what has a socket in
it. So what makes it has to be known, and what is in it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import COPIERS
from txloop.scan.syntax import last_name
from txloop.sharing.bindings import bindings
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import results_of

if TYPE_CHECKING:
    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.habits import Habits

__all__ = ["makes_container", "makes_whole"]

_MAKERS = frozenset(
    [
        *("get_arguments", "get_body_arguments", "get_query_arguments", "groupdict"),
        *("groups", "json_decode", "loads", "parse_qs", "parse_qsl", "rsplit", "split"),
        "splitlines",
    ]
)
"""Functions and methods that return lists, dicts or tuples of texts and the like."""

_DEEPEST = 6


def makes_whole(
    habits: Habits, scope: ast.AST, value: ast.expr, depth: int = 0
) -> bool:
    """Tell whether an expression makes such an object, or a number or a text.

    Args:
        habits: What is known of the program's functions.
        scope: The function.
        value: The expression.
        depth: How many steps have led to it.
    """

    def all_do(values: list[ast.expr]) -> bool:
        return all(makes_whole(habits, scope, one, depth + 1) for one in values)

    if depth > _DEEPEST:
        return False
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Compare():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return all_do(parts)
        case ast.Dict(values=parts) | ast.BoolOp(values=parts):
            return all_do(parts)
        case ast.IfExp(body=one, orelse=other):
            return all_do([one, other])
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.DictComp(value=one):
            return all_do([one])
        case ast.BinOp():
            return habits.is_scalar_sum(scope, value)
        case ast.Name(id=name):
            values, others = bindings(scope, name)
            if not values and habits.callees.meanings.is_verb(scope):
                return habits.given.get((scope, name), False)  # Tornado gives texts
            return bool(values) and not others and all_do(values)
        case ast.Call():
            return _call_makes(habits, scope, value, depth)
    return False


def _call_makes(habits: Habits, scope: ast.AST, call: ast.Call, depth: int) -> bool:
    name, functions = last_name(call.func), habits.callees.functions
    if habits.is_scalar(call):
        return True
    if name in functions:
        nodes = [one.node for one in functions[name]]
        results = [(one, each) for one in nodes for each in results_of(one)]
        return (
            bool(results)
            and all(map(_only_returns, nodes))
            and all(makes_whole(habits, *one, depth + 1) for one in results)
        )
    given = [*call.args, *(one.value for one in call.keywords)]
    if name == "cast" and call.args:
        given = call.args[-1:]
    elif name not in COPIERS:
        return name in _MAKERS
    return all(makes_whole(habits, scope, one, depth + 1) for one in given)


def makes_container(
    habits: Habits, scope: ast.AST, value: ast.expr, depth: int = 0
) -> bool:
    """Tell whether what an expression makes is no iterator, whatever is in it."""

    def all_do(values: list[tuple[ast.AST, ast.expr]]) -> bool:
        known = bool(values) and depth < _DEEPEST
        return known and all(makes_container(habits, *one, depth + 1) for one in values)

    match value:
        case ast.GeneratorExp():
            return False
        case ast.IfExp(body=one, orelse=other):
            return all_do([(scope, one), (scope, other)])
        case ast.BoolOp(values=values):
            return all_do([(scope, one) for one in values])
        case ast.Name(id=name):
            values, others = bindings(scope, name)
            return not others and all_do([(scope, one) for one in values])
        case ast.Call(func=function):
            name = last_name(function)
            nodes = [one.node for one in habits.callees.functions.get(name, ())]
            if nodes and all(map(_only_returns, nodes)):
                return all_do(
                    [(one, each) for one in nodes for each in results_of(one)]
                )
            return not nodes and name in COPIERS | _MAKERS | {"copy", "deepcopy"}
    return True


def _only_returns(function: FunctionNode) -> bool:
    """Tell whether what a call gets is what a function returns."""
    nodes = walked(function)
    generates = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in nodes)
    marks = map(last_name, getattr(function, "decorator_list", ()))
    is_async = isinstance(function, ast.AsyncFunctionDef)
    return not (generates or is_async) and {*marks} <= {"classmethod", "staticmethod"}
