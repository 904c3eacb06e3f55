"""Calls on Dask's dashboard: in its task stream, where its own tasks are.

The scheduler keeps one list of what has run, which the dashboard draws and
``Client.get_task_stream`` returns. Dask fills it by `SchedulerPlugin.transition`, once
for each task that has ended; this calls the same for each attempt that has. They are
no tasks, so no other plugin is told, and Dask's counts of tasks stay what they are.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.executors.codec.by_value import by_value, dumps_by_value

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = ["Ended", "Stream", "make_installer"]

_PROTOCOL = 5
_MOST = 5_000  # that wait to be told; a dashboard shows the last 1,000


class Ended(NamedTuple):
    """An attempt that has run on the cluster.

    Attributes:
        label: What the dashboard calls it.
        number: Tells it from others of that label.
        address: The Dask worker's.
        pid: The process there, which has a line of its own.
        start: When its body began, by this machine's clock, as `time.time`.
        stop: When it had ended.
        failed: Whether it raised an exception.
    """

    label: str
    number: int
    address: str
    pid: int
    start: float
    stop: float
    failed: bool


class Stream:
    """What the scheduler has to be told; filled on the loop thread, taken by any."""

    def __init__(self) -> None:
        self._ended: deque[Ended] = deque(maxlen=_MOST)

    def add(self, ended: Ended) -> None:
        """Have it told."""
        self._ended.append(ended)

    def take(self) -> list[Ended]:
        """Return what is to be told now, at most as much as fits in one message."""
        return [self._ended.popleft() for _ in range(len(self._ended))]


def make_installer() -> bytes:
    """Return a pickled function for the scheduler, which need not have txloop."""
    with by_value([sys.modules[__name__]]):
        return dumps_by_value(_install, _PROTOCOL)


def _install(dask_scheduler: Scheduler) -> None:
    """Add the handler ``txloop_ended`` to the scheduler; runs in it."""

    def show(ended: list[tuple[str, int, str, int, float, float, bool]]) -> None:
        # It is there if a dashboard was opened, or a client has asked.
        stream: Any = dask_scheduler.plugins.get("task-stream")
        if stream is None:
            return
        for label, number, address, pid, start, stop, failed in ended:
            stream.transition(
                f"{label}-{number}",
                "processing",
                "erred" if failed else "memory",
                worker=address,
                thread=pid,
                status="error" if failed else "OK",
                startstops=[{"action": "compute", "start": start, "stop": stop}],
                nbytes=0,
                type=b"",
            )

    dask_scheduler.handlers["txloop_ended"] = show
