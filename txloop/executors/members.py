"""What is told of processes: which there are, and what has become of others."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["ProcessStats", "Tally", "memory_of"]

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


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
