"""What a worker is: all that a new kind of place to run attempts has to supply.

A worker runs one attempt at a time, away from the loop thread: a forked process, a
thread, later a front or a machine. It only carries: calls there, answers back. What
goes where, in which order, for how long, and what becomes of it when something breaks,
the pool decides, for all kinds alike (`txloop.executors.pool`)::

                                    Pool                            Worker
                                      |                                |
       engine: run --> queue ---------+-- offer(assignment) ---------->| packs it
                                      |-- flush() -------------------->| sends it
                                      |                                | ...
       engine: deliver <--------------+<- Pool.settle(worker, answer) -| it has run
                                      |                                |
       it waits behind a long call ---+-- take_back(number) ---------->| if it can
       its timeout has passed --------+-- cancel(assignment, reason) ->|
                                      |<- Pool.lose(worker) -----------| it has died
       end ---------------------------+-- close() -------------------->|

Everything in this picture happens on the loop thread. How a worker gets its answers
there is its own affair: a socket that the loop watches, or `call_soon_threadsafe`.

Three promises make an executor right, and each is kept in one place:

**Every call is answered once, whatever dies.** The pool keeps the book: `assigned` has
what a worker was given and has not answered. A worker never drops a call in silence. It
answers, or gives it back in `take_back`, or is lost as a whole; then the pool gives all
that is in its book to others. An attempt changes nothing, so one that runs twice is
harmless, and the pool ignores the second answer.

**An attempt reads one version, from between two callbacks of the loop thread.**
Unmarked code on the loop thread commits each of its writes at once, so a version from
the middle of a callback may have half of what it writes. The engine calls `run` and
`feed` between callbacks only, and there the pool opens an assignment's snapshot. An
attempt may read that version, or a newer one that was committed at a later `feed`;
never simply the newest. The pool closes the snapshot when the assignment leaves the
book.

**No worker idles while there is work, and no call waits while a worker idles.** Calls
that are known to be short are sent ahead, up to `Limits.read_ahead_seconds` of them, so
that a worker has the next one at hand when it has answered, even if the loop thread is
busy just then. If the guess was wrong, they are taken back.

How long the pool and its workers wait before they do something about it: `Limits`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from txloop.executors.protocol import Work
    from txloop.stm.types import Refusal

__all__ = ["Assignment", "Limits", "Run", "Worker"]


@dataclass(slots=True, eq=False)
class Assignment:
    """One call at one worker; a line of the pool's book.

    Attributes:
        work: The call.
        snapshot: The version that its attempt reads, or the oldest that it may read.
            It is open as long as the assignment is in the book.
        transport_seconds: What it has cost this thread so far to send it.
    """

    work: Work
    snapshot: int
    transport_seconds: float = 0.0


class Run(NamedTuple):
    """What a worker runs just now, or begins as soon as it has received it.

    Attributes:
        assignment: The call.
        since: When that began, by the pool's clock.
    """

    assignment: Assignment
    since: float


class Worker(Protocol):
    """One place where attempts run; owned by the loop thread, which alone calls it.

    Attributes:
        place: Its number among those that there are, from 1; it appears in logs. When
            it is gone, another one may get the same number.
        assigned: What it was given and has not answered, by number, in the order in
            which it runs. This is the pool's book: a worker reads it and leaves it as
            it is.
        may_repeat: Whether a call that waits there may run elsewhere as well. So it is
            where runs have copies of everything, as in processes: it is cheaper to run
            a call twice than to ask for it back.
    """

    place: int
    assigned: dict[int, Assignment]
    may_repeat: bool

    @property
    def open(self) -> bool:
        """Whether it may be offered calls."""

    @property
    def lost(self) -> bool:
        """Whether nothing will come of it any more, so that the pool lets it go."""

    @property
    def needs_look(self) -> bool:
        """Whether the pool has to call `look` now and then."""

    def running(self) -> Run | None:
        """Return what it runs, None if that is nothing, as far as is known here.

        The time is that for which timeouts count: what waits for its turn does not run.
        """

    def offer(self, assignment: Assignment) -> Refusal | None:
        """Get ready to run a call, after all those that it was offered before.

        Returns:
            None if it will be answered; else why it cannot travel. Then it is as if it
            had not been offered, and its call runs on the loop thread.
        """

    def flush(self) -> None:
        """Send what was offered since the last call of this, all in one piece.

        The committed version is that of the snapshots of all these assignments. It is
        called in every `feed`, also if there is nothing to send.
        """

    def take_back(self, number: int) -> bool:
        """Forget a call that has not begun.

        Returns:
            Whether it is certain that it never will: then the pool strikes it out of
            the book. A worker that cannot know says False.
        """

    def cancel(self, assignment: Assignment, reason: str) -> str | None:
        """Give up what it runs, which has taken too long; it is not `open` any more.

        The attempt must not see shared state from now on: its snapshot is closed soon.

        Returns:
            What becomes of the call, as the end of a sentence; None if it is too late
            for that, because the answer has come or is on its way.
        """

    def look(self) -> None:
        """See whether it gets on. If it has ended unnoticed, tell `Pool.lose`."""

    def close(self) -> None:
        """Let it go, without waiting. Closing again does nothing."""


@dataclass(slots=True)
class Limits:
    """The figures of one executor; it reads them whenever it needs one.

    Tests set them to what they need. No program has had to, so they are no options.

    Attributes:
        read_ahead_seconds: How much known work a worker may have, so as not to idle
            until the loop has time.
        overdue_seconds: After how long what waits behind a running call goes to a
            worker that is free.
        most_deaths: How many workers may die of one call before it is given up.
        look_seconds: How often, at least, busy workers are looked at.
        amiss_looks: After how many looks in a row a process that is stopped or gone is
            taken for lost. A whole group that was stopped does not go on all at once.
        lingering_looks: How many looks a process that has to end is given to say where
            it was.
        stalled_looks: After how many looks an answer of which no more arrives is given
            up.
        slow_start_seconds: After how long a process that is not ready is reported.
        stillborn: How many processes may die in a row, before they are ready, until
            there is a pause.
        first_pause_seconds: How long the first pause is before a process is made anew.
        longest_pause_seconds: Each pause is twice the last one, up to this.
        grace_seconds: How long the end waits for calls that still run in threads.
    """

    read_ahead_seconds: float = 0.005
    overdue_seconds: float = 0.005
    most_deaths: int = 3
    look_seconds: float = 0.25
    amiss_looks: int = 2
    lingering_looks: int = 1
    stalled_looks: int = 20
    slow_start_seconds: float = 30.0
    stillborn: int = 5
    first_pause_seconds: float = 0.25
    longest_pause_seconds: float = 30.0
    grace_seconds: float = 1.0
