"""The dispatcher: takes calls, has attempts made, commits outcomes, runs effects.

It belongs to the loop thread and knows no Tornado. A transaction's way::

    submit --> round --> executor --> deliver --> settle --> commit --> effects, done
                 ^                       |           |
                 |                  Refusal: runs    | Conflict: again; after
                 +------ here <---- on this thread   | MOST_CONFLICTS inevitable
                                                     +--> executor

A function whose calls keep conflicting on one cell has them run one after another.
A transaction that retries leaves this way for the waiting room, until it is woken.
An **inevitable** transaction runs once more while all other commits wait. Only unmarked
code on the loop thread can still interfere; then it runs here, where nothing can.
"""

from __future__ import annotations

import contextvars
import dataclasses
import logging
import threading
from typing import TYPE_CHECKING, Protocol

from txloop.attempt import Attempt, current
from txloop.commit import decide, still_holds
from txloop.contention import Contention
from txloop.effects import EffectQueue
from txloop.errors import TxClosedError, TxThreadError
from txloop.executors.base import Executor, Reactor, run_here
from txloop.faults import faults_on_purpose
from txloop.flights import Flights
from txloop.holds import Holds
from txloop.journal import Journal
from txloop.outside import note_changes, outdated
from txloop.owner import claim, release
from txloop.pending import Done, Transaction
from txloop.placement import Placement
from txloop.plea import Plea
from txloop.profile import Profile, Profiles, Stats
from txloop.rounds import Rounds
from txloop.running import run_body
from txloop.store import committed
from txloop.turns import Turns
from txloop.types import Answer, Call, Conflict, Outcome, Refusal, Retry
from txloop.waiting import Timers, WaitingRoom
from txloop.weak import weakly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.events import Listener
    from txloop.executors.base import Running

__all__ = ["MOST_CONFLICTS", "Dispatcher", "Done"]

MOST_CONFLICTS = 3
"""After so many conflicts a transaction becomes inevitable."""

_log = logging.getLogger("txloop")

_HERE = Refusal("it is short", lasting=False, warn=False)


class DispatcherReactor(Timers, Reactor, Protocol):
    """What the dispatcher needs of the running event loop."""

    def is_closed(self) -> bool:
        """Tell whether it will never run again."""


