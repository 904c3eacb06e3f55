"""What makes the workers of an executor, and others in their place."""

from __future__ import annotations

import abc
import itertools
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from txloop.executors.members import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.protocol import Reactor

__all__ = ["Crew", "M"]

M = TypeVar("M", bound=Any)
"""A member: as `WorkerConnection`, as far as it is used here."""


class Crew(abc.ABC, Generic[M]):
    """The workers of one executor, wherever they are; owned by the loop thread.

    Attributes:
        workers: Those that there are.
        most_calls: After how many calls a worker is replaced; None for never.
        complained: Whether the log says already that none can be made.
        tally: What has become of them.
    """

    def __init__(self, size: int) -> None:
        """Begin without workers; `size` is how many get calls at once."""
        self.workers: list[M] = []
        self.most_calls: int | None = None
        self.complained = False
        self.tally = Tally()
        self._size = size

    @abc.abstractmethod
    def start(self, log: DeltaLog) -> None:
        """Have the workers made; what their replicas miss is in `log`."""

    @abc.abstractmethod
    def attach(self, reactor: Reactor) -> None:
        """Let `reactor` watch over all connections."""

    @abc.abstractmethod
    def close(self) -> None:
        """End all workers, waiting for them."""

    @abc.abstractmethod
    def renew(self) -> bool:
        """Replace all workers by new ones, which know the program as it is now.

        The old ones get no more calls, and leave when they have answered.

        Returns:
            Whether that could be done.
        """

    @property
    @abc.abstractmethod
    def is_complete(self) -> bool:
        """Whether there are as many workers as there should be, ready or not."""

    @abc.abstractmethod
    def read_reports(self) -> None:
        """Deal with what has been told of workers so far."""

    @abc.abstractmethod
    def look(self) -> None:
        """Look after what makes workers; called now and then."""

    @abc.abstractmethod
    def welcome(self, worker: M) -> None:
        """Let a worker that is ready take its place."""

    @abc.abstractmethod
    def remove(self, worker: M) -> None:
        """Replace a worker that has ended, unless another one is there."""

    @abc.abstractmethod
    def relieve(self, worker: M) -> None:
        """Have another worker take the place of one that has run its calls."""

    def _all(self) -> Iterable[M]:
        return self.workers

    def free_place(self) -> int:
        """Return the lowest number from 1 that no worker has.

        The one after the last belongs to the loop thread; see `Trace`.
        """
        taken = {worker.place for worker in self._all()} | {self._size + 1}
        return next(place for place in itertools.count(1) if place not in taken)

    def dismiss_retired(self) -> None:
        """Let those go that get no more calls and have nothing left to do."""
        for worker in self.workers[:]:
            if (worker.retiring or worker.worn) and not worker.assigned:
                worker.close()
                self.remove(worker)
