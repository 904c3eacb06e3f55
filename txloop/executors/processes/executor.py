"""The processes executor: attempts run in forked workers, which share memory with us.

What it adds to the pool is that workers have to be made and may die, and that each has
a replica of the store.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import time
from typing import TYPE_CHECKING

from txloop.executors.codec.contexts import Base
from txloop.executors.codec.frames import GarbledError
from txloop.executors.faults import faults_on_purpose
from txloop.executors.pool import Pool
from txloop.executors.processes.connection import GREETING, WorkerConnection
from txloop.executors.processes.crew import Crew
from txloop.executors.processes.replication import DeltaLog
from txloop.executors.processes.worker import run_worker
from txloop.executors.protocol import available_cores
from txloop.stm.callables import weakly
from txloop.stm.cell_names import named_roots
from txloop.stm.measuring import Pace
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal
from txloop.watch import Watch, known_functions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.limits import Limits
    from txloop.executors.protocol import Deliver, Reactor, Work

__all__ = ["ProcessesExecutor"]

_log = logging.getLogger("txloop")


class ProcessesExecutor(Pool[WorkerConnection]):
    """Forked workers behind one queue; owned by the loop thread."""

    name = "processes"
    forks = True

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take how many workers there shall be; see `Pool`."""
        super().__init__(workers, Watch(copies=True), limits, clock)
        self._base = Base()
        self._crew = Crew(
            self.workers,
            functools.partial(run_worker, base=self._base),
            weakly(self._receive),
            weakly(self._bury),
            weakly(self.feed),
            weakly(self._before_fork),
            functools.partial(
                WorkerConnection, base=self._base, limits=self.limits, clock=clock
            ),
            self.limits,
        )
        self._workers = self._crew.workers
        self._most_for_medium = max(1, available_cores() - 1)
        self._log: DeltaLog | None = None
        self._unsent = False  # whether a worker may have calls that were not sent
        self._faults = faults_on_purpose("processes")
        self._pace = Pace()

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
            self._log = DeltaLog(committed, self._flush_soon)
            self._crew.start(self._log)

    def _before_fork(self) -> None:
        assert self.watch is not None
        self.watch.take_pictures(named_roots(), known_functions())

    def renew(self) -> bool:
        return self._crew.renew()

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        super().start(reactor, deliver)
        if self._log is not None:  # they were forked early
            self._crew.attach(reactor)

    def close(self) -> None:
        super().close()
        self._crew.close()
        if self._log is not None:
            self._log.close()
            self._log = None

    # Sending

    def run(self, batch: Sequence[Work]) -> None:
        if self._log is None and self._reactor is not None:
            # In a context of the program, with all that it has set; not in the loop's.
            batch[0].call.context.copy().run(self.fork)
            self._crew.attach(self._reactor)
        super().run(batch)

    def _assign(self, worker: WorkerConnection, work: Work) -> Refusal | None:
        refusal = super()._assign(worker, work)
        if refusal is None:
            self._unsent = True
            if self._faults is not None:
                worker.worn = self._faults.wears_out()
        return refusal

    def _flush(self) -> None:
        if self._unsent:
            self._send()

    def _send(self) -> None:
        """Send calls, and to idle replicas what they miss, if that is much."""
        if self._log is None:  # closed meanwhile
            return
        dropped = self._log.take_dropped()
        for worker in self._workers:
            worker.dropped.extend(dropped)
            worker.flush()
        self._log.trim(min((one.version for one in self._workers), default=0))
        self._unsent = not all(worker.ready for worker in self._workers)

    def _flush_soon(self) -> None:
        """Bring idle replicas up to date although no call goes to them."""
        if self._reactor is not None:
            self._reactor.call_later(0, self._send)

    def _look_around(self) -> None:
        self._crew.look()

    # Receiving

    def _receive(self, worker: WorkerConnection) -> None:
        started = time.thread_time()
        ended = False
        try:
            arrived = worker.receive()
            spent = (time.thread_time() - started) / max(len(arrived), 1)
            for number, lost_seconds, answer in arrived:
                if number == GREETING:
                    worker.greet(answer)
                    self._unsent = True
                    self._crew.welcome(worker)
                else:
                    self._take(worker, number, answer, lost_seconds, spent)
                if worker.lost:
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
        if worker.most_calls is not None:
            self._crew.relieve(worker)
        if worker.retiring or worker.worn:
            self._crew.dismiss_retired()
        self.feed()

    def _take(
        self,
        worker: WorkerConnection,
        number: int,
        answer: object,
        lost_seconds: float,
        spent: float,
    ) -> None:
        checked = worker.check(number, answer)
        if isinstance(checked, Outcome):
            self._pace.note(lost_seconds, checked.body_seconds)
            self.stretch = self._pace.stretch
        spoilt = isinstance(checked, Refusal) and checked.spoilt
        worker.retiring = worker.retiring or spoilt
        self.settle(worker, number, checked, spent)
        if spoilt and not worker.lost:  # it ends now; its copy must not be used again
            worker.close()
            self._crew.remove(worker)
            self._let_go(worker)

    def _bury(self, worker: WorkerConnection) -> None:
        """Replace a worker that has ended and run its calls elsewhere."""
        self._crew.read_reports()
        worker.close()
        death = worker.death()
        known = worker.pid == 0 or (self._crew.complained and not worker.ready)
        self._crew.remove(worker)
        again = self.lose(worker, death)
        if not known:  # that it cannot even start is no news
            _log.warning(
                "worker %d died; %s; %s",
                worker.pid,
                self._what_follows(again),
                death.describe(),
            )
        self.feed()

    def _what_follows(self, again: Sequence[Work]) -> str:
        if not again:
            complete = self._crew.is_complete
            return "it was replaced" if complete else "it was not replaced"
        where = "another worker" if self._workers else "the loop thread"
        return f"its call runs again on {where} ({again[0].call.label})"
