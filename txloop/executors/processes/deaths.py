"""How workers end, in words: for the log, and for whose call it was."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from txloop.stm.run import run_body

__all__ = ["Death", "last_frames", "state_of"]

_MOST_LINES = 20  # of a stack

_RUNNER = os.path.join(*run_body.__module__.split(".")) + ".py"
"""The file that calls the program's code, wherever it is installed."""


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
