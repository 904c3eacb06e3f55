"""Workers that have nothing to do although there are calls, which may not run yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.protocol import Running
    from txloop.stmlog.log_threads import Contention, LogThreads

__all__ = ["Idling"]


class Idling:
    """Writes which workers idle from now on; used by the loop thread only.

    Of that only the present is known, so it has to be told of things as they happen.
    """

    def __init__(
        self, running: Callable[[], list[tuple[int, Running]]], threads: LogThreads
    ) -> None:
        """Set what returns all that workers run, and the threads of the log."""
        self._running = running
        self._threads = threads
        self._in_line: dict[int, str] = {}  # labels of those in line, by transaction
        self._barred = False  # whether calls wait for the end of a round
        self._contentions: dict[str, Contention] = {}  # the last one, by label

    def __bool__(self) -> bool:
        """Tell whether there are calls that may not run yet."""
        return self._barred or bool(self._in_line)

    def line_up(self, transaction: int, label: str) -> None:
        """Note that a transaction has to stand in line."""
        self._in_line[transaction] = label
        self.look()

    def leave_line(self, transaction: int) -> None:
        """Note that it does not, or not any more."""
        if self._in_line.pop(transaction, None) is not None:
            self.look()

    def set_barred(self, barred: bool) -> None:
        """Note whether calls wait for the end of a round."""
        if barred or self._barred:
            self._barred = barred
            self.look()

    def note(self, label: str, contention: Contention) -> None:
        """Note why calls of a function may have to stand in line."""
        self._contentions[label] = contention

    def look(self) -> None:
        """Let as many workers idle as could do what stands in line, and no more."""
        busy = {one.worker for _, one in self._running()}
        idle = [one for one in self._threads.of_workers() if one.number not in busy]
        known = map(self._contentions.get, self._in_line.values())
        contention = next(filter(None, known), None)
        wanted = len(self._in_line) if contention is not None else 0
        for count, thread in enumerate(idle):
            if count < wanted:
                thread.idle(contention)
            elif self._barred:
                thread.idle(None)
            else:
                thread.end_idling()
