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
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from txloop.engine.contention import Contention
from txloop.engine.effects import EffectQueue, tell_of_failure
from txloop.engine.flights import Flights
from txloop.engine.holds import Holds
from txloop.engine.placement import Placement
from txloop.engine.profile import Profile, Profiles, Stats
from txloop.engine.reporting import Reporter
from txloop.engine.rounds import Rounds
from txloop.engine.transaction import Done, Transaction
from txloop.engine.turns import Turns
from txloop.engine.waiting import Timers, WaitingRoom
from txloop.errors import TxClosedError, TxThreadError
from txloop.executors.faults import faults_on_purpose
from txloop.executors.plea import Plea
from txloop.executors.protocol import Executor, Reactor, run_here
from txloop.stm.attempt import Attempt, current
from txloop.stm.callables import weakly
from txloop.stm.measuring import WallTimer
from txloop.stm.ownership import claim, release
from txloop.stm.run import run_body
from txloop.stm.store import committed
from txloop.stm.types import Answer, Call, Conflict, Outcome, Ready, Refusal, Retry
from txloop.stm.validation import decide, still_holds
from txloop.watch.outside import note_changes, outdated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.engine.events import Listener
    from txloop.executors.protocol import Running

__all__ = ["MOST_CONFLICTS", "Dispatcher", "Done"]

MOST_CONFLICTS = 3
"""After so many conflicts a transaction becomes inevitable."""

_log = logging.getLogger("txloop")

_HERE = Refusal("it is short", lasting=False, warn=False)


