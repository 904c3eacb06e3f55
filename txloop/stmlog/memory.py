"""The last minutes of the log in memory, for a live page."""

from __future__ import annotations

from collections import deque

from txloop.stmlog.packets import HEADER

__all__ = ["MOST_BYTES", "MemoryLog"]

MOST_BYTES = 32 << 20
"""What is kept at most, however short the time that it covers."""


class MemoryLog:
    """Keeps what was logged last; used by the loop thread only.

    Attributes:
        kept_ns: For how long.
    """

    def __init__(self, kept_ns: int) -> None:
        self.kept_ns = kept_ns
        self._blocks: deque[tuple[int, bytes]] = deque()  # with their last event's time
        self._size = 0

    def write(self, last_ns: int, block: bytes) -> None:
        """Take the next packets; the last one is of that time."""
        blocks = self._blocks
        blocks.append((last_ns, block))
        self._size += len(block)
        while blocks and (
            blocks[0][0] < last_ns - self.kept_ns or self._size > MOST_BYTES
        ):
            self._size -= len(blocks.popleft()[1])

    def since(self, begin_ns: int) -> bytes:
        """Return a whole log of what happened since then, and a little before."""
        blocks = [block for last, block in self._blocks if last >= begin_ns]
        return b"".join([HEADER, *blocks])
