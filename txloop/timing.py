"""How long a body kept its thread: the figure that decides where it runs next time.

Time that the thread was ready to run but had no core does not count: under load it
would make every short function look long. The kernel tells the two apart: a thread that
never gave its core up by itself was busy for exactly its CPU time.
"""

from __future__ import annotations

import time

try:
    import resource
except ImportError:  # Windows
    _usage = None
else:
    _usage = resource.getrusage

# Only Linux counts per thread; elsewhere the process is near enough.
_WHO: int = getattr(resource, "RUSAGE_THREAD", 0) if _usage is not None else 0

__all__ = ["BodyTimer", "Delay", "WallTimer", "voluntary_waits"]


def voluntary_waits() -> int:
    """Return how often this thread has given its core up by itself, where known."""
    return _usage(_WHO).ru_nvcsw if _usage is not None else 0


class BodyTimer:
    """Measures from its creation; belongs to one thread."""

    __slots__ = ("_busy", "_started", "_waits")

    def __init__(self) -> None:
        self._waits = voluntary_waits()
        self._busy = time.thread_time()
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds spent computing or blocked so far."""
        if voluntary_waits() != self._waits:
            return time.perf_counter() - self._started
        return time.thread_time() - self._busy


class WallTimer:
    """Measures from its creation, whatever else kept the thread: at a tenth the cost.

    For what is short by any clock.
    """

    __slots__ = ("_started",)

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds that have passed."""
        return time.perf_counter() - self._started


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
