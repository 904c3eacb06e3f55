"""What programs with containers call in the place of functions of Python's library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.sharing.changes import Change
from txloop.sharing.exact import imports_of_heaps

if TYPE_CHECKING:
    import ast
    from collections.abc import Container, Iterable, Iterator, Mapping

    from txloop.sharing.texts import Edits, Text

__all__ = ["replace_heaps", "replace_locks"]


def replace_heaps(texts: Iterable[Text], edits: Mapping[str, Edits]) -> None:
    """Have modules import our heaps in the place of `heapq`."""
    for text in texts:
        for node, part, new in imports_of_heaps(text):
            start = text.source.index(part, text.start(node))
            edits[text.file].replace(start, start + len(part), new)


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
