"""What becomes of each transaction: a table of states and of what can happen in them.

The machine decides and does nothing: it is told of a stimulus, moves the transaction to
its next state (the diagram is in `txloop.engine.transaction`) and returns the actions
that follow from that. The dispatcher does them and comes back with what they led to. So
there is no I/O here, no clock, no store and nothing of the program, and what is decided
can be tested without any of them (`tests/model/test_machine.py`).

The idea is from `distributed`, whose scheduler and workers are made so.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from txloop.engine.queues import Lines, Rounds, Turns
from txloop.engine.stimuli import (
    Action,
    Answered,
    Arrived,
    Closed,
    Commit,
    Conflicting,
    Drop,
    Granted,
    HandBack,
    Left,
    Outdated,
    Placed,
    RanHere,
    RanShort,
    Recall,
    Recalled,
    Reject,
    RunHere,
    RunRound,
    RunsHere,
    Send,
    Stimulus,
    Submitted,
    Valid,
    Validate,
    Wait,
    Why,
    Woken,
)
from txloop.engine.transaction import State
from txloop.errors import TxInternalError
from txloop.stm.types import Outcome, Refusal, Retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.profile import Profile
    from txloop.engine.reporting import Reporter
    from txloop.engine.transaction import Transaction
    from txloop.stm.types import Answer, Conflict

__all__ = ["MOST_CONFLICTS", "Machine"]

MOST_CONFLICTS = 3
"""The number of conflicts after which a transaction becomes inevitable."""


class Machine:
    """All open transactions of one dispatcher; used by the loop thread only.

    Attributes:
        open: Those that have not ended, by number.
        away: Those whose attempts the executor has, by attempt number.
        turns: Which one may commit.
        rounds: Which ones go on together.
        lines: Which ones stand in line for a cell.
        workers: How many attempts the executor can run at once.
    """

    def __init__(
        self,
        report: Reporter,
        workers: int,
        max_queue: int | None = None,
        barrier: bool = False,
    ) -> None:
        """Begin without any transaction.

        Args:
            report: Told of what happens. It decides nothing.
            workers: How many attempts the executor can run at once.
            max_queue: How many calls may wait for a worker; beyond it they are
                rejected, except those that commit in order. None for any number.
            barrier: Whether all of a round must have ended when the next one begins.
        """
        self.open: dict[int, Transaction] = {}
        self.away: dict[int, Transaction] = {}
        self.turns = Turns()
        self.rounds = Rounds(barrier)
        self.lines = Lines()
        self._report = report
        self.workers = workers
        self._max_queue = max_queue
        self._attempts = 0
        self._here: deque[Transaction] = deque()  # their round has placed them here

    @property
    def queued(self) -> int:
        """The number of transactions that wait for a worker."""
        return max(0, len(self.away) - self.workers) + len(self.lines)

    def handle(self, stimulus: Stimulus) -> list[Action]:
        """Let something happen to a transaction; return what is to be done, in order.

        Raises:
            TxInternalError: if that cannot happen in its state.
        """
        transaction = stimulus.transaction
        transition = _TABLE.get((transaction.state, type(stimulus)))
        if transition is None:
            happened = type(stimulus).__name__
            raise TxInternalError(f"{happened} cannot happen to {transaction!r}")
        return transition(self, transaction, stimulus)

    def begin_round(self) -> list[Transaction]:
        """Return those of the next round, each of which has to be `Placed` now."""
        batch = self.rounds.begin()
        if batch:
            self._report.round_run(len(batch))
        return batch

    def step(self) -> list[Action] | None:
        """Let one go on that had to wait for others; None if there is none.

        First those whose turn to commit has come, then the next inevitable one, then
        those in line for a cell, last those that the loop thread is to run.
        """
        ready = self.turns.next()
        if ready is not None:
            return self._settle(ready)
        inevitable = self.turns.next_inevitable()
        if inevitable is not None:
            return self._send(inevitable, urgent=True)
        following = self.lines.next()
        if following is not None:
            if following.profile.on_loop_because is None:
                return self._send(following)
            following.enter(State.HERE)  # it is held since it stood in line
            return self._settle(following)
        while self._here:
            here = self._here.popleft()
            if here.state is State.HERE:  # else its turn in the order has come before
                return self._settle(here)
        return None

    def clear(self) -> list[Transaction]:
        """Forget all and return those that were open: the loop is closed."""
        left = list(self.open.values())
        for transaction in left:
            transaction.enter(State.DONE)
        for places in (self.open, self.away, self._here, self.turns, self.lines):
            places.clear()
        return left

    # In

    def _submitted(self, transaction: Transaction, _: Submitted) -> list[Action]:
        """Take in one that has come."""
        self.open[transaction.number] = transaction
        return self._join_round(transaction)

    def _join_round(self, transaction: Transaction) -> list[Action]:
        """Let it go on with all that came in this iteration."""
        transaction.enter(State.ROUND)
        self.turns.enter(transaction)
        is_first = self.rounds.add(transaction)
        if self.rounds.waits:
            self._report.round_waits()
        return [RunRound()] if is_first else []

    def _runs_here(self, transaction: Transaction, _: RunsHere) -> list[Action]:
        """Take in one that runs where it was made: it turns out that it has to wait."""
        self.open[transaction.number] = transaction
        transaction.attempts, transaction.inline = 1, True
        transaction.enter(State.RUNNING)
        self.turns.enter(transaction)
        return []

    def is_next(self, transaction: Transaction) -> bool:
        """Tell whether one that runs on the loop thread would be the next to do so."""
        return not (self._here or transaction.call.ordered)

    def _woken_to_run(self, transaction: Transaction, _: RunsHere) -> list[Action]:
        """Let one run that was woken, as it is the next in any case."""
        self._report.woken(transaction, timed_out=False)
        transaction.enter(State.RUNNING)
        self._note_start(transaction, inline=True)
        return []

    def _arrived(self, transaction: Transaction, arrived: Arrived) -> list[Action]:
        """Take in one with the answer to an attempt that was made elsewhere."""
        self.open[transaction.number] = transaction
        self.turns.enter(transaction)
        self._note_start(transaction, inline=False)
        return self._take_in(transaction, arrived.answer)

    def _placed(self, transaction: Transaction, placed: Placed) -> list[Action]:
        """Send it, queue it, reject it, or keep it here, as its place says."""
        if placed.here:  # it runs after the others of its round have been sent
            return self._stay(transaction)
        if not self._has_room(transaction):
            waiting = self.queued
            transaction.profile.refused += 1
            return [Reject(transaction, waiting), *self._end(transaction)]
        return self._send_or_queue(transaction)

    def _stay(self, transaction: Transaction) -> list[Action]:
        """Let it run on the loop thread, when `step` comes to it."""
        transaction.enter(State.HERE)
        self._here.append(transaction)
        return []

    def _has_room(self, transaction: Transaction) -> bool:
        """Tell whether one more may wait for a worker.

        There is always room for those that commit in order, as others may wait for
        them, and for those that were let in before.
        """
        return (
            self._max_queue is None
            or transaction.call.ordered
            or transaction.waiting_since is not None
            or self.queued < self._max_queue
        )

    def _send_or_queue(self, transaction: Transaction) -> list[Action]:
        """Send it, unless another one that is after the same cell runs."""
        if self.lines.enter_or_queue(transaction):
            return self._send(transaction)
        transaction.enter(State.LINE)
        self._report.lined_up(transaction)
        return []

    def _send(self, transaction: Transaction, urgent: bool = False) -> list[Action]:
        """Have an attempt made away from here."""
        transaction.enter(State.AWAY)
        transaction.answer = None
        self._attempts += 1
        self.away[self._attempts] = transaction
        transaction.attempt_number = self._attempts
        self._note_start(transaction, inline=False)
        return [Send(transaction, urgent)]

    def _run_here(self, transaction: Transaction) -> list[Action]:
        """Have it run now, as the only one; or where it came from."""
        if transaction.hand_back is not None:
            return self._hand_back(transaction, None)
        transaction.enter(State.RUNNING)
        transaction.answer = None
        self._note_start(transaction, inline=True)
        return [RunHere(transaction)]

    def _note_start(self, transaction: Transaction, inline: bool) -> None:
        """Count an attempt that begins."""
        transaction.attempts += 1
        transaction.inline = inline
        transaction.profile.attempts += 1
        transaction.profile.inline += inline
        self._report.started(transaction)

    def _land(self, transaction: Transaction) -> None:
        """Note that the executor has nothing of it any more."""
        del self.away[transaction.attempt_number]
        transaction.attempt_number = 0

    # Out

    def _answered(self, transaction: Transaction, answered: Answered) -> list[Action]:
        """Keep the answer until its turn comes; a refused one runs here then."""
        self._land(transaction)
        return self._take_in(transaction, answered.answer)

    def _take_in(self, transaction: Transaction, answer: Answer) -> list[Action]:
        """Let one go on with its answer."""
        self._note_answer(transaction, answer)
        if isinstance(answer, Refusal):
            self._report.refused(transaction, answer)
            transaction.profile.note_refusal(answer)
            transaction.enter(State.HERE)
        else:
            transaction.answer = answer
            transaction.enter(State.ANSWERED)
        return self._settle(transaction)

    def _note_answer(self, transaction: Transaction, answer: Answer) -> None:
        """Count an answer that has come from elsewhere."""
        transaction.profile.unproven = False
        self._report.answered(transaction, answer)
        if isinstance(answer, Outcome):
            transaction.profile.note_body(answer.body_seconds, inline=False)

    def _granted(self, transaction: Transaction, granted: Granted) -> list[Action]:
        """Take the answer of one beside which nothing has run: it holds for certain."""
        self._land(transaction)
        answer = granted.answer
        self._note_answer(transaction, answer)
        self._report.kept_on_loop(transaction, granted.refusal)
        transaction.profile.note_refusal(granted.refusal)
        if isinstance(answer, Outcome):
            return self._commit(transaction, answer)
        if isinstance(answer, Retry):
            return self._wait(transaction, answer)
        return self._run_here(transaction)

    def _settle(self, transaction: Transaction) -> list[Action]:
        """Let it go on if its turn has come; otherwise `step` comes back to it."""
        if self.turns.hold_back(transaction):
            assert self.turns.inevitable is not None
            transaction.enter(State.HELD)
            self._report.held_back(transaction, self.turns.inevitable)
            return []
        here = transaction.answer is None
        if transaction.state is State.HELD:
            transaction.enter(State.HERE if here else State.ANSWERED)
        if not self.turns.has_come(transaction):
            return []
        return self._run_here(transaction) if here else [Validate(transaction)]

    def _valid(self, transaction: Transaction, _: Valid) -> list[Action]:
        """Let it commit; or wait, if it has retried."""
        answer = transaction.answer
        if isinstance(answer, Retry):
            return self._wait(transaction, answer)
        assert isinstance(answer, Outcome), transaction
        return self._commit(transaction, answer)

    def _outdated(self, transaction: Transaction, _: Outdated) -> list[Action]:
        """Run it here, where it finds what has changed."""
        return self._run_here(transaction)

    def _hand_back(
        self, transaction: Transaction, conflict: Conflict | None
    ) -> list[Action]:
        """Let it go to where it came from: what it needs to run again is there."""
        return [HandBack(transaction, conflict), *self._end(transaction)]

    def _ran_here(self, transaction: Transaction, ran: RanHere) -> list[Action]:
        """Let it commit without validation: nothing ran beside it."""
        answer = ran.answer
        if isinstance(answer, Retry):
            transaction.profile.note_retry()
            return self._wait(transaction, answer)
        transaction.profile.note_body(answer.body_seconds, inline=True)
        return self._commit(transaction, answer)

    def _ran_short(self, transaction: Transaction, _: RanShort) -> list[Action]:
        """Note that it has ended: the short way commits it."""
        return self._end(transaction)

    def _commit(self, transaction: Transaction, outcome: Outcome) -> list[Action]:
        """Let it take effect, and those go on that waited for it."""
        transaction.profile.note_commit(outcome)
        return [Commit(transaction, outcome), *self._end(transaction)]

    def _conflicting(
        self, transaction: Transaction, conflicting: Conflicting
    ) -> list[Action]:
        """Have it run again: at the last conflict as an inevitable one."""
        answer, conflict = transaction.answer, conflicting.conflict
        transaction.answer = None  # it may stand in line from here on
        if conflict is None:
            assert isinstance(answer, Retry), transaction
            return self._run_again(transaction, answer)
        assert isinstance(answer, Outcome), transaction
        profile = transaction.profile
        in_line_before = profile.heat.lined_up
        transaction.conflicts += 1
        profile.note_conflict(conflict, transaction.late)
        self._report.conflicted(transaction, answer, conflict)
        if not transaction.may_be_sent:
            return self._hand_back(transaction, conflict)
        at_bound = transaction.conflicts >= MOST_CONFLICTS
        if (
            transaction is self.turns.inevitable
            or profile.on_loop_because is not None
            # It was woken, and cannot be inevitable before the one that waits for it.
            or (at_bound and self.turns.is_waited_for(transaction))
        ):
            actions = self._run_here(transaction)
        elif at_bound:
            self._report.at_bound(transaction, conflict)
            transaction.enter(State.TO_BE_INEVITABLE)
            self.turns.demand(transaction)
            actions = []
        else:
            actions = self._send_or_queue(transaction)
        if profile.heat.lined_up and not in_line_before:
            actions += self._line_up(profile, but=transaction)
        return actions

    def _line_up(self, profile: Profile, but: Transaction) -> list[Action]:
        """Let the others of a function stand in line that have not begun."""
        return [
            Recall(one, Why.LINE)
            for one in self.away.values()
            if one.profile is profile and one is not but
        ]

    def _recalled(self, transaction: Transaction, recalled: Recalled) -> list[Action]:
        """Put one elsewhere of which the executor has not begun the attempt."""
        if recalled.why is Why.LEFT:
            return self._drop(transaction)
        self._land(transaction)
        transaction.attempts -= 1
        transaction.profile.attempts -= 1
        if recalled.why is Why.LINE:
            return self._send_or_queue(transaction)
        transaction.enter(State.HERE)
        return self._settle(transaction)

    def _end(self, transaction: Transaction) -> list[Action]:
        """Note that nothing more will become of it."""
        del self.open[transaction.number]
        transaction.enter(State.DONE)
        return self._let_others_go_on(transaction)

    def _let_others_go_on(self, transaction: Transaction) -> list[Action]:
        """Take it out of all that makes others wait for it."""
        self.turns.leave(transaction)
        self.lines.leave(transaction)
        return [RunRound()] if self.rounds.leave(transaction) else []

    # Waiting for a change

    def _wait(self, transaction: Transaction, retry: Retry) -> list[Action]:
        """Put it aside until something changes that it has read."""
        transaction.profile.retries += 1
        transaction.profile.waits += 1
        self._report.retried(transaction, retry, waits=True)
        transaction.answer = None
        transaction.conflicts = 0
        actions = self._let_others_go_on(transaction)
        transaction.enter(State.WAITING)
        if transaction.unwanted:
            return [*actions, *self._drop(transaction)]
        return [Wait(transaction, retry), *actions]

    def _run_again(self, transaction: Transaction, retry: Retry) -> list[Action]:
        """Run one again that retried, as something of what it read has changed."""
        transaction.profile.retries += 1
        self._report.retried(transaction, retry, waits=False)
        if transaction.unwanted:
            return self._drop(transaction)
        if transaction.profile.on_loop_because is not None:
            return self._run_here(transaction)
        urgent = transaction is self.turns.inevitable
        return self._send(transaction, urgent)

    def _woken(self, transaction: Transaction, woken: Woken) -> list[Action]:
        """Let it run again; what is short need not wait for a round."""
        self._report.woken(transaction, woken.timed_out)
        if woken.here:
            self.turns.enter(transaction)
            return self._stay(transaction)
        return self._join_round(transaction)

    # Away with it

    def _left(self, transaction: Transaction, left: Left) -> list[Action]:
        """Drop one whose result is not wanted, if it has not begun, or waits.

        If it has waited for a change before, it is dropped wherever it is. Others
        commit all the same, as in stock Tornado: they began before the client left.
        """
        transaction.unwanted = True
        transaction.on_drop = left.on_drop
        if transaction.waiting_since is not None:
            return self._drop(transaction)
        if left.on_drop is not None:
            return []
        if transaction.state is State.AWAY:
            return [Recall(transaction, Why.LEFT)]
        if transaction.state in (State.ROUND, State.LINE):
            return self._drop(transaction)
        return []

    def _left_too_late(self, transaction: Transaction, left: Left) -> list[Action]:
        """Note it for the case that it retries: it runs just now."""
        transaction.unwanted = True
        transaction.on_drop = left.on_drop
        return []

    def _drop(self, transaction: Transaction) -> list[Action]:
        """Take it away, wherever it is on its way."""
        state = transaction.state
        if state is State.ROUND:
            self.rounds.forget(transaction)
        elif state is State.LINE:
            self.lines.forget(transaction)
        elif state is State.AWAY:
            self._land(transaction)
        del self.open[transaction.number]
        transaction.enter(State.DONE)
        actions: list[Action] = []
        if state is not State.WAITING:
            self.turns.forget(transaction)
            actions = self._let_others_go_on(transaction)
        self._report.dropped(transaction)
        return [Drop(transaction), *actions]

    def _closed(self, transaction: Transaction, _: Closed) -> list[Action]:
        """Let it go: the loop ends, and it waits."""
        del self.open[transaction.number]
        transaction.enter(State.DONE)
        return []


_TABLE: dict[
    tuple[State, type[Any]],
    Callable[[Machine, Transaction, Any], list[Action]],
] = {
    (State.NEW, Submitted): Machine._submitted,
    (State.NEW, Arrived): Machine._arrived,
    (State.NEW, RunsHere): Machine._runs_here,
    (State.ROUND, Placed): Machine._placed,
    (State.AWAY, Answered): Machine._answered,
    (State.AWAY, Granted): Machine._granted,
    (State.AWAY, Recalled): Machine._recalled,
    (State.ANSWERED, Valid): Machine._valid,
    (State.ANSWERED, Conflicting): Machine._conflicting,
    (State.ANSWERED, Outdated): Machine._outdated,
    (State.RUNNING, RanHere): Machine._ran_here,
    (State.RUNNING, RanShort): Machine._ran_short,
    (State.WAITING, Woken): Machine._woken,
    (State.WAITING, RunsHere): Machine._woken_to_run,
    (State.WAITING, Closed): Machine._closed,
    **{
        (state, Left): Machine._left
        for state in State
        if state not in (State.NEW, State.RUNNING, State.DONE)
    },
    (State.RUNNING, Left): Machine._left_too_late,
}
