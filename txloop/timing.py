"""How long a body kept its thread: the figure that decides where it runs next time.

Time that the thread was ready to run but had no core does not count: under load it
would make every short function look long. The kernel tells the two apart: a thread that
never gave its core up by itself was busy for exactly its CPU time.
"""

from __future__ import annotations

import resource
import time

__all__ = ["BodyTimer"]

# Linux counts per thread; elsewhere the process is near enough.
_WHO = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


class BodyTimer:
    """Measures from its creation; belongs to one thread."""

    __slots__ = ("_busy", "_started", "_waits")

    def __init__(self) -> None:
        self._waits = resource.getrusage(_WHO).ru_nvcsw
        self._busy = time.thread_time()
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds spent computing or blocked so far."""
        if resource.getrusage(_WHO).ru_nvcsw != self._waits:
            return time.perf_counter() - self._started
        return time.thread_time() - self._busy
