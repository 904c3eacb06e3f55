"""Where the loop thread and worker threads meet: calls go one way, answers the other.

A worker that gives its answer takes its next call by itself, whatever the loop thread
does just then. What conflicts often has to wait until the answers before it have been
settled: it would only find that it came too early.

Attempts read the version that the loop thread has published here last. It does so
between callbacks only. The newest version would be wrong: unmarked code on the loop
thread commits each of its writes at once, so that the newest version may have half of
what one callback writes.
"""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING

from txloop.executors.fair_queue import FairQueue
from txloop.stm.attempt import current, make_current
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.plea import Plea
    from txloop.executors.protocol import Work
    from txloop.stm.attempt import Attempt
    from txloop.stm.types import Answer

__all__ = ["Assignment", "Handover"]


class Assignment:
    """A call that a worker has taken.

    Attributes:
        work: The call.
        worker: The worker's number, from 1.
        snapshot: The version that the attempt reads.
        since: When it was taken, by `time.monotonic`.
        attempt: What runs it, once that has begun.
        condemned: Whether nobody waits for the answer any more.
        plea: What it has asked the loop thread for, or None.
    """

    __slots__ = (
        "attempt",
        "condemned",
        "plea",
        "since",
        "snapshot",
        "work",
        "worker",
    )

    def __init__(self, work: Work, worker: int, snapshot: int) -> None:
        self.work = work
        self.worker = worker
        self.snapshot = snapshot
        self.since = time.monotonic()
        self.attempt: Attempt | None = None
        self.condemned = False
        self.plea: Plea | None = None


