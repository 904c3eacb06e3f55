"""Classes that are given the types of their parts, as in ``Store[str]``.

For all that follows objects, ``class Notes(Store[str])`` is derived from `Store`, and
``Store[str]()`` calls that. So in the trees of modules the name stands alone there, in
the place of the whole expression. The texts stay as they are.
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

__all__ = ["name_generics"]


def name_generics(texts: Iterable[Text]) -> None:
    """Replace the trees of the modules that give types to classes."""
    texts = [*texts]
    trees = [text.tree for text in texts]
    classes = {one.name for tree in trees for one in nodes_of_kinds(tree, ast.ClassDef)}
    for text in texts:
        given = {
            one
            for node in nodes_of_kinds(text.tree, ast.Call, ast.ClassDef)
            for one in _given_types(node, classes)
        }
        if given:
            copied: dict[int, ast.AST] = {}
            tree = copy.deepcopy(text.tree, copied)
            text.tree = _Alone({copied[id(one)] for one in given}).visit(tree)


def _given_types(node: ast.AST, classes: Collection[str]) -> list[ast.expr]:
    """Return the classes with types that a node calls, or is derived from."""
    found: list[ast.expr] = []
    match node:
        case ast.ClassDef(bases=bases):
            found = [one for one in bases if isinstance(one, ast.Subscript)]
        case ast.Call(func=ast.Subscript(value=called) as function):
            found = [function] if last_name(called) in classes else []
    return found


class _Alone(ast.NodeTransformer):
    """Puts names in the places of what gives types to them."""

    def __init__(self, given: Collection[ast.AST]) -> None:
        self._given = given

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if node in self._given:
            return ast.copy_location(node.value, node)
        self.generic_visit(node)
        return node
