"""Light requests at a constant rate while heavy ones keep the server busy."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.builtin_load import (
    client_command,
    latency_of,
    run_client,
    run_for_result,
)
from bench.machine import available_cores, pinned

if TYPE_CHECKING:
    from bench.load import Load, Throughput

_LEAD_SECONDS = 1.0  # until the client has started and every worker is busy
_TAIL_SECONDS = 1


class MixedLoad:
    """A closed loop of heavy requests, and beside it an open one of light requests.

    They are two programs, so that neither waits for the other. The throughput is that
    of the heavy requests, the latency that of the light ones.
    """

    def __init__(self, heavy: str, light: str, rate: int, spare_from: int) -> None:
        """Send `rate` light requests a second, on as many connections.

        So there is a free one for each, unless it waits for longer than a second.
        """
        self._heavy = heavy
        self._light = light
        self._rate = rate
        self._prefix = pinned(range(spare_from, available_cores()))

    @property
    def title(self) -> str:
        """What is asked for, and how."""
        return (
            f"the built-in client (closed loop of {self._heavy}, beside an open loop"
            f" of {self._rate} {self._light} a second)"
        )

    def run(self, load: Load) -> Throughput:
        """Send both kinds; `load.clients` ask for the heavy one."""
        around = round(_LEAD_SECONDS) + _TAIL_SECONDS
        heavy = replace(load, paths=(self._heavy,), seconds=load.seconds + around)
        light = replace(load, paths=(self._light,), clients=self._rate)
        rate = ("--rate", str(self._rate))
        start = time.monotonic()
        with ThreadPoolExecutor(1) as executor:
            command = client_command(self._prefix, "closed", heavy)
            coming = executor.submit(run_client, command, heavy)
            time.sleep(_LEAD_SECONDS)
            command = client_command(self._prefix, "open", light, *rate)
            result = run_for_result(command, light)
            throughput = coming.result()
        return replace(
            throughput,
            client_cpu_seconds=throughput.client_cpu_seconds + result.cpu_seconds,
            latency=latency_of(result, self._rate),
            whole_seconds=time.monotonic() - start,
        )

    def check(self, load: Load) -> None:
        """Return None: the answers are not kept."""
