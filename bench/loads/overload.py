"""More requests than the server can answer, for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench import processes
from bench.builtin_load import client_command, latency_of, run_client, run_for_result
from bench.errors import LoadError
from bench.machine import available_cores, pinned

if TYPE_CHECKING:
    from bench.client import Result
    from bench.load import Load, Throughput

_CONNECTIONS = 400
_REST_SECONDS = 60.0
_REST_WINDOW_SECONDS = 0.5
_MEGABYTE = 1_000_000


class OverloadLoad:
    """A closed loop that measures the capacity; then an open one of a multiple of it.

    The throughput is that of the requests which were answered while it was offered;
    the latency is that of all that were not refused, the last of which may be answered
    long after that.
    """

    def __init__(self, times: int, max_queue: int, workers: int) -> None:
        """Offer so many times the capacity to a server with such a bound."""
        self._times = times
        # Those that wait when one is accepted, and those that run.
        self._most_ahead = max_queue + workers
        self._prefix = pinned(range(workers, available_cores()))

    @property
    def title(self) -> str:
        """What is offered."""
        return f"the built-in client (open loop of {self._times} times the capacity)"

    def run(self, load: Load) -> Throughput:
        """Measure the capacity with `load.clients` users, then offer too much."""
        command = client_command(self._prefix, "closed", load)
        at_capacity = run_client(command, load)
        if not processes.wait_until_idle(load.pid, _REST_SECONDS, _REST_WINDOW_SECONDS):
            raise LoadError("the server does not come to rest")
        before = processes.memory_bytes(load.pid)
        rate = self._times * at_capacity.rate
        result = self._offer(rate, replace(load, clients=_CONNECTIONS))
        answered_rate = result.in_time / load.seconds
        figures = {
            "capacity": at_capacity.rate,
            "share": answered_rate / at_capacity.rate,
            "refused": result.refused,
            "before": before / _MEGABYTE,
            "after": processes.memory_bytes(load.pid) / _MEGABYTE,
        }
        if result.refused and answered_rate:
            figures["bound"] = 1000 * self._most_ahead / answered_rate
        return replace(
            at_capacity,
            transactions=result.in_time,
            elapsed_seconds=load.seconds,
            whole_seconds=at_capacity.elapsed_seconds + result.elapsed_seconds,
            client_cpu_seconds=at_capacity.client_cpu_seconds + result.cpu_seconds,
            latency=latency_of(result, rate),
            figures=figures,
        )

    def check(self, load: Load) -> None:
        """Return None: the answers are not kept."""

    def _offer(self, rate: float, load: Load) -> Result:
        options = ("--rate", repr(rate), "--refusable")
        return run_for_result(
            client_command(self._prefix, "open", load, *options), load
        )
