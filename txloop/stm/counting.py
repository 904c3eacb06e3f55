"""Whether there is the GIL, and counters that several threads may use either way."""

from __future__ import annotations

import itertools
import sys
import threading
from typing import TypeAlias

__all__ = ["Count", "counting_from", "gil_enabled"]


def gil_enabled() -> bool:
    """Tell whether threads of this interpreter exclude one another."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


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
    return itertools.count(first) if gil_enabled() else _LockedCount(first)
