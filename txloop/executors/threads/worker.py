"""A worker thread: the loop thread's end of it, and what it does.

The thread takes its next call by itself from those that it was offered. So it does not
wait for the loop thread, which may be busy just then, as long as something was sent
ahead. `Exchange` is where it leaves its answers.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import os
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from txloop.errors import TxInternalError
from txloop.executors.codec.frames import UNPICKLABLE
from txloop.executors.debugging import lines_of
from txloop.executors.plea import Plea
from txloop.executors.protocol import NICENESS
from txloop.executors.threads.isolation import isolated, opened
from txloop.executors.worker_protocol import Run
from txloop.stm.attempt import make_current
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled
from txloop.stm.types import Outcome, Refusal
from txloop.stm.variables import numpy_state, set_numpy_state
from txloop.watch import GivenWatch, roots_of
from txloop.watch.outside import guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.protocol import Reactor
    from txloop.executors.threads.executor import Exchange
    from txloop.executors.worker_protocol import Assignment
    from txloop.stm.attempt import Attempt
    from txloop.stm.types import Answer, Call
    from txloop.stm.variables import NumpyState

__all__ = ["WorkerThread"]

_log = logging.getLogger("txloop")


class WorkerThread:
    """A `Worker` that is a thread; as long as it lives, containers show no views.

    A thread cannot be ended. One that is cancelled goes on without effect: its answer
    is ignored, shared state is closed to it, and it leaves when its call has ended.

    Its lock guards the fields below "Shared". It is held for moments only, and nothing
    of the program runs under it.

    Attributes:
        thread: What runs.
    """

    may_repeat = False  # its runs share the program's plain objects
    needs_look = False

    def __init__(
        self,
        place: int,
        exchange: Exchange,
        reactor: Reactor,
        clock: Callable[[], float],
    ) -> None:
        """Make the thread, which `start` starts.

        Args:
            place: Its number, from 1.
            exchange: Where it leaves answers.
            reactor: The running event loop, the current one of this thread too.
            clock: Tells the time, in seconds.
        """
        self.place = place
        self.assigned: dict[int, Assignment] = {}
        # A daemon: the end of the program does not wait for what cannot be ended.
        name = f"txloop worker {place}"
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._exchange = exchange
        self._reactor = reactor
        self._clock = clock
        self._given_watch = GivenWatch()
        self._numpy: NumpyState | None = None
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._lock = threading.Lock()
        # Shared:
        self._waiting: dict[int, tuple[Assignment, Call]] = {}
        self._idle = False  # it waits at the bell, and will not be woken yet
        self._now: Run | None = None
        self._attempt: Attempt | None = None
        self._plea: Plea | None = None
        self._cancelled = False

    # On the loop thread

    def start(self) -> None:
        """Start it.

        Raises:
            RuntimeError: if there can be no more threads.
        """
        committed.readers.add(self)
        committed.forget_views()
        self._numpy = numpy_state()
        try:
            self.thread.start()
        except BaseException:
            committed.readers.discard(self)
            raise

    @property
    def open(self) -> bool:
        return not self._cancelled

    @property
    def lost(self) -> bool:
        return self._cancelled

    @property
    def starves(self) -> bool:
        """Whether nothing waits behind what it runs."""
        return not self._waiting

    def running(self) -> Run | None:
        return self._now

    def offer(self, assignment: Assignment) -> Refusal | None:
        try:
            call = isolated(assignment.work.call)
        except UNPICKLABLE as error:
            return Refusal(f"it does not pickle ({error})")
        number = assignment.work.number
        with self._lock:
            self._waiting[number] = assignment, call
        return None

    def flush(self) -> None:
        # To wake it takes long, so that is done once for all that it was offered.
        # It looks for calls before it becomes idle: it is, or has seen the last one.
        if self._idle and self._waiting:
            self._idle = False
            self._bell.put(None)

    def take_back(self, number: int) -> bool:
        with self._lock:
            return self._waiting.pop(number, None) is not None

    def cancel(self, assignment: Assignment, reason: str) -> str | None:
        with self._lock:
            if self._now is None or self._now.assignment is not assignment:
                return None  # it has answered just now
            self._cancel()
        frames = self._frames()
        _log.warning(
            "%s; a thread cannot be ended: it goes on without effect, and another one "
            "has taken its place%s",
            reason,
            f"; it is at\n{frames}" if frames else "",
        )
        return "its thread goes on, without effect"

    def look(self) -> None:
        pass  # if it ends, the program does

    def close(self) -> None:
        with self._lock:
            self._cancel()

    def _frames(self) -> str:
        """Return what it runs just now, innermost first; "" if that is unknown."""
        if not gil_enabled():
            return ""  # a running thread's frames may vanish under the reader's hands
        return lines_of(sys._current_frames().get(self.thread.ident or 0))

    def _cancel(self) -> None:
        """Let it leave; under the lock."""
        self._cancelled = True
        self._waiting.clear()
        if self._attempt is not None:
            self._attempt.condemn()
        if self._plea is not None:
            self._plea.refuse()
        self._bell.put(None)  # or it would wait for a call

    # On the thread

    def _run(self) -> None:
        # From Python 3.14 on a thread may begin in a copy of its starter's context.
        contextvars.Context().run(self._serve)

    def _serve(self) -> None:
        set_numpy_state(self._numpy)  # before numpy 2.0, that of each thread
        # The running loop is hidden from transactions; this is for what they leave
        # behind, such as finalizers, which may ask for the current one.
        if isinstance(self._reactor, asyncio.AbstractEventLoop):
            asyncio.set_event_loop(self._reactor)
        if sys.platform == "linux" and not gil_enabled():
            os.nice(NICENESS)  # on Linux, of this thread alone
        try:
            while (found := self._next()) is not None:
                assignment, call = found
                answer = self._answer(call, assignment)
                self._give(assignment.work.number, answer)
        finally:
            committed.readers.discard(self)

    def _next(self) -> tuple[Assignment, Call] | None:
        """Wait for the next call and return it; None if there will be none."""
        while True:
            with self._lock:
                if self._cancelled:
                    return None
                if self._waiting:
                    found = self._waiting.pop(next(iter(self._waiting)))
                    self._now = Run(found[0], self._clock())
                    return found
                self._idle = True
            self._bell.get()

    def _give(self, number: int, answer: Answer) -> None:
        with self._lock:
            plea, self._plea = self._plea, None
            self._now = self._attempt = None
            if plea is not None and plea.granted:
                plea.answer(answer)  # the loop thread waits for nothing else
                return
            if self._cancelled:
                return
            self._exchange.post(self, number, answer)

    def _answer(self, call: Call, assignment: Assignment) -> Answer:
        opened_call = opened(call)
        if isinstance(opened_call, Refusal):
            return opened_call
        call = opened_call
        if call.guarded:
            guard()
        late = assignment.work.late
        run = functools.partial(self._run_attempt, call, late)
        try:
            if not call.watched:
                return run()
            key = roots_of(call.function, call.args).key
            return self._given_watch.run(key, call, run)
        except BaseException as error:  # not the program's: that is an answer
            failure = TxInternalError(f"a worker failed to run {call.label}")
            failure.__cause__ = error
            return Outcome(assignment.snapshot, error=failure)

    def _run_attempt(self, call: Call, late: bool) -> Answer:
        begun: list[Attempt] = []
        try:
            return run_attempt(
                call,
                speculative=True,
                keep_reads=False,
                worker=self.place,
                snapshot=self._exchange.version,
                renew=self._exchange.newest if late else None,
                on_begin=functools.partial(self._begin, call, begun),
            )
        finally:
            if begun:
                begun[0].plead = None  # leave no cycle

    def _begin(self, call: Call, begun: list[Attempt], attempt: Attempt) -> None:
        begun.append(attempt)
        if call.guarded:
            attempt.plead = self._plead
        with self._lock:
            self._attempt = attempt
            if self._cancelled:
                attempt.condemn()

    def _plead(self, attempt: Attempt, reason: str) -> bool:
        """Ask the loop thread whether an attempt may act; return whether it may.

        The loop is not hidden from it any more: its thread stands still.
        """
        plea = Plea(attempt, reason)
        with self._lock:
            if self._cancelled or self._now is None:
                return False
            self._plea = plea
            number = self._now.assignment.work.number
            # It is not the attempt that uses the loop, which refuses attempts.
            make_current(None)
            self._exchange.post(self, number, plea)
            make_current(attempt)
        if not plea.wait():
            return False
        attempt.forget_views()
        if isinstance(self._reactor, asyncio.AbstractEventLoop):
            asyncio._set_running_loop(self._reactor)
        return True
