"""Attempts that are made elsewhere: not sent there by the dispatcher, but known to it.

A front makes attempts by itself, and a request may be tried in a copy of this process
before it becomes a transaction. What has written commits here, what has come to nothing
is handed back or runs here, and of what only reads it is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.engine.actions import refuse_outdated
from txloop.engine.stimuli import Arrived
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.dispatcher import Dispatcher
    from txloop.engine.profile import Profile
    from txloop.engine.transaction import Done, Transaction
    from txloop.stm.types import Answer, Call, Conflict, Refusal

__all__ = ["arrive", "arrive_refused", "goes_away", "tell_of"]


def goes_away(dispatcher: Dispatcher, profile: Profile) -> bool:
    """Tell whether a call that is a transaction only elsewhere may go there now.

    To copies of this process only: it may be given up there in its midst, and what
    it has changed of plain objects by then has to go with that.
    """
    if (
        dispatcher.closed
        or not dispatcher.executor.forks
        or profile.on_loop_because is not None
    ):
        return False
    faults = dispatcher.faults
    if faults and faults.sends_away(dispatcher.executor.transport_seconds):
        return True
    return not dispatcher.placement.decide_stay(profile, True)


def tell_of(
    dispatcher: Dispatcher, call: Call, profile: Profile, answer: Answer
) -> None:
    """Tell of an attempt that was made elsewhere, and is over.

    Args:
        dispatcher: Whose listeners are told.
        call: What has run.
        profile: The record of its function.
        answer: What came of it: it has only read, or has to run again.
    """
    report = dispatcher.report
    transaction = dispatcher.new(call, profile, _ignore)
    transaction.attempts = 1
    report.started(transaction)
    report.answered(transaction, answer)
    if isinstance(answer, Outcome):
        report.committed(transaction, answer, answer.snapshot)
    elif isinstance(answer, Retry):
        report.retried(transaction, answer, waits=False)
        report.dropped(transaction)
    else:
        report.aborted(transaction, answer)
        report.dropped(transaction)


def arrive(
    dispatcher: Dispatcher,
    watching: Transaction,
    outcome: Outcome,
    done: Done,
    hand_back: Callable[[Conflict | None], object],
) -> None:
    """Take in the outcome of an attempt that was made elsewhere.

    Args:
        dispatcher: Commits it.
        watching: Stands for all of its kind, and never runs.
        outcome: The outcome, whose snapshot is open.
        done: Takes the result.
        hand_back: Called instead of `done` if the attempt cannot commit.
    """
    dispatcher.profiles.marked += 1
    if dispatcher.may_run_now():
        _settle_now(dispatcher, watching, outcome, done, hand_back)
        return
    transaction = dispatcher.new(watching.call, watching.profile, done)
    transaction.hand_back, transaction.subject = hand_back, watching.subject
    dispatcher.handle(Arrived(transaction, outcome))
    dispatcher.drain()


def arrive_refused(
    dispatcher: Dispatcher,
    call: Call,
    profile: Profile,
    done: Done,
    refusal: Refusal,
    hand_back: Callable[[Conflict | None], object] | None = None,
) -> int:
    """Take in a call that was refused elsewhere: it runs here.

    Args:
        dispatcher: Runs it.
        call: What to run.
        profile: The record of its function.
        done: Takes the result.
        refusal: Why it cannot run where it was tried.
        hand_back: Called instead, if it is not to run here as a transaction.

    Returns:
        The transaction's number, or 0 if it has ended already.
    """
    dispatcher.profiles.marked += 1
    transaction = dispatcher.new(call, profile, done)
    transaction.hand_back = hand_back
    dispatcher.holds.refused(transaction, refusal)
    dispatcher.handle(Arrived(transaction, refusal))
    dispatcher.drain()
    return transaction.number if transaction.number in dispatcher.machine.open else 0


def _settle_now(
    dispatcher: Dispatcher,
    watching: Transaction,
    outcome: Outcome,
    done: Done,
    hand_back: Callable[[Conflict | None], object],
) -> None:
    """Commit an outcome, or hand it back: nothing is in between."""
    profile, conflict = watching.profile, None
    profile.attempts += 1
    profile.note_body(outcome.body_seconds, inline=False)
    outdated = refuse_outdated(dispatcher, watching, outcome)
    if not outdated:
        conflict = dispatcher.decide(outcome, committed, False)
    committed.close_snapshot(outcome.snapshot)
    if outdated or conflict is not None:
        if conflict is not None:
            profile.note_conflict(conflict)
        hand_back(conflict)
        return
    profile.note_commit(outcome)
    profile.note_times(0.0, outcome.body_seconds)
    if outcome.writes:
        committed.install(outcome.writes, direct=False)  # type: ignore[arg-type] # containers
    label = profile.label
    if outcome.effects or outcome.records or dispatcher.effects.waiting:
        dispatcher.effects.add(outcome, done, label, watching.call.context)
    else:
        dispatcher.effects.deliver(done, outcome.value, outcome.error, label)
    if dispatcher.machine.open or dispatcher.effects.waiting:
        dispatcher.drain()


def _ignore(value: object, error: object) -> None:
    pass
