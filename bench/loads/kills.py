"""A load during which the server's workers are killed, one after the other."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bench import processes
from bench.builtin_load import client_command, run_client
from bench.errors import LoadError
from bench.machine import available_cores, pinned

if TYPE_CHECKING:
    from bench.load import Load, Throughput


class KillsLoad:
    """The built-in client, twice on one server: undisturbed, and while workers die.

    Of the workers the oldest is killed each time, so that a new one lives as long as
    all others do.
    """

    def __init__(self, interval_ms: int, spare_from: int) -> None:
        """Kill a worker every so many milliseconds."""
        self._interval_seconds = interval_ms / 1000
        self._prefix = pinned(range(spare_from, available_cores()))

    @property
    def title(self) -> str:
        """How often a worker is killed."""
        milliseconds = 1000 * self._interval_seconds
        return (
            "the built-in client (closed loop, while a worker is killed every"
            f" {milliseconds:.0f} ms)"
        )

    def run(self, load: Load) -> Throughput:
        """Measure without kills, then with them; the throughput is the latter's."""
        command = client_command(self._prefix, "closed", load, "--reopen")
        undisturbed = run_client(command, load)
        # While none is missing, the youngest generation is that of the workers.
        workers = len(processes.generations(load.pid)) - 1
        if workers < 0:
            raise LoadError("the server has no workers that could be killed")
        with ThreadPoolExecutor(1) as executor:
            coming = executor.submit(run_client, command, load, may_fail=True)
            kills = self._kill_until(coming, load.pid, workers)
            disturbed = coming.result()
        figures = {
            **disturbed.figures,
            "undisturbed": undisturbed.rate,
            "share": disturbed.rate / undisturbed.rate,
            "kills": kills,
        }
        return replace(
            disturbed,
            figures=figures,
            whole_seconds=undisturbed.elapsed_seconds + disturbed.elapsed_seconds,
            client_cpu_seconds=undisturbed.client_cpu_seconds
            + disturbed.client_cpu_seconds,
        )

    def check(self, load: Load) -> None:
        """Return None: the answers are not kept."""

    def _kill_until(self, end: Future[Throughput], server: int, generation: int) -> int:
        kills = 0
        while not wait([end], self._interval_seconds).done:
            generations = processes.generations(server)
            if generation < len(generations):
                with suppress(ProcessLookupError):
                    os.kill(generations[generation][0].pid, signal.SIGKILL)
                    kills += 1
        return kills
