"""The dispatcher: takes calls, has attempts made, commits outcomes, runs effects.

It belongs to the loop thread and knows no Tornado. A transaction's way::

    submit --> round --> executor --> deliver --> settle --> commit --> effects, done
                 ^                       |           |
                 |                  Refusal: runs    | Conflict: again; after
                 +------ here <---- on this thread   | MOST_CONFLICTS inevitable
                                                     +--> executor

An **inevitable** transaction runs once more while all other commits wait. Only unmarked
code on the loop thread can still interfere; then it runs here, where nothing can.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from txloop.commit import decide
from txloop.effects import EffectQueue
from txloop.errors import TxClosedError
from txloop.events import (
    Aborted,
    Committed,
    Conflicted,
    Event,
    Listener,
    RoundRun,
    Started,
    Waited,
)
from txloop.executors.base import Executor, Reactor, Work, run_here
from txloop.profile import Profile, Profiles, Stats
from txloop.store import committed
from txloop.types import Call, Conflict, Outcome, Refusal

__all__ = ["MOST_CONFLICTS", "Dispatcher", "Done"]

MOST_CONFLICTS = 3
"""After so many conflicts a transaction becomes inevitable."""

Done = Callable[[object, BaseException | None], None]
"""Takes a committed transaction's value, or its error, on the loop thread."""

_HERE = Refusal("it is short", lasting=False, warn=False)

_log = logging.getLogger("txloop")


class DispatcherReactor(Reactor, Protocol):
    """What the dispatcher needs of the running event loop."""

    def call_soon(
        self,
        callback: Callable[..., object],
        /,
        *args: object,
        context: contextvars.Context | None = None,
    ) -> object:
        """Call `callback` in the next iteration."""


class _Transaction:
    """A call on its way to its commit; owned by the dispatcher."""

    __slots__ = (
        "attempt",
        "call",
        "conflicts",
        "done",
        "inline",
        "number",
        "outcome",
        "profile",
    )

    def __init__(self, number: int, call: Call, profile: Profile, done: Done) -> None:
        self.number = number
        self.call = call
        self.profile = profile
        self.done = done
        self.attempt = 0
        self.inline = False
        self.conflicts = 0
        self.outcome: Outcome | Refusal | None = None  # None: it runs somewhere


