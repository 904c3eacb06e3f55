"""Attempts in a front that first take it that they only read.

While a front's process runs one, nothing is committed there. So what it has read needs
no validation, nor a note, if it writes nothing. One that would write is given up at
that, and runs again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.run import run_reading, run_ready
from txloop.stm.store import committed
from txloop.stm.types import strange

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable

    from txloop.executors.fronts.carrier import Kind
    from txloop.stm.types import Answer, Ready

__all__ = ["ReadingFirst"]

_NOTED_RUNS = 100


class ReadingFirst:
    """Runs attempts, and knows which kinds write; used by the only thread."""

    def __init__(self) -> None:
        """Take it of all that they only read."""
        self._noted: dict[int, int] = {}  # by kind: how many more runs that only read

    def run(
        self,
        ready: Ready,
        undo: Callable[[], object],
        context: contextvars.Context,
        kind: Kind,
    ) -> Answer | float:
        """Run what is short, with a note of what it reads where that is needed.

        Args:
            ready: What to run.
            undo: Puts everything back to how it was before that.
            context: What copies are made of, in which it runs.
            kind: Of which kind it is.

        Returns:
            As `run_ready` does.
        """
        noted = self._noted.get(kind.number, 0)
        # What must not be seen here is found out by who notes what is read.
        if not (noted or strange.seen or committed.haunting):
            found = run_reading(ready, context.copy(), kind.guarded)
            if found is not None:
                return found
            undo()
            self._noted[kind.number] = _NOTED_RUNS
        answer = run_ready(ready, context.copy(), kind.guarded)
        if noted and isinstance(answer, float):
            self._noted[kind.number] = noted - 1
        return answer
