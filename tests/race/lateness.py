"""Bodies that take too long, and the time in which they do."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from txloop.executors.threads.worker import WorkerThread

if TYPE_CHECKING:
    from tests.engine import Engine, Gate

__all__ = ["Clock", "go_on", "wait_at"]


class Clock:
    """Stands in for the time of an executor, which passes as the test says."""

    thread_time = staticmethod(time.thread_time)

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.seconds


def wait_at(started: Gate, gate: Gate) -> str:
    """Open one gate, and run until somebody opens the other one."""
    started.open()
    gate.wait()
    return "late"


def go_on(engine: Engine, *gates: Gate) -> None:
    """Open the gates, and wait until no thread is left that was given up."""
    for gate in gates:
        gate.open()
    current = set(engine.executor._threads.values())  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if isinstance(thread, WorkerThread) and thread not in current:
            thread.join()
