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

__all__ = ["BodyTimer"]


def _waits() -> int:
    """Return how often this thread has given its core up by itself, where known."""
    return _usage(_WHO).ru_nvcsw if _usage is not None else 0


class BodyTimer:
    """Measures from its creation; belongs to one thread."""

    __slots__ = ("_busy", "_started", "_waits")

    def __init__(self) -> None:
        self._waits = _waits()
        self._busy = time.thread_time()
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds spent computing or blocked so far."""
        if _waits() != self._waits:
            return time.perf_counter() - self._started
        return time.thread_time() - self._busy
