"""The accounts of a thread, its phases, and what conflicts are charged to.

A thread is in one phase at a time, and a change of phase puts the time since the last
one into exactly one account:

            WAIT_FREE ..         START               WAIT_* / DETACH
    OUTSIDE ----------> QUEUED ---------> RUNNING <-------------------> WAITING
       ^  ------------------ START ---------^  |  WAIT_DONE / REATTACH  DETACHED
       |_____________________ COMMIT, ABORT ___|

Times are whole nanoseconds, so that sums are exact.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "DETACHED",
    "LOST",
    "OUTSIDE",
    "QUEUED",
    "RUNNING",
    "WAITING",
    "Contention",
    "Cost",
    "Thread",
]

OUTSIDE: Final = 0
RUNNING: Final = 1
QUEUED: Final = 2  # waiting before a transaction
WAITING: Final = 3  # waiting inside of one
DETACHED: Final = 4
LOST: Final = 5  # what happened is not in the log: time until the next event


class Cost:
    """What one pair of markers has cost one thread."""

    __slots__ = (
        "aborted",
        "aborts",
        "bins",
        "count",
        "kind",
        "longest",
        "marker1",
        "marker2",
        "paused",
        "remote",
        "thread",
    )

    def __init__(
        self, kind: int, marker1: bytes, marker2: bytes, remote: bool, thread: int
    ) -> None:
        self.kind = kind
        self.marker1 = marker1
        self.marker2 = marker2
        self.remote = remote
        self.thread = thread
        self.count = self.aborts = 0
        self.aborted = self.paused = self.longest = 0
        self.bins: dict[int, int] = {}


class Contention:
    """A contention whose price is not known yet."""

    __slots__ = ("cost", "kind", "marker1", "marker2", "other", "remote")

    def __init__(self, kind: int, marker1: bytes, marker2: bytes, other: int) -> None:
        self.kind = kind
        self.marker1 = marker1
        self.marker2 = marker2
        self.other = other
        self.remote = False
        self.cost: Cost | None = None


class Thread:
    """The accounts of one thread, in nanoseconds, and the phase that it is in."""

    __slots__ = (
        "aborted",
        "aborts",
        "cause",
        "commits",
        "committed",
        "contention",
        "detached",
        "lost",
        "major",
        "major_since",
        "minor",
        "minor_base",
        "minor_nanos",
        "number",
        "paused",
        "phase",
        "run",
        "since",
        "waited",
        "waits",
    )

    def __init__(self, number: int, now: int, begin: int, inside: bool) -> None:
        self.number = number
        self.phase = LOST if inside else OUTSIDE
        self.since = begin if inside else now
        self.run = 0
        self.commits = self.aborts = 0
        self.committed = self.aborted = self.detached = self.lost = 0
        self.minor = self.major = self.minor_nanos = self.major_since = 0
        self.minor_base: int | None = None  # the second of a minor collection's start
        self.cause = 0
        self.paused = 0  # the sum of what was waited
        self.waited: dict[int, int] = {}
        self.waits: dict[int, Cost] = {}  # where waits are charged without a line
        self.contention: Contention | None = None

    @property
    def busy(self) -> int:
        """All that is accounted for, so that the rest of a worker's time is idle."""
        return self.committed + self.aborted + self.paused + self.detached + self.lost
