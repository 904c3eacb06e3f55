"""The serial executor: every attempt on the loop thread, at once.

It is an ordinary executor, and the oracle that every other one is tested against.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from txloop.executors.protocol import Executor
from txloop.stm.run import run_here
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.protocol import Deliver, Reactor, Work

__all__ = ["SerialExecutor"]


class SerialExecutor(Executor):
    """Runs attempts one after another where it is called; nothing can interfere."""

    name = "serial"
    workers = 1
    own_place = 1
    transport_seconds = math.inf  # there is nowhere to send to

    def __init__(self, workers: int | None = None) -> None:
        """Ignore the number of workers: there is one thread."""
        self._deliver: Deliver | None = None

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._deliver = deliver

    def run(self, batch: Sequence[Work]) -> None:
        for work in batch:
            if self._deliver is None:
                return  # the last one's effects closed it
            committed.open_snapshot()
            self._deliver(work.number, run_here(work.call))

    def close(self) -> None:
        self._deliver = None
