"""What a program does just now, for its live page: how often, how long, and where.

`txloop.stats` counts from the start. What has happened in the last minute is the
difference between two looks: so nothing is kept but what was seen while a page was
open, and nothing is measured for it.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import txloop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Figures", "HandlerRow", "Window"]

WINDOW_SECONDS: Final = 60.0
_BETWEEN_SECONDS: Final = 1.0  # two looks, however many look
_ROWS: Final = 20


@dataclass(frozen=True, slots=True)
class HandlerRow:
    """One function or handler verb in the time of a window.

    Attributes:
        label: Its name.
        rate: Commits in a second; None where the window is no longer than a look.
        commits: Commits in all.
        conflicts: Runs that were thrown away.
        errors: Commits that ended with an exception.
        latency: From the call to the commit.
        queue: How long calls waited.
        body: How long runs took.
        because: Why it stays on the loop thread, or on what it conflicts.
    """

    label: str
    rate: float | None
    commits: int
    conflicts: int
    errors: int
    latency: txloop.Distribution
    queue: txloop.Distribution
    body: txloop.Distribution
    because: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What a page shows of a program.

    Attributes:
        seconds: How long the window is; 0: it is all since the start.
        rows: The functions that ran, the most frequent first.
        more: How many there are besides.
        stats: What the loop counts.
    """

    seconds: float
    rows: Sequence[HandlerRow]
    more: int
    stats: txloop.Stats


class Window:
    """Looks at a loop's figures again and again; used on the loop's thread only.

    Args:
        stats: Returns the figures.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self,
        stats: Callable[[], txloop.Stats] = txloop.stats,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stats = stats
        self._clock = clock
        self._looks: deque[tuple[float, txloop.Stats]] = deque()

    def look(self) -> Figures:
        """Return what has happened in the last minute, as far as it was looked at."""
        now, looks = self._clock(), self._looks
        while looks and now - looks[0][0] > WINDOW_SECONDS:
            looks.popleft()
        stats = self._stats()
        since, before = looks[0] if looks else (now, None)
        if not looks or now - looks[-1][0] >= _BETWEEN_SECONDS:
            looks.append((now, stats))
        seconds = now - since
        if before is None or seconds < _BETWEEN_SECONDS:
            return _figures(0.0, stats, {})
        return _figures(seconds, stats, _by_label(before))


def _by_label(stats: txloop.Stats) -> dict[str, HandlerRow]:
    """Return what each label has done in all: several functions can have one name."""
    found: dict[str, HandlerRow] = {}
    nothing = txloop.Distribution()
    for one in stats.labels:
        so_far = found.get(one.label) or HandlerRow(
            one.label, None, 0, 0, 0, nothing, nothing, nothing, ""
        )
        contended = f"conflicts on {one.contended}" if one.contended else ""
        found[one.label] = HandlerRow(
            one.label,
            None,
            so_far.commits + one.commits,
            so_far.conflicts + one.aborts,
            so_far.errors + one.errors,
            so_far.latency + one.latency,
            so_far.queue + one.queue,
            so_far.body + one.body,
            one.on_loop_because or contended or so_far.because,
        )
    return found


def _figures(
    seconds: float, stats: txloop.Stats, before: Mapping[str, HandlerRow]
) -> Figures:
    rows = []
    for label, now in _by_label(stats).items():
        row = _since(now, before.get(label), seconds)
        if row.commits or row.conflicts:
            rows.append(row)
    rows.sort(key=lambda row: (-row.commits, row.label))
    return Figures(seconds, rows[:_ROWS], max(0, len(rows) - _ROWS), stats)


def _since(now: HandlerRow, before: HandlerRow | None, seconds: float) -> HandlerRow:
    """Return what has happened since a look."""
    if before is not None:
        now = HandlerRow(
            now.label,
            None,
            now.commits - before.commits,
            now.conflicts - before.conflicts,
            now.errors - before.errors,
            now.latency - before.latency,
            now.queue - before.queue,
            now.body - before.body,
            now.because,
        )
    if not seconds:
        return now
    return dataclasses.replace(now, rate=now.commits / seconds)
