"""Watches over busy workers: who is stopped, dead or late, or stuck, or never ready.

A worker that dies closes its connection; whatever else can happen to one is found only
by looking. That happens now and then, and only while there is something to wait for.
"""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.executors.processes.deaths import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.processes.connection import WorkerConnection
    from txloop.executors.protocol import Reactor

__all__ = ["Supervision", "Trouble"]

LOOK_SECONDS = 0.25
"""How often a worker is looked at while it has something to do."""

STALLED_LOOKS = 20
"""After so many looks an answer of which no more arrives is given up."""

SLOW_START_SECONDS = 30.0
"""After so long a worker that is not ready is spoken of; it may yet be."""

_AMISS_LOOKS = 2  # a whole group that was stopped does not continue all at once

_DEAD = ("", "Z", "X")


class Trouble(enum.Enum):
    """What a look at a worker may find."""

    GONE = enum.auto()
    STOPPED = enum.auto()
    STALLED = enum.auto()
    LATE = enum.auto()
    LINGERING = enum.auto()  # although it was condemned
    NOT_READY = enum.auto()  # told once


@dataclass(slots=True)
class _Seen:
    """What earlier looks at a worker have found."""

    amiss: int = 0
    stalled: int = 0
    received_bytes: int = 0
    condemned: bool = False
    since: float = field(default_factory=time.monotonic)
    spoken_of: bool = False


class Supervision:
    """Looks at the workers of one executor; used by the loop thread only."""

    def __init__(
        self,
        workers: Sequence[WorkerConnection],
        on_trouble: Callable[[WorkerConnection, Trouble], None],
        on_look: Callable[[], None],
    ) -> None:
        """Take whom to watch and whom to tell.

        Args:
            workers: A list that may change.
            on_trouble: Told who is in what trouble.
            on_look: Called at each look.
        """
        self._workers = workers
        self._on_trouble = on_trouble
        self._on_look = on_look
        self._seen: dict[WorkerConnection, _Seen] = {}
        self._looking = False

    def wake(self, reactor: Reactor | None) -> None:
        """Begin to look, if anybody has anything to do."""
        if not self._looking and reactor is not None:
            busy = [one for one in self._workers if _is_busy(one)]
            if busy:
                self._looking = True
                reactor.call_later(_seconds_until(busy), self.look, reactor)

    def look(self, reactor: Reactor) -> None:
        """Look at everybody who has something to do."""
        self._looking = False
        self._on_look()
        seen, self._seen = self._seen, {}
        for worker in list(self._workers):
            if _is_busy(worker):
                self._seen[worker] = seen.get(worker) or _Seen()
                trouble = _trouble(worker, self._seen[worker])
                if trouble is not None:
                    self._on_trouble(worker, trouble)
        self.wake(reactor)


def _is_busy(worker: WorkerConnection) -> bool:
    return bool(worker.assigned) or not worker.ready or worker.condemned


def _seconds_until(busy: Sequence[WorkerConnection]) -> float:
    """Return when to look: soon enough for the first timeout."""
    return max(0.001, min(LOOK_SECONDS, *map(_seconds_left, busy), LOOK_SECONDS))


def _seconds_left(worker: WorkerConnection) -> float:
    running = worker.running()
    if running is None or worker.condemned:
        return LOOK_SECONDS
    work, seconds = running
    timeout_seconds = work.call.timeout_seconds
    return LOOK_SECONDS if timeout_seconds is None else timeout_seconds - seconds


def _trouble(worker: WorkerConnection, seen: _Seen) -> Trouble | None:
    if worker.condemned:
        if state_of(worker.pid) in _DEAD:
            return Trouble.GONE
        lingering, seen.condemned = seen.condemned, True
        return Trouble.LINGERING if lingering else None
    running = worker.running()
    if worker.ready and (running is None or running[1] < LOOK_SECONDS / 2):
        return _late(worker)  # it is making progress
    state = state_of(worker.pid) if worker.pid else "?"
    seen.amiss = seen.amiss + 1 if state in ("T", *_DEAD) else 0
    if seen.amiss >= _AMISS_LOOKS:
        return Trouble.STOPPED if state == "T" else Trouble.GONE
    waited = time.monotonic() - seen.since
    if not (worker.ready or seen.spoken_of) and waited >= SLOW_START_SECONDS:
        seen.spoken_of = True
        return Trouble.NOT_READY
    stuck = worker.answering and worker.received_bytes == seen.received_bytes
    seen.received_bytes = worker.received_bytes
    seen.stalled = seen.stalled + 1 if stuck else 0
    return Trouble.STALLED if seen.stalled >= STALLED_LOOKS else _late(worker)


def _late(worker: WorkerConnection) -> Trouble | None:
    running = worker.running()
    if running is None or worker.answering:
        return None
    work, seconds = running
    timeout_seconds = work.call.timeout_seconds
    late = timeout_seconds is not None and seconds >= timeout_seconds
    return Trouble.LATE if late else None
