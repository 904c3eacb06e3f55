"""Time cut into pieces whose number stays small, however long the log is.

Pieces are powers of two of nanoseconds. When there are too many, each two become one:
what is filed under a piece must be halved with them.
"""

from __future__ import annotations

from typing import Final

__all__ = ["MOST_PIECES", "Curve"]

MOST_PIECES: Final = 256
_FIRST_SHIFT: Final = 16  # 65 microseconds


class Curve:
    """The pieces of a log's time.

    Attributes:
        begin: When the first piece begins, in nanoseconds.
        shift: A piece is ``1 << shift`` nanoseconds long.
    """

    __slots__ = ("begin", "shift")

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        self.shift = _FIRST_SHIFT

    def place(self, now: int) -> int:
        """Return the piece that a time is in, the first for what is before it."""
        return max(0, now - self.begin) >> self.shift
