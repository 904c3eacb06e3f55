"""What a request of a verb costs all processes together, by their own clocks.

That is what decides whether all cores together serve it sooner than the owner alone:
where containers are made or many cells are written, each process repeats that; where
attempts conflict, they run again; and what is noted of reads may take most of an
attempt. Estimates of all of these miss something. So processor time is counted, of all
processes, while nearly all requests are of one verb.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from txloop.stm.measuring import adjusted

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Clocks", "Cost"]

_FEWEST_RUNS = 20
"""In fewer a turn, what processes do besides would seem to be the requests'."""
_ENOUGH_TURNS = 3
_KEPT_TURNS = 300


class Clocks:
    """The processor time of this process and others; used by the loop thread only."""

    def __init__(self) -> None:
        """Begin now, with no others."""
        self._before: dict[int, float] = {0: time.process_time()}

    def spent(self, others: Iterable[int]) -> float | None:
        """Return the seconds that all have computed since this was last asked.

        None if they are not the same as then, or where no such clocks are.

        Args:
            others: The numbers of processes besides this one; 0 for what is none yet,
                or part of it.
        """
        now = {0: time.process_time()}
        try:
            for pid in filter(None, others):
                now[pid] = time.clock_gettime(_clock_of(pid))
        except (AttributeError, OSError):  # it has ended, or this is not Linux
            now.clear()
        before, self._before = self._before, now
        if not now or now.keys() != before.keys():
            return None
        return sum(now.values()) - sum(before.values())


def _clock_of(pid: int) -> int:
    """Return the clock of a process, as clock_getcpuclockid(3) does on Linux."""
    return (~pid << 3) | 2


class Cost:
    """What one request costs in the long run, by turns.

    Attributes:
        seconds: Of all processes; None if too little is known.
    """

    __slots__ = ("_average", "_turns", "_without", "seconds")

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.seconds: float | None = None
        self._average = 0.0
        self._turns = self._without = 0

    def add(self, seconds: float, runs: int) -> None:
        """Take a turn into the average, of so many requests, if they were enough.

        What moves connections, starts processes or loads replicas makes some turns
        dear, and none cheap.
        """
        if runs < _FEWEST_RUNS:
            return
        self._average = adjusted(self._average, seconds / runs)
        self._turns += 1
        self._without = 0
        if self._turns >= _ENOUGH_TURNS:
            self.seconds = self._average

    def pass_by(self) -> None:
        """Note a turn that could tell nothing; after many, all is forgotten."""
        self._without += 1
        if self._without > _KEPT_TURNS:
            self._begin()
