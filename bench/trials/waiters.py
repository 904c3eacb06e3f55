"""The program that the trial `scale` runs: python -m bench.trials.waiters WORKERS ...

It has twice as many calls under way as the cluster has threads, each of which waits,
and prints the figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

import txloop
from bench import processes

_AT_ONCE = 2  # calls for each worker: one that runs, one that waits for its turn
_WARM_UP_SECONDS = 1.0


def wait(seconds: float) -> None:
    """Wait: what a call does."""
    time.sleep(seconds)


class Load:
    """Calls that follow each other until it is over; of one loop.

    Attributes:
        calls: How many have ended.
    """

    def __init__(self, seconds: float) -> None:
        """Take how long a call waits."""
        self.calls = 0
        self._seconds = seconds
        self._over = False

    async def go_on(self) -> None:
        """Call, and call again."""
        while not self._over:
            await txloop.atomically(wait, self._seconds)
            self.calls += 1

    def end(self) -> None:
        """Let those that are under way be the last ones."""
        self._over = True


async def measure(workers: int, milliseconds: int, seconds: int) -> dict[str, float]:
    """Return how many calls there were, and what they took of owner and machine."""
    load = Load(milliseconds / 1000)
    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE * workers):
            group.create_task(load.go_on())
        while _ready() < workers:  # noqa: ASYNC110 # nothing tells when they are
            await asyncio.sleep(0.1)
        await asyncio.sleep(_WARM_UP_SECONDS)
        before = _figures(load)
        await asyncio.sleep(seconds)
        after = _figures(load)
        load.end()
    return {name: after[name] - before[name] for name in after}


def _ready() -> int:
    members = txloop.stats().processes
    return sum(one.kind == "worker" and one.state != "starts" for one in members)


def _figures(load: Load) -> dict[str, float]:
    return {
        "calls": load.calls,
        "seconds": time.monotonic(),
        "owner": processes.own_seconds(os.getpid()),
        "all": processes.cpu_seconds(os.getppid()),  # the cluster, too
        "machine": processes.machine_seconds(),
    }


def main() -> None:
    """Measure what the command line says."""
    workers, milliseconds, seconds = map(int, sys.argv[1:])
    txloop.install(executor="dask", signals=False)
    print(json.dumps(asyncio.run(measure(workers, milliseconds, seconds))))


if __name__ == "__main__":
    main()
