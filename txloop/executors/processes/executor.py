"""The processes executor: attempts run in forked workers, which share memory with us.

Calls wait in one queue here, not at the workers: a worker gets its next call when it
is free, so no call waits behind a long one while another worker has nothing to do.
Only calls known to be short are sent ahead, and those are taken back if the guess was
wrong: an attempt changes nothing, so running one twice is harmless.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import time
from typing import TYPE_CHECKING

from txloop.errors import TxTimeoutError
from txloop.executors.codec.contexts import Base
from txloop.executors.codec.frames import UNPICKLABLE, GarbledError
from txloop.executors.codec.packing import pack_call
from txloop.executors.fair_queue import FairQueue
from txloop.executors.faults import faults_on_purpose
from txloop.executors.processes.connection import GREETING, WorkerConnection
from txloop.executors.processes.crew import Crew
from txloop.executors.processes.deaths import Death, given_up
from txloop.executors.processes.replication import DeltaLog
from txloop.executors.processes.supervision import (
    SLOW_START_SECONDS,
    Supervision,
    Trouble,
)
from txloop.executors.processes.worker import LAST_WORDS, run_worker
from txloop.executors.protocol import Running, available_cores
from txloop.stm.callables import weakly
from txloop.stm.cell_names import named_roots
from txloop.stm.measuring import Pace, adjusted
from txloop.stm.store import committed
from txloop.stm.types import Answer, Call, Outcome, Refusal
from txloop.watch import Watch, known_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.protocol import Deliver, Reactor, Work

__all__ = ["ProcessesExecutor"]

READ_AHEAD_SECONDS = 0.005
"""How much known work a worker may have, so as not to idle until the loop has time."""

OVERDUE_SECONDS = 0.005
"""After how long what waits behind a running call goes to another worker."""

MOST_DEATHS = 3
"""How many workers may die of one call before it is given up."""

_log = logging.getLogger("txloop")


class ProcessesExecutor:
    """Forked workers behind one queue; owned by the loop thread."""

    name = "processes"
    forks = True
    parallel = True
    watch: Watch | None

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()
        self.transport_seconds = 0.0
        self.stretch = 1.0
        self._queue = FairQueue()
        self._base = Base()
        self.watch = Watch(copies=True)
        self._crew = Crew(
            self.workers,
            functools.partial(run_worker, base=self._base),
            weakly(self._receive),
            weakly(self.feed),
            weakly(self._before_fork),
        )
        self._workers = self._crew.workers
        self._supervision = Supervision(
            self._workers, weakly(self._on_trouble), self._crew.look
        )
        self._deaths: dict[int, list[Death]] = {}
        self._reactor: Reactor | None = None
        self._deliver: Deliver | None = None
        self._log: DeltaLog | None = None
        self._unanswered: set[int] = set()
        self._watching = False
        self._faults = faults_on_purpose("processes")
        self._pace = Pace()
        self._most_for_medium = max(1, available_cores() - 1)

    # Starting and ending

    def relieve_after(self, most_calls: int) -> None:
        """Have workers replaced after so many calls; before they are forked."""
        self._crew.most_calls = most_calls

    def fork(self) -> None:
        """Fork the spawner and ask it for the workers, before there is a loop.

        Workers inherit the current context.
        """
        if self._log is None:
            self._base.capture(contextvars.copy_context())
            self._log = DeltaLog(committed, self._send_soon)
            self._crew.start(self._log)

    def _before_fork(self) -> None:
        assert self.watch is not None
        self.watch.take_pictures(named_roots(), known_functions())

    def renew(self) -> bool:
        return self._crew.renew()

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._deliver = deliver
        self._reactor = reactor
        if self._log is not None:  # they were forked early
            self._crew.attach(reactor)

    def close(self) -> None:
        self._crew.close()
        self._queue.clear()
        self._unanswered.clear()
        self._deaths.clear()
        if self._log is not None:
            self._log.close()
            self._log = None
        self._reactor = self._deliver = None

    def running(self) -> list[Running]:
        found = []
        for worker in self._workers:
            running = worker.running_since()
            if running is not None:
                since_ns = round(running[1] * 1e9)
                found.append(Running(running[0].number, worker.place, since_ns))
        return found

    # Sending

    def run(self, batch: Sequence[Work]) -> None:
        if self._log is None and self._reactor is not None:
            # In a context of the program, with all that it has set; not in the loop's.
            batch[0].call.context.copy().run(self.fork)
            self._crew.attach(self._reactor)
        for work in batch:
            self._unanswered.add(work.number)
            if work.urgent:
                self._queue.push_first([work])
            else:
                self._queue.append(work)
        self.feed()

    def withdraw(self, number: int) -> bool:
        withdrawn = self._queue.remove(number)
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

    def feed(self) -> None:
        # One frame to each worker.
        queue = self._queue
        while queue and not self._workers:
            refusal = Refusal("there are no workers", lasting=False, warn=False)
            self._tell(queue.pop().number, refusal)
        while queue:
            if queue.peek().number not in self._unanswered:
                queue.pop()  # it was taken back from a worker that answered
                continue
            worker = self._worker_for(queue.peek())
            if worker is None:
                break
            work = queue.pop()
            started = time.thread_time()
            place = worker.place if work.call.traced else 0
            payload = self._packed(work.call, place)
            if isinstance(payload, Refusal):
                self._tell(work.number, payload)  # it may run here and now
                continue
            worker.assign(work, payload, time.thread_time() - started)
            if self._faults is not None:
                worker.worn = self._faults.wears_out()
        self._send()

    def _packed(self, call: Call, place: int) -> bytes | Refusal:
        try:
            return pack_call(call, place, self._base)
        except UNPICKLABLE as error:
            return Refusal(f"it does not pickle ({error})")

    def _worker_for(self, work: Work) -> WorkerConnection | None:
        """Return the worker with the least to do, if it has room for `work`."""
        open_ = [worker for worker in self._workers if worker.open]
        busy = [worker for worker in open_ if worker.assigned]
        if work.medium and len(busy) >= self._most_for_medium:
            open_ = busy  # the last core is the loop's, which runs such calls, too
        for worker in open_:
            if not worker.assigned:
                return worker
        if work.estimate_seconds is None or not open_:
            return None
        worker = min(open_, key=WorkerConnection.load)
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
            if worker.ready and not worker.condemned:
                worker.send()
        self._log.trim(min((one.version for one in self._workers), default=0))
        if any(len(worker.assigned) > 1 for worker in self._workers):
            self._watch_overdue()
        self._supervision.wake(self._reactor)

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
        if any(one.open and not one.assigned for one in self._workers):
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
        self.feed()

    # Receiving

    def _receive(self, worker: WorkerConnection) -> None:
        started = time.thread_time()
        ended = False
        try:
            arrived = worker.receive()
            spent = (time.thread_time() - started) / max(len(arrived), 1)
            for number, lost, answer in arrived:
                if number == GREETING:
                    worker.greet(answer)
                    self._crew.welcome(worker)
                else:
                    checked = worker.check(number, answer)
                    if isinstance(checked, Outcome):
                        self._pace.note(lost, checked.body_seconds)
                        self.stretch = self._pace.stretch
                    self._take(worker, number, checked, spent)
                if worker.closed:
                    return
        except GarbledError as error:
            if worker.crashing:  # let it finish
                worker.condemn(None, 0)
            else:
                worker.condemn(f"it did not answer as a worker does: {error}")
        except (OSError, EOFError):
            ended = True
        if ended:  # not in the handler: whatever is forked there stays in it for ever
            self._bury(worker)
            return
        self._crew.relieve(worker)
        self._crew.dismiss_retired()
        self.feed()

    def _take(
        self, worker: WorkerConnection, number: int, answer: Answer, spent: float
    ) -> None:
        assignment = worker.finish(number)
        assert assignment is not None  # it was checked
        self._deaths.pop(number, None)
        # The worker unpacks and packs as much at its end as we do at ours.
        self._note_transport(2 * (assignment.transport_seconds + spent))
        if isinstance(answer, Refusal):
            committed.close_snapshot(assignment.snapshot)
            if answer.spoilt:
                self._replace(worker)
        self._tell(number, answer)

    def _replace(self, worker: WorkerConnection) -> None:
        """Do without a worker whose copy of the program is spoilt: it ends now."""
        left = worker.close()
        self._crew.remove(worker)
        self._run_elsewhere(left)

    def _run_elsewhere(self, left: Sequence[Work]) -> list[Work]:
        """Queue what a worker has left and no other one has; return it."""
        elsewhere = {work.number for work in self._queue}
        elsewhere.update(*(one.assigned for one in self._workers))
        again = [
            work
            for work in left
            if work.number in self._unanswered and work.number not in elsewhere
        ]
        self._queue.push_first(again)
        return again

    def _tell(self, number: int, answer: Answer) -> None:
        if number in self._unanswered:
            self._unanswered.remove(number)
            assert self._deliver is not None
            self._deliver(number, answer)
        elif not isinstance(answer, Refusal):  # of a copy, or of a closed executor
            committed.close_snapshot(answer.snapshot)

    def _note_transport(self, seconds: float) -> None:
        self.transport_seconds = adjusted(self.transport_seconds, seconds)

    # Troubles

    def _on_trouble(self, worker: WorkerConnection, trouble: Trouble) -> None:
        match trouble:
            case Trouble.GONE:
                self._bury(worker)
            case Trouble.STOPPED:
                worker.condemn("it was stopped by a signal")
            case Trouble.STALLED:
                worker.condemn("it stopped in the middle of its answer")
            case Trouble.LATE:
                self._time_out(worker)
            case Trouble.LINGERING:
                worker.condemn(worker.cause)
            case Trouble.NOT_READY:
                _log.warning(
                    "worker %s is not ready after %g s: %s; calls wait for workers",
                    worker.pid or "(not forked yet)",
                    SLOW_START_SECONDS,
                    "an on_worker_start function takes long, or never ends"
                    if worker.pid
                    else "the system forks slowly",
                )

    def _time_out(self, worker: WorkerConnection) -> None:
        """End a worker whose call takes too long, and answer that call."""
        running = worker.running()
        assert running is not None
        call = running[0].call
        message = f"{call.label} ran for more than {call.timeout_seconds:g} s"
        worker.condemn(message, LAST_WORDS)
        error = TxTimeoutError(f"{message}; it was ended")
        snapshot, seconds = committed.open_snapshot(), running[1]
        outcome = Outcome(snapshot, error=error, body_seconds=seconds)
        self._tell(running[0].number, outcome)

    def _bury(self, worker: WorkerConnection) -> None:
        """Replace a worker that has ended and run its calls elsewhere."""
        self._crew.read_reports()
        running = worker.running()
        left = worker.close()
        death = worker.death()
        known = worker.pid == 0 or (self._crew.complained and not worker.ready)
        self._crew.remove(worker)
        again = self._run_elsewhere(left)
        if not known:  # that it cannot even start is no news
            _log.warning(
                "worker %d died; %s; %s",
                worker.pid,
                self._what_follows(again),
                death.describe(),
            )
        if running is not None and running[0].number in self._unanswered:
            self._blame(*running, death)
        self.feed()

    def _blame(self, work: Work, seconds: float, death: Death) -> None:
        deaths = self._deaths.setdefault(work.number, [])
        deaths.append(death)
        if len(deaths) >= MOST_DEATHS:
            del self._deaths[work.number]
            self._tell(work.number, given_up(work, deaths, seconds))

    def _what_follows(self, again: Sequence[Work]) -> str:
        if not again:
            complete = self._crew.is_complete
            return "it was replaced" if complete else "it was not replaced"
        where = "another worker" if self._workers else "the loop thread"
        return f"its call runs again on {where} ({again[0].call.label})"
