"""What is known of each function: how long it takes, where it runs, how it fared."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.heat import Heat
from txloop.naming import cell_name
from txloop.timing import BodyTimer, WallTimer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from txloop.executors.base import Executor
    from txloop.scan import Finding
    from txloop.types import Cell

__all__ = ["SHORT_SECONDS", "LabelStats", "Profile", "Profiles", "Stats"]

_log = logging.getLogger("txloop")

SHORT_SECONDS = 0.0005
"""What takes less here stays, whatever transport costs: it would wait for a worker."""

MEDIUM_SECONDS = 0.004
"""What takes longer never runs here of choice: others would wait for it."""

_CERTAINLY_SHORT = SHORT_SECONDS / 2  # by the wall clock: whatever disturbs it

_MOST_WORTH = 0.001  # the first calls that are sent away cost much more than others

_WEIGHT = 0.1  # of the newest measurement in the moving average
_LARGEST_STEP = 4.0  # times the average: one stray value does not decide ...
_LONG_SECONDS = 0.01  # ... unless it is so long that it must not happen here again
_TRIAL_FACTOR = 4.0  # in a worker, with cold caches, a short body takes so much longer
_STAYING_FACTOR = 2.0  # who is here may take so much longer: nobody moves to and fro
_TRIAL_INTERVAL = 20  # calls sent away between two trials on the loop thread


class Average:
    """A moving average of seconds; None before the first measurement."""

    __slots__ = ("_count", "seconds")

    def __init__(self) -> None:
        self.seconds: float | None = None
        self._count = 0

    def add(self, seconds: float) -> None:
        """Take a measurement into the average."""
        average = self.seconds
        self._count += 1
        if average is None or self._count == 2:  # the first one imports and compiles
            self.seconds = seconds
            return
        if seconds < _LONG_SECONDS:
            seconds = min(seconds, _LARGEST_STEP * max(average, 1e-5))
        self.seconds = average + _WEIGHT * (seconds - average)


def _worth(transport_seconds: float) -> float:
    """Return what a body must take here to be worth sending away."""
    # Where sending costs nothing, as is assumed before it was measured, all is.
    if not transport_seconds:
        return 0.0
    return min(max(transport_seconds, SHORT_SECONDS), _MOST_WORTH)


class Profile:
    """The record of one function or handler verb; owned by the loop thread.

    Attributes:
        label: Its name in statistics and logs.
        home: Why it always runs on the loop thread, or None.
        body: Its body's time.
        here: The same of its runs on the loop thread alone.
        commits: Transactions that took effect.
        errors: Those among them that ended with an exception.
        attempts: Runs, whatever became of them.
        conflicts: Runs thrown away because what they had read changed.
        inline: Runs on the loop thread.
        retries: Runs that gave up until something changes.
        waits: Those among them after which nothing had changed yet.
        refused: Calls turned away because too many waited.
        heat: How often it conflicts on the same cell.
        stayed: Whether it was known to be short when it was last called.
        examined: Whether it was asked if it can run elsewhere at all.
        unproven: Whether its first run away from here, which is made alone, has not
            been answered.
        blocks: Whether it waited for something when it last ran here.
    """

    __slots__ = (
        "_named",
        "attempts",
        "blocks",
        "body",
        "commits",
        "conflicts",
        "errors",
        "examined",
        "heat",
        "here",
        "home",
        "inline",
        "label",
        "next_trial",
        "refused",
        "retries",
        "stayed",
        "unproven",
        "waits",
    )

    def __init__(self, label: str, home: str | None = None) -> None:
        self.label = label
        self.home = home
        self.body = Average()
        self.here = Average()
        self.next_trial = 1
        self.commits = 0
        self.errors = 0
        self.attempts = 0
        self.conflicts = 0
        self.inline = 0
        self.retries = 0
        self.waits = 0
        self.refused = 0
        self.heat = Heat()
        self.stayed = False
        self.examined = False
        self.unproven = False
        self.blocks = False
        self._named: tuple[Cell, str] | None = None

    def note_body(self, seconds: float, inline: bool) -> None:
        """Take a measurement into the averages."""
        self.body.add(seconds)
        if inline:
            self.here.add(seconds)

    def timer(self) -> BodyTimer | WallTimer:
        """Return what measures a run here: as exactly as the decision needs it."""
        seconds = self.here.seconds
        if seconds is None or seconds > _CERTAINLY_SHORT:
            return BodyTimer()
        return WallTimer()

    def note_short(self, seconds: float, failed: bool) -> None:
        """Take note of a run here that took effect."""
        self.commits += 1
        self.errors += failed
        self.body.add(seconds)
        self.here.add(seconds)
        if self.heat.cell is not None:
            self.heat.note_commit()

    def note_retry(self) -> None:
        """Take note that a run here gave up: it did not tell how long one takes."""
        self.next_trial = self.attempts

    def stays(self, transport_seconds: float) -> bool:
        """Tell whether sending it away costs more than the body takes here.

        A function that never ran is sent away: it may be long. One that looks short
        from afar is tried here now and then: only that tells how long it takes here.
        """
        self.stayed = self.short(transport_seconds)
        if self.stayed:
            return True
        body_seconds = self.body.seconds
        if body_seconds is None or self.attempts < self.next_trial:
            return False
        if body_seconds > _TRIAL_FACTOR * _worth(transport_seconds) and not (
            self.blocks and self.has_medium_length(transport_seconds)
        ):
            return False
        self.next_trial = self.attempts + _TRIAL_INTERVAL
        return True

    def short(self, transport_seconds: float) -> bool:
        """Tell whether it is known to cost less here, or has to run here."""
        if self.home is not None:
            return True
        here_seconds = self.here.seconds
        if here_seconds is None:
            return False
        worth = _worth(transport_seconds)
        return here_seconds < (_STAYING_FACTOR * worth if self.stayed else worth)

    def medium(self, transport_seconds: float) -> bool:
        """Tell whether it may run here or there, by what else there is to do."""
        return not self.blocks and self.has_medium_length(transport_seconds)

    def has_medium_length(self, transport_seconds: float) -> bool:
        """Tell whether it is too long to stay, and too short to matter to others."""
        here, body = self.here.seconds, self.body.seconds
        seconds = body if here is None else here
        if seconds is None or not transport_seconds:
            return False
        return SHORT_SECONDS <= seconds < MEDIUM_SECONDS

    def estimate(self) -> float | None:
        """Return how long it will take, if it may wait at a worker behind another call.

        What conflicts often should not: its snapshot would be old before it starts.
        """
        return None if 10 * self.conflicts > self.attempts else self.body.seconds

    def stats(self) -> LabelStats:
        """Return the figures as a value."""
        return LabelStats(
            self.label,
            self.commits,
            self.errors,
            self.conflicts,
            self.attempts,
            self.inline,
            self.body.seconds or 0.0,
            self.home or "",
            self.retries,
            self.waits,
            self.refused,
            self._contended(),
        )

    def _contended(self) -> str:
        cell = self.heat.cell
        if cell is None or not self.heat.matters:
            return ""
        if self._named is None or self._named[0] != cell:
            self._named = cell, cell_name(cell)
        return self._named[1]


@dataclass(frozen=True, slots=True)
class LabelStats:
    """The figures of one function or handler verb, as in `Profile`.

    Attributes:
        on_loop_because: Why it always runs on the loop thread; empty if it does not.
        contended: On what at least a tenth of its attempts conflict at present; empty
            if there is no such thing.
    """

    label: str
    commits: int
    errors: int
    aborts: int
    attempts: int
    inline: int
    body_seconds: float
    on_loop_because: str
    retries: int = 0
    waits: int = 0
    refused: int = 0
    contended: str = ""


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
        retries: Runs that gave up until something changes.
        waits: Those among them after which nothing had changed yet.
        waiting: Transactions that wait just now.
        pending: Transactions that have not ended, those that wait included.
        queued: Calls for which there is no worker yet.
        refused: Calls turned away because too many waited.
        transport_seconds: What sending one call away costs.
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
    retries: int = 0
    waits: int = 0
    waiting: int = 0
    refused: int = 0
    pending: int = 0
    queued: int = 0

    @property
    def inline_share(self) -> float:
        """The share of the attempts that ran on the loop thread."""
        return self.inline / self.attempts if self.attempts else 0.0


class Profiles:
    """The records of all functions of one loop; owned by its thread.

    Attributes:
        rounds: Loop iterations that handed transactions to the executor.
        marked: Callbacks, fd events, requests and calls that ran as transactions.
        unmarked: Callbacks and fd events that ran on the loop thread as ever.
    """

    def __init__(self, scanning: bool) -> None:
        """Say whether functions are scanned for state that they do not share."""
        self.rounds = 0
        self.marked = 0
        self.unmarked = 0
        self._scanning = scanning
        self._profiles: dict[Hashable, Profile] = {}

    def find(
        self, key: Hashable, label: str, findings: Callable[[], Sequence[Finding]]
    ) -> Profile:
        """Return the record of a function, made and scanned when it is first seen."""
        profile = self._profiles.get(key)
        if profile is None:
            profile = self._profiles[key] = Profile(label)
            found = findings() if self._scanning else ()
            if found:
                profile.home = found[0].describe()
                _log.warning("%s runs on the loop thread: %s", label, profile.home)
        return profile

    def close(self) -> None:
        """Let go of the functions and classes; their figures stay."""
        self._profiles = dict(enumerate(self._profiles.values()))

    def stats(
        self,
        executor: Executor,
        version: int,
        waiting: int = 0,
        pending: int = 0,
        queued: int = 0,
    ) -> Stats:
        """Return what was done so far, and what there is to do."""
        labels = tuple(profile.stats() for profile in self._profiles.values())
        return Stats(
            executor=executor.name,
            workers=executor.workers,
            gil=getattr(sys, "_is_gil_enabled", lambda: True)(),
            rounds=self.rounds,
            marked=self.marked,
            unmarked=self.unmarked,
            commits=sum(one.commits for one in labels),
            errors=sum(one.errors for one in labels),
            aborts=sum(one.aborts for one in labels),
            attempts=sum(one.attempts for one in labels),
            inline=sum(one.inline for one in labels),
            transport_seconds=executor.transport_seconds,
            version=version,
            labels=labels,
            retries=sum(one.retries for one in labels),
            waits=sum(one.waits for one in labels),
            waiting=waiting,
            refused=sum(one.refused for one in labels),
            pending=pending,
            queued=queued,
        )
