"""The members of an executor: what makes them, and others in their place.

And what is told of them, and of all processes of a program: which there are, and what
has become of others.
"""

from __future__ import annotations

import abc
import itertools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.protocol import Reactor

__all__ = ["Crew", "M", "ProcessStats", "Tally", "memory_of"]

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

M = TypeVar("M", bound=Any)
"""A member: as `WorkerConnection`, as far as it is used here."""


@dataclass(slots=True)
class Tally:
    """What has become of processes; counted by the loop thread.

    Attributes:
        deaths: Those that ended, and should not have.
        restarts: Those that took the place of others, whatever had become of these.
        timeouts: Calls that were ended because they took too long.
        fork_failures: Attempts to make one that failed.
    """

    deaths: int = 0
    restarts: int = 0
    timeouts: int = 0
    fork_failures: int = 0


@dataclass(frozen=True, slots=True)
class ProcessStats:
    """A process, or a thread, of a program, and what it does just now.

    Attributes:
        kind: ``"owner"``, ``"worker"`` or ``"front"``.
        place: Its number among those of its kind, from 1.
        pid: Its process number; 0 where it is a thread of the owner, or not forked yet.
        state: ``"serves"`` (the owner), ``"starts"``, ``"idle"``, ``"runs"`` or
            ``"leaves"``.
        label: What it runs.
        seconds: For how long it has been running that.
        address: That of the Dask worker beside which it runs; "" for this machine.
    """

    kind: str
    place: int
    pid: int
    state: str
    label: str = ""
    seconds: float = 0.0
    address: str = ""

    @property
    def name(self) -> str:
        """What it is called: ``"worker 1"``, of another machine with its address."""
        if self.kind == "owner":
            return self.kind
        of = f" of {self.address}" if self.address else ""
        return f"{self.kind} {self.place}{of}"

    @property
    def memory_bytes(self) -> int:
        """What it has in memory now, 0 where that is unknown, as on another machine.

        What it shares with others counts in each of them, as in `ps` and `top`.
        """
        return 0 if self.address or not self.pid else memory_of(self.pid)


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 where that is unknown."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


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
