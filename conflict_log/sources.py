"""The source text of the lines that a log names.

A log comes from anywhere and can name any file, so only Python files below the given
roots are read. A file name that was cut, or that is another machine's, is looked up by
its end.
"""

from __future__ import annotations

import tokenize
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conflict_log.markers import Site

__all__ = ["Sources", "Text"]

_SUFFIXES = {".py", ".pyw"}
_LARGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class Text:
    """A line of source.

    Attributes:
        line: The line, without the blanks around it.
        first: Whether it is the first of its function's body.
    """

    line: str
    first: bool = False


class Sources:
    """Python files below some folders, as they are today."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = [one.resolve() for one in roots or [Path()]]
        self._files: dict[tuple[str, bool], list[str]] = {}

    def text(self, site: Site | None) -> Text | None:
        """Return the text of a place, None if it is not to be had."""
        if site is None or site.line < 1:
            return None
        lines = self.lines(site)
        if site.line > len(lines):
            return None
        line = lines[site.line - 1].strip()
        before = [one.strip() for one in lines[: site.line - 1] if one.strip()]
        first = bool(before) and before[-1].startswith(("def ", "async def "))
        return Text(line, first) if line else None

    def lines(self, site: Site) -> list[str]:
        """Return all lines of the file of a place; none if there is none."""
        key = site.file, site.cut
        if key not in self._files:
            path = self._find(site)
            self._files[key] = _read(path) if path else []
        return self._files[key]

    def _find(self, site: Site) -> Path | None:
        """Return the file that a place is in, if it lies below one of the roots."""
        name = PurePosixPath(site.file.removeprefix("<") if site.cut else site.file)
        if name.suffix not in _SUFFIXES or "\0" in site.file:
            return None
        parts = name.parts[1:] if site.cut or name.is_absolute() else name.parts
        candidates = [Path(name)] if name.is_absolute() else []
        for begin in range(len(parts)):
            candidates.extend(root.joinpath(*parts[begin:]) for root in self._roots)
        for path in candidates:
            try:
                whole = path.resolve()
                if self._allows(whole) and whole.is_file():
                    return whole
            except (OSError, ValueError, RuntimeError):
                continue
        return None

    def _allows(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self._roots)


def _read(path: Path) -> list[str]:
    """Return the lines of a file; none if it is no Python file after all."""
    try:
        if path.stat().st_size > _LARGEST:
            return []
        with tokenize.open(path) as file:
            return file.read().splitlines()
    except (OSError, SyntaxError, ValueError):
        return []