class Dispatcher:
    """All transactions of one loop; used by that loop's thread only.

    Attributes:
        reactor: The running event loop.
        traces: Whether calls are traced.
    """

    def __init__(
        self,
        executor: Executor,
        reactor: DispatcherReactor,
        listeners: Sequence[Listener] = (),
        on_start: Callable[[], object] = lambda: None,
        max_queue: int | None = None,
        barrier: bool = False,
    ) -> None:
        """Take an executor, which is started by the first transaction.

        Args:
            executor: Where attempts run.
            reactor: The running event loop.
            listeners: Told what happens.
            on_start: Called just before the executor is started.
            max_queue: How many calls may wait for a worker; beyond it they are turned
                away, except those that commit in order. None for any number.
            barrier: Whether all of a round must have ended when the next one begins.
        """
        self.executor = executor
        self.listeners = list(listeners)
        self._journal = Journal(self.listeners, executor.parallel)
        self.profiles = Profiles(scanning=executor.parallel)
        self.reactor = reactor
        self._on_start = on_start
        self.started = False
        self._closed = False
        self._thread = 0  # that runs the loop, from the first transaction on
        self._transactions = 0
        self._rounds = Rounds(reactor, weakly(self.flush), barrier)
        self._open: dict[int, Transaction] = {}  # by transaction number
        again = weakly(self._run_again)
        self._room = WaitingRoom(committed, reactor, weakly(self._drain), again)
        self._turns = Turns()
        self._contention = Contention()
        self._holds = Holds(executor, self._journal, reactor)
        self._flights = Flights(executor, self._journal, self._contention, max_queue)
        self._faults = faults = faults_on_purpose("dispatcher")
        self._placement = Placement(executor, self._flights)
        self._effects = EffectQueue(faults)
        self._decide = decide if faults is None else faults.deciding(decide)
        if faults is not None:
            _log.warning("faults happen on purpose, TXLOOP_FAULTS says: %s", faults)
        self._draining = False
        self._helping = False
        self._unhindered = faults is None and not barrier
        self.traces = False

    def is_over(self) -> bool:
        """Tell whether it runs no more transactions."""
        return self._closed or self.reactor.is_closed()

    def stats(self) -> Stats:
        """Return what was done so far."""
        to_do = len(self._room), len(self._open), self._flights.queued
        return self.profiles.stats(self.executor, committed.version, *to_do)

    @property
    def pending(self) -> int:
        """The number of transactions that have not ended yet."""
        return len(self._open)

    @property
    def busy(self) -> int:
        """The number of those that do not wait for others."""
        return len(self._open) - self._room.patient

    @property
    def stuck(self) -> bool:
        """Whether all that is left waits, with no timeout, for what nobody may do."""
        return bool(self._open) and not self.busy and not self._room.timed

    # Being watched

    def trace(self, listener: Listener) -> None:
        """Tell `listener` of what happens, too, and trace all calls from now on."""
        self.listeners.append(listener)
        self.traces = True

    def untrace(self, listener: Listener) -> None:
        """Undo `trace`."""
        if listener in self.listeners:
            self.listeners.remove(listener)
        self.traces = False

    def running(self) -> list[tuple[int, Running]]:
        """Return what runs away from this thread, by transaction's number."""
        return self._flights.running()

    def note_program(self) -> None:
        """Take note that code of the program has run on this thread, unmarked."""
        self._holds.note()

    # In

    def submit(
        self, call: Call, profile: Profile, done: Done, at_once: bool = False
    ) -> int:
        """Have `call` run as a transaction and hand its result to `done`.

        Args:
            call: What to run.
            profile: The record of its function.
            done: Takes the result, later.
            at_once: Whether it may also run, and `done` be called, before this returns.

        Returns:
            The transaction's number, or 0 if it has ended already.
        """
        self.profiles.marked += 1
        self._transactions += 1
        transaction = Transaction(self._transactions, call, profile, done)
        if at_once and self._can_run_now(call.ordered):
            if self._placement.stays(profile, alone=True):
                self._run_short(transaction)
                return transaction.number if transaction.number in self._open else 0
            transaction.away = True
        if self.traces:
            transaction.call = dataclasses.replace(call, traced=True)
        if self._closed:
            done(None, TxClosedError(f"the loop is closed; {call.label} did not run"))
            return 0
        if self._thread != threading.get_ident():
            try:
                claim(self)
            except TxThreadError as error:
                done(None, error)
                return 0
            self._thread = threading.get_ident()
        self._open[transaction.number] = transaction
        self._add_to_round(transaction)
        return transaction.number

    def _can_run_now(self, ordered: bool) -> bool:
        """Tell whether a call may run right where it is submitted.

        So it is if nobody has to be told and nothing is in between: no barrier, no
        other's turn, no effect that runs.
        """
        return (
            self._unhindered
            and not (self._closed or self._draining or self.listeners)
            and self._turns.inevitable is None
            and not (ordered and self._turns.in_order)
            and self._thread == threading.get_ident()
            and current() is None
        )

    def _run_short(self, transaction: Transaction) -> None:
        """Run one and commit it: the short way of `_run_here`, where it is allowed."""
        profile, call = transaction.profile, transaction.call
        profile.attempts += 1
        profile.inline += 1
        context = call.context.copy()
        attempt = context.run(Attempt, committed.version, speculative=False)
        timer = profile.timer()
        with self._placement.watching(profile):
            value, error = context.run(run_body, attempt, call)
        seconds = timer.seconds()
        if self._closed:  # by the body
            self._answer_closed(transaction)
            while self._effects.run_next():
                pass
            return
        self._holds.ran_here(transaction)
        if attempt.retrying:
            transaction.attempt, transaction.inline = 1, True
            self._open[transaction.number] = transaction
            self._turns.enter(transaction)
            profile.note_retry()
            self._wait(transaction, attempt.given_up(seconds))
        else:
            profile.note_short(seconds, error is not None or attempt.error_answered)
            if attempt.writes:
                committed.install(attempt.written())
            if call.timeout_seconds is not None and seconds > call.timeout_seconds:
                transaction.inline = True
                self._journal.overran(transaction, seconds)
            if attempt.effects or attempt.records or self._effects:
                # In the context that the function has left.
                outcome = context.run(attempt.outcome, value, error, 0.0)
                self._effects.add(outcome, transaction.done, profile.label)
                self._drain()
            else:
                self._hand_over(value, error, transaction)

    def _hand_over(
        self, value: object, error: BaseException | None, transaction: Transaction
    ) -> None:
        """Give away the result of one that has just committed, with no effects."""
        label, done = transaction.profile.label, transaction.done
        self._draining = True
        try:
            self._effects.hand_over(done, value, error, label)
        finally:
            self._draining = False
        if self._open or self._effects:
            self._drain()

    def _add_to_round(self, transaction: Transaction) -> None:
        self._turns.enter(transaction)
        self._rounds.add(transaction)
        if self._rounds.waits:
            self._journal.round_waits()

    def flush(self) -> None:
        """Run the round, if there is one; called once per loop iteration.

        What is worth it goes to the executor in one batch, the rest runs here.
        """
        batch = [] if self._closed else self._rounds.begin()
        if not batch:
            return
        self.profiles.rounds += 1
        self._journal.round_run(len(batch))
        work = []
        for transaction in batch:
            if self._stays(transaction, alone=len(batch) == 1):
                transaction.outcome = _HERE
            elif not self._flights.has_room(transaction):
                self._turn_away(transaction)
            elif self._contention.may_run(transaction):
                work.append(self._flights.work(transaction))
                if transaction.call.guarded:
                    note_changes()
            else:
                self._journal.lined_up(transaction)
        if work:
            if not self.started:
                self._start()
            self.executor.run(work)
            self._help_soon()
        self._run_rest(batch)

    def _stays(self, transaction: Transaction, alone: bool) -> bool:
        """Tell whether a call runs here: it is short, or must not run elsewhere."""
        profile = transaction.profile
        if profile.home is not None:
            return True
        away, transaction.away = transaction.away, False
        here = not away and self._placement.stays(profile, alone)
        if here and self._faults is not None:
            seconds = self.executor.transport_seconds
            here = not self._faults.sends_away(seconds)
        return here or self._holds.stays(transaction)

    def _help_soon(self) -> None:
        """Run one here that waits for a worker, once the loop has looked around."""
        if not self._helping and self._flights.queued:
            self._helping = True
            # In an empty context, as a round.
            self.reactor.call_soon(weakly(self._help), context=contextvars.Context())

    def _help(self) -> None:
        self._helping = False
        number = None if self._closed else self.executor.take_back()
        transaction = None if number is None else self._flights.landed(number)
        if transaction is not None:
            self._journal.not_started(transaction)
            transaction.outcome = _HERE
            self._settle_here(transaction)
            self._drain()
            self._help_soon()

    def _settle_here(self, transaction: Transaction) -> None:
        """Run one that stays, if it is its turn."""
        first = transaction.waiting_since is None and self._turns.has_come(transaction)
        if first and self._can_run_now(ordered=False):
            transaction.outcome = None
            del self._open[transaction.number]
            self._turns.leave(transaction)
            self._contention.left(transaction)
            self._run_short(transaction)
            return
        with self._placement.watching(transaction.profile):
            self._settle(transaction)

    def _turn_away(self, transaction: Transaction) -> None:
        error = self._flights.no_room(transaction)
        del self._open[transaction.number]
        self._rounds.left(transaction)
        outcome = Outcome(committed.version, error=error)
        self._effects.add(outcome, transaction.done, transaction.profile.label)

    def _run_rest(self, batch: Sequence[Transaction]) -> None:
        for transaction in batch:
            if self._closed:  # by the effects of the last one
                return
            if transaction.outcome is _HERE:
                self._settle_here(transaction)
            self._drain()

    def _start(self) -> None:
        self.started = True
        self._on_start()
        self.executor.start(self.reactor, weakly(self._deliver))

    def _run_here(self, transaction: Transaction) -> None:
        """Run it on this thread, where nothing can interfere, and commit it."""
        transaction.outcome = None
        self._journal.started(transaction, inline=True)
        answer = run_here(transaction.call)
        if self._closed:  # by the body: it has been answered
            return
        self._holds.ran_here(transaction)
        self._journal.answered(transaction, answer)
        if isinstance(answer, Retry):
            transaction.profile.note_retry()
            self._wait(transaction, answer)
        else:
            transaction.profile.note_body(answer.body_seconds, inline=True)
            self._commit(transaction, answer)

    # Out

    def _deliver(self, number: int, answer: Answer | Plea) -> None:
        """Take the answer to an attempt; one that nobody waits for is ignored."""
        if isinstance(answer, Plea):
            self._hear(number, answer)
            return
        transaction = self._flights.landed(number)
        if transaction is None:
            _close_snapshot(answer)
            return
        transaction.profile.unproven = False
        self._journal.answered(transaction, answer)
        if isinstance(answer, Refusal):
            self._journal.refused(transaction, answer)
            self._holds.refused(transaction, answer)
        elif isinstance(answer, Outcome):
            transaction.profile.note_body(answer.body_seconds, inline=False)
        transaction.outcome = answer
        self._settle(transaction)
        self.executor.feed()  # effects may take their time
        self._drain()

    def _hear(self, number: int, plea: Plea) -> None:
        """Let an attempt act outside where it is, and wait for it, if it will commit.

        Nobody else commits until then. An inevitable one may lose to it, and runs here.
        """
        transaction = self._flights.in_flight(number)
        if (
            transaction is None
            or not self._turns.has_come(transaction)
            or not still_holds(plea.reads(), committed)
            or outdated(plea.files) is not None
        ):
            plea.refuse()
            return
        answer = plea.grant(committed.version)
        if answer is None or self._closed:  # by the body
            return
        self._flights.landed(number)
        transaction.profile.unproven = False
        self._journal.answered(transaction, answer)
        self._journal.bound(transaction, plea.refusal())
        self._holds.note()
        if isinstance(answer, Outcome):
            transaction.profile.note_body(answer.body_seconds, inline=False)
            self._commit(transaction, answer)
        elif isinstance(answer, Retry):
            self._wait(transaction, answer)
        else:
            self._run_here(transaction)
        self.executor.feed()
        self._drain()

    def _settle(self, transaction: Transaction) -> None:
        """Decide about an outcome if it is its turn."""
        if self._turns.holds_back(transaction):
            assert self._turns.inevitable is not None
            self._journal.held_back(transaction, self._turns.inevitable)
            return
        if not self._turns.has_come(transaction):
            return  # `_drain` comes back to it
        answer = transaction.outcome
        if isinstance(answer, Retry):
            self._retry(transaction, answer)
        elif isinstance(answer, Outcome) and not self._is_outdated(transaction, answer):
            decision = self._decide(answer, committed, transaction.call.ordered)
            committed.close_snapshot(answer.snapshot)
            if isinstance(decision, Conflict):
                transaction.outcome = None  # it may stand in line from here on
                self._conflict(transaction, answer, decision)
            else:
                self._commit(transaction, answer)
        else:
            self._run_here(transaction)

    def _is_outdated(self, transaction: Transaction, outcome: Outcome) -> bool:
        """Tell whether an outcome counts for nothing because of what is not shared.

        It may have read a file that was written since, or plain objects.
        """
        reason = outdated(outcome.files) if outcome.files else None
        if reason is not None:
            self._journal.refused(transaction, Refusal(reason))
        elif not self._holds.changed(transaction):
            return False
        committed.close_snapshot(outcome.snapshot)
        return True

    def _conflict(
        self, transaction: Transaction, outcome: Outcome, conflict: Conflict
    ) -> None:
        heat = transaction.profile.heat
        alone_before = heat.lined_up
        self._journal.conflicted(transaction, outcome, conflict)
        home = transaction.profile.home is not None
        if transaction is self._turns.inevitable or home:
            self._run_here(transaction)
        elif transaction.conflicts >= MOST_CONFLICTS:
            self._journal.at_bound(transaction, conflict)
            transaction.outcome = None
            self._turns.demand(transaction)
        elif self._contention.may_run(transaction):
            self._flights.send(transaction)
        else:
            self._journal.lined_up(transaction)
        if heat.lined_up and not alone_before:
            self._flights.line_up(transaction.profile)

    def _commit(self, transaction: Transaction, outcome: Outcome) -> None:
        if outcome.writes:
            committed.install(outcome.writes)  # type: ignore[arg-type] # containers
        del self._open[transaction.number]
        self._room.ended(transaction)
        self._turns.leave(transaction)
        self._contention.left(transaction)
        self._rounds.left(transaction)
        self._journal.committed(transaction, outcome, committed.version)
        label, context = transaction.profile.label, transaction.call.context
        self._effects.add(outcome, transaction.done, label, context)

    # Waiting for a change

    def _retry(self, transaction: Transaction, retry: Retry) -> None:
        holds = still_holds(retry, committed)
        committed.close_snapshot(retry.snapshot)
        if holds:
            self._wait(transaction, retry)
            return
        self._journal.retried(transaction, retry, waits=False)
        if transaction.unwanted:
            transaction.outcome = None
            self._drop(transaction)
        elif transaction.profile.home is not None:
            self._run_here(transaction)
        else:
            urgent = transaction is self._turns.inevitable
            self._flights.send(transaction, urgent)

    def _wait(self, transaction: Transaction, retry: Retry) -> None:
        """Put it aside until something changes that it has read."""
        self._journal.retried(transaction, retry, waits=True)
        transaction.outcome = None
        transaction.conflicts = 0
        self._room.ended(transaction)
        self._turns.leave(transaction)
        self._contention.left(transaction)
        self._rounds.left(transaction)
        self._room.enter(transaction, retry)
        if transaction.unwanted:
            self._drop(transaction)

    def _wake(self) -> None:
        for transaction in self._room.wake(self._most_awake):
            self._run_again(transaction, timed_out=False)

    def _most_awake(self, transaction: Transaction) -> int:
        """Return how many like this one should run at once to take the same thing."""
        short = transaction.profile.short(self.executor.transport_seconds)
        return 1 if short else self.executor.workers

    def _run_again(self, transaction: Transaction, timed_out: bool = True) -> None:
        self._journal.woken(transaction, timed_out)
        self._add_to_round(transaction)

    def leave(
        self, number: int, if_it_waits: Callable[[], object] | None = None
    ) -> None:
        """Take note that nobody is left to take the result of a transaction.

        If it waits, for a worker or for a change, or has waited for a change, or will,
        it is dropped. Others commit all the same, as in stock Tornado: they began
        before anybody left.

        Args:
            number: The transaction's.
            if_it_waits: Given where somebody may still take the result. It is dropped
                only if it waits for a change, or has or will, and this is called then.
        """
        transaction = self._open.get(number)
        if transaction is None:
            return
        transaction.unwanted = True
        transaction.on_drop = if_it_waits
        if transaction.waiting_since is not None or (
            if_it_waits is None
            and (
                transaction in self._rounds
                or self._contention.in_line(transaction)
                or self._flights.withdraw(transaction)
            )
        ):
            self._drop(transaction)
            self._drain()

    def _drop(self, transaction: Transaction) -> None:
        """Take it away, wherever it is on its way."""
        del self._open[transaction.number]
        if not self._room.leave(transaction):
            self._turns.forget(transaction)
        self._contention.forget(transaction)
        self._rounds.forget(transaction)
        self._flights.forget(transaction)
        _close_snapshot(transaction.outcome)
        transaction.outcome = None
        self._journal.dropped(transaction)
        if transaction.on_drop is not None:
            transaction.on_drop()

    def stop_waiting(self) -> None:
        """Let every timeout pass at once, now and from now on: the loop will end."""
        self._room.hurry()

    # What has become possible

    def _drain(self) -> None:
        """Run effects, and settle what had to wait, until nothing more can be done."""
        if self._draining or not (self._open or self._effects):
            return
        self._draining = True
        try:
            while self._step():
                pass
        finally:
            self._draining = False

    def _step(self) -> bool:
        if self._effects.run_next():
            return True
        if self._closed:
            return False
        if self._room.changed:
            self._wake()
        ready = self._turns.next()
        if ready is not None:
            self._settle(ready)
            return True
        inevitable = self._turns.next_inevitable()
        following = inevitable or self._contention.next()
        if following is None:
            return False
        if inevitable is None and following.profile.home is not None:
            following.outcome = _HERE  # it is held since it stood in line
            self._settle(following)
        else:
            self._flights.send(following, urgent=inevitable is not None)
        return True

    # The end

    def close(self) -> None:
        """End the workers; what is pending gets a `TxClosedError`."""
        if self._closed:
            return
        self._closed = True
        self.executor.close()
        self._holds.close()
        self.profiles.close()
        release(self)
        pending = list(self._open.values())
        for transaction in pending:
            _close_snapshot(transaction.outcome)
        self._room.clear()
        self._open.clear()
        self._flights.clear()
        for transaction in pending:
            self._answer_closed(transaction)
        while self._effects.run_next():
            pass
        self._journal.closed()
        self.listeners.clear()  # some know this one

    def end_waits(self) -> None:
        """Let nobody wait any more: each gets a `TxClosedError` instead."""
        for transaction in self._room.empty():
            del self._open[transaction.number]
            self._answer_closed(transaction)
        self._drain()

    def _answer_closed(self, transaction: Transaction) -> None:
        label = transaction.call.label
        error = TxClosedError(f"the loop was closed before {label} could commit")
        outcome = Outcome(committed.version, error=error)
        self._effects.add(outcome, transaction.done, label)


def _close_snapshot(answer: Answer | None) -> None:
    if isinstance(answer, Outcome | Retry):
        committed.close_snapshot(answer.snapshot)
