"""One pool for all kinds of workers: the queue, answers, timeouts, deaths.

Calls wait in one queue here, not at the workers: a worker gets its next call when it
is free, so no call waits behind a long one while another worker has nothing to do.
Only calls known to be short are sent ahead, and those are taken back if the guess was
wrong. What a worker is, and what this rests upon, is in `worker_protocol`.

An executor is this class, a kind of worker, and what makes the workers.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from txloop.errors import TxTimeoutError, TxWorkerError
from txloop.executors.book import Book, FairQueue, estimated
from txloop.executors.crew import ProcessStats, Tally
from txloop.executors.protocol import Executor, Running, available_cores
from txloop.executors.worker_protocol import Limits, Run, Worker
from txloop.stm.measuring import adjusted
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal
from txloop.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.plea import Plea
    from txloop.executors.protocol import Deliver, Reactor, Work
    from txloop.stm.types import Answer

__all__ = ["Pool"]

DEADLY_SECONDS = 1.0
"""What a call that ends its worker counts for, at least."""

_NO_WORKERS = Refusal("there are no workers", lasting=False, warn=False)

W = TypeVar("W", bound=Worker)


class Pool(Executor, Generic[W]):
    """Workers behind one queue; owned by the loop thread.

    Attributes:
        limits: How long to wait for what; may be changed at any time.
        clock: Tells the time, in seconds.
        tally: What has become of workers, and of calls that took too long.
    """

    parallel = True

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without workers, which the executor makes.

        Args:
            workers: How many attempts can run at once; None for one per core.
            limits: How long to wait for what.
            clock: Tells the time, in seconds.
        """
        self.workers = workers or available_cores()
        self.own_place = self.workers + 1
        self.watch = Watch(copies=self.forks)
        self.transport_seconds = 0.0
        self.limits = limits or Limits()
        self.clock = clock
        self.tally = Tally()
        self._workers: list[W] = []
        self._book = Book(clock)
        self._most_for_medium = self.workers
        self._queue = FairQueue()
        self._unanswered: set[int] = set()
        self._deaths: dict[int, list[str]] = {}  # by attempt number
        self._look_due = math.inf  # when workers are looked at next
        self._looks = 0  # how many were planned
        self._ahead = False  # whether calls behind others are looked after
        self._reactor: Reactor | None = None
        self._deliver: Deliver | None = None

    # What a kind of workers adds

    def _flush(self) -> None:
        """Send what was offered."""
        for worker in self._workers:
            worker.flush()

    def _look_around(self) -> None:
        """Look after what is no worker."""

    # The engine's side; the contract is in `Executor`

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._reactor = reactor
        self._deliver = deliver

    def run(self, batch: Sequence[Work]) -> None:
        for work in batch:
            self._unanswered.add(work.number)
            if work.urgent:
                self._queue.push_first([work])
            else:
                self._queue.append(work)
        self.feed()

    def feed(self) -> None:
        refused: list[tuple[int, Refusal]] = []
        queue = self._queue
        while queue:
            work = queue.peek()
            if work.number not in self._unanswered:
                queue.pop()  # it was taken back from a worker that answered
                continue
            worker = self._worker_for(work) if self._workers else None
            if worker is None and self._workers:
                break
            queue.pop()
            refusal = _NO_WORKERS if worker is None else self._assign(worker, work)
            if refusal is not None:
                refused.append((work.number, refusal))
        self._flush()
        self._look_after_those_ahead()
        if math.isinf(self._look_due) and any(one.needs_look for one in self._workers):
            self._look_within(self.limits.look_seconds)
        for number, refusal in refused:  # last: it may run and commit here and now
            self._tell(number, refusal)

    def withdraw(self, number: int) -> bool:
        withdrawn = self._queue.remove(number) or any(
            self._take_back(worker, number) for worker in self._workers
        )
        if withdrawn:
            self._unanswered.discard(number)
        return withdrawn

    def take_back(self) -> int | None:
        queue = self._queue
        while queue:
            work = queue.peek()
            if work.number in self._unanswered:
                if work.urgent or not work.medium:
                    return None
                self._unanswered.discard(work.number)
                return queue.pop().number
            queue.pop()
        return None

    def running(self) -> list[Running]:
        return [
            Running(run.assignment.work.number, worker.place, round(run.since * 1e9))
            for worker in self._workers
            if (run := worker.running()) is not None
        ]

    def members(self) -> list[ProcessStats]:
        """Return what workers there are, and what they do."""
        return [self._describe(worker) for worker in self._workers]

    def _describe(self, worker: W) -> ProcessStats:
        run = worker.running()
        if run is None:
            return ProcessStats("worker", worker.place, 0, "idle")
        label, seconds = run.assignment.work.call.label, self.clock() - run.since
        return ProcessStats("worker", worker.place, 0, "runs", label, seconds)

    def close(self) -> None:
        self._reactor = self._deliver = None
        self._queue.clear()
        self._unanswered.clear()
        self._deaths.clear()
        for worker in self._workers:
            self._book.strike_all(worker)

    # Which worker gets a call

    def _worker_for(self, work: Work) -> W | None:
        """Return the worker that `work` goes to, None if none has room for it."""
        return self._least_busy(self._workers, work)

    def _least_busy(self, workers: Sequence[W], work: Work) -> W | None:
        """Return the worker with the least to do, if it has room for `work`."""
        # Of hundreds of workers, to look at each costs more than to send the call.
        free = next((one for one in workers if not one.assigned and one.open), None)
        if free is not None and not work.medium:
            return free
        room = self.limits.read_ahead_seconds - estimated(work)
        if free is None and room < 0:
            return None
        busy = [one for one in workers if one.assigned and one.open]
        # The last core is the loop's, which runs medium calls, too.
        if free is not None and len(busy) < self._most_for_medium:
            return free
        least = min(map(self._book.seconds, busy), default=math.inf)
        if work.estimate_seconds is None or least > room:
            return None
        load, place = min(
            (self._book.busy_seconds(one), n) for n, one in enumerate(busy)
        )
        if load > room or work.number in busy[place].assigned:
            return None
        return busy[place]

    def _assign(self, worker: W, work: Work) -> Refusal | None:
        refusal = self._book.offer(worker, work)
        if refusal is None and work.call.timeout_seconds is not None:
            self._look_within(work.call.timeout_seconds)
        return refusal

    # What waits behind a long call

    def _look_after_those_ahead(self) -> None:
        """Have what waits behind others moved in time, if a worker is free for it."""
        if (
            not self._ahead
            and self._reactor is not None
            and any(not one.assigned and one.open for one in self._workers)
            and any(len(one.assigned) > 1 for one in self._workers)
        ):
            self._ahead = True
            self._reactor.call_later(self.limits.overdue_seconds, self._move_overdue)

    def _move_overdue(self) -> None:
        """Give to free workers what waits elsewhere, only behind long calls."""
        self._ahead = False
        if any(one.open and not one.assigned for one in self._workers):
            seconds = self.limits.overdue_seconds
            overdue = [(one, self._book.overdue(one, seconds)) for one in self._workers]
            coming = {work.number for work in self._queue}
            for worker, stuck in overdue:
                coming |= worker.assigned.keys() - {work.number for work in stuck}
            for worker, stuck in overdue:
                for work in stuck:
                    if work.number in self._unanswered and work.number not in coming:
                        coming.add(work.number)
                        if worker.may_repeat or self._take_back(worker, work.number):
                            self._queue.append(work)
        self.feed()

    def _take_back(self, worker: W, number: int) -> bool:
        taken = number in worker.assigned and worker.take_back(number)
        if taken:
            self._book.strike(worker, number)
        return taken

    # Answers; called for the workers

    def settle(self, worker: W, number: int, answer: Answer, seconds: float) -> None:
        """Deliver the answer of a worker to a call that it was assigned.

        Args:
            worker: The worker.
            number: The number of the work.
            answer: Its snapshot, if it has one, is that of the assignment, or newer.
            seconds: What it has cost this thread to receive it.
        """
        snapshot = None if isinstance(answer, Refusal) else answer.snapshot
        sending_seconds = self._book.strike(worker, number, snapshot)
        self._deaths.pop(number, None)
        # The worker unpacks and packs as much at its end as we do at ours.
        self._note_transport(2 * (sending_seconds + seconds))
        self._tell(number, answer)

    def hear(self, worker: W, number: int, plea: Plea) -> None:
        """Have the plea of an attempt heard; if it is granted, that was its answer."""
        if self._deliver is None or number not in worker.assigned:
            plea.refuse()
            return
        self._deliver(number, plea)
        if plea.granted and number in worker.assigned:  # its body has not closed us
            self._book.strike(worker, number)
            self._unanswered.discard(number)

    def _tell(self, number: int, answer: Answer) -> None:
        if number in self._unanswered:
            self._unanswered.remove(number)
            assert self._deliver is not None
            self._deliver(number, answer)
        elif not isinstance(answer, Refusal):  # of a copy, or of a closed executor
            committed.close_snapshot(answer.snapshot)

    def _note_transport(self, seconds: float) -> None:
        self.transport_seconds = adjusted(self.transport_seconds, seconds)

    # Workers that are lost, and calls that end them

    def lose(self, worker: W, death: object) -> list[Work]:
        """Do without a worker that has died; give up what has ended too many of them.

        Args:
            worker: It is not among the workers any more.
            death: How it died, and which one it was; its text is for the caller.

        Returns:
            What runs elsewhere now.
        """
        run = worker.running()
        again = self._let_go(worker)
        if run is not None and run.assignment.work.number in self._unanswered:
            self._blame(run, str(death))
        return [work for work in again if work.number in self._unanswered]

    def _let_go(self, worker: W) -> list[Work]:
        """Queue what a worker has left and no other one has; return it."""
        left = self._book.strike_all(worker)
        elsewhere = {work.number for work in self._queue}
        elsewhere.update(*(one.assigned for one in self._workers))
        again = [
            work
            for work in left
            if work.number in self._unanswered and work.number not in elsewhere
        ]
        self._queue.push_first(again)
        return again

    def _blame(self, run: Run, story: str) -> None:
        work = run.assignment.work
        deaths = self._deaths.setdefault(work.number, [])
        deaths.append(story)
        if len(deaths) < self.limits.most_deaths:
            return
        del self._deaths[work.number]
        error = TxWorkerError(
            f"{len(deaths)} workers died while they ran {work.call.label}; it is not "
            f"run again: {'; '.join(deaths)}"
        )
        # Long enough that the next one is not taken for a short one, and tried here.
        seconds = max(self.clock() - run.since, DEADLY_SECONDS)
        snapshot = committed.open_snapshot()
        self._tell(work.number, Outcome(snapshot, error=error, body_seconds=seconds))

    # Looks and timeouts

    def _look_within(self, seconds: float) -> None:
        """Have the workers looked at by then, and that now and then as needed."""
        seconds = max(0.001, min(seconds, self.limits.look_seconds))
        due = self.clock() + seconds
        if self._reactor is not None and due < self._look_due:
            self._look_due = due
            self._looks += 1
            self._reactor.call_later(seconds, self._look_as_planned, self._looks)

    def _look_as_planned(self, look: int) -> None:
        if look == self._looks:  # no earlier one has been planned since
            self._look_due = math.inf
            self._look()

    def _look(self) -> None:
        """Look at every worker, and at the time that its call has taken."""
        self._look_around()
        for worker in list(self._workers):
            if self._deliver is None:  # closed, by what a timeout has led to
                return
            worker.look()
            run = worker.running()
            if run is not None:
                self._time_out_if_late(worker, run)
        seconds = min(map(self._seconds_until_look, self._workers), default=math.inf)
        if not math.isinf(seconds):
            self._look_within(seconds)

    def _seconds_until_look(self, worker: W) -> float:
        """Return when to look at a worker: soon enough for the first timeout."""
        run, now = worker.running(), self.clock()
        seconds = self.limits.look_seconds if worker.needs_look else math.inf
        for number, assignment in worker.assigned.items():
            timeout_seconds = assignment.work.call.timeout_seconds
            if timeout_seconds is not None and number in self._unanswered:
                runs = run is not None and run.assignment is assignment
                ran = now - run.since if run is not None and runs else 0.0
                seconds = min(seconds, timeout_seconds - ran)
        return seconds

    def _time_out_if_late(self, worker: W, run: Run) -> None:
        call, number = run.assignment.work.call, run.assignment.work.number
        timeout_seconds, seconds = call.timeout_seconds, self.clock() - run.since
        if timeout_seconds is None or seconds < timeout_seconds:
            return
        if number not in self._unanswered:
            return
        message = f"{call.label} exceeded its {timeout_seconds:g} s timeout"
        end = worker.cancel(run.assignment, message)
        if end is None:
            return
        self._unanswered.remove(number)
        self.tally.timeouts += 1
        if worker.lost:
            self._let_go(worker)
        error = TxTimeoutError(f"{message}; {end}")
        snapshot = committed.open_snapshot()
        assert self._deliver is not None
        self._deliver(number, Outcome(snapshot, error=error, body_seconds=seconds))
        self.feed()
