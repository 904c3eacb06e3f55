"""Harm done to a server's workers from outside: killed, stopped, continued."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.processes import children_of

if TYPE_CHECKING:
    import random

__all__ = ["Harm"]


class Harm:
    """Hits a random worker now and then, until cancelled.

    Attributes:
        done: How often it did what.
        workers: All that were ever seen: some outlive the process that forked them.
        epoch_seconds: For how long clients are at work until books are compared.
    """

    epoch_seconds = 4.0

    def __init__(self, pid: int, chance: random.Random, every_seconds: float) -> None:
        """Take the server's process number and how long the pauses are on average."""
        self.done = Counter[str]()
        self._pid = pid
        self._chance = chance
        self._every_seconds = every_seconds
        self._program = _program_of(pid)
        self.workers: set[int] = set()

    async def go_on(self) -> None:
        """Kill and stop workers, and sometimes the process that forks them."""
        async with asyncio.TaskGroup() as stopped:
            while True:
                pause = self._chance.uniform(0.2, 1.8) * self._every_seconds
                await asyncio.sleep(pause)
                spawners = sorted(children_of(self._pid))
                for spawner in spawners:
                    self.workers.update(children_of(spawner))
                # By now the number may be another's.
                self.workers = {
                    pid for pid in self.workers if _program_of(pid) == self._program
                }
                workers = sorted(self.workers)
                dice = self._chance.random()
                if dice < 0.02 and spawners:
                    self._hit(self._chance.choice(spawners), signal.SIGKILL, "spawner")
                elif dice < 0.6 and workers:
                    self._hit(self._chance.choice(workers), signal.SIGKILL, "killed")
                elif workers:
                    victim = self._chance.choice(workers)
                    stopped.create_task(self._stop_for_a_while(victim))

    async def _stop_for_a_while(self, pid: int) -> None:
        self._hit(pid, signal.SIGSTOP, "stopped")
        try:
            await asyncio.sleep(self._chance.uniform(0.01, 1.0))
        finally:
            if self._chance.random() < 0.5:
                self._hit(pid, signal.SIGCONT, "continued")
            else:
                self._hit(pid, signal.SIGKILL, "killed while stopped")

    def _hit(self, pid: int, number: signal.Signals, name: str) -> None:
        with suppress(ProcessLookupError):
            if _program_of(pid) == self._program:
                os.kill(pid, number)
                self.done[name] += 1


def _program_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""
