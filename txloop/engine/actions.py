"""What the machine wants done: each of its actions is a function here.

Attempts are sent to the executor, or run on this thread; answers are validated, writes
installed, results handed over. What an action leads to is the machine's next stimulus.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from txloop.engine.effects import too_late
from txloop.engine.stimuli import (
    Commit,
    Conflicting,
    Drop,
    HandBack,
    Outdated,
    RanHere,
    Recall,
    Recalled,
    Reject,
    RunHere,
    RunRound,
    Send,
    Valid,
    Validate,
    Wait,
)
from txloop.errors import TxOverloadError
from txloop.executors.protocol import Work
from txloop.stm.run import run_here
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal, Retry
from txloop.stm.validation import still_holds
from txloop.watch.outside import note_changes, outdated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.engine.hub import Hub
    from txloop.engine.stimuli import Action, Stimulus
    from txloop.engine.transaction import Transaction
    from txloop.stm.types import Answer

__all__ = ["do", "refuse_outdated", "release_snapshot", "send"]


def do(hub: Hub, action: Action) -> None:
    """Do one thing that the machine of a dispatcher wants done."""
    _DO[type(action)](hub, action)


def _announce(hub: Hub, _: RunRound) -> None:
    """Begin the round in the loop's next iteration."""
    hub.call_soon(hub.flush)


def _send_one(hub: Hub, one: Send) -> None:
    """Give one attempt to the executor."""
    send(hub, [one])


def send(hub: Hub, sends: Sequence[Send]) -> None:
    """Give attempts to the executor in one batch: one frame for each worker."""
    hub.start()
    hub.executor.run([_work(hub, *send) for send in sends])
    hub.machine.workers = hub.executor.workers  # there may be more now, or fewer


def _work(hub: Hub, transaction: Transaction, urgent: bool) -> Work:
    """Return what the executor is given of an attempt."""
    profile, call = transaction.profile, transaction.call_now()
    if call.guarded:
        note_changes()
    estimate = profile.estimate()
    spare_loop, transport = (
        transaction.spare_loop,
        hub.executor.transport_seconds,
    )
    medium = not spare_loop and profile.medium(transport)
    late = profile.decide_late() or (hub.faults is not None and hub.faults.is_late())
    transaction.late = late
    reading = not (late or call.traced or call.ordered) and profile.only_reads
    return Work(
        transaction.attempt_number, call, estimate, urgent, medium, late, reading
    )


def _recall(hub: Hub, recall: Recall) -> None:
    """Take an attempt back, unless it is too late for that."""
    transaction, why = recall
    if hub.executor.withdraw(transaction.attempt_number):
        hub.handle(Recalled(transaction, why))


def _run_here(hub: Hub, action: RunHere) -> None:
    """Run it on this thread, where nothing can interfere."""
    transaction = action.transaction
    transaction.note_ran()
    if hub.run_short(transaction):
        return
    with hub.placement.watching(transaction.profile):
        answer = run_here(transaction.call_now())
    if hub.closed:  # by the body: it has been answered
        return
    hub.holds.ran_here(transaction.profile, transaction.call)
    hub.report.answered(transaction, answer)
    hub.handle(RanHere(transaction, answer))


def _validate(hub: Hub, action: Validate) -> None:
    """Find out whether an answer holds, and let go of its snapshot."""
    transaction = action.transaction
    answer = transaction.answer
    stimulus: Stimulus = Valid(transaction)
    if isinstance(answer, Retry):
        if not still_holds(answer, committed):
            stimulus = Conflicting(transaction, None)
    elif isinstance(answer, Outcome):
        if refuse_outdated(hub, transaction, answer):
            stimulus = Outdated(transaction)
        else:
            ordered = transaction.call.ordered
            conflict = hub.decide(answer, committed, ordered)
            if conflict is not None:
                stimulus = Conflicting(transaction, conflict)
    release_snapshot(answer)
    hub.handle(stimulus)


def refuse_outdated(hub: Hub, transaction: Transaction, outcome: Outcome) -> bool:
    """Refuse an outcome that counts for nothing; return whether it does.

    It may have read a file that was written since, or plain objects; or want done
    what cannot be done any more.
    """
    reason = outdated(outcome.files) if outcome.files else None
    if reason is not None:
        refusal = Refusal(reason)
        hub.report.refused(transaction, refusal)
        transaction.profile.note_refusal(refusal)
        return True
    reason = too_late(outcome.effects) if outcome.effects else None
    if reason is not None:
        hub.report.aborted(transaction, Refusal(reason))
        return True
    return hub.holds.check_answer(transaction)


def _commit(hub: Hub, commit: Commit) -> None:
    """Install the writes, and queue effects and result."""
    transaction, outcome = commit
    if outcome.writes:
        committed.install(outcome.writes, direct=False)  # type: ignore[arg-type] # containers
    hub.room.ended(transaction)
    transaction.note_ended()
    hub.report.committed(transaction, outcome, committed.version)
    label, context = transaction.profile.label, transaction.call.context
    hub.effects.add(outcome, transaction.done, label, context)


def _reject(hub: Hub, reject: Reject) -> None:
    """Answer with an error that says when to come again."""
    transaction, waiting = reject
    profile = transaction.profile
    hub.report.rejected(transaction, waiting)
    error = TxOverloadError(
        f"queue full: {profile.label} did not run; {waiting} calls are waiting"
    )
    seconds = waiting * (profile.body.seconds or 0.0) / hub.executor.workers
    error.retry_after_seconds = math.ceil(seconds) or 1
    hub.answer_error(transaction.done, profile.label, error)


def _wait(hub: Hub, wait: Wait) -> None:
    """Let it into the waiting room, perhaps once more."""
    hub.room.ended(wait.transaction)
    hub.room.enter(wait.transaction, wait.retry)


def _hand_back(hub: Hub, action: HandBack) -> None:
    """Tell where its attempt was made, elsewhere, that it came to nothing."""
    transaction, conflict = action
    transaction.answer = None
    assert transaction.hand_back is not None
    transaction.hand_back(conflict)


def _drop(hub: Hub, drop: Drop) -> None:
    """Let go of its place in the waiting room and of its snapshot."""
    transaction = drop.transaction
    hub.room.leave(transaction)
    release_snapshot(transaction.answer)
    transaction.answer = None
    if transaction.on_drop is not None:
        transaction.on_drop()


def release_snapshot(answer: Answer | None) -> None:
    """Let go of the snapshot that an answer holds."""
    if isinstance(answer, Outcome | Retry):
        committed.close_snapshot(answer.snapshot)


_DO: dict[type[Any], Callable[[Hub, Any], None]] = {
    RunRound: _announce,
    Send: _send_one,
    Recall: _recall,
    RunHere: _run_here,
    Validate: _validate,
    Commit: _commit,
    Reject: _reject,
    HandBack: _hand_back,
    Wait: _wait,
    Drop: _drop,
}
