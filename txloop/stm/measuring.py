"""How long bodies keep their threads, and what it costs to send calls away.

These figures decide where calls run next time.

Time that the thread was ready to run but had no core does not count: under load it
would make every short function look long. The kernel tells the two apart: a thread that
never gave its core up by itself was busy for exactly its CPU time.

Nor does it count how long the whole heap was collected meanwhile. That takes tens of
milliseconds, hits any body, and hardly ever the same one again.
"""

from __future__ import annotations

import gc
import threading
import time
from bisect import bisect_left

__all__ = [
    "BOUNDS",
    "Average",
    "BodyTimer",
    "Delay",
    "Histogram",
    "Pace",
    "WallTimer",
    "adjusted",
    "voluntary_waits",
]

try:
    import resource
except ImportError:  # Windows
    _usage = None
else:
    _usage = resource.getrusage

# Only Linux counts per thread; elsewhere the process is near enough.
_WHO: int = getattr(resource, "RUSAGE_THREAD", 0) if _usage is not None else 0


def voluntary_waits() -> int:
    """Return how often this thread has given its core up by itself, where known."""
    return _usage(_WHO).ru_nvcsw if _usage is not None else 0


class _Collections(threading.local):
    """Those of the whole heap that this thread has made."""

    began = 0.0
    seconds = 0.0  # of all of them


_collections = _Collections()
_OLDEST = 2


def _note_collection(phase: str, info: dict[str, int]) -> None:
    if info["generation"] != _OLDEST:
        return
    if phase == "start":
        _collections.began = time.thread_time()
    else:
        _collections.seconds += time.thread_time() - _collections.began


if hasattr(gc, "callbacks"):  # not on PyPy
    gc.callbacks.append(_note_collection)


class BodyTimer:
    """Measures from its creation; belongs to one thread."""

    __slots__ = ("_busy", "_collected", "_started", "_waits")

    def __init__(self) -> None:
        self._collected = _collections.seconds
        self._waits = voluntary_waits()
        self._busy = time.thread_time()
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds spent computing or blocked so far."""
        if voluntary_waits() != self._waits:
            spent = time.perf_counter() - self._started
        else:
            spent = time.thread_time() - self._busy
        return max(spent - (_collections.seconds - self._collected), 0.0)


class WallTimer:
    """Measures from its creation, whatever else kept the thread: at a tenth the cost.

    For what is short by any clock.
    """

    __slots__ = ("_collected", "_started")

    def __init__(self) -> None:
        self._collected = _collections.seconds
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds that have passed."""
        spent = time.perf_counter() - self._started
        return max(spent - (_collections.seconds - self._collected), 0.0)


class Delay:
    """How long the calls of one thread could have run, and had no core."""

    __slots__ = ("_busy", "_free_at", "_waits")

    def __init__(self) -> None:
        self._free_at = time.monotonic()  # since then it waits for a call
        self._busy = time.thread_time()
        self._waits = 0

    def begin(self) -> None:
        """Take note that a call begins."""
        self._waits = voluntary_waits()

    def end(self, sent_at: float) -> float:
        """Return the seconds that a call has lost, which was sent then.

        What waits for something of its own accord loses nothing that can be known.
        """
        now, busy = time.monotonic(), time.thread_time()
        lost = now - max(sent_at, self._free_at) - (busy - self._busy)
        self._free_at, self._busy = now, busy
        return max(lost, 0.0) if voluntary_waits() == self._waits else 0.0


# What many measurements come to

_RISE = 0.03
_FALL = 0.3
_LARGEST_STEP = 4.0  # times the average: one stray value does not decide ...
_LONG_SECONDS = 0.01  # ... unless it is so long that it must not happen here again

_WEIGHT = 0.1  # of the newest measurement in a moving average
_MOST_LOST = 20.0  # times what it computed: one long stop does not decide


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
        if _LARGEST_STEP * average < seconds < _LONG_SECONDS:
            seconds = min(seconds, _LARGEST_STEP * max(average, 1e-5))
        self.seconds = average + _WEIGHT * (seconds - average)


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


BOUNDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
"""The upper bounds of a histogram's buckets, in seconds; the last bucket has none."""

_SHORTEST = BOUNDS[0]  # as most are


class Histogram:
    """How often it took how long; belongs to one thread.

    Attributes:
        counts: How often, for each of `BOUNDS`, it took that long at most and longer
            than the bound before; the last is what took longer than all.
        seconds: All of it together.
    """

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds) if seconds > _SHORTEST else 0] += 1
        self.seconds += seconds


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
