"""The threads executor: attempts run in threads of this process, and copy nothing.

It is made for Pythons without a global lock; with it, handlers that wait or compute in
C gain. Attempts read the store itself. They need no lock for that: what they may find
there never changes, as long as a snapshot is open that is not newer than theirs, which
that of their assignment is.

Worker threads and the loop thread meet at an `Exchange`: answers go one way, a version
the other. Attempts read the version that the loop thread has published there last,
which it does between callbacks only. The newest version would be wrong: unmarked code
on the loop thread commits each of its writes at once, so that the newest version may
have half of what one callback writes.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.executors.plea import Plea
from txloop.executors.pool import Pool
from txloop.executors.refusing import guard_loop
from txloop.executors.threads.worker import WorkerThread
from txloop.stm.callables import weakly
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.protocol import Deliver, Reactor, Work
    from txloop.executors.worker_protocol import Limits
    from txloop.stm.types import Answer

__all__ = ["Exchange", "Posted", "ThreadsExecutor"]

Posted = tuple[WorkerThread, int, "Answer | Plea"]
"""Whose, the number of the work, and the answer, or what is asked for before."""

_log = logging.getLogger("txloop")


class Exchange:
    """One for all worker threads of an executor; used by any thread.

    Attributes:
        version: What attempts read that begin now; set by the loop thread.
        ring: Called on a worker's thread when something was posted, once until it is
            collected; set by the loop thread, None where there is no loop.
    """

    def __init__(self) -> None:
        self.version = committed.version
        self.ring: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._posted: list[Posted] = []  # guarded by the lock

    def newest(self) -> int:
        """Return what attempts read that read something first now; on any thread."""
        return self.version

    def post(self, worker: WorkerThread, number: int, what: Answer | Plea) -> None:
        """Leave something for the loop thread; on a worker's thread."""
        with self._lock:
            self._posted.append((worker, number, what))
            ring = self.ring if len(self._posted) == 1 else None
        if ring is not None:
            ring()

    def collect(self) -> list[Posted]:
        """Return what was posted since the last time, in that order."""
        with self._lock:
            posted, self._posted = self._posted, []
            return posted


class ThreadsExecutor(Pool[WorkerThread]):
    """Threads behind one queue; owned by the loop thread."""

    name = "threads"

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without threads, which `start` starts; see `Pool`."""
        super().__init__(workers, limits, clock)
        self._exchange = Exchange()
        self._posted: deque[Posted] = deque()  # collected, and not yet settled
        self._complained = False
        self._process = os.getpid()
        self._end_others: Callable[[], object] | None = None

    # Starting and ending

    def accompany(self, end: Callable[[], object]) -> None:
        """Have `end` end other threads when the workers are ended, and before them."""
        self._end_others = end

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        super().start(reactor, deliver)
        guard_loop(reactor)
        self._exchange.ring = weakly(self._ring)
        self._fill()

    def _fill(self) -> None:
        """Start the threads that are missing, as far as that is possible."""
        taken = {worker.place for worker in self._workers}
        for place in range(1, self.workers + 1):
            if place not in taken and self._reactor is not None:
                self._start_thread(place, self._reactor)

    def _start_thread(self, place: int, reactor: Reactor) -> None:
        worker = WorkerThread(place, self._exchange, reactor, self.clock)
        try:
            worker.start()
        except RuntimeError as error:
            if not self._complained:
                self._complained = True
                left = len(self._workers)
                rest = f"{left} are left" if left else "all runs on the loop thread"
                _log.error("no worker can be started (%s); %s", error, rest)
        else:
            self._workers.append(worker)

    def close(self) -> None:
        if self._end_others is not None:
            self._end_others()
        self._posted.clear()
        if self._process == os.getpid():  # in a forked copy there are no threads
            self._exchange.ring = None
            self._end_threads()
        super().close()  # only now, or they would read what is trimmed
        self._workers.clear()

    def _end_threads(self) -> None:
        running = [(worker, worker.running()) for worker in self._workers]
        for worker in self._workers:
            worker.close()
        deadline = time.monotonic() + self.limits.grace_seconds
        for worker in self._workers:
            worker.thread.join(max(0.0, deadline - time.monotonic()))
        labels = {
            run.assignment.work.call.label
            for worker, run in running
            if run is not None and worker.thread.is_alive()
        }
        if labels:
            _log.warning(
                "a thread cannot be ended: when the loop was closed, calls went on of "
                "%s; they have no effect",
                ", ".join(sorted(labels)),
            )

    def _let_go(self, worker: WorkerThread) -> list[Work]:
        self._workers.remove(worker)
        self._fill()
        return super()._let_go(worker)

    # Sending

    def run(self, batch: Sequence[Work]) -> None:
        if len(self._workers) < self.workers:
            self._fill()
        super().run(batch)

    def feed(self) -> None:
        self._exchange.version = committed.version
        if not self._queue:  # nothing else ever waits to be sent
            self._look_after_those_ahead()
        # In the middle of many answers, only if a worker would have nothing to do.
        elif not self._posted or any(one.starves for one in self._workers):
            super().feed()

    def take_back(self) -> int | None:
        return None  # its workers share this thread's memory: nothing is packed

    # Answers

    def _ring(self) -> None:
        """Wake the loop thread; called on a worker's."""
        reactor = self._reactor
        if reactor is not None:
            with suppress(RuntimeError):  # the loop was closed without telling us
                reactor.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        started = time.thread_time()
        posted = self._exchange.collect()
        self._posted.extend(posted)
        spent = (time.thread_time() - started) / max(len(posted), 1)
        try:
            while self._posted:
                worker, number, what = self._posted.popleft()
                if isinstance(what, Plea):
                    self.hear(worker, number, what)
                elif number in worker.assigned:  # it has not been closed
                    self.settle(worker, number, what, spent)
        finally:
            if self._posted and self._reactor is not None:  # an effect broke off
                self._reactor.call_later(0, self._collect)
        self.feed()
