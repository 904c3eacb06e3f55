"""The time, and numbers that nobody else has: neither ever conflicts."""

from __future__ import annotations

import time as _time

from txloop.store import committed

__all__ = ["clock", "count", "time"]


def time() -> float:
    """Return the seconds since the epoch.

    A transaction reads the clock when it runs, not when it commits: the times of two
    may tell another order than that of their commits.
    """
    return _time.time()


def clock() -> float:
    """Return the CPU seconds that this process, or this worker, has used."""
    return _time.process_time()


def count() -> int:
    """Return a number that no other call has got, in whichever thread or worker.

    Numbers are not given out in order, and an attempt that is undone loses its own.
    """
    return committed.new_number()
