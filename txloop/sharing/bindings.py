"""What a variable of a function is given."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, TypeAlias

from txloop.scan.known import COPIERS, MUTATORS, PUTTING
from txloop.scan.syntax import (
    FUNCTIONS,
    bound_by,
    bound_in,
    last_name,
    parameters,
    walk,
)
from txloop.sharing.handing import names_handed_on
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import (
    DISPLAYS,
    each_given,
    leaves,
    root_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set

__all__ = [
    "IMMUTABLE",
    "bindings",
    "given_to",
    "is_fresh",
    "keys_in",
    "names_of_parts",
    "names_of_same",
    "taken_from",
]

_Given: TypeAlias = tuple[ast.expr, ast.expr]

_LEADING = (ast.Attribute, ast.Name, ast.Subscript)

_MAKERS = COPIERS | {"copy", "deepcopy", "loads"}


def bindings(scope: ast.AST, name: str) -> tuple[list[ast.expr], bool]:
    """Return the values that a variable is given, and whether others are, too.

    A loop over an object gives it what is inside of that.
    """
    values, others = _all_bindings(scope)
    given = isinstance(scope, FUNCTIONS) and name in parameters(scope)
    return values.get(name, []), given or name in others


def is_bound_otherwise(scope: ast.AST, name: str) -> bool:
    """Tell whether a variable is given what is not known, but for arguments."""
    return name in _all_bindings(scope)[1]


@functools.lru_cache(maxsize=4096)
def _all_bindings(scope: ast.AST) -> tuple[dict[str, list[ast.expr]], set[str]]:
    """Return the values of all variables, and which are given what is not known."""
    values: dict[str, list[ast.expr]] = {}
    simple: set[int] = set()
    own = bound_in(scope)
    for node in walked(scope):
        for target, value in given_to(node):
            # A comprehension has another variable of that name.
            if isinstance(target, ast.Name) and not (
                isinstance(node, ast.comprehension) and target.id in own
            ):
                values.setdefault(target.id, []).append(value)
                simple.add(id(target))
        if isinstance(node, ast.comprehension):
            inside = (one for one in walk(node.target) if isinstance(one, ast.Name))
            simple.update(id(one) for one in inside if one.id in own)
        if isinstance(node, ast.Match) and isinstance(node.subject, _LEADING):
            for name in names_in_patterns(node):
                values.setdefault(name, []).append(node.subject)
    names = (one for one in walked(scope) if isinstance(one, ast.Name))
    others = {
        one.id
        for one in names
        if isinstance(one.ctx, ast.Store) and id(one) not in simple
    }
    for node in walked(scope):
        if isinstance(node, ast.Match) and not isinstance(node.subject, _LEADING):
            others |= names_in_patterns(node)
        elif isinstance(node, ast.MatchClass):  # they get what its attributes have
            others |= {name for one in walk(node) for name in bound_by(one)}
    return values, others


def names_in_patterns(node: ast.Match) -> set[str]:
    """Return the variables that get a subject, or parts of it."""
    patterns = (one for case in node.cases for one in walk(case.pattern))
    return {name for one in patterns for name in bound_by(one)}


@functools.lru_cache(maxsize=4096)
def keys_in(scope: ast.AST) -> frozenset[str]:
    """Return the variables that are keys or indices there: no lists, dicts or sets."""
    return frozenset(
        one.slice.id
        for one in walked(scope)
        if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Name)
    )


def given_to(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of a node, with what each is given or goes over."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from each_given(target, value)
        case ast.AnnAssign() | ast.NamedExpr():
            if node.value is not None:
                yield node.target, node.value
        case ast.AugAssign(target=target):
            yield target, IMMUTABLE  # or it stays the object that it was
        case ast.For() | ast.comprehension():
            yield from _elements(node.target, node.iter)


@functools.lru_cache(maxsize=4096)
def _all_given(scope: ast.AST) -> list[tuple[ast.AST, list[_Given]]]:
    """Return the nodes of a scope that give something to targets, with these."""
    found = ((node, [*given_to(node)]) for node in walked(scope))
    return [(node, given) for node, given in found if given]


def taken_from(scope: ast.AST, name: str) -> tuple[ast.expr | None, int]:
    """Return what a variable is, or is an element of, if it is given nothing else.

    Returns:
        The expression, and how many steps lead from it to the variable; None, and 0, if
        that is not known.
    """
    if bindings(scope, name)[1]:
        return None, 0
    every = [
        (node, target, value)
        for node, given in _all_given(scope)
        for target, value in given
        if name in (one.id for one in leaves(target) if isinstance(one, ast.Name))
    ]
    match every:
        case [(ast.Assign() | ast.AnnAssign(), ast.Name(), value)]:
            return value, 0
        case [(ast.For() as loop, ast.Name() as target, value)]:
            # Of ``for key, row in rows.items()`` it is the row, of others all of it.
            element = getattr(loop.target, "elts", [loop.target])[-1]
            if element is target and _goes_over_elements(loop):
                return value, 1
    return None, 0


def _goes_over_elements(loop: ast.For) -> bool:
    """Tell whether the last target of a loop is given each element of something."""
    match loop.iter, loop.target:
        case (
            ast.Call(func=ast.Name(id="enumerate") | ast.Attribute(attr="items")),
            ast.Tuple(),
        ):
            inner = loop.iter.args[:1]
            return not inner or isinstance(inner[0], _LEADING)
        case ast.Call(func=ast.Attribute(attr="values")), ast.Name():
            return True
        case ((ast.Name() | ast.Attribute() | ast.Subscript()), ast.Name()):
            return True
    return False


IMMUTABLE = ast.Constant(0)
"""Stands for what cannot change: a number, a key."""


def _elements(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what the targets of a loop are given; nothing where that is not known."""
    parts = getattr(target, "elts", [])
    match value:
        case ast.Call(func=ast.Name(id="range")):
            yield target, IMMUTABLE
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            if len(parts) == 2:
                yield parts[0], IMMUTABLE
                yield from _elements(parts[1], inner)
        case ast.Call(func=ast.Name(id="list" | "reversed" | "sorted"), args=[inner]):
            yield from _elements(target, inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="items")):
            if len(parts) == 2:
                yield parts[0], IMMUTABLE
                yield from _whole(parts[1], inner)
        case ast.Call(func=ast.Attribute(attr="keys")):
            yield target, IMMUTABLE
        case ast.Call(func=ast.Attribute(value=inner, attr="values")):
            yield from _whole(target, inner)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for one in elements:
                inner_parts = getattr(one, "elts", [])
                if parts and len(inner_parts) == len(parts):
                    yield from zip(parts, inner_parts, strict=True)
                else:
                    yield from _whole(target, one)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield from _whole(target, value)


