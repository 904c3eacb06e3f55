"""The report of the last minutes of the program that it runs in.

It is made on the loop's thread, a little at a time: a thread of its own would take the
interpreter from the loop for five milliseconds at once, again and again, and would keep
txloop from forking workers.
"""

from __future__ import annotations

import asyncio
import io
import time
from typing import TYPE_CHECKING, ClassVar, Final

from conflict_log.loading import assemble
from conflict_log.opening import make_reader
from conflict_log.reader import Reader
from conflict_log.sources import Sources
from conflict_log.summary import Summary, summarize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conflict_log.report import Report

__all__ = ["LiveReport"]

_NAME: Final = "the last minutes"
_NUMBERING: Final = "c7"
_ROWS: Final = 30

_AT_ONCE_SECONDS: Final = 0.001
# For each second of work, so many for others: while a report is being made, and
# before the next one.
_BETWEEN: Final = 4
_BETWEEN_REPORTS: Final = 20


class _ShortReader(Reader):
    """Looks at less than a millisecond's bytes together."""

    chunk: ClassVar = 1 << 14


class LiveReport:
    """What all viewers of a live page see; used on the loop's thread only.

    A report is shown for some seconds, the longer the more work it was: to look at it
    costs the loop at most a twentieth of its time, however many look.

    Args:
        recent: Returns a log of the last minutes, in the format `c7`.
        roots: Below which folders source text may be read; by default the current one.
        seconds: How long a report is shown at least.
    """

    def __init__(
        self,
        recent: Callable[[], bytes],
        roots: Sequence[Path] = (),
        seconds: float = 1.0,
    ) -> None:
        self.recent = recent
        self.sources = Sources(roots)
        self._seconds = seconds
        self._making: asyncio.Task[Report | None] | None = None
        self._fresh_until = 0.0
        self._report: Report | None = None
        self._shown: dict[object, str] = {}

    async def text(
        self, key: object, by: str, render: Callable[[Summary, Sources], str]
    ) -> str | None:
        """Return the report as text, None as long as there is nothing to report.

        Args:
            key: What the text is kept under as long as the report is shown.
            by: How to group the rows.
            render: Makes the text.
        """
        report = await self._current()
        if report is None:
            return None
        if key not in self._shown:
            begin = time.perf_counter()
            summary = summarize(report, self.sources, by, _ROWS)
            self._shown[key] = render(summary, self.sources)
            self._rest(time.perf_counter() - begin)
        return self._shown[key]

    async def _current(self) -> Report | None:
        """Return the report, a new one if it is time for that."""
        making = self._making
        if making is None or making.get_loop() is not asyncio.get_running_loop():
            if time.monotonic() < self._fresh_until:
                return self._report
            making = self._making = asyncio.create_task(self._make())
        # A viewer that is gone must not end what others wait for.
        return await asyncio.shield(making)

    async def _make(self) -> Report | None:
        """Make a new report, in small pieces."""
        try:
            self._report, spent = await _read(self.recent())
            self._shown.clear()
            self._fresh_until = time.monotonic() + self._seconds
            self._rest(spent)
            return self._report
        finally:
            if self._making is asyncio.current_task():
                self._making = None

    def _rest(self, spent: float) -> None:
        """Show the report for as long as the work on it is worth."""
        self._fresh_until += _BETWEEN_REPORTS * spent


async def _read(data: bytes) -> tuple[Report | None, float]:
    """Return what a log says, and how many seconds of work that was."""
    reader = make_reader(_ShortReader, _NAME, io.BytesIO(data), _NUMBERING)
    all_spent, begin = 0.0, time.perf_counter()
    for _ in reader.steps():
        spent = time.perf_counter() - begin
        if spent >= _AT_ONCE_SECONDS:
            all_spent += spent
            await asyncio.sleep(_BETWEEN * spent)
            begin = time.perf_counter()
    reader.settle()
    report = None
    if reader.reading.ledger.events:
        report = assemble([reader.reading], [reader.reading], excerpt=True)
    return report, all_spent + time.perf_counter() - begin