class Dispatcher:
    """All transactions of one loop; used by that loop's thread only."""

    def __init__(
        self,
        executor: Executor,
        reactor: DispatcherReactor,
        listeners: Sequence[Listener] = (),
        on_start: Callable[[], object] = lambda: None,
    ) -> None:
        """Take an executor, which is started by the first transaction.

        Args:
            executor: Where attempts run.
            reactor: The running event loop.
            listeners: Told what happens.
            on_start: Called just before the executor is started.
        """
        self.executor = executor
        self.listeners = list(listeners)
        self.profiles = Profiles(scanning=executor.forks)
        self._reactor = reactor
        self._on_start = on_start
        self.started = False
        self._closed = False
        self._transactions = 0
        self._attempts = 0
        self._round: list[_Transaction] = []
        self._running: dict[int, _Transaction] = {}  # by attempt number
        self._open: dict[int, _Transaction] = {}  # by transaction number
        self._in_order: deque[_Transaction] = deque()
        self._held: deque[_Transaction] = deque()  # they wait for the inevitable one
        self._inevitable: _Transaction | None = None
        self._next_inevitable: deque[_Transaction] = deque()
        self._effects = EffectQueue()
        self._draining = False

    def stats(self) -> Stats:
        """Return what was done so far."""
        return self.profiles.stats(self.executor, committed.version)

    @property
    def pending(self) -> int:
        """The number of transactions that have not ended yet."""
        return len(self._open)

    # In

    def submit(self, call: Call, profile: Profile, done: Done) -> None:
        """Have `call` run as a transaction and hand its result to `done`, later."""
        self.profiles.marked += 1
        self._transactions += 1
        transaction = _Transaction(self._transactions, call, profile, done)
        if self._closed:
            done(None, TxClosedError(f"the loop is closed; {call.label} did not run"))
            return
        self._open[transaction.number] = transaction
        if call.ordered:
            self._in_order.append(transaction)
        self._round.append(transaction)
        if len(self._round) == 1:
            # In an empty context: the first submitter's is not the others'.
            self._reactor.call_soon(self.flush, context=contextvars.Context())

    def flush(self) -> None:
        """Run the round; called once per loop iteration.

        What is worth it goes to the executor in one batch, the rest runs here.
        """
        if self._closed or not self._round:
            return
        batch, self._round = self._round, []
        self.profiles.rounds += 1
        if self.listeners:
            self._tell(RoundRun(len(batch)))
        away = []
        for transaction in batch:
            if transaction.profile.stays(self.executor.transport_seconds):
                transaction.outcome = _HERE
            else:
                away.append(self._work(transaction))
        if away:
            if not self.started:
                self._start()
            self.executor.run(away)
        self._run_rest(batch)

    def _run_rest(self, batch: Sequence[_Transaction]) -> None:
        for transaction in batch:
            if self._closed:  # by the effects of the last one
                return
            if transaction.outcome is _HERE:
                self._settle(transaction)
            self._drain()

    def _start(self) -> None:
        self.started = True
        self._on_start()
        committed.owner = threading.get_ident()
        self.executor.start(self._reactor, self._deliver)

    def _work(self, transaction: _Transaction) -> Work:
        self._note_attempt(transaction, inline=False)
        self._attempts += 1
        self._running[self._attempts] = transaction
        estimate = transaction.profile.estimate()
        urgent = transaction is self._inevitable
        return Work(self._attempts, transaction.call, estimate, urgent)

    def _run_here(self, transaction: _Transaction) -> None:
        """Run it on this thread, where nothing can interfere, and commit it."""
        self._note_attempt(transaction, inline=True)
        outcome = run_here(transaction.call)
        if self._closed:  # by the body: it has been answered
            return
        profile = transaction.profile
        profile.inline += 1
        profile.note_body(outcome.body_seconds, inline=True)
        self._commit(transaction, outcome)

    def _note_attempt(self, transaction: _Transaction, inline: bool) -> None:
        transaction.attempt += 1
        transaction.outcome = None
        transaction.inline = inline
        profile = transaction.profile
        profile.attempts += 1
        if self.listeners:
            number, label = transaction.number, profile.label
            self._tell(Started(number, transaction.attempt, label, inline))

    # Out

    def _deliver(self, number: int, answer: Outcome | Refusal) -> None:
        """Take the answer to an attempt; one that nobody waits for is ignored."""
        transaction = self._running.pop(number, None)
        if transaction is None:
            if isinstance(answer, Outcome):
                committed.close_snapshot(answer.snapshot)
            return
        if isinstance(answer, Refusal):
            self._note_refusal(transaction, answer)
        else:
            transaction.profile.note_body(answer.body_seconds, inline=False)
        transaction.outcome = answer
        self._settle(transaction)
        self._drain()

    def _note_refusal(self, transaction: _Transaction, refusal: Refusal) -> None:
        profile = transaction.profile
        self._tell(Aborted(transaction.number, profile.label, refusal.reason))
        if refusal.warn and profile.home is None:
            _log.warning(
                "%s runs on the loop thread: %s", profile.label, refusal.reason
            )
        if refusal.lasting:
            profile.home = refusal.reason

    def _settle(self, transaction: _Transaction) -> None:
        """Decide about an outcome if it is its turn."""
        if self._inevitable is not None and self._inevitable is not transaction:
            self._held.append(transaction)
            number, label = transaction.number, transaction.profile.label
            self._tell(Waited(number, label, self._inevitable.number))
            return
        if transaction.call.ordered and self._in_order[0] is not transaction:
            return  # `_drain` comes back to it
        outcome = transaction.outcome
        if not isinstance(outcome, Outcome):
            self._run_here(transaction)
            return
        decision = decide(outcome, committed, transaction.call.ordered)
        committed.close_snapshot(outcome.snapshot)
        if isinstance(decision, Conflict):
            self._conflict(transaction, outcome, decision)
        else:
            self._commit(transaction, outcome)

    def _conflict(
        self, transaction: _Transaction, outcome: Outcome, conflict: Conflict
    ) -> None:
        profile = transaction.profile
        profile.conflicts += 1
        transaction.conflicts += 1
        seconds = outcome.body_seconds
        self._tell(Conflicted(transaction.number, profile.label, conflict, seconds))
        if transaction is self._inevitable or profile.home is not None:
            self._run_here(transaction)
        elif transaction.conflicts < MOST_CONFLICTS:
            self.executor.run([self._work(transaction)])
        else:
            transaction.outcome = None
            self._next_inevitable.append(transaction)

    def _commit(self, transaction: _Transaction, outcome: Outcome) -> None:
        profile = transaction.profile
        profile.commits += 1
        profile.errors += outcome.failed
        if outcome.writes:
            committed.install(outcome.writes)  # type: ignore[arg-type] # containers
        del self._open[transaction.number]
        if transaction.call.ordered:
            self._in_order.popleft()
        if transaction is self._inevitable:
            self._inevitable = None
        if self.listeners:
            self._tell(
                Committed(
                    transaction.number,
                    profile.label,
                    committed.version,
                    outcome.body_seconds,
                    transaction.inline,
                    outcome.failed,
                )
            )
        self._effects.add(outcome, transaction.done, profile.label)

    # What has become possible

    def _drain(self) -> None:
        """Run effects, and settle what had to wait, until nothing more can be done."""
        if self._draining:
            return
        self._draining = True
        try:
            while self._step():
                pass
        finally:
            self._draining = False

    def _step(self) -> bool:
        first = self._in_order[0] if self._in_order else None
        if self._effects.run_next():
            return True
        if self._closed or self._inevitable is not None:
            return False
        if self._held:
            self._settle(self._held.popleft())
        elif first is not None and first.outcome is not None:
            self._settle(first)
        elif self._next_inevitable:
            self._inevitable = self._next_inevitable.popleft()
            self.executor.run([self._work(self._inevitable)])
        else:
            return False
        return True

    def _tell(self, event: Event) -> None:
        for listener in list(self.listeners):
            try:
                listener(event)
            except Exception:
                self.listeners.remove(listener)
                _log.exception("the listener %r failed and was removed", listener)

    # The end

    def close(self) -> None:
        """End the workers; what is pending gets a `TxClosedError`."""
        if self._closed:
            return
        self._closed = True
        self.executor.close()
        self.profiles.close()
        if self.started:
            committed.owner = None
        pending = list(self._open.values())
        for transaction in pending:
            if isinstance(transaction.outcome, Outcome):
                committed.close_snapshot(transaction.outcome.snapshot)
        self._open.clear()
        self._running.clear()
        for transaction in pending:
            label = transaction.call.label
            error = TxClosedError(f"the loop was closed before {label} could commit")
            outcome = Outcome(committed.version, error=error)
            self._effects.add(outcome, transaction.done, label)
        while self._effects.run_next():
            pass
