"""What is known of each function: how long it takes, where it runs, how it fared."""

from __future__ import annotations

import logging
import operator
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.engine.heat import Heat
from txloop.engine.stats import Distribution, LabelStats, Stats
from txloop.executors.crew import ProcessStats, Tally
from txloop.executors.pool import Pool
from txloop.stm.cell_names import cell_name
from txloop.stm.measuring import Average, BodyTimer, Histogram, WallTimer
from txloop.stm.threads import gil_enabled

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from txloop.executors.protocol import Executor
    from txloop.scan import Finding
    from txloop.stm.types import Cell, Conflict, Outcome, Refusal

__all__ = ["SHORT_SECONDS", "Profile", "Profiles"]

_log = logging.getLogger("txloop")

SHORT_SECONDS = 0.0005
"""What takes less here stays, whatever transport costs: it would wait for a worker."""

MEDIUM_SECONDS = 0.004
"""What takes longer never runs here of choice: others would wait for it."""

_CERTAINLY_SHORT = 0.8 * SHORT_SECONDS  # by the wall clock, whatever disturbs it

_MOST_WORTH = 0.001  # the first calls that are sent away cost much more than others

_TRIAL_FACTOR = 4.0  # times longer that a body takes in a worker, where caches are cold
_STAYING_FACTOR = 1.2  # hysteresis: what is short does not leave for a little more
_TRIAL_INTERVAL = 20  # calls sent away between two trials on the loop thread
_LINED_UP_INTERVAL = 400  # the same of long ones that run one after another anyway
_MOST_LINED_UP = 0.025  # that others wait for such a trial

_TELLING_SECONDS = 5e-6  # of all processes, for one write of a run elsewhere

_WASTED_WEIGHT = 0.02  # of the newest run away from here
_WRITING_WEIGHT = 0.1  # of the newest run in the moving average
_HARDLY_EVER = 0.01  # of it: after a write, 22 runs that only read are below that
_FEW_RUNS = 3

_LATE_CALLS = 400  # for which a conflict is remembered
_LATE_TRIAL = 20  # of these calls, one shows whether it is still so


def _worth(transport_seconds: float) -> float:
    """Return what a body must take here to be worth sending away."""
    # Where sending costs nothing, as is assumed before it was measured, all is.
    if not transport_seconds:
        return 0.0
    return min(max(transport_seconds, SHORT_SECONDS), _MOST_WORTH)


def _longest_in_line(transport_seconds: float) -> float:
    """Return what a body may take here where no other would run beside it."""
    # To send it away keeps this thread for as long as that takes.
    return max(MEDIUM_SECONDS, min(transport_seconds, _MOST_LINED_UP))


