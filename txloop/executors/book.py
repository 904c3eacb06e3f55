"""The pool's book: what each worker was given and has not answered."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from txloop.executors.worker_protocol import Assignment
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.protocol import Work
    from txloop.executors.worker_protocol import Worker
    from txloop.stm.types import Refusal

__all__ = ["Book", "estimated"]

UNMEASURED_SECONDS = 1.0
"""What a call that never ran before counts for: nothing is sent behind it."""


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