class _Asked(NamedTuple):
    """A call that runs in the next iteration, the short way if it may."""

    number: int
    ready: Ready
    profile: Profile
    done: Done
    context: contextvars.Context


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
        self._reporter = Reporter(self.listeners, executor.parallel)
        self.profiles = Profiles(scanning=executor.parallel)
        self.reactor = reactor
        self._on_start = on_start
        self.started = False
        self._closed = False
        self._thread = 0  # that runs the loop, from the first transaction on
        self._transactions = 0
        self._rounds = Rounds(reactor, weakly(self.flush), barrier)
        self._asked: deque[_Asked] = deque()  # for the next iteration
        self._asks = False  # whether that has been told of them
        self._open: dict[int, Transaction] = {}  # by transaction number
        again = weakly(self._run_again)
        self._room = WaitingRoom(committed, reactor, weakly(self._drain), again)
        self._turns = Turns()
        self._contention = Contention()
        self._holds = Holds(executor, self._reporter, reactor)
        self._flights = Flights(executor, self._reporter, self._contention, max_queue)
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
        to_do = len(self._room), self.pending, self._flights.queued
        return self.profiles.stats(self.executor, committed.version, *to_do)

    @property
    def pending(self) -> int:
        """The number of transactions that have not ended yet."""
        return len(self._open) + len(self._asked)

    @property
    def busy(self) -> int:
        """The number of those that do not wait for others."""
        return self.pending - self._room.patient

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
        self,
        call: Call,
        profile: Profile,
        done: Done,
        away: bool = False,
        number: int = 0,
    ) -> int:
        """Have `call` run as a transaction and hand its result to `done`, later.

        Args:
            call: What to run.
            profile: The record of its function.
            done: Takes the result.
            away: Whether it is decided that it does not run on this thread.
            number: The transaction's, if it has one already.

        Returns:
            The transaction's number, or 0 if it has ended already.
        """
        self.profiles.marked += 1
        transaction = self._new(call, profile, done, number)
        transaction.away = away
        if self.traces:
            transaction.call = dataclasses.replace(call, traced=True)
        if self._closed:
            done(None, TxClosedError(f"the loop is closed; {call.label} did not run"))
            return 0
        if self._thread != threading.get_ident():
            try:
                claim(self, committed)
            except TxThreadError as error:
                done(None, error)
                return 0
            self._thread = threading.get_ident()
        self._open[transaction.number] = transaction
        self._add_to_round(transaction)
        return transaction.number

    def _new(
        self, call: Call, profile: Profile, done: Done, number: int = 0
    ) -> Transaction:
        if not number:
            self._transactions += 1
            number = self._transactions
        return Transaction(number, call, profile, done)

    def submit_ready(
        self, ready: Ready, profile: Profile, done: Done, ordered: bool
    ) -> int:
        """Do the same with a call that may run at once, before this returns.

        Args:
            ready: Makes the call, if it does not.
            profile: The record of its function.
            done: Takes the result.
            ordered: Whether it commits in order.
        """
        if not self._can_run_now(ordered):
            return self.submit(ready.call(), profile, done)
        if not self._placement.decide_stay(profile, alone=True):
            return self.submit(ready.call(), profile, done, away=True)
        self.profiles.marked += 1
        return self._run_short(ready, profile, done)

    def ask(self, ready: Ready, profile: Profile, done: Done) -> int:
        """Do the same in the next iteration: code of the program may be at work now.

        It commits in no order.

        Returns:
            The transaction's number, or 0 if it has ended already.
        """
        if self._closed or self.listeners or self._thread != threading.get_ident():
            return self.submit(ready.call(), profile, done)
        self._transactions += 1
        context = contextvars.copy_context()
        self._asked.append(_Asked(self._transactions, ready, profile, done, context))
        self._run_asked_soon()
        return self._transactions

    def _run_asked_soon(self) -> None:
        if self._asked and not self._asks:
            self._asks = True
            # In an empty context, as a round.
            context = contextvars.Context()
            self.reactor.call_soon(weakly(self._run_asked), context=context)

    def _run_asked(self) -> None:
        self._asks = False
        number = len(self._asked)
        try:
            for _ in range(number):
                if self._asked:  # none of them has closed the loop
                    self._begin_asked(self._asked.popleft(), alone=number == 1)
        finally:  # one of them may have been interrupted
            self._run_asked_soon()
        self.flush()

    def _begin_asked(self, one: _Asked, alone: bool) -> None:
        if not one.ready.is_wanted():
            return
        if not self._can_run_now(ordered=False):
            self._submit_asked(one)
        elif self._placement.decide_stay(one.profile, alone):
            self.profiles.marked += 1
            self._run_short(one.ready, one.profile, one.done, one)
        else:
            self._submit_asked(one, away=True)

    def _submit_asked(self, one: _Asked, away: bool = False) -> None:
        call = one.context.run(one.ready.call)
        self.submit(call, one.profile, one.done, away, one.number)

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

    def _run_short(
        self,
        ready: Ready,
        profile: Profile,
        done: Done,
        known: Transaction | _Asked | None = None,
    ) -> int:
        """Run one and commit it: the short way, where nothing can come in between.

        Args:
            ready: What to run.
            profile: The record of its function.
            done: Takes the result.
            known: Its transaction, or what was asked for, if there is either.

        Returns:
            The transaction's number if it waits for a change now, else 0.
        """
        profile.attempts += 1
        profile.inline += 1
        context = (
            known.context if isinstance(known, _Asked) else contextvars.copy_context()
        )
        attempt = Attempt(committed.version, False, context)
        timer = profile.timer()
        if type(timer) is WallTimer:  # it is short for certain
            value, error = context.run(run_body, attempt, ready)
        else:
            with self._placement.watching(profile):
                value, error = context.run(run_body, attempt, ready)
        seconds = timer.seconds()
        if self._closed:  # by the body
            self._answer_closed(done, profile.label)
            while self._effects.run_next():
                pass
            return 0
        if attempt.retrying:
            if not isinstance(known, Transaction):
                number = known.number if known is not None else 0
                call = context.run(ready.call)
                known = self._new(call, profile, done, number)
            return self._wait_from_here(known, attempt.given_up(seconds))
        self._holds.ran_here(profile, ready)
        profile.note_short(seconds, error is not None or attempt.error_answered)
        if attempt.writes:
            committed.install(attempt.written(), direct=False)
        if ready.timeout_seconds is not None and seconds > ready.timeout_seconds:
            self._reporter.overran(profile.label, seconds, ready.timeout_seconds)
        if attempt.effects or attempt.records or self._effects.waiting:
            # In the context that the function has left.
            outcome = context.run(attempt.outcome, value, error, 0.0)
            self._effects.add(outcome, done, profile.label)
            self._drain()
            return 0
        self._draining = True
        try:
            done(value, error)
        except KeyboardInterrupt:  # hardly its own
            raise
        except BaseException:  # it is an effect, of which others know nothing
            tell_of_failure(done, profile.label)
        finally:
            self._draining = False
        if self._open or self._effects.waiting:
            self._drain()
        return 0

    def _wait_from_here(self, transaction: Transaction, retry: Retry) -> int:
        """Let one wait that has retried where it was submitted."""
        transaction.attempt, transaction.inline = 1, True
        self._open[transaction.number] = transaction
        self._turns.enter(transaction)
        transaction.profile.note_retry()
        self._holds.ran_here(transaction.profile, transaction.call)
        self._wait(transaction, retry)
        return transaction.number if transaction.number in self._open else 0

    def _add_to_round(self, transaction: Transaction) -> None:
        self._turns.enter(transaction)
        self._rounds.add(transaction)
        if self._rounds.waits:
            self._reporter.round_waits()

    def flush(self) -> None:
        """Run the round, if there is one; called once per loop iteration.

        What is worth it goes to the executor in one batch, the rest runs here.
        """
        batch = [] if self._closed else self._rounds.begin()
        if not batch:
            return
        self.profiles.rounds += 1
        self._reporter.round_run(len(batch))
        work = []
        for transaction in batch:
            if self._stays(transaction, alone=len(batch) == 1):
                transaction.outcome = _HERE
            elif not self._flights.has_room(transaction):
                self._turn_away(transaction)
            elif self._contention.enter_or_queue(transaction):
                work.append(self._flights.work(transaction))
                if transaction.call.guarded:
                    note_changes()
            else:
                self._reporter.lined_up(transaction)
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
        here = not away and self._placement.decide_stay(profile, alone)
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
            self._reporter.not_started(transaction)
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
            call, profile = transaction.call, transaction.profile
            self._run_short(call, profile, transaction.done, transaction)
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
        self._reporter.started(transaction, inline=True)
        answer = run_here(transaction.call)
        if self._closed:  # by the body: it has been answered
            return
        self._holds.ran_here(transaction.profile, transaction.call)
        self._reporter.answered(transaction, answer)
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
        self._reporter.answered(transaction, answer)
        if isinstance(answer, Refusal):
            self._reporter.refused(transaction, answer)
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
        self._reporter.answered(transaction, answer)
        self._reporter.bound(transaction, plea.refusal())
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
        if self._turns.hold_back(transaction):
            assert self._turns.inevitable is not None
            self._reporter.held_back(transaction, self._turns.inevitable)
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
            self._reporter.refused(transaction, Refusal(reason))
        elif not self._holds.changed(transaction):
            return False
        committed.close_snapshot(outcome.snapshot)
        return True

    def _conflict(
        self, transaction: Transaction, outcome: Outcome, conflict: Conflict
    ) -> None:
        heat = transaction.profile.heat
        alone_before = heat.lined_up
        self._reporter.conflicted(transaction, outcome, conflict)
        home = transaction.profile.home is not None
        if transaction is self._turns.inevitable or home:
            self._run_here(transaction)
        elif transaction.conflicts >= MOST_CONFLICTS:
            self._reporter.at_bound(transaction, conflict)
            transaction.outcome = None
            self._turns.demand(transaction)
        elif self._contention.enter_or_queue(transaction):
            self._flights.send(transaction)
        else:
            self._reporter.lined_up(transaction)
        if heat.lined_up and not alone_before:
            self._flights.line_up(transaction.profile)

    def _commit(self, transaction: Transaction, outcome: Outcome) -> None:
        if outcome.writes:
            committed.install(outcome.writes, direct=False)  # type: ignore[arg-type] # containers
        del self._open[transaction.number]
        self._room.ended(transaction)
        self._turns.leave(transaction)
        self._contention.left(transaction)
        self._rounds.left(transaction)
        self._reporter.committed(transaction, outcome, committed.version)
        label, context = transaction.profile.label, transaction.call.context
        self._effects.add(outcome, transaction.done, label, context)

    # Waiting for a change

    def _retry(self, transaction: Transaction, retry: Retry) -> None:
        holds = still_holds(retry, committed)
        committed.close_snapshot(retry.snapshot)
        if holds:
            self._wait(transaction, retry)
            return
        self._reporter.retried(transaction, retry, waits=False)
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
        self._reporter.retried(transaction, retry, waits=True)
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
        self._reporter.woken(transaction, timed_out)
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
        self._reporter.dropped(transaction)
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
        release(self, committed)
        pending = list(self._open.values())
        for transaction in pending:
            _close_snapshot(transaction.outcome)
        self._room.clear()
        self._open.clear()
        self._flights.clear()
        asked, self._asked = self._asked, deque()
        for transaction in pending:
            self._answer_closed(transaction.done, transaction.call.label)
        for one in asked:
            self._answer_closed(one.done, one.profile.label)
        while self._effects.run_next():
            pass
        self._reporter.closed()
        self.listeners.clear()  # some know this one

    def end_waits(self) -> None:
        """Let nobody wait any more: each gets a `TxClosedError` instead."""
        for transaction in self._room.empty():
            del self._open[transaction.number]
            self._answer_closed(transaction.done, transaction.call.label)
        self._drain()

    def _answer_closed(self, done: Done, label: str) -> None:
        error = TxClosedError(f"the loop was closed before {label} could commit")
        outcome = Outcome(committed.version, error=error)
        self._effects.add(outcome, done, label)


def _close_snapshot(answer: Answer | None) -> None:
    if isinstance(answer, Outcome | Retry):
        committed.close_snapshot(answer.snapshot)
