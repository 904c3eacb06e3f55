"""What can happen to a transaction, and what is to be done then.

Stimuli go into the machine, actions come out (`txloop.engine.machine`); the states
between them are in `txloop.engine.transaction`.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.transaction import Transaction
    from txloop.stm.types import Answer, Conflict, Outcome, Refusal, Retry

__all__ = [
    "Action",
    "Answered",
    "Arrived",
    "Closed",
    "Commit",
    "Conflicting",
    "Drop",
    "Granted",
    "HandBack",
    "Left",
    "Outdated",
    "Placed",
    "RanHere",
    "RanShort",
    "Recall",
    "Recalled",
    "Reject",
    "RunHere",
    "RunRound",
    "RunsHere",
    "Send",
    "Stimulus",
    "Submitted",
    "Valid",
    "Validate",
    "Wait",
    "Why",
    "Woken",
]


# What can happen


class Submitted(NamedTuple):
    """It came, and wants to run."""

    transaction: Transaction


class RunsHere(NamedTuple):
    """It runs where it was made, and was not known so far, or where it was woken."""

    transaction: Transaction


class Arrived(NamedTuple):
    """It came with the answer to an attempt that was made elsewhere, unasked."""

    transaction: Transaction
    answer: Outcome | Refusal


class Placed(NamedTuple):
    """Its round has begun, and it is decided where it runs."""

    transaction: Transaction
    here: bool


class Answered(NamedTuple):
    """The answer to its attempt has come from the executor."""

    transaction: Transaction
    answer: Answer


class Valid(NamedTuple):
    """What it has read is as it was: it may commit, or wait."""

    transaction: Transaction


class Conflicting(NamedTuple):
    """What it has read has changed; `conflict` names a cell, if it wanted to commit."""

    transaction: Transaction
    conflict: Conflict | None


class Outdated(NamedTuple):
    """It has read what is not shared, and has changed: it has to run here."""

    transaction: Transaction


class RanHere(NamedTuple):
    """It has run on the loop thread, where nothing could come between."""

    transaction: Transaction
    answer: Outcome | Retry


class RanShort(NamedTuple):
    """It has run on the loop thread the short way, which also commits it."""

    transaction: Transaction


class Granted(NamedTuple):
    """Its attempt pleaded, went on as the only one, and has been answered."""

    transaction: Transaction
    answer: Answer
    refusal: Refusal


class Why(enum.Enum):
    """For what an attempt is taken back from the executor."""

    LINE = enum.auto()  # its function has to stand in line
    HERE = enum.auto()  # the loop thread has time for it
    LEFT = enum.auto()  # its result is not wanted any more


class Recalled(NamedTuple):
    """Its attempt was taken back from the executor before it began."""

    transaction: Transaction
    why: Why


class Woken(NamedTuple):
    """Something has changed that it waited for, or its time is up.

    If it runs `here`, it need not wait for a round.
    """

    transaction: Transaction
    timed_out: bool
    here: bool = False


class Left(NamedTuple):
    """Its result is not wanted any more, or only if it need not wait for a change."""

    transaction: Transaction
    on_drop: Callable[[], object] | None


class Closed(NamedTuple):
    """It is not allowed to wait any longer: the loop ends."""

    transaction: Transaction


Stimulus: TypeAlias = (
    Submitted
    | Arrived
    | RunsHere
    | Placed
    | Answered
    | Valid
    | Conflicting
    | Outdated
    | RanHere
    | RanShort
    | Granted
    | Recalled
    | Woken
    | Left
    | Closed
)


# What is to be done


class RunRound(NamedTuple):
    """Begin the next round in the loop's next iteration."""


class Send(NamedTuple):
    """Give an attempt to the executor; an urgent one before all others."""

    transaction: Transaction
    urgent: bool


class Recall(NamedTuple):
    """Take an attempt back from the executor, if it has not begun."""

    transaction: Transaction
    why: Why


class Validate(NamedTuple):
    """Find out whether its answer holds: `Valid`, `Conflicting` or `Outdated`."""

    transaction: Transaction


class RunHere(NamedTuple):
    """Run it on this thread now: `RanHere` or `RanShort`."""

    transaction: Transaction


class Commit(NamedTuple):
    """Install the writes, and have effects and result delivered."""

    transaction: Transaction
    outcome: Outcome


class Wait(NamedTuple):
    """Look after what it has read, and tell when that changes: `Woken`."""

    transaction: Transaction
    retry: Retry


class Reject(NamedTuple):
    """Answer that too many wait already."""

    transaction: Transaction
    waiting: int


class HandBack(NamedTuple):
    """Tell where its attempt was made that it came to nothing."""

    transaction: Transaction
    conflict: Conflict | None


class Drop(NamedTuple):
    """Let go of what it holds; it gets no answer."""

    transaction: Transaction


Action: TypeAlias = (
    RunRound
    | Send
    | Recall
    | Validate
    | RunHere
    | Commit
    | Wait
    | Reject
    | HandBack
    | Drop
)
