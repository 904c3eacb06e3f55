"""What it costs to send a call away: a figure that decides where calls run."""

from __future__ import annotations

__all__ = ["adjusted"]

_RISE = 0.03
_FALL = 0.3
_LARGEST_STEP = 4.0  # times the average


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
