"""Calls that wait for a worker, with fair turns between functions.

Each function has a line of its own, in the order of arrival, and the lines take turns:
a flood of one kind of request delays the others by one call each, not by the flood.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.executors.base import Work

__all__ = ["FairQueue"]


class FairQueue:
    """A queue of work; owned by the loop thread."""

    def __init__(self) -> None:
        self._first: deque[Work] = deque()  # before all lines
        self._lines: dict[str, deque[Work]] = {}  # none is empty; the next one first

    def __len__(self) -> int:
        return len(self._first) + sum(map(len, self._lines.values()))

    def __bool__(self) -> bool:
        return bool(self._first or self._lines)

    def __iter__(self) -> Iterator[Work]:
        """Go over all work, not in the order in which it will be taken."""
        return chain(self._first, *self._lines.values())

    def append(self, work: Work) -> None:
        """Add a call at the end of its function's line."""
        self._lines.setdefault(work.call.label, deque()).append(work)

    def extend(self, works: Iterable[Work]) -> None:
        """Add several calls."""
        for work in works:
            self.append(work)

    def push_first(self, works: Iterable[Work]) -> None:
        """Put calls before all others, the first of them first: they have waited."""
        self._first.extendleft(reversed(list(works)))

    def peek(self) -> Work:
        """Return the next call and leave it there."""
        return self._first[0] if self._first else next(iter(self._lines.values()))[0]

    def pop(self) -> Work:
        """Take the next call; its function's next turn is after all others'."""
        if self._first:
            return self._first.popleft()
        label, line = next(iter(self._lines.items()))
        work = line.popleft()
        del self._lines[label]
        if line:
            self._lines[label] = line
        return work

    def remove(self, number: int) -> bool:
        """Take one call out, wherever it is; tell whether it was here."""
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
