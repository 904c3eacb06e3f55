"""A transaction on its way to its commit, and the states that it passes.

::

                      submitted, woken
    NEW, WAITING -----------------------> ROUND
                                            |
                                          placed
               +---------------+------------+------------+
               |               |                         |
               |        LINE --+--> AWAY <--+            |
               |                    |  |    |            |
               |           answered |  |    | conflict   |
               | refused,           |  |    | (or LINE)  |
               | recalled           v  |    |            v
               |  +------------ ANSWERED ---+         rejected
               v  v                 |  |
              HERE                  |  +--> TO_BE_INEVITABLE --> AWAY
               |                    |       (the last of many conflicts)
      its turn |           its turn |
               v                    v
            RUNNING ------------> DONE        either one may end in WAITING (`retry`)

One that is HERE or ANSWERED while another one is inevitable is HELD until that has
committed. A transaction that is dropped, or whose loop is closed, is DONE. One that
arrives with an attempt that was made in a front is ANSWERED at once, and goes back
there, DONE, if that cannot commit; one that a front refuses to run is HERE. One that
comes from a front to run in a worker goes back there where others would be RUNNING.
What is short, and woken alone, is RUNNING at once if it would be the next to run here.
"""

from __future__ import annotations

import dataclasses
import enum
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from txloop.engine.profile import Profile
    from txloop.stm.types import Answer, Call, Conflict
    from txloop.watch import Subject

__all__ = ["AsStock", "Done", "State", "Timer", "Transaction"]

_LONGEST_STORY = 40  # states; those of one that waits again and again have no end

Done = Callable[[object, BaseException | None], None]
"""Takes a committed transaction's value, or its error, on the loop thread."""


AsStock = Callable[[], bool]
"""Runs a call as code that is not marked; returns whether it has failed."""


class Timer(Protocol):
    """A call that the event loop will make later."""

    def cancel(self) -> object:
        """Do not make it."""


class State(enum.Enum):
    """Where a transaction is on its way; it is in one place at a time."""

    NEW = enum.auto()  # not known to the machine yet
    ROUND = enum.auto()  # in the next round
    LINE = enum.auto()  # waits for the end of another one that is after the same cell
    AWAY = enum.auto()  # the executor has an attempt of it
    HERE = enum.auto()  # runs on the loop thread when its turn comes
    ANSWERED = enum.auto()  # its answer is here, its turn to commit may not be
    HELD = enum.auto()  # HERE or ANSWERED, and waits for the inevitable one
    TO_BE_INEVITABLE = enum.auto()  # runs when no other is inevitable, and is it then
    RUNNING = enum.auto()  # runs on the loop thread now
    WAITING = enum.auto()  # has retried, and waits for a change
    DONE = enum.auto()  # committed, rejected, dropped or closed

    __hash__ = object.__hash__  # that of Enum is slow


class Transaction:
    """A call on its way to its commit; used by the loop thread only.

    Attributes:
        number: Tells it from all others; they count up in the order of arrival.
        call: What to run.
        profile: The record of its function.
        subject: What its function can reach, once asked.
        done: Takes its result.
        state: Where it is; changed by the machine, through `enter`.
        attempts: How many attempts there were.
        attempt_number: The number of the attempt that the executor has, 0 for none.
        inline: Whether its newest attempt ran here.
        conflicts: Attempts aborted since it came, or since it was woken.
        answer: The one that it has, None while it runs or waits.
        waiting_since: When it first waited (`time.monotonic`), None if never.
        waited_seconds: How long it had waited when it was last woken.
        patience_seconds: How long it waits in all until it runs anyway, or None.
        timer: Wakes it then.
        away: Whether it was decided, when it came, that it runs away from here.
        late: Whether its newest attempt away from here settled what it read only when
            it read something, or did not have to: see `Profile.decide_late`.
        spare_loop: Whether only what is short may run on the loop thread, as other
            threads of the program wait for it, and for the interpreter.
        unwanted: Whether its result is not wanted any more.
        submitted: Whether it came as a call, and not with the answer to an attempt.
        on_drop: Called if it is dropped, or None.
        since: When it came (`time.perf_counter`).
        queued_seconds: How long it had waited when it first ran, None before.
        hand_back: Called if it came from elsewhere and has to go back there: its
            attempt was made there and comes to nothing, because of the conflict that
            this is given, or it would have to run here. None for all others.
        as_stock: Runs it here as code that is not marked, if it may run so, or None.
    """

    __slots__ = (
        "_story",
        "answer",
        "as_stock",
        "attempt_number",
        "attempts",
        "away",
        "call",
        "conflicts",
        "done",
        "hand_back",
        "inline",
        "late",
        "number",
        "on_drop",
        "patience_seconds",
        "profile",
        "queued_seconds",
        "since",
        "spare_loop",
        "state",
        "subject",
        "submitted",
        "timer",
        "unwanted",
        "waited_seconds",
        "waiting_since",
    )

    def __init__(self, number: int, call: Call, profile: Profile, done: Done) -> None:
        self.number = number
        self.call = call
        self.profile = profile
        self.subject: Subject | None = None
        self.done = done
        self.state = State.NEW
        self.attempts = 0
        self.attempt_number = 0
        self.inline = False
        self.late = True
        self.conflicts = 0
        self.answer: Answer | None = None
        self.waiting_since: float | None = None
        self.waited_seconds = 0.0
        self.patience_seconds: float | None = None
        self.timer: Timer | None = None
        self.unwanted = False
        self.on_drop: Callable[[], object] | None = None
        self.away = False
        self.spare_loop = False
        self.submitted = False
        self.hand_back: Callable[[Conflict | None], object] | None = None
        self.as_stock: AsStock | None = None
        self.since = time.perf_counter()
        self.queued_seconds: float | None = None
        self._story = [State.NEW]

    def note_ran(self, seconds: float = 0.0) -> None:
        """Take note that an attempt has run until now, for `seconds`."""
        if self.queued_seconds is None:
            queued = time.perf_counter() - self.since - seconds
            self.queued_seconds = max(0.0, queued)

    def note_ended(self) -> None:
        """Have its profile know how long it took, now that it has taken effect."""
        seconds = time.perf_counter() - self.since
        self.profile.note_times(self.queued_seconds or 0.0, seconds)

    def call_now(self) -> Call:
        """Return what the next attempt runs: the call, with how long it has waited."""
        if not self.waited_seconds:
            return self.call
        return dataclasses.replace(self.call, waited_seconds=self.waited_seconds)

    @property
    def may_be_sent(self) -> bool:
        """Whether an attempt of it can be made in a worker."""
        return self.hand_back is None or self.submitted

    def enter(self, state: State) -> None:
        """Let it be in another place from now on."""
        self.state = state
        story = self._story
        story.append(state)
        if len(story) > _LONGEST_STORY:
            del story[: _LONGEST_STORY // 2]

    def __repr__(self) -> str:
        """Return its number, its function and its story: all that it went through."""
        story = " > ".join(state.name for state in self._story)
        return f"<transaction {self.number} of {self.profile.label}: {story}>"
