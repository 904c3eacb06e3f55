"""Events in the order of time, although some become known late.

What happened in a worker is known when its answer arrives. So events are kept for a
moment and sorted; one that comes even later gets the time of the last one that is
written already: the order of a file never breaks. The last minutes of what was written
stay in memory, for a live page.
"""

from __future__ import annotations

import bisect
import operator
from collections import deque
from typing import Final

from txloop.stmlog.c7_format import HEADER, timed

__all__ = ["MOST_BYTES", "SETTLING_NS", "MemoryLog", "Timeline"]

SETTLING_NS: Final = 500_000_000
"""How long an event is kept before it is written."""

_TIME = operator.itemgetter(0)


class Timeline:
    """Sorts events; used by the loop thread only.

    Attributes:
        now: The time of what is just being told of; it may be told a while later.
    """

    def __init__(self) -> None:
        self.now = 0
        self._ahead: list[tuple[int, bytes]] = []
        self._last = 0

    def __len__(self) -> int:
        return len(self._ahead)

    def add(self, nanoseconds: int, tail: bytes) -> None:
        """Take an event. Those of one thread come in order, also at the same time."""
        self._ahead.append((nanoseconds, tail))

    def take(self, until: int) -> tuple[int, bytes]:
        """Return the time of the last event before `until`, and all up to it, packed.

        The time is 0 if there is none.
        """
        ahead = self._ahead
        ahead.sort(key=_TIME)
        count = bisect.bisect_left(ahead, until, key=_TIME)
        if not count:
            return 0, b""
        last = self._last
        packed = []
        for nanoseconds, tail in ahead[:count]:
            if nanoseconds > last:
                last = nanoseconds
            packed.append(timed(last, tail))
        self._last = last
        del ahead[:count]
        return last, b"".join(packed)


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
