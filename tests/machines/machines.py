"""A cluster of a test's own: a scheduler and Dask workers, each a process."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from txloop.executors.dask.host import without_txloop

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Machines", "end"]


class Machines:
    """A scheduler and its workers, each a process that a test may end.

    Attributes:
        address: The scheduler's.
        workers: Those that were started, in that order.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        self._schedulers = 0
        self.address = ""
        self.workers: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()

    def start_scheduler(self) -> None:
        """Start the scheduler, at the port that it had."""
        self._schedulers += 1
        file = self._folder / f"scheduler-{self._schedulers}.json"
        self.scheduler = self._start(
            "distributed.cli.dask_scheduler",
            *("--host", "127.0.0.1", "--port", str(self._port)),
            *("--no-dashboard", "--scheduler-file", str(file)),
        )
        address = _wait_for(file)
        self.address = address
        self._port = int(address.rpartition(":")[2])

    def add(self, threads: int = 1) -> None:
        """Start a Dask worker, without waiting for it."""
        self.workers.append(
            self._start(
                "distributed.cli.dask_worker",
                *(self.address, "--nthreads", str(threads), "--no-nanny"),
                *("--host", "127.0.0.1", "--no-dashboard", "--memory-limit", "0"),
                *("--local-directory", str(self._folder)),
            )
        )

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=without_txloop(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        """End all, and wait until they are gone."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def _wait_for(file: Path) -> str:
    """Return the address that a scheduler has written to a file."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if file.exists() and (text := file.read_text()).strip().endswith("}"):
            return str(json.loads(text)["address"])
        select.select([], [], [], 0.01)
    raise TimeoutError("the scheduler does not start")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and wait for its end."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
