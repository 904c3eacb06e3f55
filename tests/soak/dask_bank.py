"""The bank on a Dask cluster, whose workers are killed and whose scheduler stops.

As for `tests.soak.bank`; besides, no request may fail: one Dask worker is left at any
time, and that goes on while the scheduler does nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from tests.processes import descendants, gone
from tests.soak import bank

if TYPE_CHECKING:
    import subprocess

    from tests.machines.machines import Machines

__all__ = ["run"]

WORKERS = 4
KILL_EVERY_SECONDS = 2.0
STOP_EVERY_SECONDS = 10.0
STOP_SECONDS = 3.0
LOOK_EVERY_SECONDS = 0.1
MOST_INLINE = 0.8
"""More than this share of the runs on the loop thread would prove little."""


class Harm:
    """Kills a Dask worker every two seconds, and stops the scheduler now and then.

    It waits until two are in use: else there would be none on a slow machine.

    Attributes:
        done: How often it did what.
        workers: The processes that Dask workers have started for the program.
        epoch_seconds: For how long clients are at work until books are compared.
    """

    epoch_seconds = 12.0

    def __init__(self, machines: Machines) -> None:
        """Take the cluster."""
        self.done = Counter[str]()
        self.workers: set[int] = set()
        self._machines = machines

    async def go_on(self) -> None:
        """Do harm until cancelled."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._kill())
            both.create_task(self._stop())

    async def _kill(self) -> None:
        workers = self._machines.workers
        while True:
            started = time.monotonic()
            while sum(map(_is_used, workers)) < 2:  # noqa: ASYNC110 # of processes
                await asyncio.sleep(LOOK_EVERY_SECONDS)
            victim = workers.pop(0)  # the oldest
            self.workers.update(descendants(victim.pid))
            victim.kill()
            victim.wait()
            self.done["Dask workers killed"] += 1
            self._machines.add()
            spent = time.monotonic() - started
            await asyncio.sleep(KILL_EVERY_SECONDS - spent)

    async def _stop(self) -> None:
        scheduler = self._machines.scheduler.pid
        while True:
            os.kill(scheduler, signal.SIGSTOP)
            self.done["the scheduler stopped"] += 1
            try:
                await asyncio.sleep(STOP_SECONDS)
            finally:
                os.kill(scheduler, signal.SIGCONT)
            await asyncio.sleep(STOP_EVERY_SECONDS - STOP_SECONDS)


def _is_used(dask_worker: subprocess.Popen[bytes]) -> bool:
    """Tell whether it runs calls: a template, a copy of the program and a worker."""
    return sum(not gone(one) for one in descendants(dask_worker.pid)) >= 3


def run(seconds: float, seed: int, log: Path, least: int = 0) -> bank.Report:
    """Run a server for so long, do harm, and return what was seen."""
    from tests.machines.machines import Machines  # Dask may lack

    with tempfile.TemporaryDirectory() as folder:
        machines = Machines(Path(folder))
        try:
            for _ in range(WORKERS):
                machines.add()
            environment = {
                "DASK_SCHEDULER_ADDRESS": machines.address,
                "TXLOOP_FRONTS": "0",
            }
            with mock.patch.dict(os.environ, environment):
                report = bank.run(
                    seconds, seed, log, least, "dask", lambda *_: Harm(machines)
                )
        finally:
            machines.close()
    if not report.figures:
        return report
    if report.answers[bank.FAILED]:
        report.wrong.append(f"{report.answers[bank.FAILED]} requests failed")
    commits, inline = report.figures["commits"], report.figures["inline"]
    assert isinstance(commits, int)
    assert isinstance(inline, int)
    if inline > MOST_INLINE * commits:
        report.wrong.append(f"{inline} of {commits} ran on the loop thread")
    return report