class Handover:
    """A queue of calls and a list of answers; used by any thread, as each method says.

    One lock guards all private fields. It is held for moments only, and nothing of the
    program runs under it.

    Attributes:
        ring: Called on a worker's thread when there are answers, once until they are
            collected; set by the loop thread while there are no workers.
    """

    def __init__(self, workers: int) -> None:
        """Take how many calls may run at once."""
        self.ring: Callable[[], object] = _nobody
        self._workers = workers
        self._lock = threading.Lock()
        self._queue = FairQueue()
        self._running: dict[int, Assignment] = {}  # by attempt number
        self._answers: list[tuple[Assignment, Answer]] = []
        self._pleas: list[tuple[Assignment, Plea]] = []
        self._readable = committed.version  # what attempts read that begin now
        self._unsettled = 0  # answers that have not been decided about
        self._ringing = False
        self._idle = 0  # workers that wait at the bell, and will not be woken yet
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._closed = False

    # On the loop thread

    def put(self, batch: Sequence[Work]) -> None:
        """Let workers take these calls."""
        with self._lock:
            self._readable = committed.version
            for work in batch:
                if work.urgent:
                    self._queue.push_first([work])
                else:
                    self._queue.append(work)
            self._wake_workers()

    def withdraw(self, number: int) -> bool:
        """Take a call back; tell whether no worker had taken it."""
        with self._lock:
            return self._queue.remove(number)

    def collect(self) -> list[tuple[Assignment, Answer]]:
        """Return the answers so far, in the order in which they came."""
        with self._lock:
            answers, self._answers = self._answers, []
            self._ringing = False
            return answers

    def pleas(self) -> list[tuple[Assignment, Plea]]:
        """Return what has been asked for since the last call of this."""
        with self._lock:
            pleas, self._pleas = self._pleas, []
            return pleas

    def settled(self, left: int) -> None:
        """Take note that of the collected answers only so many are not decided yet."""
        with self._lock:
            self._readable = committed.version
            self._unsettled = left + len(self._answers)
            self._wake_workers()

    def oldest(self) -> int | None:
        """Return the oldest version that is or will be read, or None if there is none.

        It stays so until the next call of this or until something is put.
        """
        with self._lock:
            versions = [one.snapshot for one in self._running.values()]
            if self._queue:
                versions.append(self._readable)
            versions += [one.snapshot for one, _ in self._answers]
            return min(versions, default=None)

    def running(self) -> list[Assignment]:
        """Return what runs just now."""
        with self._lock:
            return list(self._running.values())

    def condemn(self, assignment: Assignment) -> bool:
        """Give a call up that runs; tell whether it had not been answered.

        Its attempt ends when it next looks at shared state, and its thread then.
        """
        with self._lock:
            return self._condemn(assignment)

    def close(self) -> list[Assignment]:
        """Let all workers leave; return what still runs, which is given up."""
        with self._lock:
            self._closed = True
            self.ring = _nobody  # or its executor would become cyclic garbage
            self._queue.clear()
            self._answers.clear()
            self._wake(self._idle)
            # Under the same lock, or answers would come that nobody collects.
            left = list(self._running.values())
            for one in left:
                self._condemn(one)
            for _, plea in self._pleas:
                plea.refuse()
            self._pleas.clear()
            return left

    # On the workers' threads

    def exchange(
        self, worker: int, done: Assignment | None, answer: Answer | None
    ) -> Assignment | None:
        """Give an answer and wait for the next call; None if there will be none.

        Args:
            worker: Who asks.
            done: What was to be done, or None the first time.
            answer: The answer to it.
        """
        ring = False
        with self._lock:
            if done is not None and answer is not None:
                if done.plea is not None and done.plea.granted:
                    self._running.pop(done.work.number, None)
                    done.plea.answer(answer)  # the loop thread waits for nothing else
                    done.plea = None
                elif done.condemned:
                    return None  # somebody else has taken this one's place
                else:
                    del self._running[done.work.number]
                    self._answers.append((done, answer))
                    self._unsettled += 1
                    ring, self._ringing = not self._ringing, True
            found = self._next(worker)
        if ring:
            self.ring()
        while found is None and not self._closed:
            self._bell.get()
            with self._lock:
                found = self._next(worker)
        return found

    def begin(self, assignment: Assignment, attempt: Attempt) -> None:
        """Take note of the attempt at a call."""
        with self._lock:
            assignment.attempt = attempt
            if assignment.condemned:
                attempt.condemn()

    def plead(self, assignment: Assignment, plea: Plea) -> bool:
        """Have a plea heard and wait for that; return whether it was granted."""
        with self._lock:
            if assignment.condemned or self._closed:
                return False
            assignment.plea = plea
            self._pleas.append((assignment, plea))
            ring, self._ringing = not self._ringing, True
        if ring:
            # It is not the attempt that uses the loop, which refuses attempts.
            attempt = current()
            make_current(None)
            self.ring()
            make_current(attempt)
        return plea.wait()

    # Under the lock

    def _condemn(self, assignment: Assignment) -> bool:
        if self._running.pop(assignment.work.number, None) is None:
            return False
        assignment.condemned = True
        if assignment.attempt is not None:
            assignment.attempt.condemn()
        return True

    def _next(self, worker: int) -> Assignment | None:
        """Return the next call for a worker; None if it has to wait at the bell."""
        if not self._queue or self._free(self._queue.peek()) < 1:
            self._idle += not self._closed
            return None
        assignment = Assignment(self._queue.pop(), worker, self._readable)
        self._running[assignment.work.number] = assignment
        return assignment

    def _free(self, work: Work) -> int:
        """Return how many calls like this one may be taken now."""
        if work.estimate_seconds is not None:
            return self._workers
        return self._workers - len(self._running) - self._unsettled

    def _wake_workers(self) -> None:
        if self._idle and self._queue:
            most = min(len(self._queue), self._free(self._queue.peek()))
            self._wake(max(0, min(self._idle, most)))

    def _wake(self, count: int) -> None:
        self._idle -= count
        for _ in range(count):
            self._bell.put(None)


def _nobody() -> None:
    """Wake nobody: there is no loop."""
