"""Workers and the process that forks them get lost; and when all are there again."""

from __future__ import annotations

import os
import select
import signal
from typing import TYPE_CHECKING

from tests.engine import note
from tests.processes import state
from txloop import on_commit

if TYPE_CHECKING:
    from tests.engine import Engine, Gate, Tally
    from txloop import TDict

__all__ = [
    "AGAIN",
    "add",
    "add_at_gate",
    "is_full",
    "kill",
    "kill_all",
    "kill_spawner",
    "pids_of",
    "stop",
]

AGAIN = r"^there are workers again, as many as there should be$"


def add_at_gate(
    shared: TDict[str, int], tally: Tally, started: Gate, gate: Gate
) -> int:
    """Add one, ask for an effect, and end when the gate is open."""
    tally.mark()
    on_commit(note, "effect")
    shared["n"] += 1
    started.open()
    gate.wait()
    return os.getpid()


def kill(pid: int) -> None:
    """Kill a process."""
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    """Stop a process, and wait until it stands still."""
    os.kill(pid, signal.SIGSTOP)
    while state(pid) != "T":
        select.select([], [], [], 0.001)


def pids_of(engine: Engine) -> list[int]:
    """Return the workers that the loop knows."""
    return [one.pid for one in engine.processes._workers]


def kill_all(engine: Engine) -> None:
    """Kill the workers, and wait until that is noticed."""
    before = pids_of(engine)
    for pid in before:
        kill(pid)
    engine.until(lambda: set(before).isdisjoint(pids_of(engine)))


def kill_spawner(engine: Engine) -> None:
    """Kill the process that forks workers, and wait until that is noticed."""
    spawner = engine.crew.spawner
    assert spawner is not None
    kill(spawner.pid)
    engine.until(lambda: engine.crew.spawner is not spawner)


def is_full(engine: Engine) -> bool:
    """Tell whether both workers are there and can take calls."""
    workers = engine.processes._workers
    return len(workers) == 2 and all(one.ready for one in workers)


def add(shared: TDict[str, int]) -> int:
    """Count; return the process that did."""
    shared["n"] += 1
    return os.getpid()
