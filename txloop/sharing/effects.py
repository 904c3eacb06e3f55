"""What functions change, and what is given to code that is not the program's."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.live_objects import METHODS, MUTATORS
from txloop.sharing.bindings import bindings
from txloop.sharing.hazard import Hazard
from txloop.sharing.scopes import functions_in, nodes_of
from txloop.sharing.syntax import arguments_of, holder_name, root_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from txloop.sharing.texts import Text

__all__ = ["changes_by_function", "given_away"]

_ROUNDS = 5
_OF_DICTS = METHODS | {"copy", "get", "index", "keys", "post", "put"}
"""Methods of dicts, lists and queues, which handlers and classes have, too."""
_KNOWN = frozenset(["txloop", "tornado"])
"""Packages that take containers, beside the standard library."""


def changes_by_function(texts: Iterable[Text]) -> Mapping[str, set[str]]:
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


def given_away(
    text: Text, scope: ast.AST, modules: Mapping[str, str], own: set[str]
) -> Iterator[Hazard]:
    """Yield what is given to functions of installed packages.

    These may want a plain object: they ask for it in C.

    Args:
        text: The module.
        scope: A function, or the module's body.
        modules: What imported names stand for.
        own: The program's own packages.
    """
    for node in nodes_of(scope):
        if not isinstance(node, ast.Call):
            continue
        package = modules.get(root_name(node.func), "").partition(".")[0]
        if not package or package in own | _KNOWN | sys.stdlib_module_names:
            continue
        given = arguments_of(node)
        for one in (inner for value in given for inner in ast.walk(value)):
            if not isinstance(one, ast.Name | ast.Attribute):
                continue
            names = {holder_name(one)}
            if isinstance(one, ast.Name):
                values, _ = bindings(scope, one.id)
                names |= {holder_name(inner) for v in values for inner in ast.walk(v)}
            for name in names - {""}:
                what = f"gives it to {package}, which may want a plain one"
                yield Hazard(name, f"{text.place(node)}, {what}")
