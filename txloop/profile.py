"""What is known of each function: how long it takes, where it runs, how it fared."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LabelStats", "Profile", "Stats"]

_WEIGHT = 0.2  # of the newest measurement in the moving average
_LARGEST_STEP = 8.0  # times the average: one stray value does not decide


class Profile:
    """The record of one function or handler verb; owned by the loop thread.

    Attributes:
        label: Its name in statistics and logs.
        home: Why it always runs on the loop thread, or None.
        body_seconds: The moving average of its body's time; None before the first run.
        commits: Transactions that took effect.
        errors: Those among them that ended with an exception.
        attempts: Runs, whatever became of them.
        conflicts: Runs thrown away because what they had read changed.
        inline: Runs on the loop thread.
    """

    __slots__ = (
        "attempts",
        "body_seconds",
        "commits",
        "conflicts",
        "errors",
        "home",
        "inline",
        "label",
    )

    def __init__(self, label: str, home: str | None = None) -> None:
        self.label = label
        self.home = home
        self.body_seconds: float | None = None
        self.commits = 0
        self.errors = 0
        self.attempts = 0
        self.conflicts = 0
        self.inline = 0

    def note_body(self, seconds: float) -> None:
        """Take a measurement into the average."""
        average = self.body_seconds
        if average is None:
            self.body_seconds = seconds
            return
        bounded = min(seconds, _LARGEST_STEP * max(average, 1e-5))
        self.body_seconds = average + _WEIGHT * (bounded - average)

    def stays(self, transport_seconds: float) -> bool:
        """Tell whether sending it away would cost the loop thread more than running it.

        A function that never ran is sent away: it may be long.
        """
        if self.home is not None:
            return True
        return self.body_seconds is not None and self.body_seconds < transport_seconds

    def stats(self) -> LabelStats:
        """Return the figures as a value."""
        return LabelStats(
            self.label,
            self.commits,
            self.errors,
            self.conflicts,
            self.attempts,
            self.inline,
            self.body_seconds or 0.0,
            self.home or "",
        )


@dataclass(frozen=True, slots=True)
class LabelStats:
    """The figures of one function or handler verb, as in `Profile`.

    Attributes:
        on_loop_because: Why it always runs on the loop thread; empty if it does not.
    """

    label: str
    commits: int
    errors: int
    aborts: int
    attempts: int
    inline: int
    body_seconds: float
    on_loop_because: str


@dataclass(frozen=True, slots=True)
class Stats:
    """What the loop has done since it started.

    Attributes:
        executor: The executor's name.
        workers: How many attempts can run at once.
        gil: Whether this interpreter holds its global lock.
        rounds: Loop iterations that handed transactions to the executor.
        marked: Callbacks, fd events and requests that ran as transactions.
        unmarked: Callbacks and fd events that ran on the loop thread as ever.
        commits: Transactions that took effect.
        errors: Those among them that ended with an exception.
        aborts: Attempts thrown away in a conflict.
        attempts: Runs, whatever became of them.
        inline: Runs on the loop thread.
        transport_seconds: What sending one call away costs the loop thread.
        version: The number of commits that wrote, direct writes included.
        labels: The same per function and handler verb.
    """

    executor: str
    workers: int
    gil: bool
    rounds: int
    marked: int
    unmarked: int
    commits: int
    errors: int
    aborts: int
    attempts: int
    inline: int
    transport_seconds: float
    version: int
    labels: tuple[LabelStats, ...]

    @property
    def inline_share(self) -> float:
        """The share of the attempts that ran on the loop thread."""
        return self.inline / self.attempts if self.attempts else 0.0
