"""The processes executor: attempts run in forked workers, which share memory with us.

Calls wait in one queue here, not at the workers: a worker gets its next call when it
is free, so no call waits behind a long one while another worker has nothing to do.
Only calls known to be short are sent ahead, and those are taken back if the guess was
wrong: an attempt changes nothing, so running one twice is harmless.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from typing import TYPE_CHECKING

from txloop.errors import TxWorkerError
from txloop.executors.connection import WorkerConnection
from txloop.executors.deltas import DeltaLog
from txloop.executors.spawner import Spawner
from txloop.executors.wire import UNPICKLABLE, dumps
from txloop.executors.worker import run_worker
from txloop.store import committed
from txloop.types import Outcome, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.base import Deliver, Reactor, Work

__all__ = ["ProcessesExecutor"]

READ_AHEAD_SECONDS = 0.005
"""How much known work a worker may have, so as not to idle until the loop has time."""

OVERDUE_SECONDS = 0.005
"""After how long what waits behind a running call goes to another worker."""

MOST_DEATHS = 3
"""How many workers may die of one call before it is given up."""

_NOTHING = -1  # the version of a worker that gets the whole store

_STILLBORN_LIMIT = 5  # workers that die before they are ready, in a row

_log = logging.getLogger("txloop")


class ProcessesExecutor:
    """Forked workers behind one queue; owned by the loop thread."""

    name = "processes"
    forks = True

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self.transport_seconds = 0.0
        self._queue: deque[Work] = deque()
        self._workers: list[WorkerConnection] = []
        self._deaths: dict[int, int] = {}
        self._stillborn = 0
        self._spawned = 0
        self._reactor: Reactor | None = None
        self._deliver: Deliver | None = None
        self._spawner: Spawner | None = None
        self._log: DeltaLog | None = None
        self._unanswered: set[int] = set()
        self._watching = False

    # Starting and ending

    def fork(self) -> None:
        """Fork the spawner and ask it for the workers, before there is a loop."""
        if self._spawner is None:
            self._log = DeltaLog(committed, self._send_soon)
            self._spawner = Spawner(run_worker)
            for _ in range(self.workers):
                self._add_worker(self._log.forked_at)

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._deliver = deliver
        self._reactor = reactor
        self.fork()
        for worker in self._workers:
            worker.attach(reactor, self._receive)

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        self._queue.clear()
        self._unanswered.clear()
        if self._spawner is not None:
            self._spawner.close()
            self._spawner = None
        if self._log is not None:
            self._log.close()
            self._log = None
        self._reactor = self._deliver = None

    def _add_worker(self, version: int) -> None:
        assert self._spawner is not None
        assert self._log is not None
        self._spawned += 1
        try:
            connection = self._spawner.spawn(self._spawned)
        except OSError:
            # It was killed. Only the loop's process can fork another one.
            _log.error("the process that forks workers has died; starting another")
            self._spawner.close()
            self._spawner = Spawner(run_worker)
            connection = self._spawner.spawn(self._spawned)
        worker = WorkerConnection(connection, self._log, version)
        self._workers.append(worker)
        if self._reactor is not None:
            worker.attach(self._reactor, self._receive)

    # Sending

    def run(self, batch: Sequence[Work]) -> None:
        for work in batch:
            self._unanswered.add(work.number)
            if work.urgent:
                self._queue.appendleft(work)
            else:
                self._queue.append(work)
        self._feed()

    def _feed(self) -> None:
        """Send what waits to whoever has room for it, one frame to each worker."""
        queue = self._queue
        while queue and not self._workers:
            refusal = Refusal("there are no workers", lasting=False, warn=False)
            self._tell(queue.popleft().number, refusal)
        while queue:
            if queue[0].number not in self._unanswered:
                queue.popleft()  # it was taken back from a worker that answered
                continue
            worker = self._worker_for(queue[0])
            if worker is None:
                break
            work = queue.popleft()
            call = work.call
            started = time.thread_time()
            parts = (call.function, call.args, call.kwargs)
            try:
                payload = dumps((*parts, call.ordered, call.commits_on))
            except UNPICKLABLE as error:
                self._tell(work.number, Refusal(f"it does not pickle ({error})"))
                continue
            worker.assign(work, payload, time.thread_time() - started)
        self._send()

    def _worker_for(self, work: Work) -> WorkerConnection | None:
        """Return the worker with the least to do, if it has room for `work`."""
        for worker in self._workers:
            if not worker.assigned:
                return worker
        if work.estimate_seconds is None:
            return None
        worker = min(self._workers, key=WorkerConnection.load)
        if work.number in worker.assigned:
            return None
        seconds = worker.load() + work.estimate_seconds
        return worker if seconds <= READ_AHEAD_SECONDS else None

    def _send(self) -> None:
        if self._log is None:  # closed meanwhile
            return
        dropped = self._log.take_dropped()
        for worker in self._workers:
            worker.dropped.extend(dropped)
            worker.send()
        self._log.trim(min((one.version for one in self._workers), default=0))
        if any(len(worker.assigned) > 1 for worker in self._workers):
            self._watch_overdue()

    def _send_soon(self) -> None:
        """Bring idle replicas up to date although no call goes to them."""
        if self._reactor is not None:
            self._reactor.call_later(0, self._send)

    def _watch_overdue(self) -> None:
        if not self._watching and self._reactor is not None:
            self._watching = True
            self._reactor.call_later(OVERDUE_SECONDS, self._take_back)

    def _take_back(self) -> None:
        """Give to free workers what waits elsewhere, only behind long calls."""
        self._watching = False
        if any(not worker.assigned for worker in self._workers):
            stuck: dict[int, Work] = {}
            coming = {work.number for work in self._queue}
            for worker in self._workers:
                overdue = {one.number: one for one in worker.overdue(OVERDUE_SECONDS)}
                stuck.update(overdue)
                coming |= worker.assigned.keys() - overdue.keys()
            self._queue.extend(
                work
                for number, work in stuck.items()
                if number in self._unanswered and number not in coming
            )
        self._feed()

    # Receiving

    def _receive(self, worker: WorkerConnection) -> None:
        started = time.thread_time()
        try:
            answers = worker.receive()
        except (OSError, EOFError):
            self._bury(worker)
            return
        spent = time.thread_time() - started
        for number, answer in answers:
            if number == -1:
                self._stillborn = 0
                worker.greet(answer)
                continue
            assignment = worker.finish(number)
            if assignment is None:
                continue
            self._deaths.pop(number, None)
            # The worker unpacks and packs as much at its end as we do at ours.
            here = assignment.transport_seconds + spent / len(answers)
            self._note_transport(2 * here)
            if isinstance(answer, Refusal):
                committed.close_snapshot(assignment.snapshot)
            self._tell(number, answer)
        self._feed()

    def _tell(self, number: int, answer: Outcome | Refusal) -> None:
        if number in self._unanswered:
            self._unanswered.remove(number)
            assert self._deliver is not None
            self._deliver(number, answer)
        elif isinstance(answer, Outcome):  # of a copy, or of a closed executor
            committed.close_snapshot(answer.snapshot)

    def _note_transport(self, seconds: float) -> None:
        # The first calls are dear, and a preemption looks like a cost: an average that
        # falls faster than it rises finds what it takes in the long run.
        average = self.transport_seconds or seconds
        weight = 0.3 if seconds < average else 0.03
        step = min(seconds, 4 * average) - average
        self.transport_seconds = average + weight * step

    # Deaths

    def _bury(self, worker: WorkerConnection) -> None:
        """Replace a worker that died and run its calls elsewhere."""
        self._workers.remove(worker)
        left = worker.close()
        if not worker.pid:
            self._stillborn += 1
        if self._stillborn < _STILLBORN_LIMIT:
            self._add_worker(_NOTHING)
        elsewhere = {work.number for work in self._queue}
        elsewhere.update(*(one.assigned for one in self._workers))
        again = [
            work
            for work in left
            if work.number in self._unanswered and work.number not in elsewhere
        ]
        _log.warning(
            "worker %d died; %s",
            worker.pid,
            _calls_run_again(again, bool(self._workers)),
        )
        self._queue.extendleft(reversed(again))
        if worker.pid and left and left[0].number in self._unanswered:
            number = left[0].number  # the first one was running
            self._deaths[number] = self._deaths.get(number, 0) + 1
            if self._deaths[number] >= MOST_DEATHS:
                del self._deaths[number]
                self._tell(number, _given_up(left[0]))
        if not self._workers:
            _log.error("workers keep dying at their start; all runs on the loop thread")
        self._feed()


def _calls_run_again(left: Sequence[Work], possible: bool) -> str:
    if not left:
        return "it was replaced"
    where = "on another worker" if possible else "on the loop thread"
    return f"its call runs again {where} ({left[0].call.label})"


def _given_up(work: Work) -> Outcome:
    message = f"{MOST_DEATHS} workers died while they ran {work.call.label}"
    error = TxWorkerError(f"{message}; it is not run again")
    return Outcome(committed.open_snapshot(), error=error)
