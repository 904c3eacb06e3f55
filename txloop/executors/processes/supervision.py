"""Watches over one worker process: is it stopped, dead, or stuck, or never ready?

A worker that dies closes its connection; whatever else can happen to one is found only
by looking. The pool does so now and then, while there is something to wait for.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.executors.processes.deaths import state_of

if TYPE_CHECKING:
    from txloop.executors.processes.connection import WorkerConnection
    from txloop.executors.worker_protocol import Limits

__all__ = ["Supervision"]

_DEAD = ("", "Z", "X")

_log = logging.getLogger("txloop")


@dataclass(slots=True)
class _Seen:
    """What earlier looks at a worker have found, since it last had nothing to do."""

    amiss: int = 0
    stalled: int = 0
    received_bytes: int = 0
    condemned: int = 0
    since: float = field(default_factory=time.monotonic)
    reported: bool = False


class Supervision:
    """Looks at one worker; used by the loop thread only."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen = _Seen()

    def look(self, worker: WorkerConnection) -> None:
        """Look at a worker, and end it if it does not get on."""
        if not worker.needs_look:
            self._seen = _Seen()
        elif worker.condemned:
            self._see_it_end(worker)
        elif not self._makes_progress(worker):
            self._see_it_live(worker)

    def _see_it_end(self, worker: WorkerConnection) -> None:
        """See that a worker ends that has to, after the time for its last words."""
        self._seen.condemned += 1
        if self._seen.condemned <= self._limits.lingering_looks:
            return
        if state_of(worker.pid) in _DEAD:
            worker.vanish()
        else:
            worker.condemn(worker.cause)

    def _makes_progress(self, worker: WorkerConnection) -> bool:
        run = worker.running()
        if run is None:
            return worker.ready
        return worker.clock() - run.since < self._limits.look_seconds / 2

    def _see_it_live(self, worker: WorkerConnection) -> None:
        seen, limits = self._seen, self._limits
        state = state_of(worker.pid) if worker.pid else "?"
        seen.amiss = seen.amiss + 1 if state in ("T", *_DEAD) else 0
        if seen.amiss >= limits.amiss_looks:
            if state == "T":
                worker.condemn("it was stopped by a signal")
            else:
                worker.vanish()
            return
        if not worker.ready:
            self._report_slow_start(worker)
        stuck = worker.answering and worker.received_bytes == seen.received_bytes
        seen.received_bytes = worker.received_bytes
        seen.stalled = seen.stalled + 1 if stuck else 0
        if seen.stalled >= limits.stalled_looks:
            worker.condemn("it stopped in the middle of its answer")

    def _report_slow_start(self, worker: WorkerConnection) -> None:
        seconds = self._limits.slow_start_seconds
        if self._seen.reported or time.monotonic() - self._seen.since < seconds:
            return
        self._seen.reported = True
        _log.warning(
            "worker %s is not ready after %g s: %s; calls wait for workers",
            worker.pid or "(not forked yet)",
            seconds,
            "an on_worker_start function takes long, or never ends"
            if worker.pid
            else "the system forks slowly",
        )
