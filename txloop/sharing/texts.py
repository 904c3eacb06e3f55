"""The text of a module, where its syntax stands in it, and changes by position.

Comments, quotes and line ends stay as they are: only what an edit names is touched. A
syntax tree that keeps all of them (libcst) was rejected: it has no wheels for PyPy, its
extension switches the GIL on, and positions are enough for what is done here.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from txloop.sharing.exact import with_methods
from txloop.sharing.subclassing import with_subclassing

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Edits", "Text", "read_text"]

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass
class Text:
    """One module of the program.

    Attributes:
        file: Its file, as its code objects name it.
        name: Its name in `sys.modules`.
        label: What findings call it.
        source: Its text as it is now.
        tree: The syntax of that.
        encoding: Of the file.
        also: Its other names there: what is run as `__main__` may be imported, too.
        came: Of each character, where it was in the text at first; -1 if it was not.
    """

    file: str
    name: str
    label: str
    source: str
    encoding: str = "utf-8"
    also: tuple[str, ...] = ()
    tree: ast.Module = field(init=False)
    came: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.came = [*range(len(self.source))]
        self._read(self.source)

    def change(self, edits: Edits) -> None:
        """Make these changes.

        Raises:
            SyntaxError: if it is not Python then.
        """
        came = edits.traced(self.came)
        self._read(edits.applied(self.source))
        self.came = came

    def _read(self, source: str) -> None:
        self.tree = with_subclassing(with_methods(ast.parse(source)))
        self.source = source
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(source))]

    @property
    def package(self) -> str:
        """The package, or module, at the top of its name."""
        return self.name.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """All its names in `sys.modules`."""
        return self.name, *self.also

    def start(self, node: ast.AST) -> int:
        """Return where in the text a node begins."""
        return self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined] # not a Module

    def end(self, node: ast.AST) -> int:
        """Return where in the text a node ends."""
        return self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined] # not a Module

    def line_start(self, line: int) -> int:
        """Return where in the text a line begins."""
        return self._starts[line - 1]

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node."""
        return self.source[self.start(node) : self.end(node)]

    def place(self, node: ast.AST) -> str:
        """Return what messages call the line of a node."""
        return f"{self.label}, line {getattr(node, 'lineno', 0)}"

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.source)
        before = self.source[start:end].encode()[:column]  # columns count in UTF-8
        return start + len(before.decode(errors="ignore"))


class Edits:
    """What is to be put into a text, in any order."""

    def __init__(self) -> None:
        # By start and rank: of what is put at one place, suffixes of what ends there
        # come first, then closing parentheses (the inner first), then opening ones.
        self._changes: dict[tuple[int, int, int], tuple[int, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._changes)

    def wrap(self, text: Text, node: ast.AST, opening: str) -> None:
        """Put a node into parentheses, with something before them."""
        start, end = text.start(node), text.end(node)
        self._changes[start, 2, -end] = start, opening + "("
        self._changes[end, 1, -start] = end, ")"

    def append(self, text: Text, node: ast.AST, suffix: str) -> None:
        """Put something behind a node."""
        end = text.end(node)
        self._changes[end, 0, 0] = end, suffix

    def follow(self, text: Text, node: ast.stmt, statement: str) -> None:
        """Put a statement behind a simple one, in its line, after others put there."""
        end = text.end(node)
        place = sum(start == end for start, rank, _ in self._changes if rank == 0)
        self._changes[end, 0, 1 + place] = end, f"; {statement}"

    def replace(self, start: int, end: int, new: str) -> None:
        """Put something in the place of a part of the text."""
        self._changes[start, 3, 0] = end, new

    def applied(self, source: str) -> str:
        """Return the text with all changes made."""
        parts, at = [], 0
        for (start, _, _), (end, new) in sorted(self._changes.items()):
            parts += [source[at:start], new]
            at = end
        return "".join([*parts, source[at:]])

    def traced(self, came: Sequence[int]) -> list[int]:
        """Return where the text's characters came from once all changes are made.

        What is put in the place of a part begins and ends where that did.
        """
        traced: list[int] = []
        at = 0
        for (start, _, _), (end, new) in sorted(self._changes.items()):
            traced += came[at:start]
            put = [-1] * len(new)
            if start < end and put:
                put[0], put[-1] = came[start], came[end - 1]
            traced += put
            at = end
        return [*traced, *came[at:]]


def read_text(file: str, names: Sequence[str], label: str) -> Text:
    """Return the text of a module's file.

    Raises:
        OSError: if it cannot be read.
        SyntaxError: if it is not Python.
    """
    raw = Path(file).read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    name, *also = names
    return Text(file, name, label, raw.decode(encoding), encoding, tuple(also))
