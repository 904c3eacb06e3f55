"""Where worker threads and the loop thread meet: answers one way, a version the other.

Attempts read the version that the loop thread has published here last, which it does
between callbacks only. The newest version would be wrong: unmarked code on the loop
thread commits each of its writes at once, so that the newest version may have half of
what one callback writes.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.plea import Plea
    from txloop.executors.threads.worker import WorkerThread
    from txloop.stm.types import Answer

__all__ = ["Exchange", "Posted"]

Posted = tuple["WorkerThread", int, "Answer | Plea"]
"""Whose, the number of the work, and the answer, or what is asked for before."""


class Exchange:
    """One for all worker threads of an executor; used by any thread.

    Attributes:
        version: What attempts read that begin now; set by the loop thread.
        ring: Called on a worker's thread when something was posted, once until it is
            collected; set by the loop thread, None where there is no loop.
    """

    def __init__(self) -> None:
        self.version = committed.version
        self.ring: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._posted: list[Posted] = []  # guarded by the lock

    def newest(self) -> int:
        """Return what attempts read that read something first now; on any thread."""
        return self.version

    def post(self, worker: WorkerThread, number: int, what: Answer | Plea) -> None:
        """Leave something for the loop thread; on a worker's thread."""
        with self._lock:
            self._posted.append((worker, number, what))
            ring = self.ring if len(self._posted) == 1 else None
        if ring is not None:
            ring()

    def collect(self) -> list[Posted]:
        """Return what was posted since the last time, in that order."""
        with self._lock:
            posted, self._posted = self._posted, []
            return posted
