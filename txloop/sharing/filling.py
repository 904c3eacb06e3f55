"""What functions put into their own variables, and into parts of these."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from txloop.scan.known import MUTATORS, PUTTING
from txloop.scan.syntax import FUNCTIONS, children, declared_in
from txloop.sharing.bindings import bindings, given_to
from txloop.sharing.scopes import functions_in, walked
from txloop.sharing.syntax import arguments_of, leaves, nodes_with_loops, root_name

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["additions", "is_filled", "items_of"]

_Addition: TypeAlias = tuple[ast.AST, list[ast.AST], list[ast.expr]]


@functools.lru_cache(maxsize=4096)
def additions(scope: ast.AST) -> dict[str, list[_Addition]]:
    """Return what a scope puts into each variable: where, in which loops, which values.

    What is put into a part of what it holds counts, too.
    """
    found: defaultdict[str, list[_Addition]] = defaultdict(list)
    for node, loops in nodes_with_loops(scope):
        if isinstance(node, ast.comprehension):
            continue  # it has a variable of its own
        values: defaultdict[str, list[ast.expr]] = defaultdict(list)
        for target, value in given_to(node):
            # What a star takes out of a display is known by its names there.
            is_display = isinstance(value, ast.Tuple | ast.List)
            for leaf in [target] if is_display else leaves(target):
                if isinstance(leaf, ast.Name | ast.Subscript):
                    values[root_name(leaf)].append(value)
        for target, value in _given_by_calls(node):
            found[target.id].append((target, loops, [value]))
        match node:
            case ast.Call(func=ast.Attribute(attr=method) as function):
                if method in MUTATORS | PUTTING:
                    values[root_name(function)] += arguments_of(node)
            case ast.AugAssign(target=target, value=value):
                values[root_name(target)].append(value)
        for name, its in values.items():
            found[name].append((node, loops, its))
    return found


@functools.lru_cache(maxsize=4096)
def items_of(scope: ast.AST, name: str) -> tuple[ast.expr, ...] | None:
    """Return all that is ever put into the lists of a variable, which is not handed on.

    None if not all is known: then some other code may have the list, too.
    """
    if not isinstance(scope, FUNCTIONS) or name in declared_in(scope):
        return None
    values, others = bindings(scope, name)
    if others or not values or not _is_only_asked(scope, name):
        return None
    put = (one for _, _, given in additions(scope).get(name, ()) for one in given)
    items = [one for one in put if one not in values]
    for value in values:
        match value:
            case ast.List(elts=parts):
                items += parts
            case ast.ListComp(elt=ast.Call() | ast.Constant() as part):
                items.append(part)
            case _:
                return None
    if any(isinstance(one, ast.Starred) for one in items):
        return None
    return tuple(items)


def _is_only_asked(scope: ast.AST, name: str) -> bool:
    """Tell whether a list is only indexed, measured and appended to, and only there."""
    called = {id(one.func) for one in walked(scope) if isinstance(one, ast.Call)}
    for inner, _ in functions_in(scope):
        if any(isinstance(one, ast.Name) and one.id == name for one in walked(inner)):
            return False
    for parent in walked(scope):
        for child in children(parent):
            if not (isinstance(child, ast.Name) and child.id == name):
                continue
            match parent:
                case ast.Assign(targets=[ast.Name()]) if child in parent.targets:
                    continue
                case ast.Subscript(value=value, slice=part, ctx=ast.Load()):
                    if value is child and not isinstance(part, ast.Slice):
                        continue
                case ast.Attribute(attr="append") if id(parent) in called:
                    continue
                case ast.Call(func=ast.Name(id="len")):
                    continue
            return False
    return True


def _given_by_calls(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Yield the variables that a loop, or a `with`, gives what comes out of calls."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    match node:
        case ast.For(target=target, iter=ast.Call() as value):
            pairs.append((target, value))
        case ast.AsyncFor(target=target, iter=value):
            pairs.append((target, value))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            given = ((one.optional_vars, one.context_expr) for one in items)
            pairs += ((target, value) for target, value in given if target is not None)
    known = [target for target, _ in given_to(node)]  # ``for key, one in d.items()``
    for target, value in pairs:
        for leaf in leaves(target):
            if isinstance(leaf, ast.Name) and leaf not in known:
                yield leaf, value


def is_filled(scope: ast.AST, name: str) -> bool:
    """Tell whether a variable is given a display in which is what has a name."""
    return any(
        isinstance(value, ast.Dict | ast.List | ast.Tuple)
        and not all(isinstance(one, ast.Constant) for one in _elements(value))
        for value in bindings(scope, name)[0]
    )


def _elements(value: ast.Dict | ast.List | ast.Tuple) -> list[ast.expr]:
    return value.values if isinstance(value, ast.Dict) else value.elts
