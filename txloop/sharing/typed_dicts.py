"""Classes of dicts whose keys have types: `typing.TypedDict`.

A call of such a class makes a plain dict. So in the trees of modules `dict` is called
in its place, for all that follows objects. The texts stay as they are.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.scopes import nodes_of_kinds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from txloop.sharing.texts import Text

__all__ = ["name_typed_dicts"]


def name_typed_dicts(texts: Iterable[Text]) -> None:
    """Replace the trees of the modules that make dicts of such classes."""
    texts = [*texts]
    found = {"TypedDict"}
    before = 0
    while before != len(found):
        before = len(found)
        for text in texts:
            for node in nodes_of_kinds(text.tree, ast.Assign, ast.ClassDef):
                found |= _named_by(node, found)
    found.remove("TypedDict")
    for text in texts:
        calls = nodes_of_kinds(text.tree, ast.Call) if found else ()
        if any(last_name(one.func) in found for one in calls):
            text.tree = _Plainly(found).visit(copy.deepcopy(text.tree))


def _named_by(node: ast.Assign | ast.ClassDef, known: Collection[str]) -> set[str]:
    match node:
        case ast.ClassDef(name=name, bases=bases):
            return {name} if any(last_name(one) in known for one in bases) else set()
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
            return {name} if last_name(function) == "TypedDict" else set()
    return set()


class _Plainly(ast.NodeTransformer):
    """Has `dict` be called where one of these classes is."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if last_name(node.func) in self._names:
            node.func = ast.copy_location(ast.Name("dict", ast.Load()), node.func)
        return node
