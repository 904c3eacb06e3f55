"""Watches over worker processes: is one stopped, dead, or stuck, or never ready?

A worker that dies closes its connection; whatever else can happen to one is found only
by looking. The pool does so now and then, while there is something to wait for. How a
worker has ended is told in words: for the log, and for whose call it was.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.stm.run import run_body

if TYPE_CHECKING:
    from txloop.executors.processes.connection import WorkerConnection
    from txloop.executors.worker_protocol import Limits

__all__ = ["Death", "Supervision", "last_frames", "state_of"]

_MOST_LINES = 20  # of a stack

_RUNNER = os.path.join(*run_body.__module__.split(".")) + ".py"
"""The file that calls the program's code, wherever it is installed."""

_DEAD = ("", "Z", "X")

_log = logging.getLogger("txloop")


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a worker.

    Attributes:
        pid: Its process number, 0 if it never got one.
        status: How it ended, as `os.wait` says it; None if that is unknown.
        cause: Why we ended it, or None.
        words: What it wrote last, if that was no answer.
    """

    pid: int
    status: int | None
    cause: str | None = None
    words: bytes = b""

    def __str__(self) -> str:
        return f"worker {self.pid}: {self.describe()}"

    def describe(self) -> str:
        """Return how it came about, with the stack if that is known."""
        how = self.cause or _how(self.status)
        frames = last_frames(self.words)
        return f"{how}, at\n{frames}" if frames else how

    def describe_timeout(self, what: str) -> str:
        """Return that it was ended for a call that took too long.

        Args:
            what: What was ended, and what follows from that.
        """
        frames = last_frames(self.words)
        end = f". It was at:\n{frames}" if frames else ""
        return f"{self.cause}; {what}{end}"


def _how(status: int | None) -> str:
    if status is None:
        return "how it ended is not known"
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"it exited with {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (by hand, or because memory ran out)" if -code == signal.SIGKILL else ""
    return f"killed by {name}{hint}"


def last_frames(words: bytes) -> str:
    """Return the frames of the user's code in what `faulthandler` wrote, or nothing."""
    frames = []
    for line in words.decode(errors="replace").splitlines():
        if line.startswith("  File "):
            if _RUNNER in line:
                break
            frames.append(line)
    more = ["  ..."] if len(frames) > _MOST_LINES else []
    return "\n".join(frames[:_MOST_LINES] + more)


def state_of(pid: int) -> str:
    """Return the letter of a process's state, "" if it is gone, "?" if unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        return "?"  # no descriptor is free, or there is no /proc


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
