"""The processes executor: attempts run in forked workers, which share memory with us.

What it adds to the pool is that workers have to be made and may die, and that each has
a replica of the store.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools
import logging
import time
from typing import TYPE_CHECKING, Any, Protocol

from txloop.executors.codec.contexts import Base
from txloop.executors.codec.frames import GarbledError
from txloop.executors.codec.plain_values import agree_on_kinds
from txloop.executors.faults import faults_on_purpose
from txloop.executors.pool import Pool
from txloop.executors.processes.connection import WorkerConnection
from txloop.executors.processes.crew import ForkedCrew
from txloop.executors.processes.feed import GREETING, RENEW
from txloop.executors.processes.replication import DeltaLog
from txloop.executors.processes.worker import run_worker
from txloop.executors.protocol import available_cores
from txloop.stm.callables import weakly
from txloop.stm.cell_names import named_roots
from txloop.stm.measuring import Pace
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal
from txloop.watch import known_functions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.crew import Crew, ProcessStats
    from txloop.executors.processes.supervision import Death
    from txloop.executors.protocol import Deliver, Reactor, Work
    from txloop.executors.worker_protocol import Limits

__all__ = ["Companion", "ProcessesExecutor"]

_log = logging.getLogger("txloop")

_REPLACED = "it was replaced"


class Companion(Protocol):
    """Others that are forked when workers are, and have replicas, too."""

    def fork(self, log: DeltaLog) -> None:
        """Have them forked; `log` has what their replicas miss."""

    def renew(self) -> bool:
        """Have others forked in their place; tell whether that was possible."""

    def versions(self) -> Sequence[int]:
        """Return which versions their replicas have."""

    def note_dropped(self, numbers: Sequence[int]) -> None:
        """Note the numbers of containers that have died, for each replica."""

    def close(self) -> None:
        """End them."""


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
        """Begin without workers, which `fork` makes; see `Pool`."""
        super().__init__(workers, limits, clock)
        self._base = Base()
        self._crew: Crew[Any] = self._new_crew()
        self._workers = self._crew.workers
        self.tally = self._crew.tally
        self._companion: Companion | None = None
        self._most_for_medium = max(1, available_cores() - 1)
        self._log: DeltaLog | None = None
        self._unsent = False  # whether a worker may have calls that were not sent
        self._faults = faults_on_purpose("processes")
        self._pace = Pace()

    def _new_crew(self) -> Crew[Any]:
        return ForkedCrew(
            self.workers,
            functools.partial(run_worker, base=self._base),
            weakly(self._receive),
            weakly(self._bury),
            weakly(self.feed),
            weakly(self._before_fork),
            functools.partial(
                WorkerConnection,
                base=self._base,
                limits=self.limits,
                clock=self.clock,
            ),
            self.limits,
        )

    # Starting and ending

    @property
    def most_calls(self) -> int | None:
        """After how many calls a worker is replaced; None for never."""
        return self._crew.most_calls

    def relieve_after(self, most_calls: int) -> None:
        """Have workers replaced after `most_calls`; before they are forked."""
        self._crew.most_calls = most_calls

    def fork(self) -> None:
        """Fork the spawner and ask it for the workers, before there is a loop.

        Workers inherit the current context.
        """
        if self._log is None:
            self._base.capture(contextvars.copy_context())
            self._log = DeltaLog(committed, self._flush_soon)
            agree_on_kinds()
            self._crew.start(self._log)
            if self._companion is not None:
                self._companion.fork(self._log)

    def accompany(self, companion: Companion) -> None:
        """Have others forked whenever workers are, from the same state; and now."""
        self._companion = companion
        if self._log is not None:
            self._crew.renew()
            companion.fork(self._log)
            return
        contextvars.copy_context().run(self.fork)
        if self._reactor is not None:
            self._crew.attach(self._reactor)

    def _before_fork(self) -> None:
        assert self.watch is not None
        self.watch.take_pictures(named_roots(), known_functions())

    def renew(self) -> bool:
        if not self._crew.renew():
            return False
        return self._companion is None or self._companion.renew()

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        super().start(reactor, deliver)
        if self._log is not None:  # they were forked early
            self._crew.attach(reactor)

    def close(self) -> None:
        super().close()
        if self._companion is not None:
            self._companion.close()
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
        if self._companion is not None:
            self._companion.note_dropped(dropped)
        self.trim_log()
        self._unsent = not all(worker.ready for worker in self._workers)

    def trim_log(self) -> None:
        """Let go of the commits that all replicas have been sent."""
        if self._log is not None:
            versions = [worker.version for worker in self._workers]
            if self._companion is not None:
                versions += self._companion.versions()
            self._log.trim(min(versions, default=0))

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
                    # Those that it follows have left, as a rule: a log has a thread
                    # for each place.
                    worker.place = min(worker.place, self._crew.free_place())
                elif number == RENEW:
                    worker.renew()
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

    def _describe(self, worker: WorkerConnection) -> ProcessStats:
        found = super()._describe(worker)
        state = found.state
        if not worker.ready:
            state = "starts"
        elif state == "idle" and not worker.open:
            state = "leaves"
        return dataclasses.replace(found, pid=worker.pid, state=state)

    def _bury(self, worker: WorkerConnection) -> None:
        """Replace a worker that has ended and run its calls elsewhere."""
        self._crew.read_reports()
        worker.close()
        death = worker.death()
        known = worker.excused or (self._crew.complained and not worker.ready)
        self._crew.remove(worker)
        again = self.lose(worker, death)
        self.tally.deaths += not worker.timed_out
        if not known:  # that it cannot even start is no news
            _log.warning("%s", self._tell_end(worker, death, again))
        self.feed()

    def _tell_end(
        self, worker: WorkerConnection, death: Death, again: Sequence[Work]
    ) -> str:
        follows = self._what_follows(again)
        if not worker.timed_out:
            return f"worker {worker} died; {follows}; {death.describe()}"
        if follows == _REPLACED:
            return death.describe_timeout(f"worker {worker} was killed and replaced")
        return death.describe_timeout(f"worker {worker} was killed; {follows}")

    def _what_follows(self, again: Sequence[Work]) -> str:
        if not again:
            return _REPLACED if self._crew.is_complete else "it was not replaced"
        where = "another worker" if self._workers else "the loop thread"
        return f"its call runs again on {where} ({again[0].call.label})"
