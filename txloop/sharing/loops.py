"""Loops that change what they go over: whether a program has any.

Containers go over what there is at the start, unless they are told to be live (see
`txloop.like_plain`), which makes all loops slower.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.known import COPIERS, METHODS, MUTATORS
from txloop.scan.syntax import FUNCTIONS, bound_in, last_name
from txloop.sharing.bindings import is_fresh
from txloop.sharing.scopes import functions_in, nodes_of, scopes_in
from txloop.sharing.syntax import holder_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from txloop.sharing.texts import Text

__all__ = ["changes_in_loops"]

_COPIES = COPIERS | {"copy", "range"}

_LAZY = frozenset(["enumerate", "filter", "iter", "map", "reversed", "zip"])
"""Functions of Python that return an iterator over what they are given."""

_OF_DICTS = METHODS | {"copy", "get", "index", "keys", "post", "put"}
"""Methods of dicts, lists and queues, which handlers and classes have, too."""

_ROUNDS = 5

_WITH_BODY = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)

_PASSED_ON = frozenset(["enumerate", "items", "keys", "reversed", "values"])
"""Functions and methods through which a loop goes over an object itself."""


def changes_in_loops(all_texts: Iterable[Text]) -> bool:
    """Tell whether a loop may change what it goes over, and goes on."""
    texts = [*all_texts]
    changes = _changes_by_function(texts)
    walked = _walked_by_function(texts)
    return any(
        _changes(loop, scope) or _calls_what_changes(loop, changes, walked)
        for text in texts
        for scope in scopes_in(text.tree)
        for node in nodes_of(scope)
        for loop in _loops(node, scope)
    )


class _Loop(NamedTuple):
    """What goes over something, and what runs meanwhile."""

    over: ast.expr
    body: list[ast.stmt]
    is_lazy: bool = False


def _loops(node: ast.AST, scope: ast.AST) -> Iterator[_Loop]:
    """Yield a loop, or what is given to a variable to be gone over later."""
    match node:
        case ast.For(iter=over, body=body) | ast.AsyncFor(iter=over, body=body):
            yield _Loop(over, body)
        case ast.Assign(value=value):
            body = scope.body if isinstance(scope, _WITH_BODY) else []
            yield from (
                _Loop(over, body, is_lazy=True) for over in _gone_over_later(value)
            )


def _gone_over_later(value: ast.expr) -> list[ast.expr]:
    """Return what an iterator goes over when it is asked; nothing for other values."""
    match value:
        case ast.Call(func=ast.Name(id=name), args=args) if name in _LAZY:
            return args
        case ast.GeneratorExp(generators=[first, *_]):
            return [first.iter]
    return []


def _changes_by_function(texts: Iterable[Text]) -> Mapping[str, set[str]]:
    """Return the last names of what each function changes, by its name.

    What it calls changes, it does. A method that dicts and the like have, too, counts
    where it is called on `self` only: else ``row.get("name")`` would do what the `get`
    of some handler does.
    """
    changed: defaultdict[str, set[str]] = defaultdict(set)
    nodes = [
        (getattr(function, "name", ""), node)
        for text in texts
        for function, _ in functions_in(text.tree)
        for node in ast.walk(function)
    ]
    for _ in range(_ROUNDS):
        for name, node in nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=base, attr=called)):
                    if called in MUTATORS:
                        changed[name].add(holder_name(base))
                    if called not in _OF_DICTS or holder_name(base) == "self":
                        changed[name] |= changed[called]
                case ast.Call(func=ast.Name(id=called)):
                    changed[name] |= changed[called]
                case ast.Subscript(value=base, ctx=ast.Del()):
                    changed[name].add(holder_name(base))
    for known in _OF_DICTS:
        changed.pop(known, None)
    return changed


def _walked_by_function(texts: Iterable[Text]) -> Mapping[str, set[str]]:
    """Return the last names of what is gone over by what each function returns."""
    walked: defaultdict[str, set[str]] = defaultdict(set)
    for text in texts:
        for function, _ in functions_in(text.tree):
            nodes = nodes_of(function)
            yields = any(isinstance(one, ast.Yield) for one in nodes)
            for node in nodes:
                match node:
                    case ast.For(iter=over) if yields:
                        found = [over]
                    case ast.YieldFrom(value=over):
                        found = [over]
                    case ast.Return(value=ast.expr() as value):
                        found = _gone_over_later(value)
                    case _:
                        continue
                name = getattr(function, "name", "")
                walked[name] |= {name for one in found for name in _names_in(one)}
    return walked


def _names_in(node: ast.AST) -> set[str]:
    named = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return set(map(holder_name, named))


def _changes(loop: _Loop, scope: ast.AST) -> bool:
    gone_over = loop.over
    while isinstance(gone_over, ast.Call) and last_name(gone_over.func) in _PASSED_ON:
        called = gone_over.func
        if isinstance(called, ast.Attribute):
            gone_over = called.value
        elif gone_over.args:
            gone_over = gone_over.args[0]
        else:
            return False
    if isinstance(gone_over, ast.Name):
        local = bound_in(scope) if isinstance(scope, FUNCTIONS) else set()
        if gone_over.id in local and is_fresh(scope, gone_over.id):
            return False
    asked = ast.unparse(gone_over)
    return any(
        changed is not None
        and ast.unparse(changed) == asked
        and (loop.is_lazy or not _ends_at_once(loop.body, node))
        for statement in loop.body
        for node in ast.walk(statement)
        for changed in [_changed(node)]
    )


def _calls_what_changes(
    loop: _Loop, changes: Mapping[str, set[str]], walked: Mapping[str, set[str]]
) -> bool:
    """Tell whether a function of the program changes what a loop goes over.

    Or whether the loop's body changes what a generator of the program goes over.
    """
    if isinstance(loop.over, ast.Call) and last_name(loop.over.func) in _COPIES:
        return False
    inner = set()
    for name in _names_in(loop.over) | {"__iter__"}:
        inner |= walked.get(name, set())
    gone_over = _names_in(loop.over) | inner
    return any(
        (gone_over & called or its_name in inner)
        and (loop.is_lazy or not _ends_at_once(loop.body, node))
        for statement in loop.body
        for node in ast.walk(statement)
        for called in [_changed_by_call(node, changes)]
        for its_name in [holder_name(_changed(node))]
    )


def _changed_by_call(node: ast.AST, changes: Mapping[str, set[str]]) -> set[str]:
    if not isinstance(node, ast.Call):
        return set()
    return changes.get(last_name(node.func), set())


def _changed(node: ast.AST) -> ast.AST | None:
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in MUTATORS:
            return base
        case ast.Subscript(value=base, ctx=ast.Del() | ast.Store()):
            return base
        case ast.AugAssign(target=ast.Name() as base):
            return base
    return None


def _ends_at_once(body: list[ast.stmt], node: ast.AST) -> bool:
    """Tell whether the loop is left right after the statement."""
    blocks = [body]
    for inner in (one for statement in body for one in ast.walk(statement)):
        fields = (getattr(inner, "body", None), getattr(inner, "orelse", None))
        blocks += [one for one in fields if isinstance(one, list)]
    return any(
        isinstance(later, ast.Break | ast.Return)
        for block in blocks
        for number, one in enumerate(block)
        if node in ast.walk(one)
        for later in block[number + 1 :]
    )
