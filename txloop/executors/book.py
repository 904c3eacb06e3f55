"""What the pool keeps: calls that wait for a worker, and what each worker has.

Each function has a line of its own, in the order of arrival. The lines take turns so
that each gets as much of the workers' time: a flood of one kind of request delays the
others by one call, and a short kind does not wait for a long one at each of its calls.
The rule is start-time fair queuing (Goyal, Vin and Cheng, 1996): the next call comes
from the line that has been served least, in seconds of work.
"""

from __future__ import annotations

import time
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING

from txloop.executors.worker_protocol import Assignment
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from txloop.executors.protocol import Work
    from txloop.executors.worker_protocol import Worker
    from txloop.stm.types import Refusal

__all__ = ["Book", "FairQueue", "estimated"]

_UNKNOWN_SECONDS = 0.01  # what a call counts for that was never measured
_LEAST_SECONDS = 0.0002  # what a call costs that does nothing

UNMEASURED_SECONDS = 1.0
"""What a call that never ran before counts for: nothing is sent behind it."""


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


class Book:
    """Nothing else changes `Worker.assigned`; owned by the loop thread.

    The snapshot of an assignment is open as long as the assignment stands here.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds: dict[Worker, float] = {}  # estimated, of each that has any work

    def offer(self, worker: Worker, work: Work) -> Refusal | None:
        """Offer a call to a worker; return why it cannot have it, or None."""
        started = time.thread_time()
        assignment = Assignment(work, committed.open_snapshot())
        refusal = worker.offer(assignment)
        if refusal is not None:
            committed.close_snapshot(assignment.snapshot)
            return refusal
        worker.assigned[work.number] = assignment
        self._seconds[worker] = self.seconds(worker) + estimated(work)
        assignment.transport_seconds += time.thread_time() - started
        return None

    def strike(self, worker: Worker, number: int, newer: int | None = None) -> float:
        """Strike out an assignment; return what it has cost to send the call.

        Args:
            worker: The worker.
            number: The number of the work.
            newer: The snapshot of its answer, which is open from now on.
        """
        assignment = worker.assigned.pop(number)
        if worker.assigned:
            self._seconds[worker] -= estimated(assignment.work)
        else:
            del self._seconds[worker]
        if newer != assignment.snapshot:
            if newer is not None:
                committed.open_snapshot(newer)
            committed.close_snapshot(assignment.snapshot)
        return assignment.transport_seconds

    def strike_all(self, worker: Worker) -> list[Work]:
        """Strike out all assignments of a worker; return what it had to do."""
        left = [assignment.work for assignment in worker.assigned.values()]
        for work in left:
            self.strike(worker, work.number)
        return left

    def seconds(self, worker: Worker) -> float:
        """Return the seconds of work that a worker has to do, as far as estimated."""
        return self._seconds.get(worker, 0.0)

    def busy_seconds(self, worker: Worker) -> float:
        """Return the same, corrected by what has been measured.

        A call that turns out long counts for as long as it has been running.
        """
        run = worker.running()
        if run is None:
            return self.seconds(worker)
        longer = self._clock() - run.since - estimated(run.assignment.work)
        return self.seconds(worker) + max(0.0, longer)

    def overdue(self, worker: Worker, seconds: float) -> list[Work]:
        """Return what waits behind a call that runs for more than `seconds`."""
        run = worker.running()
        if run is None or self._clock() - run.since < seconds:
            return []
        assigned = iter(worker.assigned.values())
        for assignment in assigned:
            if assignment is run.assignment:  # what is before it has been answered
                break
        return [assignment.work for assignment in assigned]


def estimated(work: Work) -> float:
    """Return how long a call will take, as far as anything is known."""
    seconds = work.estimate_seconds
    return UNMEASURED_SECONDS if seconds is None else seconds
