"""Work that takes a known time, whatever machine it runs on."""

from __future__ import annotations

import time

_STEPS = 500  # some 20 us between two looks at the clock, which are system calls


def burn(milliseconds: float) -> None:
    """Compute until this thread has used so much processor time."""
    end = time.thread_time() + milliseconds / 1000
    total = 0
    while time.thread_time() < end:
        for step in range(_STEPS):
            total += step * step
