"""What it costs to send a call away: figures that decide where calls run."""

from __future__ import annotations

__all__ = ["Pace", "adjusted"]

_RISE = 0.03
_FALL = 0.3
_LARGEST_STEP = 4.0  # times the average

_WEIGHT = 0.1  # of the newest call in the pace
_MOST_LOST = 20.0  # times what it computed: one long stop does not decide


def adjusted(average: float, seconds: float) -> float:
    """Return the average of a cost with one more measurement in it.

    The first calls are dear, and a preemption looks like a cost: an average that falls
    faster than it rises finds what it takes in the long run.

    Args:
        average: So far; 0 if there is none.
        seconds: The new measurement.
    """
    average = average or seconds
    weight = _FALL if seconds < average else _RISE
    return average + weight * (min(seconds, _LARGEST_STEP * average) - average)


class Pace:
    """How fast workers get on: whether there are cores for them."""

    def __init__(self) -> None:
        self._lost_seconds = 0.0
        self._busy_seconds = 0.0

    def note(self, lost_seconds: float, busy_seconds: float) -> None:
        """Take a call into the averages: what it lost, and for how long it computed."""
        lost_seconds = min(lost_seconds, _MOST_LOST * busy_seconds)
        self._lost_seconds += _WEIGHT * (lost_seconds - self._lost_seconds)
        self._busy_seconds += _WEIGHT * (busy_seconds - self._busy_seconds)

    @property
    def stretch(self) -> float:
        """How many times longer calls take than they compute; 1 with a core each."""
        if not self._busy_seconds:
            return 1.0
        return 1.0 + self._lost_seconds / self._busy_seconds
