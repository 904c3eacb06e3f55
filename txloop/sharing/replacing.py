"""What programs with containers call in the place of functions of Python's library."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.cells import sets
from txloop.scan.syntax import bound_by
from txloop.sharing.changes import Change
from txloop.sharing.exact import OUR_HEAPS
from txloop.sharing.scopes import nodes_of_kinds, walked

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from txloop.sharing.texts import Edits, Text

__all__ = [
    "replace_heaps",
    "replace_locks",
    "replace_set_methods",
    "set_methods_called",
]


OUR_SETS = "txloop.cells.sets"
"""The module that has methods of `set` as functions, for containers."""


def replace_heaps(texts: Iterable[Text], edits: Mapping[str, Edits]) -> None:
    """Have modules import our heaps in the place of `heapq`."""
    for text in texts:
        for node, new in _imports_of_heaps(text):
            start = text.source.index("heapq", text.start(node))
            edits[text.file].replace(start, start + len("heapq"), new)


def _imports_of_heaps(text: Text) -> Iterator[tuple[ast.AST, str]]:
    """Yield each import of heapq, with what is to be there in the place of its name."""
    for node in walked(text.tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    if one.name == "heapq":
                        # Not by its `asname`: that is the module's for what a function
                        # imports.
                        named = " as " in text.segment(one)
                        yield one, OUR_HEAPS if named else f"{OUR_HEAPS} as heapq"
            case ast.ImportFrom(module="heapq"):
                yield node, OUR_HEAPS


def replace_set_methods(texts: Iterable[Text], edits: Mapping[str, Edits]) -> None:
    """Have modules call our functions in the place of methods of `set` itself."""
    for text in texts:
        for node in set_methods_called(text):
            new = f"{OUR_SETS}.{node.attr}"
            edits[text.file].replace(text.start(node), text.end(node), new)


def set_methods_called(text: Text) -> Iterator[ast.Attribute]:
    """Yield ``set.union`` and the like that are called, if `set` is Python's there."""
    if any(map(_may_bind_set, walked(text.tree))):
        return
    found: dict[int, list[ast.Attribute]] = {}
    for node in nodes_of_kinds(text.tree, ast.Call):
        match node.func:
            case ast.Attribute(ast.Name("set"), name) if name in sets.__all__:
                found.setdefault(text.start(node.func), []).append(node.func)
    for those in found.values():
        # In an f-string it may have the place of something else.
        if len(those) == 1 and text.segment(those[0]) == f"set.{those[0].attr}":
            yield those[0]


def _may_bind_set(node: ast.AST) -> bool:
    match node:
        case ast.arg(arg="set") | ast.alias(name="*"):
            return True
        case ast.Attribute(attr="set", ctx=ast.Store()) | ast.Constant(value="set"):
            return True  # of `builtins`, perhaps
    return "set" in bound_by(node)


def replace_locks(
    found: Iterable[tuple[Text, ast.Call]],
    skipped: Container[str],
    edits: Mapping[str, Edits],
) -> Iterator[Change]:
    """Have calls make free locks, but for those of keys that are skipped."""
    for text, call in found:
        key = f"lock {text.label}:{call.lineno}"
        if key not in skipped:
            start, end = text.start(call.func), text.end(call.func)
            edits[text.file].replace(start, end, "txloop.cells.FreeLock")
            became = "one that is always free: nothing waits while it is taken"
            yield Change(key, "a lock", text.label, call.lineno, became)
