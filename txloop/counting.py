"""Counters that several threads may use; `itertools.count` is one only with the GIL."""

from __future__ import annotations

import itertools
import sys
import threading
from typing import TypeAlias

__all__ = ["Count", "counting_from"]


class _LockedCount:
    """Counts for any thread, where `itertools.count` is not atomic."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first)
        # Reentrant: the garbage collector may run finalizers that count, anywhere.
        self._lock = threading.RLock()

    def __next__(self) -> int:
        with self._lock:
            return next(self._numbers)


Count: TypeAlias = "itertools.count[int] | _LockedCount"


def counting_from(first: int) -> Count:
    """Return a counter for any thread, whatever the interpreter."""
    # The GIL may be turned on while the program runs, but not off.
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return itertools.count(first) if gil else _LockedCount(first)
