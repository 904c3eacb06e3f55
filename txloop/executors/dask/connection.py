"""The loop's end of one worker on another machine."""

from __future__ import annotations

import math
import signal
from typing import TYPE_CHECKING, Any

from txloop.executors.processes.connection import WorkerConnection

if TYPE_CHECKING:
    from txloop.executors.dask.cluster import Link

__all__ = ["RemoteConnection"]


class RemoteConnection(WorkerConnection):
    """A `Worker` that was forked beside a Dask worker; its socket leads there.

    Attributes:
        link: The Dask worker.
    """

    def __init__(self, link: Link, *args: Any, **options: Any) -> None:
        """Take the Dask worker, and what a `WorkerConnection` takes."""
        super().__init__(*args, **options)
        self.link = link
        self._looks = 0  # since it had to end

    def __str__(self) -> str:
        return f"{self.pid} of {self.link.address}"

    @property
    def open(self) -> bool:
        return super().open and self.link.open

    @property
    def excused(self) -> bool:
        # Dask workers come and go; that is news only to the calls that they had.
        return super().excused or (self.link.gone and not self.assigned)

    @property
    def needs_look(self) -> bool:
        return self.condemned  # else its end is told, or that of the connection

    def look(self) -> None:
        if self.condemned:
            self._looks += 1
            if self._looks > self._limits.lingering_looks:
                self.condemn(self.cause)

    def condemn(self, cause: str | None, number: int = signal.SIGKILL) -> None:
        self.condemned = True
        self.cause = cause
        self.link.kill(self.number, number)

    def sent_at(self) -> float:
        return math.inf  # another machine's clock: what a call loses is not known
