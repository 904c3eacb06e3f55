"""The loop's end of one worker on a cluster, or of one beside it."""

from __future__ import annotations

import math
import signal
import time
from typing import TYPE_CHECKING, Any

from txloop.executors.dask.stream import Ended
from txloop.executors.processes.connection import WorkerConnection
from txloop.stm.measuring import adjusted
from txloop.stm.types import Outcome

if TYPE_CHECKING:
    from txloop.executors.dask.cluster import Link
    from txloop.executors.dask.forks import LocalForks
    from txloop.executors.dask.stream import Stream
    from txloop.executors.worker_protocol import Assignment, Run
    from txloop.stm.types import Answer, Refusal

__all__ = ["Connection", "LocalConnection", "RemoteConnection", "Way"]


class Way:
    """What the way to the cluster costs; used by the loop thread only.

    Attributes:
        seconds: How much longer a call takes there than its body does, from when it is
            sent to when its answer is read; 0 before the first one.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def note(self, seconds: float) -> None:
        """Add a measurement to the average."""
        self.seconds = adjusted(self.seconds, max(seconds, 0.0))


class LocalConnection(WorkerConnection):
    """A `Worker` that was forked on this machine, beside those of the cluster.

    Attributes:
        link: What forks it.
    """

    def __init__(self, link: LocalForks, *args: Any, **options: Any) -> None:
        """Make a `WorkerConnection` to what `link` forks."""
        super().__init__(*args, **options)
        self.link = link


class RemoteConnection(WorkerConnection):
    """A `Worker` that was forked beside a Dask worker; its socket leads there.

    Attributes:
        link: The Dask worker.
    """

    def __init__(
        self, link: Link, way: Way, stream: Stream, *args: Any, **options: Any
    ) -> None:
        """Make a `WorkerConnection` to what is forked beside a Dask worker.

        Args:
            link: The Dask worker.
            way: Told of how long the way takes.
            stream: Told of what has run.
            args: As of a `WorkerConnection`.
            options: Likewise.
        """
        super().__init__(*args, **options)
        self.link = link
        self._way = way
        self._stream = stream
        self._alone = -1  # the call that was sent when it had nothing else to do
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

    def offer(self, assignment: Assignment) -> Refusal | None:
        if not self.assigned:
            self._alone = assignment.work.number
        return super().offer(assignment)

    def check(self, number: int, answer: object) -> Answer:
        run = self.running()
        if isinstance(answer, Outcome) and run is not None:
            self._note(run, answer)
        return super().check(number, answer)

    def _note(self, run: Run, outcome: Outcome) -> None:
        work, seconds, now = run.assignment.work, outcome.body_seconds, time.time()
        if work.number == self._alone:
            self._way.note(self.clock() - run.since - seconds)
        self._stream.add(
            Ended(
                work.call.label,
                work.number,
                self.link.address,
                self.pid,
                now - seconds,
                now,
                outcome.error is not None,
            )
        )

    def sent_at(self) -> float:
        return math.inf  # another machine's clock: what a call loses is not known


Connection = LocalConnection | RemoteConnection
"""A worker of this executor, wherever it is."""
