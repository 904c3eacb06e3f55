"""Where the parts of a text that was changed stood in their lines before.

A traceback of Python marks, below the file's line, the columns that the code object
has. Code compiled from a changed text has those of that text; clients see them in debug
mode. So its syntax tree gets the columns of the file, before it is compiled.
"""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Columns"]

_LINE_END = re.compile(r"\r\n|\r|\n")

_Place = tuple[int, int, int, int]
_Kept = tuple[int, int, int]


class Columns:
    """For each character of a text, where it stood in the text that this comes from.

    Both have the same lines. Columns count in UTF-8, as those of syntax trees.
    """

    def __init__(self, old: str, new: str, came: Sequence[int]) -> None:
        """Note the texts.

        Args:
            old: The text before.
            new: The text that it has become.
            came: For each character of that, its index in the one before; -1 for those
                that were put in.
        """
        self._old, self._new, self._came = old, new, came
        self._old_starts, self._new_starts = _starts(old), _starts(new)
        self._lines: dict[int, list[_Kept]] = {}

    def move(self, tree: ast.Module) -> ast.Module:
        """Give the nodes of the new text's tree their places in the old one.

        What was put in has that of what it was put around, or of what it stands in.
        """
        waiting: list[tuple[ast.AST, _Place | None]] = [(tree, None)]
        while waiting:
            node, outer = waiting.pop()
            if getattr(node, "end_lineno", None) is not None:
                outer = self._place(node) or outer
                if outer is not None:
                    node.lineno, node.col_offset = outer[:2]  # type: ignore[attr-defined] # it has them
                    node.end_lineno, node.end_col_offset = outer[2:]  # type: ignore[attr-defined] # likewise
            waiting += [(child, outer) for child in ast.iter_child_nodes(node)]
        return tree

    def _place(self, node: ast.AST) -> _Place | None:
        """Return where what was kept of a node stood."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined] # it has them
        begin = [one for one in self._kept(first) if one[0] >= node.col_offset]  # type: ignore[attr-defined] # likewise
        end = [one for one in self._kept(last) if one[0] < node.end_col_offset]  # type: ignore[attr-defined] # likewise
        if not (begin and end):
            return None
        place = first, begin[0][1], last, end[-1][2]
        return place if first < last or place[1] < place[3] else None

    def _kept(self, line: int) -> list[_Kept]:
        """Return each kept character of a line: its column, begin and end before."""
        if line not in self._lines:
            before = _columns(self._old, self._old_starts, line)
            start = self._old_starts[line - 1]
            came = self._came[self._new_starts[line - 1] : self._new_starts[line]]
            now = _columns(self._new, self._new_starts, line)
            self._lines[line] = [
                (column, before[index - start], before[index - start + 1])
                for column, index in zip(now, came, strict=False)
                if 0 <= index - start < len(before) - 1
            ]
        return self._lines[line]


def _starts(text: str) -> list[int]:
    return [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]


def _columns(text: str, starts: Sequence[int], line: int) -> list[int]:
    """Return at which column each character of a line begins, and the line ends."""
    characters = text[starts[line - 1] : starts[line]]
    sizes = (len(one.encode()) for one in characters)
    return [*itertools.accumulate(sizes, initial=0)]
