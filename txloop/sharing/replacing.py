"""What programs with containers call in the place of functions of Python's library."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.sharing.changes import Change
from txloop.sharing.exact import OUR_HEAPS
from txloop.sharing.scopes import walked

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from txloop.sharing.texts import Edits, Text

__all__ = ["replace_heaps", "replace_locks"]


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
