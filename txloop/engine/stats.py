"""The figures of a loop, as `txloop.stats` returns them."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.stm.measuring import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.crew import ProcessStats

__all__ = ["Distribution", "LabelStats", "Stats"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often something took how long, since the loop started.

    Attributes:
        counts: How often it took at most 0.1 ms, 0.25 ms, 0.5 ms and so on
            (`Distribution.bounds`), each beyond the one before; the last is the rest.
        seconds: All of it together.
    """

    counts: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    seconds: float = 0.0

    @property
    def bounds(self) -> tuple[float, ...]:
        """The most seconds of each of `counts` but the last."""
        return BOUNDS

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def quantile(self, share: float) -> float:
        """Return what that share of them took at most, in seconds, estimated.

        Within a bucket it is interpolated; 0 if there were none.
        """
        wanted = share * self.count
        least, seen = 0.0, 0
        for most, count in zip(BOUNDS, self.counts, strict=False):
            if count and seen + count >= wanted:
                return least + (most - least) * (wanted - seen) / count
            least, seen = most, seen + count
        return least if self.count else 0.0

    def __add__(self, other: Distribution) -> Distribution:
        """Return both together."""
        counts = map(operator.add, self.counts, other.counts)
        return Distribution(tuple(counts), self.seconds + other.seconds)

    def __sub__(self, earlier: Distribution) -> Distribution:
        """Return what was counted since `earlier`."""
        counts = map(operator.sub, self.counts, earlier.counts)
        return Distribution(tuple(counts), self.seconds - earlier.seconds)


@dataclass(frozen=True, slots=True)
class LabelStats:
    """The figures of one function or handler verb; those not named here as in `Stats`.

    Attributes:
        label: Its name, such as ``GET Main``.
        body_seconds: How long a run takes on average, just now.
        on_loop_because: Why it always runs on the loop thread; empty if it does not.
        contended: On what at least a tenth of its attempts conflict at present; empty
            if there is no such thing.
        latency: How long it took from the call, or from when the request was there, to
            the commit; of what fronts run by themselves, the body alone.
        queue: How long calls waited before they first ran, and what sending them cost.
        body: How long runs took, those included that were thrown away.
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
    latency: Distribution = field(default_factory=Distribution)
    queue: Distribution = field(default_factory=Distribution)
    body: Distribution = field(default_factory=Distribution)


@dataclass(frozen=True, slots=True)
class Stats:
    """What the loop has done since it started.

    Attributes:
        executor: The executor's name.
        workers: How many attempts can run at once.
        gil: Whether the interpreter's global lock is on.
        rounds: Loop iterations that handed transactions to the executor.
        marked: Callbacks, fd events and requests that ran as transactions.
        unmarked: Callbacks and fd events that ran as in stock Tornado.
        commits: Transactions that have ended, with a result or an exception.
        errors: Those among them that ended with an exception.
        aborts: Attempts thrown away in a conflict.
        attempts: Runs, whatever became of them.
        inline: Runs on the loop thread.
        retries: Runs that gave up until something changes.
        waits: Those among them after which nothing had changed yet.
        waiting: Transactions that wait just now.
        pending: Transactions that have not ended, those that wait included.
        queued: Calls for which there is no worker yet.
        refused: Calls rejected because too many waited.
        fronts: Fronts, which serve HTTP and run what is short, ready just now.
        transport_seconds: What sending one call away costs.
        version: The number of commits that wrote, direct writes included.
        labels: The same per function and handler verb.
        worker_deaths: Workers that ended, and should not have.
        front_deaths: The same of fronts.
        restarts: Workers and fronts that took the place of others.
        timeouts: Calls that were ended because they took too long.
        fork_failures: Attempts to make a worker or front that failed.
        processes: The program's own process, its fronts and its workers.
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
    fronts: int = 0
    worker_deaths: int = 0
    front_deaths: int = 0
    restarts: int = 0
    timeouts: int = 0
    fork_failures: int = 0
    processes: tuple[ProcessStats, ...] = ()

    @property
    def inline_share(self) -> float:
        """The share of the attempts that ran on the loop thread."""
        return self.inline / self.attempts if self.attempts else 0.0

    def __str__(self) -> str:
        """Return the figures as text: of the loop, and a row for each function."""
        gil = "with the GIL" if self.gil else "without the GIL"
        lines = [
            f"executor {self.executor}, {self.workers} workers, {self.fronts} fronts, "
            f"{gil}",
            f"{self.commits} commits ({self.errors} errors) of {self.attempts} "
            f"attempts: {self.aborts} aborted, {self.retries} retried, "
            f"{self.inline} on the loop thread",
            f"{self.pending} pending: {self.queued} queued, {self.waiting} waiting; "
            f"{self.refused} rejected",
        ]
        rows = [_HEADINGS, *(_row(one) for one in self.labels)]
        if self.labels:
            lines += ["", *_aligned(rows)]
        return "\n".join(lines)


_HEADINGS = (
    *("label", "commits", "errors", "attempts", "aborted", "on the loop"),
    *("body ms", "because"),
)


def _row(label: LabelStats) -> tuple[str, ...]:
    counts = (label.commits, label.errors, label.attempts, label.aborts, label.inline)
    body = f"{1000 * label.body_seconds:.2f}"
    contended = f"conflicts on {label.contended}" if label.contended else ""
    because = label.on_loop_because or contended
    return (label.label, *map(str, counts), body, because)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of columns: text to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1
    return [
        "  ".join(
            text.ljust(width) if index in (0, last) else text.rjust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
