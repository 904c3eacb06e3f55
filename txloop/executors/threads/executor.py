"""The threads executor: attempts run in threads of this process, and copy nothing.

It is made for Pythons without a global lock; with it, handlers that wait or compute in
C gain. Attempts read the store itself. They need no lock for that: what they may find
there never changes, as long as a snapshot is open that is not newer than theirs. While
there is anything to do, the executor keeps one open for all of them.

A thread cannot be ended. One whose call takes too long is left alone with it: its
answer is ignored, shared state is closed to it, and another thread takes its place.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import os
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.errors import TxTimeoutError
from txloop.executors.codec.frames import UNPICKLABLE
from txloop.executors.protocol import Running, available_cores
from txloop.executors.refusing import guard_loop
from txloop.executors.threads.handover import Assignment, Handover
from txloop.executors.threads.isolation import isolated
from txloop.executors.threads.worker import WorkerThread
from txloop.stm.callables import weakly
from txloop.stm.measuring import adjusted
from txloop.stm.store import committed
from txloop.stm.types import Answer, Call, Outcome, Refusal
from txloop.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.plea import Plea
    from txloop.executors.protocol import Deliver, Reactor, Work

__all__ = ["ThreadsExecutor"]

LOOK_SECONDS = 0.25
"""How often, at least, calls with a timeout are looked at."""

GRACE_SECONDS = 1.0
"""How long the end waits for calls that still run."""

_log = logging.getLogger("txloop")


class ThreadsExecutor:
    """Threads behind one queue; owned by the loop thread."""

    name = "threads"
    forks = False
    parallel = True
    stretch = 1.0
    watch: Watch | None

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()
        self.transport_seconds = 0.0
        self.watch = Watch(copies=False)
        self._handover = Handover(self.workers)
        self._threads: dict[int, WorkerThread] = {}  # by number
        self._settling: deque[tuple[Assignment, Answer]] = deque()
        self._spent_seconds: dict[int, float] = {}  # by attempt number
        self._timeouts: dict[int, float] = {}  # in seconds, by attempt number
        self._looking = False
        self._complained = False
        self._floor: int | None = None  # the snapshot that is kept open for all
        self._process = os.getpid()
        self._reactor: Reactor | None = None
        self._deliver: Deliver | None = None

    # Starting and ending

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._reactor = reactor
        self._deliver = deliver
        guard_loop(reactor)
        self._handover.ring = weakly(self._ring)
        self._fill()

    def _fill(self) -> None:
        """Start the threads that are missing, as far as that is possible."""
        for number in range(1, self.workers + 1):
            if number not in self._threads and self._reactor is not None:
                self._start_thread(number, self._reactor)

    def _start_thread(self, number: int, reactor: Reactor) -> None:
        thread = WorkerThread(number, self._handover, reactor)
        try:
            thread.start()
        except RuntimeError as error:
            self._threads.pop(number, None)
            if not self._complained:
                self._complained = True
                left = len(self._threads)
                rest = f"{left} are left" if left else "all runs on the loop thread"
                _log.error("no worker can be started (%s); %s", error, rest)
        else:
            self._threads[number] = thread

    def close(self) -> None:
        self._reactor = self._deliver = None
        self._settling.clear()
        self._spent_seconds.clear()
        self._timeouts.clear()
        if self._process == os.getpid():  # in a forked copy there are no threads
            self._join(self._handover.close())
        self._threads.clear()
        self._hold(None)

    def _join(self, left: Sequence[Assignment]) -> None:
        deadline = time.monotonic() + GRACE_SECONDS
        for thread in self._threads.values():
            thread.join(max(0.0, deadline - time.monotonic()))
        alive = {n for n, thread in self._threads.items() if thread.is_alive()}
        labels = {one.work.call.label for one in left if one.worker in alive}
        if labels:
            _log.warning(
                "a thread cannot be ended: when the loop was closed, calls went on of "
                "%s; they have no effect",
                ", ".join(sorted(labels)),
            )

    def renew(self) -> bool:
        return True

    # Sending

    def run(self, batch: Sequence[Work]) -> None:
        if len(self._threads) < self.workers:
            self._fill()
        if self._floor is None:
            self._hold(committed.version)
        ready = [sent for work in batch if (sent := self._prepared(work))]
        self._handover.put(ready)
        self._look_later()

    def _prepared(self, work: Work) -> Work | None:
        """Return work as a worker may take it; None if it was refused."""
        started = time.thread_time()
        call = _isolated(work.call)
        if not self._threads:
            call = Refusal("there are no workers", lasting=False, warn=False)
        if isinstance(call, Refusal):
            self._tell(work.number, call)  # it may run here and now
            return None
        if call.timeout_seconds is not None:
            self._timeouts[work.number] = call.timeout_seconds
        self._spent_seconds[work.number] = time.thread_time() - started
        return work if call is work.call else dataclasses.replace(work, call=call)

    def feed(self) -> None:
        self._handover.settled(len(self._settling))

    def withdraw(self, number: int) -> bool:
        withdrawn = self._handover.withdraw(number)
        if withdrawn:
            self._forget(number)
            self._release()
        return withdrawn

    def take_back(self) -> int | None:
        return None  # its workers share this thread's memory: nothing is packed

    def running(self) -> list[Running]:
        return [
            Running(one.work.number, one.worker, round(one.since * 1e9))
            for one in self._handover.running()
        ]

    # Answers

    def _ring(self) -> None:
        """Wake the loop thread; called on a worker's."""
        reactor = self._reactor
        if reactor is not None:
            with suppress(RuntimeError):  # the loop was closed, and nobody told us
                reactor.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        started = time.thread_time()
        answers = self._handover.collect()
        self._settling.extend(answers)
        spent = (time.thread_time() - started) / max(len(answers), 1)
        for assignment, _ in answers:
            # A worker spends as much at its end as we do at ours.
            self._note_transport(2 * (spent + self._forget(assignment.work.number)))
        try:
            while self._settling:
                assignment, answer = self._settling.popleft()
                self._tell(assignment.work.number, answer)
        finally:
            if self._settling and self._reactor is not None:  # an effect broke off
                self._reactor.call_later(0, self._collect)
        for assignment, plea in self._handover.pleas():
            self._hear(assignment, plea)
        self.feed()
        self._release()

    def _hear(self, assignment: Assignment, plea: Plea) -> None:
        if self._deliver is None or assignment.condemned:
            plea.refuse()
            return
        self._deliver(assignment.work.number, plea)
        if plea.granted:
            self._forget(assignment.work.number)

    def _tell(self, number: int, answer: Answer) -> None:
        if self._deliver is None:  # an answer before this one has closed us
            return
        if not isinstance(answer, Refusal):
            committed.open_snapshot(answer.snapshot)
        self._deliver(number, answer)

    def _note_transport(self, seconds: float) -> None:
        self.transport_seconds = adjusted(self.transport_seconds, seconds)

    def _forget(self, number: int) -> float:
        """Forget what was sent; return the seconds that this has cost."""
        self._timeouts.pop(number, None)
        return self._spent_seconds.pop(number, 0.0)

    # Versions that may be read

    def _hold(self, version: int | None) -> None:
        """Keep a version and all newer ones readable, but none that is older."""
        held, self._floor = self._floor, version
        if version is not None:
            committed.open_snapshot(version)
        if held is not None:
            committed.close_snapshot(held)

    def _release(self) -> None:
        """Let go of the versions that nobody will read any more."""
        versions = [one.snapshot for one, _ in self._settling]
        oldest = self._handover.oldest()
        if oldest is not None:
            versions.append(oldest)
        version = min(versions, default=None)
        if version != self._floor:
            self._hold(version)

    # Timeouts

    def _look_later(self) -> None:
        if self._timeouts and not self._looking and self._reactor is not None:
            self._looking = True
            self._reactor.call_later(self._seconds_until_look(), self._look)

    def _seconds_until_look(self) -> float:
        """Return when a call could be late, if it begins now or runs already."""
        now = time.monotonic()
        left = [
            self._timeouts[one.work.number] - (now - one.since)
            for one in self._handover.running()
            if one.work.number in self._timeouts
        ]
        return max(0.001, min(LOOK_SECONDS, *self._timeouts.values(), *left))

    def _look(self) -> None:
        """Give up the calls that run for too long."""
        self._looking = False
        for assignment in self._handover.running():
            seconds = time.monotonic() - assignment.since
            if seconds >= self._timeouts.get(assignment.work.number, math.inf):
                self._time_out(assignment, seconds)
        self._release()
        self._look_later()

    def _time_out(self, assignment: Assignment, seconds: float) -> None:
        if not self._handover.condemn(assignment):
            return  # it has answered just now
        call, number = assignment.work.call, assignment.work.number
        message = f"{call.label} ran for more than {call.timeout_seconds:g} s"
        self._forget(number)
        thread = self._threads.pop(assignment.worker, None)
        frames = thread.frames() if thread is not None else ""
        _log.warning(
            "%s; a thread cannot be ended: it goes on without effect, and another one "
            "has taken its place%s",
            message,
            f"; it is at\n{frames}" if frames else "",
        )
        self._fill()
        error = TxTimeoutError(f"{message}; its thread goes on, without effect")
        self._tell(
            number, Outcome(committed.version, error=error, body_seconds=seconds)
        )
        self.feed()


def _isolated(call: Call) -> Call | Refusal:
    try:
        return isolated(call)
    except UNPICKLABLE as error:
        return Refusal(f"it does not pickle ({error})")
