"""The load of `bench.client`, run as a program of its own."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

from bench.client import Result
from bench.errors import HungLoadError, LoadError
from bench.load import Latency, Load, Throughput
from bench.machine import available_cores, pinned

_GRACE_SECONDS = 90.0


class BuiltInLoad:
    """The closed loop of our own client, for machines without siege."""

    title = "the built-in client (closed loop)"

    def __init__(self, spare_from: int) -> None:
        """Run on the cores from position `spare_from`, where there are any."""
        self._prefix = pinned(range(spare_from, available_cores()))

    def run(self, load: Load) -> Throughput:
        """Load the server as siege would."""
        return run_client(client_command(self._prefix, "closed", load), load)

    def check(self, load: Load) -> None:
        """Return None: the answers are not kept."""


class LatencyProbe:
    """The open loop of our own client."""

    def __init__(self, spare_from: int) -> None:
        """Run on the cores from position `spare_from`, where there are any."""
        self._prefix = pinned(range(spare_from, available_cores()))

    def run(self, load: Load, rate: float) -> Latency:
        """Send `rate` requests a second and return how long each took.

        Blocks until all are answered.

        Raises:
            LoadError: a request failed.
        """
        rate_option = ("--rate", repr(rate))
        result = run_for_result(
            client_command(self._prefix, "open", load, *rate_option), load
        )
        return latency_of(result, rate)


def client_command(
    prefix: list[str], kind: str, load: Load, *options: str
) -> list[str]:
    """Return the command of our own client."""
    program = [*prefix, sys.executable, "-m", "bench.client", kind]
    amount = ["--clients", str(load.clients), "--seconds", str(load.seconds)]
    return [*program, load.url, *load.paths, *amount, *options]


def run_for_result(command: list[str], load: Load) -> Result:
    """Run a client that prints a `Result` and return that.

    Raises:
        HungLoadError: it did not end.
        LoadError: it failed, or a request did.
    """
    return _required(_parse(_run(command, load.seconds)))


def latency_of(result: Result, rate: float) -> Latency:
    """Return how long the requests of an open load took."""
    return Latency(
        rate=rate,
        seconds=result.latencies_seconds,
        client_cpu_cores=result.cpu_seconds / result.elapsed_seconds,
    )


def run_client(command: list[str], load: Load, may_fail: bool = False) -> Throughput:
    """Run a client that prints a `Result` and return what the load achieved.

    Where requests may fail, the figure `failed` counts them.

    Raises:
        HungLoadError: it did not end.
        LoadError: it failed, or a request did.
    """
    finished = _run(command, load.seconds)
    result = _parse(finished)
    if not may_fail:
        _required(result)
    if not result.completed:
        raise LoadError(
            f"no request was answered within {load.seconds} s; give it more --seconds"
        )
    return Throughput(
        transactions=result.completed,
        elapsed_seconds=result.elapsed_seconds,
        client_cpu_seconds=result.cpu_seconds,
        command=shlex.join(command),
        exit_code=finished.returncode,
        stdout=finished.stdout,
        stderr=finished.stderr,
        figures={"failed": result.failed} if may_fail else {},
    )


def warm_up(load: Load) -> None:
    """Send requests for a while, so that forks, imports and averages are behind us.

    Raises:
        LoadError: a request failed.
    """
    run_for_result(client_command([], "closed", load), load)


def _run(command: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    limit_seconds = seconds + _GRACE_SECONDS
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=limit_seconds
        )
    except subprocess.TimeoutExpired:
        raise HungLoadError("the client did not end") from None


def _parse(finished: subprocess.CompletedProcess[str]) -> Result:
    if finished.returncode != 0:
        words = finished.stderr.strip().split("\n")[-1]
        raise LoadError(f"the client failed: {words}")
    fields = json.loads(finished.stdout)
    fields["latencies_seconds"] = tuple(fields["latencies_seconds"])
    return Result(**fields)


def _required(result: Result) -> Result:
    if result.failed:
        raise LoadError(f"{result.failed} of the client's requests failed")
    return result