def _whole(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield all variables of a target with the whole value."""
    for one in walk(target):
        if isinstance(one, ast.Name):
            yield one, value


def is_fresh(scope: ast.AST, name: str) -> bool:
    """Tell whether a variable holds nothing but what the function has made."""
    values, others = bindings(scope, name)
    return (
        bool(values)
        and not others
        and all(
            isinstance(one, DISPLAYS)
            or (isinstance(one, ast.Call) and last_name(one.func) in _MAKERS)
            for one in values
        )
    )


def names_of_same(scope: ast.AST, name: str) -> set[str]:
    """Return the variables that may hold the very object which a variable holds."""
    pairs: list[tuple[str, str]] = []
    for node, given in _all_given(scope):
        if isinstance(node, ast.For | ast.comprehension):
            continue
        by_value: dict[int, str] = {}  # of `a = b = []`, both are given one object
        for target, value in given:
            if isinstance(target, ast.Name):
                pairs.append((by_value.setdefault(id(value), target.id), target.id))
                if isinstance(value, ast.Name):
                    pairs.append((target.id, value.id))
            elif isinstance(value, ast.Tuple | ast.List):  # which a star takes apart
                its = (one for one in walk(target) if isinstance(one, ast.Name))
                whole = names_handed_on(value)
                pairs += [(one.id, of) for one in its for of in whole]
    for node in walked(scope):
        if isinstance(node, ast.Match):
            whole = names_handed_on(node.subject)
            pairs += [(one, of) for one in names_in_patterns(node) for of in whole]
    return _closed({name}, pairs + [(other, one) for one, other in pairs])


def names_of_parts(
    scope: ast.AST,
    names: set[str],
    handed_on: Callable[[ast.expr], set[str]] = names_handed_on,
    but: Set[str] = frozenset(),
    stays: Callable[[ast.expr], bool] = lambda _: False,
) -> set[str]:
    """Return these variables, and those that may hold a part of what they hold.

    Args:
        scope: The function.
        names: The variables.
        handed_on: Tells which variables an expression hands on, or parts of them.
        but: Variables that do not count, nor does what they hand on.
        stays: Tells whether an object stays what it is when it is stored: if what it
            gets becomes another one, that is found in there by all.
    """
    pairs = []
    own = bound_in(scope) - {"self", "cls"}
    for _, given in _all_given(scope):
        for target, value in given:
            its = [one.id for one in leaves(target) if isinstance(one, ast.Name)]
            # What comes out of one object may be the same, or have the same parts.
            pairs += [
                (of, one)
                for one in its
                for of in {root_name(value), *handed_on(value), *its}
            ]
            into = root_name(target)
            is_item = isinstance(target, ast.Subscript) and into in own
            if is_item and not stays(ast.Name(into)):
                pairs += [(of, into) for of in handed_on(value)]
    for node in walked(scope):
        if isinstance(node, ast.Call) and last_name(node.func) in MUTATORS | PUTTING:
            into = root_name(node.func)
            if into in own and not stays(ast.Name(into)):  # it has got what it is given
                pairs += [(of, into) for one in node.args for of in handed_on(one)]
    return _closed(names, [pair for pair in pairs if pair[1] not in but])


def _closed(names: set[str], pairs: list[tuple[str, str]]) -> set[str]:
    found = {*names}
    while True:
        more = {other for one, other in pairs if one in found} - found
        if not more:
            return found
        found |= more
