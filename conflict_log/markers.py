"""What a marker says: a place in the source, and what txloop adds to it.

PyPy writes ``File "app.py", line 7, in get (#12)``, at most 159 bytes of it: too long a
function name ends with ``>``, of too long a file name the end is kept behind a ``<``.
txloop writes ``[GET /map] {grid[3]}`` after it: the handler and the cell. The marker of
a contention that is none, ``Worker tcp://10.0.0.7:40001``, says where a worker is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["WORKER", "Site", "parse_marker"]

WORKER = b"Worker "
"""What the marker begins with that says where the worker is, and is no place."""

_MARKER = re.compile(
    r'File "(?P<file>.*)", line (?P<line>\d{1,9})'
    r"(?:, in (?P<function>.*?))?"
    r"(?: \(#(?P<offset>-?\d{1,9})\))?"
    r"(?: \[(?P<handler>.*?)\])?"
    r"(?: \{(?P<cell>.*)\})?",
    re.DOTALL,
)
_ODD_NUMBER_SIZE = 8


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place in a program, as a marker names it.

    Attributes:
        file: The file's name, or what stands instead of one.
        line: The line, 0 if it is not known.
        function: The function's name, or "".
        offset: The offset of the bytecode, or None.
        handler: The handler that ran, or "".
        cell: The cell that it was about, or "".
        cut: Whether the writer had no room for the whole file name.
    """

    file: str
    line: int
    function: str = ""
    offset: int | None = None
    handler: str = ""
    cell: str = ""
    cut: bool = False

    @property
    def place(self) -> str:
        """The file and the line as text."""
        return f"{self.file}:{self.line}" if self.line else self.file


@lru_cache(maxsize=4096)
def parse_marker(marker: bytes) -> Site | None:
    """Return what a marker says, None if there is none.

    Bytes that are no UTF-8 are written as backslashes and numbers.
    """
    if not marker:
        return None
    text = marker.decode(errors="backslashreplace")
    match = _MARKER.fullmatch(text)
    if match is None:
        if len(marker) == _ODD_NUMBER_SIZE:
            # stmgc without PyPy's text: the number that stands for the place.
            return Site(f"place {int.from_bytes(marker, 'little')}", 0)
        return Site(text, 0)
    file, offset = match["file"], match["offset"]
    return Site(
        file,
        int(match["line"]),
        match["function"] or "",
        None if offset is None else int(offset),
        match["handler"] or "",
        match["cell"] or "",
        file.startswith("<") and not file.endswith(">"),
    )