@dataclass(slots=True, eq=False, repr=False)
class Profile:
    """The record of one function or handler verb; owned by the loop thread.

    Attributes:
        label: Its name in statistics and logs.
        on_loop_because: Why it always runs on the loop thread, or None.
        may_settle: Whether that may be over when it has changed nothing for a while.
        body: Its body's time.
        here: Its body's time in runs on the loop thread alone.
        away: The same in all other runs.
        wasted: The share of these that conflicted, a moving average.
        next_trial: After how many attempts it is tried here, though it looks long.
        commits: Transactions that took effect.
        errors: Those among them that ended with an exception.
        attempts: Runs, whatever became of them.
        conflicts: Runs thrown away because what they had read changed.
        inline: Runs on the loop thread.
        retries: Runs that gave up until something changes.
        waits: Those among them after which nothing had changed yet.
        refused: Calls rejected because too many waited.
        heat: How often it conflicts on the same cell.
        stayed: Whether it was known to be short when it was last called.
        examined: Whether it was asked if it can run elsewhere at all.
        unproven: Whether its first run away from here, which is made alone, has not
            been answered.
        blocks: Whether it waited for something when it last ran here.
        late_calls: How many of the next attempts away from here settle what they read
            only when they read something.
        writing: The share of its runs that write, a moving average.
        writes: How much a run writes, likewise.
        deadly: Whether it has ended processes in which it ran: it never is to run here,
            unless it has to.
        timeout_seconds: After how long a run of a handler's verb is ended, or None.
        bodies: How long its runs took.
        queues: How long its calls waited before they first ran.
        latencies: How long it took from a call to its commit.
    """

    label: str
    on_loop_because: str | None = None
    may_settle: bool = False
    body: Average = field(default_factory=Average)
    here: Average = field(default_factory=Average)
    away: Average = field(default_factory=Average)
    wasted: float = 0.0
    next_trial: int = 1
    commits: int = 0
    errors: int = 0
    attempts: int = 0
    conflicts: int = 0
    inline: int = 0
    retries: int = 0
    waits: int = 0
    refused: int = 0
    heat: Heat = field(default_factory=Heat)
    stayed: bool = False
    examined: bool = False
    unproven: bool = False
    blocks: bool = False
    late_calls: int = 0
    writing: float = 0.0
    writes: float = 0.0
    deadly: bool = False
    timeout_seconds: float | None = None
    bodies: Histogram = field(default_factory=Histogram)
    queues: Histogram = field(default_factory=Histogram)
    latencies: Histogram = field(default_factory=Histogram)
    _named: tuple[Cell, str] | None = field(default=None, init=False)

    def note_body(self, seconds: float, inline: bool) -> None:
        """Take a measurement into the averages."""
        self.body.add(seconds)
        self.bodies.add(seconds)
        (self.here if inline else self.away).add(seconds)

    def note_times(self, queued_seconds: float, seconds: float) -> None:
        """Take note how long one that took effect had waited, and took in all."""
        self.queues.add(queued_seconds)
        self.latencies.add(seconds)

    def timer(self) -> BodyTimer | WallTimer:
        """Return what measures a run here: as exactly as the decision needs it."""
        seconds = self.here.seconds
        if seconds is None or seconds > _CERTAINLY_SHORT:
            return BodyTimer()
        return WallTimer()

    def note_commit(self, outcome: Outcome) -> None:
        """Take note of a transaction that took effect."""
        self.commits += 1
        self.errors += outcome.failed
        self.note_writing(len(outcome.writes))
        self.wasted *= 1 - _WASTED_WEIGHT
        if self.heat.cell is not None:
            self.heat.note_commit(outcome)

    def note_conflict(self, conflict: Conflict, late: bool = True) -> None:
        """Take note of an attempt that was aborted by a commit.

        Args:
            conflict: What it lost to.
            late: Whether it could not have read anything newer. Else that is tried
                first, and calls do not stand in line.
        """
        self.conflicts += 1
        self.wasted += _WASTED_WEIGHT * (1 - self.wasted)
        if late:
            self.heat.note_conflict(conflict.cell)
        else:
            self.late_calls = _LATE_CALLS

    def note_refusal(self, refusal: Refusal) -> None:
        """Take note of an attempt that gave up: later calls may have to stay, too."""
        if refusal.lasting:
            self.on_loop_because = refusal.reason

    def decide_late(self) -> bool:
        """Decide whether the next attempt settles what it reads when it reads first.

        That costs more than to read what was there when it began. So it is done after
        conflicts only, and now and then it is left, to see whether they come back.
        """
        if not self.late_calls:
            return False
        self.late_calls -= 1
        return self.late_calls % _LATE_TRIAL != 0

    @property
    def only_reads(self) -> bool:
        """Whether it has run a few times, and hardly ever written."""
        return self.commits >= _FEW_RUNS and self.writing < _HARDLY_EVER

    def note_short(
        self, seconds: float, failed: bool, queued_seconds: float, waited_seconds: float
    ) -> None:
        """Take note of a run here that took effect.

        Args:
            seconds: How long it took.
            failed: Whether it ended with an exception.
            queued_seconds: How long the call had waited before it first ran.
            waited_seconds: How long it had waited before this run.
        """
        self.commits += 1
        self.errors += failed
        self.body.add(seconds)
        self.here.add(seconds)
        self.bodies.add(seconds)
        self.queues.add(queued_seconds)
        self.latencies.add(waited_seconds + seconds)
        if self.heat.cell is not None:
            self.heat.note_commit()

    def note_writing(self, writes: int) -> None:
        """Take note of how many writes a run has made that took effect."""
        self.writing += _WRITING_WEIGHT * ((writes > 0) - self.writing)
        self.writes += _WRITING_WEIGHT * (writes - self.writes)

    def note_others(
        self, counts: Sequence[int], seconds: float, writing: int = 0
    ) -> None:
        """Take note of runs elsewhere that took effect by themselves.

        Args:
            counts: How many there were of which length, as in a `Histogram`.
            seconds: How long all of them took together.
            writing: How many of them have written; the others only read.
        """
        runs = sum(counts)
        self.writing *= (1 - _WRITING_WEIGHT) ** max(runs - writing, 0)
        self.writing = 1 - (1 - self.writing) * (1 - _WRITING_WEIGHT) ** writing
        self.commits += runs
        self.attempts += runs
        self.body.add(seconds / runs)
        self.away.add(seconds / runs)
        self.wasted *= (1 - _WASTED_WEIGHT) ** runs
        # They waited for nothing, as far as is known here.
        self.queues.counts[0] += runs
        for times in (self.bodies, self.latencies):
            times.seconds += seconds
            times.counts = [*map(operator.add, times.counts, counts)]

    def note_retry(self) -> None:
        """Take note that a run here gave up: it did not tell how long one takes."""
        self.next_trial = self.attempts

    def decide_stay(self, transport_seconds: float) -> bool:
        """Decide whether the next call stays: sending it away would cost more.

        A function that never ran is sent away: it may be long. One that looks short
        from afar is tried here now and then: only that tells how long it takes here.
        """
        if self.deadly and self.on_loop_because is None:
            self.stayed = False
            return False
        here_seconds = self.here.seconds
        if here_seconds is None or here_seconds > _CERTAINLY_SHORT:
            self.stayed = self.short(transport_seconds) or (
                # Workers would run one after the other, too.
                self.heat.lined_up
                and here_seconds is not None
                and here_seconds < _longest_in_line(transport_seconds)
            )
        else:
            self.stayed = transport_seconds > 0.0 or self.on_loop_because is not None
        if self.stayed:
            return True
        body_seconds = self.body.seconds
        if body_seconds is None or self.attempts < self.next_trial:
            return False
        interval = _TRIAL_INTERVAL
        if body_seconds > _TRIAL_FACTOR * _worth(transport_seconds) and not (
            self.blocks and self.has_medium_length(transport_seconds)
        ):
            # Away from here it notes all that it reads, which may be most of its time.
            interval = _LINED_UP_INTERVAL
            in_line = self.heat.lined_up and not self.blocks and transport_seconds > 0.0
            if not (in_line and body_seconds < _MOST_LINED_UP):
                return False
        self.next_trial = self.attempts + interval
        return True

    def short(self, transport_seconds: float) -> bool:
        """Tell whether it is known to cost less here, or has to run here."""
        if self.on_loop_because is not None:
            return True
        here_seconds = self.here.seconds
        if here_seconds is None:
            return False
        worth = _worth(transport_seconds)
        return here_seconds < (_STAYING_FACTOR * worth if self.stayed else worth)

    def medium(self, transport_seconds: float) -> bool:
        """Tell whether it may run here or there, by what else there is to do."""
        if self.blocks or self.deadly:
            return False
        return self.has_medium_length(transport_seconds)

    def has_medium_length(self, transport_seconds: float) -> bool:
        """Tell whether it is too long to stay, and too short to matter to others."""
        here, body = self.here.seconds, self.body.seconds
        seconds = body if here is None else here
        if seconds is None or not transport_seconds:
            return False
        return SHORT_SECONDS <= seconds < MEDIUM_SECONDS

    def tells_long(self) -> bool:
        """Tell whether it takes longer to tell all of its writes than to make them."""
        here = self.here.seconds
        return here is not None and self.writes * _TELLING_SECONDS > here

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
            self.on_loop_because or "",
            self.retries,
            self.waits,
            self.refused,
            self._contended(),
            *map(_distribution, (self.latencies, self.queues, self.bodies)),
        )

    def _contended(self) -> str:
        """Return the name of the cell on which it conflicts often, or ""."""
        cell = self.heat.cell
        if cell is None or not self.heat.matters:
            return ""
        if self._named is None or self._named[0] != cell:
            self._named = cell, cell_name(cell)
        return self._named[1]


