"""Calls of `heapq`: its functions ask in C for a list, those of `cells.heaps` do not.

A program that shares something imports these in their place. To all who look at its
code, a call is one of the method of a list that does as much to its items.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import HEAPS
from txloop.sharing.scopes import walked

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["imports_of_heaps", "is_passed_on", "with_methods"]

_OURS = "txloop.cells.heaps"


def with_methods(tree: ast.Module) -> ast.Module:
    """Return a module with calls of methods in the place of those of heapq."""
    named: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    if one.name in ("heapq", _OURS):
                        home = one.asname or one.name
                        named |= {f"{home}.{name}": name for name in HEAPS}
            case ast.ImportFrom(module="heapq" | "txloop.cells.heaps", names=names):
                named |= {one.asname or one.name: one.name for one in names}
                if "*" in named:
                    named |= {name: name for name in HEAPS}
    return _Calls(named).visit(tree) if named else tree


class _Calls(ast.NodeTransformer):
    def __init__(self, named: dict[str, str]) -> None:
        self._named = named

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        method = HEAPS.get(self._named.get(ast.unparse(node.func), ""))
        if method is None or not node.args or isinstance(node.args[0], ast.Starred):
            return node
        heap, *given = node.args
        function = ast.Attribute(heap, method, ast.Load())
        call = ast.Call(ast.copy_location(function, node.func), given, node.keywords)
        return ast.copy_location(call, node)


def is_passed_on(home: str, name: str) -> bool:
    """Tell whether it is a function of heapq that changes a heap.

    One that is called is none any more: what is found is used otherwise.
    """
    return name in HEAPS and home in ("heapq", _OURS)


def imports_of_heaps(tree: ast.Module) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield each import of heapq, with a part of its text and what is to be there."""
    for node in walked(tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    if one.name == "heapq":
                        yield one, "heapq", _OURS if one.asname else f"{_OURS} as heapq"
            case ast.ImportFrom(module="heapq"):
                yield node, "heapq", _OURS
