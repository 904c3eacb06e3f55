"""Calls in a front that run for longer than they may.

The owner sees in the shared page what runs, and since when. When a call's time is up it
sends a signal, again and again; the front's handler raises in the midst of the call. So
the call ends, unless it is in code that does not come back to Python: then the owner
ends the front. What the signal has cut off may have left anything half done, and so the
front is replaced in any case. A call that ends in time costs two assignments.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from txloop.executors.debugging import lines_of

if TYPE_CHECKING:
    from types import FrameType

    from txloop.stm.types import Ready

__all__ = ["OVERTIME", "Alarm"]

OVERTIME = signal.SIGRTMAX - 6
"""Asks a front to end the call that runs, if its time is up."""


class _TimeIsUp(BaseException):
    """Raised in a call; only this module should catch it."""


class Alarm:
    """Ends calls whose time is up; made and used by the main thread of a front.

    Attributes:
        rang: Whether it has ended the last call, which may have caught that.
        lines: Where that call was then.
    """

    def __init__(self) -> None:
        """Install the handler of the signal."""
        self.rang = False
        self.lines = ""
        self._ends_ns = 0  # of the call that runs; 0 if none does, or it has rung
        signal.signal(OVERTIME, self._ring)

    def run(self, ready: Ready, seconds: float) -> object:
        """Run the function of a call, for `seconds` at most."""
        self.rang = False
        try:
            self._ends_ns = time.monotonic_ns() + round(seconds * 1e9)
            return ready.function(*ready.args, **ready.kwargs)
        finally:
            self._ends_ns = 0

    def _ring(self, _: int, frame: FrameType | None) -> None:
        if self._ends_ns and time.monotonic_ns() >= self._ends_ns:
            self._ends_ns, self.rang = 0, True
            self.lines = lines_of(frame)
            raise _TimeIsUp
