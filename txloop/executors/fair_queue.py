"""Calls that wait for a worker, with fair turns between functions.

Each function has a line of its own, in the order of arrival. The lines take turns so
that each gets as much of the workers' time: a flood of one kind of request delays the
others by one call, and a short kind does not wait for a long one at each of its calls.
The rule is start-time fair queuing (Goyal, Vin and Cheng, 1996): the next call comes
from the line that has been served least, in seconds of work.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.executors.protocol import Work

__all__ = ["FairQueue"]

_UNKNOWN_SECONDS = 0.01  # what a call counts for that was never measured
_LEAST_SECONDS = 0.0002  # what a call costs that does nothing


class FairQueue:
    """A queue of work; owned by the loop thread."""

    def __init__(self) -> None:
        self._first: deque[Work] = deque()  # before all lines
        self._lines: dict[str, deque[Work]] = {}  # none is empty
        self._served: dict[str, float] = {}  # in seconds, by label
        self._now = 0.0  # what the line had that was served last, before that

    def __len__(self) -> int:
        return len(self._first) + sum(map(len, self._lines.values()))

    def __bool__(self) -> bool:
        return bool(self._first or self._lines)

    def __iter__(self) -> Iterator[Work]:
        """Go over all work, not in the order in which it will be taken."""
        return chain(self._first, *self._lines.values())

    def append(self, work: Work) -> None:
        """Add a call at the end of its function's line."""
        label = work.call.label
        line = self._lines.get(label)
        if line is None:
            line = self._lines[label] = deque()
            # A line that was empty is not given the time that others had meanwhile.
            self._served[label] = max(self._served.get(label, 0.0), self._now)
        line.append(work)

    def extend(self, works: Iterable[Work]) -> None:
        """Add several calls."""
        for work in works:
            self.append(work)

    def push_first(self, works: Iterable[Work]) -> None:
        """Put calls before all others, the first of them first: they have waited."""
        self._first.extendleft(reversed(list(works)))

    def peek(self) -> Work:
        """Return the next call and leave it there."""
        return self._first[0] if self._first else self._lines[self._next()][0]

    def pop(self) -> Work:
        """Remove the next call and return it."""
        if self._first:
            return self._first.popleft()
        label = self._next()
        line = self._lines[label]
        work = line.popleft()
        if not line:
            del self._lines[label]
        self._now = self._served[label]
        seconds = work.estimate_seconds
        if seconds is None:
            seconds = _UNKNOWN_SECONDS
        self._served[label] = self._now + max(seconds, _LEAST_SECONDS)
        return work

    def _next(self) -> str:
        """Return the label of the line whose turn it is; of equals, the first one."""
        return min(self._lines, key=self._served.__getitem__)

    def remove(self, number: int) -> bool:
        """Remove one call, wherever it is; return whether it was here."""
        for line in (self._first, *self._lines.values()):
            places = (n for n, work in enumerate(line) if work.number == number)
            place = next(places, None)
            if place is not None:
                del line[place]
                self._lines = {label: one for label, one in self._lines.items() if one}
                return True
        return False

    def clear(self) -> None:
        """Forget all calls."""
        self._first.clear()
        self._lines.clear()
        self._served.clear()
        self._now = 0.0
