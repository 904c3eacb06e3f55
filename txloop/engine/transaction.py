"""A transaction on its way to its commit, as the dispatcher keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from txloop.engine.profile import Profile
    from txloop.stm.types import Answer, Call
    from txloop.watch import Subject

__all__ = ["Done", "Timer", "Transaction"]

Done = Callable[[object, BaseException | None], None]
"""Takes a committed transaction's value, or its error, on the loop thread."""


class Timer(Protocol):
    """A call that the event loop will make later."""

    def cancel(self) -> object:
        """Do not make it."""


class Transaction:
    """A call on its way to its commit; owned by the dispatcher.

    Attributes:
        number: Tells it from all others; they count up in the order of arrival.
        call: What to run.
        profile: The record of its function.
        subject: What its function can reach, once asked.
        done: Takes its result.
        attempt: How many attempts there were.
        running: The number of the attempt that runs away from here, 0 for none.
        inline: Whether its newest attempt ran here.
        conflicts: Attempts thrown away since it came, or since it was woken.
        outcome: The answer that it has, None while it runs or waits.
        waiting_since: When it first waited (`time.monotonic`), None if never.
        patience_seconds: How long it waits in all until it runs anyway, or None.
        timer: Wakes it then.
        away: Whether it was decided, when it came, that it runs away from here.
        unwanted: Whether nobody is left to take its result.
        on_drop: Called if it is dropped, or None.
    """

    __slots__ = (
        "attempt",
        "away",
        "call",
        "conflicts",
        "done",
        "inline",
        "number",
        "on_drop",
        "outcome",
        "patience_seconds",
        "profile",
        "running",
        "subject",
        "timer",
        "unwanted",
        "waiting_since",
    )

    def __init__(self, number: int, call: Call, profile: Profile, done: Done) -> None:
        self.number = number
        self.call = call
        self.profile = profile
        self.subject: Subject | None = None
        self.done = done
        self.attempt = 0
        self.running = 0
        self.inline = False
        self.conflicts = 0
        self.outcome: Answer | None = None
        self.waiting_since: float | None = None
        self.patience_seconds: float | None = None
        self.timer: Timer | None = None
        self.unwanted = False
        self.on_drop: Callable[[], object] | None = None
        self.away = False
