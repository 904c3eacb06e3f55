"""The short way: a call that runs on the loop thread where, and when, it is submitted.

Nothing can come between its start and its commit, so there is nothing to validate, no
round, no place to wait and no transaction to keep: the body runs, its writes are
installed, its result is handed over. Only if it retries is it made a transaction, which
waits as all do.

It is allowed where nothing has to be told of it and nothing is in between: no listener,
no barrier, no inevitable transaction, no effect that runs, no other in the order. The
table of `txloop.engine.machine` is the long way; `tests/model` runs both.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from txloop.engine.hub import Hub
from txloop.engine.stimuli import RanHere, RanShort, RunsHere
from txloop.stm.attempt import Attempt, current
from txloop.stm.measuring import WallTimer
from txloop.stm.run import run_body
from txloop.stm.store import committed

if TYPE_CHECKING:
    from txloop.engine.profile import Profile
    from txloop.engine.transaction import AsStock, Done, Transaction
    from txloop.stm.types import Ready

__all__ = ["ShortWay"]


class _Asked(NamedTuple):
    """A call that runs in the next iteration."""

    ready: Ready
    profile: Profile
    done: Done
    context: contextvars.Context
    since: float  # time.perf_counter
    as_stock: AsStock | None


class ShortWay(Hub):
    """The part of a dispatcher that runs calls at once, or in the next iteration.

    Used by the loop thread only.

    Attributes:
        thread_fronts: Whether threads of this process run attempts by themselves.
    """

    thread_fronts = False

    def __init__(self, hindered: bool, threads: bool) -> None:
        """Begin without any call.

        Args:
            hindered: Whether no call of this loop may go the short way.
            threads: Whether attempts run in threads of this process.
        """
        self._hindered = hindered
        self._threads = threads
        self._asked: deque[_Asked] = deque()  # for the next iteration
        self._asks = False  # whether that has been told of them

    def may_run_now(self, ordered: bool = False) -> bool:
        """Tell whether a call may go this way now."""
        turns = self.machine.turns
        return not (
            self._hindered
            or self.closed
            or self.listeners
            or self.effects.running
            or turns.inevitable is not None
            or (ordered and turns.in_order)
            or self.thread != threading.get_ident()
            or current() is not None
        )

    def submit_ready(
        self,
        ready: Ready,
        profile: Profile,
        done: Done,
        ordered: bool,
        spare_loop: bool = False,
    ) -> int:
        """Do as `submit`; before this returns, if the call may run now and is short.

        Args:
            ready: Makes the call, if it does not.
            profile: The record of its function.
            done: Takes the result.
            ordered: Whether it commits in order.
            spare_loop: Whether only what is short may run on this thread.

        Returns:
            The transaction's number, or 0 if it has ended already.
        """
        away = self.may_run_now(ordered)
        if not away or not self.placement.decide_stay(profile, True, spare_loop):
            number = self.submit(ready.call(), profile, done, away, spare_loop)
            if number:
                ready.goes_on(number)
            return number
        self.profiles.marked += 1
        return self._run_new(ready, profile, done, contextvars.copy_context())

    def ask(
        self,
        ready: Ready,
        profile: Profile,
        done: Done,
        as_stock: AsStock | None = None,
    ) -> None:
        """Have a call run in the next iteration: code of the program may run now.

        It commits in no order.

        Args:
            ready: Makes the call, if it does not run here.
            profile: The record of its function.
            done: Takes the result, but not what `as_stock` has done.
            as_stock: Runs it here, if nothing of it ever has to be undone.
        """
        if self.closed or self.listeners or self.thread != threading.get_ident():
            number = self.submit(ready.call(), profile, done)
            if number:
                ready.goes_on(number)
            return
        context = contextvars.copy_context()
        asked = _Asked(ready, profile, done, context, time.perf_counter(), as_stock)
        self._asked.append(asked)
        self._run_asked_soon()

    def _answer_asked(self) -> None:
        """Answer what was asked for: the loop is closed."""
        asked, self._asked = self._asked, deque()
        for one in asked:
            self.answer_closed(one.done, one.profile.label)

    def _run_asked_soon(self) -> None:
        """Have the loop call `_run_asked` in its next iteration, if there is need."""
        if self._asked and not self._asks:
            self._asks = True
            # In an empty context, as a round.
            self.reactor.call_soon(self._run_asked, context=contextvars.Context())

    def _run_asked(self) -> None:
        """Run what was asked for in the last iteration."""
        self._asks = False
        number = len(self._asked)
        try:
            for _ in range(number):
                if self._asked:  # none of them has closed the loop
                    self._begin_asked(self._asked.popleft(), alone=number == 1)
        finally:  # one of them may have been interrupted
            self._run_asked_soon()
        if self.machine.open:  # the long way: they need not wait any longer
            self.flush()

    def _begin_asked(self, one: _Asked, alone: bool) -> None:
        """Run one if it may go this way, and is worth it; else submit it."""
        if not one.ready.is_wanted():
            return
        if not self.may_run_now():
            self._submit_asked(one)
        elif self.placement.decide_stay(one.profile, alone):
            self.profiles.marked += 1
            queued_seconds = time.perf_counter() - one.since
            if one.as_stock is None or self._is_seen() or self.effects.waiting:
                ready, profile, done, context, *_ = one
                self._run_new(ready, profile, done, context, queued_seconds)
            else:
                one.profile.attempts += 1
                one.profile.inline += 1
                self._run_as_stock(one, one.as_stock, queued_seconds, queued_seconds)
        else:
            self._submit_asked(one, away=True)

    def _is_seen(self) -> bool:
        """Tell whether other threads may see what there is between two writes."""
        return self.thread_fronts or (self._threads and bool(self.machine.open))

    def _submit_asked(self, one: _Asked, away: bool = False) -> None:
        """Let one go the long way, with the context in which it was asked for."""
        submit, call = self.submit, one.context.run(one.ready.call)
        number = submit(
            call, one.profile, one.done, away, since=one.since, as_stock=one.as_stock
        )
        if number:
            one.ready.goes_on(number)

    def _run_new(
        self,
        ready: Ready,
        profile: Profile,
        done: Done,
        context: contextvars.Context,
        queued_seconds: float = 0.0,
    ) -> int:
        """Run one that is no transaction yet, and hardly ever becomes one.

        Returns:
            The transaction's number if it waits for a change now, else 0.
        """
        profile.attempts += 1
        profile.inline += 1
        attempt, value, error, seconds = self._run_body(ready, profile, context)
        if self.closed:  # by the body
            self.answer_closed(done, profile.label)
            self.drain()
            return 0
        if attempt.retrying:
            call = context.run(ready.call)
            transaction = self.new(call, profile, done)
            self.handle(RunsHere(transaction))
            self._wait_after(transaction, attempt, seconds)
            if transaction.number not in self.machine.open:
                return 0
            ready.goes_on(transaction.number)
            return transaction.number
        times = seconds, queued_seconds, queued_seconds
        self._finish(ready, profile, done, context, attempt, value, error, times)
        return 0

    def _run_as_stock(
        self,
        one: _Asked,
        as_stock: AsStock,
        queued_seconds: float,
        waited_seconds: float,
    ) -> None:
        """Run one without an attempt: what it writes stays, whatever becomes of it.

        All of that is one commit, where it can be, which grows write by write.
        """
        profile = one.profile
        timer, failed = profile.timer(), True
        version = committed.version
        # Nothing reads what is shared meanwhile, nor is told of it: see `_is_seen`.
        committed.join()
        try:
            if type(timer) is WallTimer:  # it is short for certain
                failed = one.context.run(as_stock)
            else:
                with self.placement.watching(profile):
                    failed = one.context.run(as_stock)
        finally:
            committed.part(for_good=True)
            if not self.closed:  # by it
                times = timer.seconds(), queued_seconds, waited_seconds
                self._note_short(one.ready, profile, failed, times)
                profile.note_writing(committed.version - version + committed.joined)
            if self.machine.open or self.effects.waiting:
                self.drain()

    def run_short(self, transaction: Transaction) -> bool:
        """Run one whose turn it is, if this way is open; return whether it was."""
        if not self.may_run_now():
            return False
        as_stock = transaction.as_stock
        if as_stock is None or self._is_seen() or self.effects.waiting:
            self._run_short(transaction)
            return True
        self.handle(RanShort(transaction))  # before: it cannot retry, nor be answered
        self.room.ended(transaction)
        call, since = transaction.call, transaction.since
        one = _Asked(
            *(call, transaction.profile, transaction.done),
            *(call.context, since, as_stock),
        )
        waited_seconds = time.perf_counter() - since
        self._run_as_stock(
            one, as_stock, transaction.queued_seconds or 0.0, waited_seconds
        )
        return True

    def _run_short(self, transaction: Transaction) -> None:
        """Run one whose turn it is, perhaps after it has waited for a change."""
        call, profile, done = transaction.call, transaction.profile, transaction.done
        context, waited = call.context.copy(), transaction.waited_seconds
        begun_seconds = time.perf_counter() - transaction.since
        attempt, value, error, seconds = self._run_body(call, profile, context, waited)
        if self.closed:  # by the body: it has been answered
            return
        if attempt.retrying:
            self._wait_after(transaction, attempt, seconds)
            return
        self.handle(RanShort(transaction))
        self.room.ended(transaction)
        times = seconds, transaction.queued_seconds or 0.0, begun_seconds
        self._finish(call, profile, done, context, attempt, value, error, times)

    def _run_body(
        self,
        ready: Ready,
        profile: Profile,
        context: contextvars.Context,
        waited_seconds: float = 0.0,
    ) -> tuple[Attempt, object, BaseException | None, float]:
        """Run a body; return the attempt, its result or error, and its seconds."""
        attempt = Attempt(committed.version, False, context)
        attempt.waited_seconds = waited_seconds
        timer = profile.timer()
        if type(timer) is WallTimer:  # it is short for certain
            value, error = context.run(run_body, attempt, ready)
        else:
            with self.placement.watching(profile):
                value, error = context.run(run_body, attempt, ready)
        return attempt, value, error, timer.seconds()

    def _wait_after(
        self, transaction: Transaction, attempt: Attempt, seconds: float
    ) -> None:
        """Let one wait for a change that has retried here."""
        self.holds.ran_here(transaction.profile, transaction.call)
        self.handle(RanHere(transaction, attempt.given_up(seconds)))

    def _finish(
        self,
        ready: Ready,
        profile: Profile,
        done: Done,
        context: contextvars.Context,
        attempt: Attempt,
        value: object,
        error: BaseException | None,
        times: tuple[float, float, float],
    ) -> None:
        """Commit what has run, and hand its result over; `times`: see `note_short`."""
        failed = error is not None or attempt.error_answered
        self._note_short(ready, profile, failed, times)
        profile.note_writing(len(attempt.writes))
        if attempt.writes:
            committed.install(attempt.written(), direct=False)
        effects = self.effects
        if attempt.effects or attempt.records or effects.waiting:
            # In the context that the function has left.
            outcome = context.run(attempt.outcome, value, error, 0.0)
            effects.add(outcome, done, profile.label)
        else:
            effects.deliver(done, value, error, profile.label)
        if self.machine.open or effects.waiting:
            self.drain()

    def _note_short(
        self,
        ready: Ready,
        profile: Profile,
        failed: bool,
        times: tuple[float, float, float],
    ) -> None:
        """Take note of a run here; `times`: see `Profile.note_short`."""
        self.holds.ran_here(profile, ready)
        seconds = times[0]
        profile.note_short(seconds, failed, *times[1:])
        if ready.timeout_seconds is not None and seconds > ready.timeout_seconds:
            self.report.overran(profile.label, seconds, ready.timeout_seconds)
