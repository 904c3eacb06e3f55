"""The dispatcher: takes calls, has attempts made, commits outcomes, runs effects.

It belongs to the loop thread and knows no Tornado. What becomes of a transaction is
decided by the machine (`txloop.engine.machine`), which is told what happens here. What
it wants done then may be its next stimulus (`txloop.engine.actions`)::

    submit, a delivered answer, a timer ... --> handle --> Machine.handle
                                                  ^            | actions
                                                  +---- do <---+

What had to wait for something of this goes on in `drain`. A call that can run at once
needs none of it (`txloop.engine.short_way`).
"""

from __future__ import annotations

import contextvars
import dataclasses
import logging
import threading
from typing import TYPE_CHECKING

from txloop.engine.actions import do, release_snapshot, send
from txloop.engine.effects import EffectQueue
from txloop.engine.holds import Holds
from txloop.engine.machine import Machine
from txloop.engine.placement import Placement
from txloop.engine.profile import Profile, Profiles
from txloop.engine.reporting import Reporter
from txloop.engine.short_way import ShortWay
from txloop.engine.stimuli import (
    Answered,
    Closed,
    Granted,
    Left,
    Placed,
    Recalled,
    RunsHere,
    Send,
    Submitted,
    Why,
    Woken,
)
from txloop.engine.transaction import Transaction
from txloop.engine.waiting import WaitingRoom
from txloop.errors import TxClosedError, TxThreadError
from txloop.executors.faults import faults_on_purpose
from txloop.executors.plea import Plea
from txloop.stm.callables import weakly
from txloop.stm.store import committed
from txloop.stm.threads import acquire, release
from txloop.stm.types import Answer, Call, Conflict, Outcome, Refusal
from txloop.stm.validation import decide, still_holds
from txloop.watch.outside import outdated

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.events import Listener
    from txloop.engine.hub import HubReactor
    from txloop.engine.stats import Stats
    from txloop.engine.stimuli import Stimulus
    from txloop.engine.transaction import AsStock, Done
    from txloop.executors.protocol import Executor, Running

__all__ = ["Dispatcher"]

_MOST_WOKEN = 64
"""How many run one after another in one iteration, each woken by the last one."""

_log = logging.getLogger("txloop")


