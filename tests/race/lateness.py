"""Bodies that take too long, and the time in which they do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.engine import Engine, Gate

__all__ = ["Clock", "go_on", "wait_at"]


class Clock:
    """The clock of an executor whose time passes as the test says."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
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
    current = {one.thread for one in engine.executor._workers}  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if thread.name.startswith("txloop worker ") and thread not in current:
            thread.join()
