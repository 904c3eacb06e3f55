"""Events of all threads in the order of time, and the last minutes of them.

What happened in a worker is known when its answer arrives. So events are written when
they are some time old; one that becomes known even later gets the time of the last one
that is written already: the order of a file never breaks.
"""

from __future__ import annotations

import operator
from collections import deque
from typing import Final

from txloop.stmlog.c7_format import HEADER, timed

__all__ = ["MOST_BYTES", "SETTLING_NS", "MemoryLog", "Timeline"]

SETTLING_NS: Final = 500_000_000
"""How old an event is before it is written."""

_TIME = operator.itemgetter(0)


class Timeline:
    """Sorts events; used by the loop thread only.

    Attributes:
        now: The time of what is just being told of; it may be told a while later.
    """

    def __init__(self) -> None:
        self.now = 0
        self._events: list[tuple[int, bytes]] = []
        self._last = 0

    def add(self, nanoseconds: int, tail: bytes) -> None:
        """Add an event. Those of one thread come in order, also at the same time."""
        self._events.append((nanoseconds, tail))

    def take(self) -> tuple[int, bytes]:
        """Return the time of the last event, 0 if there is none, and all, packed."""
        if not self._events:
            return 0, b""
        events, self._events = self._events, []
        events.sort(key=_TIME)
        last = self._last
        packed = []
        for nanoseconds, tail in events:
            if nanoseconds > last:
                last = nanoseconds
            packed.append(timed(last, tail))
        self._last = last
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
        """Add the next packets; the last one is of that time."""
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
