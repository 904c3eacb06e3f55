"""Keys that do something when they are looked for.

Containers ask keys for their hashes, and whether they are equal, at other times than
plain objects do, and when an attempt runs again.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.origin import EVERYTHING, Hazard
from txloop.sharing.scopes import functions_in, walked
from txloop.sharing.syntax import VERBS, is_handler_class, root_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from txloop.sharing.texts import Text

__all__ = ["hazards_of_keys"]

_ASKED = frozenset(["__eq__", "__hash__"])


def hazards_of_keys(texts: Sequence[Text]) -> Iterator[Hazard]:
    """Yield what says that everything is to stay plain for its keys."""
    methods = [
        (text, function, owner.name)
        for text in texts
        for function, owner in functions_in(text.tree)
        if owner is not None
        and getattr(function, "name", "") in _ASKED
        and any(getattr(one, "name", "") == "__hash__" for one in owner.body)
    ]
    if not methods:
        return
    known: dict[str, list[ast.AST]] = {}
    for text in texts:
        for function, owner in functions_in(text.tree):
            name = getattr(function, "name", "")
            if not (name in VERBS and is_handler_class(owner)):  # Tornado calls these
                known.setdefault(name, []).append(function)
    for text, function, cls in methods:
        if _changes_something(function, known):
            name = f"{cls}.{getattr(function, 'name', '')}()"
            what = f"{name} changes something, and a container asks for it elsewhere"
            yield Hazard(EVERYTHING, f"{text.place(function)}, {what}")


def _changes_something(method: ast.AST, known: dict[str, list[ast.AST]]) -> bool:
    """Tell whether a method, or what it calls, changes more than its own object.

    Attributes of its own object count where they are counted up: what it only sets may
    be set again.
    """
    seen: set[int] = set()
    waiting = [method]
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        shared = {
            name
            for node in walked(function)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
        for node in walked(function):
            if _changes(node, shared):
                return True
            if isinstance(node, ast.Call):
                waiting += known.get(last_name(node.func), ())
    return False


def _changes(node: ast.AST, shared: set[str]) -> bool:
    match node:
        case ast.AugAssign(target=ast.Name(id=name)):
            return name in shared
        case ast.AugAssign() | ast.Delete():
            return True
        case ast.Name(id=name, ctx=ast.Store()):
            return name in shared
        case ast.Attribute(ctx=ast.Store()):
            return root_name(node) != "self"
        case ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Expr(value=ast.Call(func=called)):
            return ast.unparse(called) != "object.__setattr__"
    return False
