"""A worker thread: it takes calls from the handover, runs them, and gives answers."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import sys
import threading
from typing import TYPE_CHECKING

from txloop.errors import TxInternalError
from txloop.executors.plea import Plea
from txloop.executors.protocol import NICENESS, gil_enabled
from txloop.executors.threads.isolation import opened
from txloop.stm.arithmetic import numpy_state, set_numpy_state
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal
from txloop.watch import GivenWatch, roots_of
from txloop.watch.outside import guard

if TYPE_CHECKING:
    from txloop.executors.protocol import Reactor
    from txloop.executors.threads.handover import Assignment, Handover
    from txloop.stm.arithmetic import NumpyState
    from txloop.stm.attempt import Attempt
    from txloop.stm.types import Answer, Call

__all__ = ["WorkerThread"]

_MOST_FRAMES = 20


class WorkerThread(threading.Thread):
    """One worker; started on the loop thread, it ends by itself when it is told to.

    As long as it lives, containers show no views: see `Store.readers`.
    """

    def __init__(self, number: int, handover: Handover, reactor: Reactor) -> None:
        """Take its number, from 1, and where it gets its calls.

        Args:
            number: Told in traces.
            handover: Where calls come from and answers go to.
            reactor: The running event loop, the current one of this thread too.
        """
        # A daemon: at the end of the program nobody waits for what cannot be ended.
        super().__init__(name=f"txloop worker {number}", daemon=True)
        self._number = number
        self._handover = handover
        self._reactor = reactor
        self._given_watch = GivenWatch()
        self._numpy: NumpyState | None = None

    def start(self) -> None:
        """Start it.

        Raises:
            RuntimeError: if there can be no more threads.
        """
        committed.readers.add(self)
        committed.forget_views()
        self._numpy = numpy_state()
        try:
            super().start()
        except BaseException:
            committed.readers.discard(self)
            raise

    def run(self) -> None:
        """Serve until there are no more calls."""
        # From Python 3.14 on a thread may begin in a copy of its starter's context.
        contextvars.Context().run(self._serve)

    def frames(self) -> str:
        """Return what it runs just now, innermost first; "" where nobody can tell."""
        if not gil_enabled():
            return ""  # a running thread's frames may vanish under the reader's hands
        frame = sys._current_frames().get(self.ident or 0)
        lines: list[str] = []
        while frame is not None and len(lines) < _MOST_FRAMES:
            code = frame.f_code
            if code.co_filename == run_attempt.__code__.co_filename:
                break
            place = f'File "{code.co_filename}", line {frame.f_lineno}'
            lines.append(f"  {place} in {code.co_name}")
            frame = frame.f_back
        return "\n".join(lines)

    def _serve(self) -> None:
        set_numpy_state(self._numpy)  # before numpy 2.0, that of each thread
        # The running loop is hidden from transactions; this is for what they leave
        # behind, such as finalizers, which may ask for the current one.
        if isinstance(self._reactor, asyncio.AbstractEventLoop):
            asyncio.set_event_loop(self._reactor)
        if sys.platform == "linux" and not gil_enabled():
            os.nice(NICENESS)  # on Linux, of this thread alone
        exchange, number = self._handover.exchange, self._number
        try:
            assignment = exchange(number, None, None)
            while assignment is not None:
                assignment = exchange(number, assignment, self._answer(assignment))
        finally:
            committed.readers.discard(self)

    def _answer(self, assignment: Assignment) -> Answer:
        call = opened(assignment.work.call)
        if isinstance(call, Refusal):
            return call
        if call.guarded:
            guard()
        run = functools.partial(self._attempt, assignment, call)
        try:
            if not call.watched:
                return run()
            key = roots_of(call.function, call.args).key
            return self._given_watch.run(key, call, run)
        except BaseException as error:  # not the program's: that is an answer
            failure = TxInternalError(f"a worker failed to run {call.label}")
            failure.__cause__ = error
            return Outcome(assignment.snapshot, error=failure)

    def _attempt(self, assignment: Assignment, call: Call) -> Answer:
        try:
            return run_attempt(
                call,
                speculative=True,
                keep_reads=False,
                worker=self._number,
                snapshot=assignment.snapshot,
                on_begin=functools.partial(self._begin, assignment),
            )
        finally:
            if assignment.attempt is not None:
                assignment.attempt.plead = None  # leave no cycle

    def _begin(self, assignment: Assignment, attempt: Attempt) -> None:
        if assignment.work.call.guarded:
            attempt.plead = functools.partial(self._plead, assignment)
        self._handover.begin(assignment, attempt)

    def _plead(self, assignment: Assignment, attempt: Attempt, reason: str) -> bool:
        """Ask the loop thread whether an attempt may act; return whether it may.

        The loop is not hidden from it any more: its thread stands still.
        """
        if not self._handover.plead(assignment, Plea(attempt, reason)):
            return False
        attempt.forget_views()
        if isinstance(self._reactor, asyncio.AbstractEventLoop):
            asyncio._set_running_loop(self._reactor)
        return True