def _distribution(times: Histogram) -> Distribution:
    return Distribution(tuple(times.counts), times.seconds)


class Profiles:
    """The records of all functions of one loop; owned by its thread.

    Attributes:
        rounds: Loop iterations that handed transactions to the executor.
        marked: Callbacks, fd events, requests and calls that ran as transactions.
        unmarked: Callbacks and fd events that ran as in stock Tornado.
        fronts: Those that serve HTTP, as counted last.
        front_processes: Each of them.
        front_tally: What has become of those that there were.
    """

    def __init__(self, scanning: bool) -> None:
        """Say whether functions are scanned for state that they do not share."""
        self.rounds = 0
        self.marked = 0
        self.unmarked = 0
        self.fronts = 0
        self.front_processes: Sequence[ProcessStats] = ()
        self.front_tally = Tally()
        self._scanning = scanning
        self._profiles: dict[Hashable, Profile] = {}

    def known(self, key: Hashable) -> Profile | None:
        """Return the record of a function, or None if it was never seen."""
        return self._profiles.get(key)

    def find(
        self,
        key: Hashable,
        label: str,
        findings: Callable[[], Sequence[Finding]],
        timeout_seconds: float | None = None,
    ) -> Profile:
        """Return the record of a function, made and scanned when it is first seen.

        Args:
            key: Tells it from others.
            label: What it is called.
            findings: Scans it.
            timeout_seconds: Kept in the record.
        """
        profile = self._profiles.get(key)
        if profile is None:
            profile = Profile(label, timeout_seconds=timeout_seconds)
            self._profiles[key] = profile
            found = findings() if self._scanning else ()
            if found:
                profile.on_loop_because = found[0].describe()
                _log.warning(
                    "%s runs on the loop thread: %s", label, profile.on_loop_because
                )
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
        workers, fronts = Tally(), self.front_tally
        owner = ProcessStats("owner", 1, os.getpid(), "serves")
        processes = [owner, *self.front_processes]
        if isinstance(executor, Pool):
            workers = executor.tally
            processes += executor.members()
        return Stats(
            executor=executor.name,
            workers=executor.workers,
            gil=gil_enabled(),
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
            fronts=self.fronts,
            worker_deaths=workers.deaths,
            front_deaths=fronts.deaths,
            restarts=workers.restarts + fronts.restarts,
            timeouts=workers.timeouts + fronts.timeouts,
            fork_failures=workers.fork_failures + fronts.fork_failures,
            processes=tuple(processes),
        )