class Dispatcher(ShortWay):
    """All transactions of one loop; used by that loop's thread only.

    Attributes:
        started: Whether the executor has been started.
        before_stats: Called before figures are returned, to add what they know.
    """

    def __init__(
        self,
        executor: Executor,
        reactor: HubReactor,
        on_start: Callable[[], object] = lambda: None,
        max_queue: int | None = None,
        barrier: bool = False,
    ) -> None:
        """Begin without any transaction; the first one starts the executor.

        Args:
            executor: Where attempts run.
            reactor: The running event loop.
            on_start: Called just before the executor is started.
            max_queue: How many calls may wait for a worker; beyond it they are
                rejected, except those that commit in order. None for any number.
            barrier: Whether all of a round must have ended when the next one begins.
        """
        faults = faults_on_purpose("dispatcher")
        super().__init__(
            hindered=faults is not None or barrier,
            threads=executor.watch is not None and not executor.watch.copies,
        )
        self.executor = executor
        self.reactor = reactor
        self.listeners: list[Listener] = []
        self.profiles = Profiles(scanning=executor.parallel)
        self.started = False
        self.closed = False
        self.thread = 0
        self._tracing: list[Listener] = []
        self.report = Reporter(self.listeners, executor.parallel)
        self.machine = Machine(self.report, executor.workers, max_queue, barrier)
        self._on_start = on_start
        self._transactions = 0
        again = weakly(self._run_again)
        self.room = WaitingRoom(committed, reactor, weakly(self.drain), again)
        self.holds = Holds(executor, self.report, reactor)
        self.faults = faults
        self.placement = Placement(executor, self.machine.away)
        self.effects = EffectQueue(faults)
        self.decide = decide if faults is None else faults.deciding(decide)
        if faults is not None:
            _log.warning("faults happen on purpose, TXLOOP_FAULTS says: %s", faults)
        self._draining = False
        self.before_stats: list[Callable[[], object]] = []
        self._woken = 0  # since the loop has looked around
        self._helping = False

    def is_over(self) -> bool:
        """Tell whether it runs no more transactions."""
        return self.closed or self.reactor.is_closed()

    def stats(self) -> Stats:
        """Return what was done so far."""
        for count in self.before_stats:
            count()
        to_do = len(self.room), self.pending, self.machine.queued
        return self.profiles.stats(self.executor, committed.version, *to_do)

    @property
    def pending(self) -> int:
        """The number of transactions that have not ended yet."""
        return len(self.machine.open) + len(self._asked)

    @property
    def busy(self) -> int:
        """The number of those that do not wait for others."""
        return self.pending - self.room.patient

    @property
    def stuck(self) -> bool:
        """Whether all that is left waits, with no timeout, and nothing can change."""
        return bool(self.machine.open) and not self.busy and not self.room.timed

    def running(self) -> list[tuple[int, Running]]:
        """Return what runs away from this thread, by transaction's number."""
        away = self.machine.away
        return [
            (away[one.number].number, one)
            for one in self.executor.running()
            if one.number in away
        ]

    # Being watched

    def trace(self, listener: Listener) -> None:
        """Tell `listener` of what happens, too, and trace all calls from now on."""
        self.listeners.append(listener)
        self._tracing.append(listener)

    def untrace(self, listener: Listener) -> None:
        """Undo `trace`."""
        if listener in self.listeners:
            self.listeners.remove(listener)
        if listener in self._tracing:
            self._tracing.remove(listener)

    # In

    def submit(
        self,
        call: Call,
        profile: Profile,
        done: Done,
        away: bool = False,
        spare_loop: bool = False,
        hand_back: Callable[[Conflict | None], object] | None = None,
        since: float | None = None,
        as_stock: AsStock | None = None,
    ) -> int:
        """Have `call` run as a transaction and hand its result to `done`, later.

        Args:
            call: What to run.
            profile: The record of its function.
            done: Takes the result.
            away: Whether it is decided that it does not run on this thread.
            spare_loop: Whether only what is short may run on this thread.
            hand_back: Called, instead of `done`, if it would have to run here, for a
                call that cannot.
            since: When it was asked for (`time.perf_counter`), if that was before.
            as_stock: Runs it here, if nothing of it ever has to be undone.

        Returns:
            The transaction's number, or 0 if it has ended already.
        """
        self.profiles.marked += 1
        transaction = self.new(call, profile, done)
        transaction.hand_back = hand_back
        transaction.submitted = True
        transaction.away = away
        transaction.since = transaction.since if since is None else since
        transaction.spare_loop = spare_loop
        transaction.as_stock = as_stock
        if self._tracing:
            transaction.call = dataclasses.replace(call, traced=True)
        if self.closed:
            done(None, TxClosedError(f"the loop is closed; {call.label} did not run"))
            return 0
        if self.thread != threading.get_ident():
            try:
                acquire(self, committed)
            except TxThreadError as error:
                done(None, error)
                return 0
            self.thread = threading.get_ident()
        self.handle(Submitted(transaction))
        return transaction.number

    def new(self, call: Call, profile: Profile, done: Done) -> Transaction:
        """Make a transaction of a call."""
        self._transactions += 1
        return Transaction(self._transactions, call, profile, done)

    def flush(self) -> None:
        """Run the round, if there is one.

        What is worth it goes to the executor in one batch, the rest runs here.
        """
        batch = [] if self.closed else self.machine.begin_round()
        if not batch:
            return
        self.profiles.rounds += 1
        sends = []
        for transaction in batch:
            here = self._decide_stay(transaction, alone=len(batch) == 1)
            for action in self.machine.handle(Placed(transaction, here)):
                if type(action) is Send:
                    sends.append(action)
                else:
                    do(self, action)
        if sends:
            send(self, sends)
            self._help_soon()
        self.drain()

    def _decide_stay(self, transaction: Transaction, alone: bool) -> bool:
        """Decide whether a call runs here: it is short, or must not run elsewhere."""
        profile = transaction.profile
        if profile.on_loop_because is not None:
            return True
        away, transaction.away = transaction.away, False
        spare_loop = transaction.spare_loop
        here = not away and self.placement.decide_stay(profile, alone, spare_loop)
        if here and self.faults is not None:
            seconds = self.executor.transport_seconds
            here = not self.faults.sends_away(seconds)
        return here or self.holds.check_call(transaction)

    def _help_soon(self) -> None:
        """Run one here that waits for a worker, once the loop has looked around."""
        if not self._helping and self.machine.queued:
            self._helping = True
            self.call_soon(self._look_around)

    def _look_around(self) -> None:
        """Let the loop see to what it has just found to be ready, before it helps.

        What waits already goes first in an iteration: the answers of workers, which get
        their next calls then, would wait for the call that runs here.
        """
        self.call_soon(self._help)

    def _help(self) -> None:
        """Take a call of medium length back from the executor, and run it here."""
        self._helping = False
        number = None if self.closed else self.executor.take_back()
        transaction = None if number is None else self.machine.away.get(number)
        if transaction is not None:
            self.handle(Recalled(transaction, Why.HERE))
            self.drain()
            self._help_soon()

    def leave(
        self, number: int, if_it_waits: Callable[[], object] | None = None
    ) -> None:
        """Take note that the result of a transaction is not wanted any more.

        If it waits, for a worker or for a change, or has waited for a change, or will,
        it is dropped. Others commit all the same, as in stock Tornado: they began
        before the client left.

        Args:
            number: The transaction's.
            if_it_waits: Given where the result may still be of use. It is dropped only
                if it waits for a change, or has or will, and this is called then.
        """
        transaction = self.machine.open.get(number)
        if transaction is None:
            return
        self.handle(Left(transaction, if_it_waits))
        if not self.is_over():
            # Not now: code of the program may be at work, and has written half.
            self.call_soon(self.drain)

    def put_in_order(self, number: int) -> None:
        """Let what comes in order from now on commit after a transaction.

        Args:
            number: Its number; if it has ended, nothing is done.
        """
        transaction = self.machine.open.get(number)
        if transaction is not None:
            self.machine.turns.give_place(transaction)

    def handle(self, stimulus: Stimulus) -> None:
        """Let something happen to a transaction, and do what follows."""
        for action in self.machine.handle(stimulus):
            do(self, action)

    def call_soon(self, method: Callable[[], object]) -> None:
        """Have the loop call a method in its next iteration."""
        # In an empty context: that of one submitter is not for the calls of others.
        self.reactor.call_soon(weakly(method), context=contextvars.Context())

    def start(self) -> None:
        """Start the executor, if it has not been started."""
        if not self.started:
            self.started = True
            self._on_start()
            self.executor.start(self.reactor, weakly(self._deliver))

    # What comes from elsewhere

    def _deliver(self, number: int, answer: Answer | Plea) -> None:
        """Take the answer to an attempt; one that is not waited for is ignored."""
        transaction = self.machine.away.get(number)
        if isinstance(answer, Plea):
            self._hear(transaction, answer)
            return
        if transaction is None:
            release_snapshot(answer)
            return
        if isinstance(answer, Refusal):
            self.holds.refused(transaction, answer)
        else:
            transaction.note_ran(answer.body_seconds)
        self.handle(Answered(transaction, answer))
        self._go_on(transaction)

    def _hear(self, transaction: Transaction | None, plea: Plea) -> None:
        """Let an attempt act outside where it is, and wait for it, if it will commit.

        Nothing else commits until then. An inevitable one may lose to it, and runs
        here.
        """
        if (
            transaction is None
            or not self.machine.turns.has_come(transaction)
            or not still_holds(plea.reads(), committed)
            or outdated(plea.files) is not None
        ):
            plea.refuse()
            return
        answer = plea.grant(committed.version)
        if answer is None or self.closed:  # by the body
            return
        self.holds.note()
        self.handle(Granted(transaction, answer, plea.refusal()))
        self._go_on(transaction)

    def _go_on(self, transaction: Transaction) -> None:
        """Give the worker more to do, then run effects and what had to wait."""
        if transaction.call.followed:  # what runs next has to see what follows, too
            self.drain()
        self.executor.feed()  # effects may take their time
        self.drain()

    def _run_again(self, transaction: Transaction) -> None:
        """Run one that waits although nothing has changed: its time is up."""
        self.handle(Woken(transaction, timed_out=True))

    def _most_awake(self, transaction: Transaction) -> int:
        """Return how many like this one should run at once to take the same thing."""
        short = transaction.profile.short(self.executor.transport_seconds)
        return 1 if short else self.executor.workers

    def stop_waiting(self) -> None:
        """Let every timeout pass at once, now and from now on: the loop will end."""
        self.room.hurry()

    # What has become possible

    def drain(self) -> None:
        """Run effects, and what had to wait, until nothing more can be done."""
        if self._draining or not (self.machine.open or self.effects.waiting):
            return
        self._draining = self.room.attended = True
        self._woken = 0
        try:
            while self.effects.run_next() or self._step():
                pass
        finally:
            self._draining = self.room.attended = False

    def _step(self) -> bool:
        """Let one go on; return whether there was one."""
        if self.closed:
            return False
        if self.room.changed and self._wake():
            return True
        actions = self.machine.step()
        for action in actions or ():
            do(self, action)
        return actions is not None

    def _wake(self) -> bool:
        """Let those go on for which something has changed: what is short, at once.

        Each may wake the next one; after some the loop has to look around first.

        Returns:
            Whether one has run.
        """
        woken = self.room.wake(self._most_awake)
        alone = len(woken) == 1  # else one that is interrupted would lose the others
        for transaction in woken:
            self._woken += 1
            here = (
                self._woken <= _MOST_WOKEN
                and self.may_run_now()
                and self.placement.decide_stay(
                    transaction.profile, True, transaction.spare_loop
                )
            )
            if here and alone and self.machine.is_next(transaction):
                self.handle(RunsHere(transaction))
                transaction.note_ran()
                self._run_short(transaction)
                return True
            self.handle(Woken(transaction, timed_out=False, here=here))
        return False

    # The end

    def close(self) -> None:
        """End the workers; what is pending gets a `TxClosedError`."""
        if self.closed:
            return
        self.closed = True
        self.executor.close()
        self.holds.close()
        self.profiles.close()
        release(self, committed)
        self.room.clear()
        pending = self.machine.clear()
        for transaction in pending:
            release_snapshot(transaction.answer)
            self.answer_closed(transaction.done, transaction.call.label)
        self._answer_asked()
        while self.effects.run_next():
            pass
        self.report.closed()
        self.listeners.clear()  # some know this one
        self._tracing.clear()

    def end_waits(self) -> None:
        """Let no transaction wait any more: each gets a `TxClosedError` instead."""
        for transaction in self.room.empty():
            self.handle(Closed(transaction))
            self.answer_closed(transaction.done, transaction.call.label)
        self.drain()

    def answer_closed(self, done: Done, label: str) -> None:
        """Hand a `TxClosedError` to `done`, as an effect."""
        error = TxClosedError(f"the loop was closed before {label} could commit")
        self.answer_error(done, label, error)

    def answer_error(self, done: Done, label: str, error: Exception) -> None:
        """Hand an error to `done`, as an effect: it has to wait for its turn."""
        self.effects.add(Outcome(committed.version, error=error), done, label)
