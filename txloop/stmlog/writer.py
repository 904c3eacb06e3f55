"""The scribe of one loop: from what its dispatcher tells to the events of the log.

What it is told on the loop thread, in the order in which it is decided, it puts into
the lanes of the workers, at the times at which it happened there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from txloop.engine.events import (
    Aborted,
    Answered,
    Closed,
    Committed,
    Conflicted,
    Dropped,
    Event,
    LinedUp,
    Retried,
    RoundRun,
    RoundWaits,
    Started,
    Waited,
)
from txloop.stmlog.c7_format import (
    CONTENTION_INEVITABLE,
    CONTENTION_WRITE_READ,
    CONTENTION_WRITE_WRITE,
)
from txloop.stmlog.log_threads import Contention, Lane, Run
from txloop.stmlog.markers import Places
from txloop.stmlog.winners import Winners

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.events import Listener
    from txloop.executors.protocol import Running
    from txloop.stm.types import Cell, Conflict, Trace
    from txloop.stmlog.process_log import Hub

__all__ = ["Scribe"]

TICK_SECONDS = 0.1
"""How often what is certain is written while anything happens."""

_AT_ONCE = frozenset({LinedUp, RoundWaits, Closed})
"""What is about workers that idle: of these, only the present is known."""

_LONG_NS = 1_000_000
"""Who keeps the loop thread for longer keeps workers from their next calls."""


_ANOTHER_NS = 1_000_000
"""What began so much later than what a log says is not the same run."""


class Loop(Protocol):
    """What a scribe needs of the dispatcher whose scribe it is."""

    def running(self) -> list[tuple[int, Running]]:
        """Return what runs away from the loop thread, by transaction's number."""

    def untrace(self, listener: Listener) -> None:
        """Undo `trace`."""


class Scribe:
    """Listens to one dispatcher; used by its loop thread only."""

    def __init__(
        self,
        hub: Hub,
        loop: Loop,
        home: int,
        call_later: Callable[[float, Callable[[], object]], object],
    ) -> None:
        """Take whom to tell and whom to ask.

        Args:
            hub: Where events go.
            loop: Knows what runs.
            home: The thread number of the loop thread.
            call_later: Calls a function after some seconds.
        """
        self._hub = hub
        self._loop = loop
        self._call_later = call_later
        self._ticking = False
        self._told: list[tuple[int, Event]] = []  # with the time, not yet dealt with
        self._places = Places()
        self._winners = Winners()
        self._home = Lane(home, hub.timeline, None)
        self._lanes = {0: self._home}  # by worker
        self._handed: dict[int, int] = {}  # when, by transaction
        self._runs: dict[int, Run] = {}  # that are not decided yet, by transaction
        self._causes: dict[int, bytes] = {}  # why it may become inevitable, likewise
        self._inevitable: dict[str, bytes] = {}  # the line that made it so, by label
        self._in_line: dict[int, str] = {}  # labels of those in line, likewise
        self._barred = False  # whether calls wait for the end of a round
        self._contentions: dict[str, Contention] = {}  # the last one, by label
        self._blocker: tuple[int, int, bytes] | None = None  # of the loop thread
        hub.enter(self)

    def __call__(self, event: Event) -> None:
        """Take an event; most are dealt with later, many at a time: it costs less."""
        kind = type(event)
        if kind not in _ON:
            return
        self._told.append((time.monotonic_ns(), event))
        if kind in _AT_ONCE or self._in_line or self._barred:
            self._work_off()
        if not self._ticking and kind is not Closed:
            self._ticking = True
            self._call_later(TICK_SECONDS, self._tick)

    def _work_off(self) -> None:
        told, self._told = self._told, []
        timeline = self._hub.timeline
        for timeline.now, event in told:
            _ON[type(event)](self, event)
        timeline.now = time.monotonic_ns()

    def _tick(self) -> None:
        self._ticking = False
        self._hub.flush()
        if not self._hub.wanted:
            return
        if self._handed or self._runs or self._hub.timeline:
            self._ticking = True
            self._call_later(TICK_SECONDS, self._tick)

    # What happens to transactions

    def _started(self, event: Started) -> None:
        if not event.inline:
            self._handed[event.transaction] = self._hub.timeline.now
        if self._in_line.pop(event.transaction, None) is not None:
            self._look_at_idle()

    def _lined_up(self, event: LinedUp) -> None:
        self._in_line[event.transaction] = event.label
        self._look_at_idle()

    def _round_waits(self, _: RoundWaits) -> None:
        self._barred = True
        self._look_at_idle()

    def _round_run(self, _: RoundRun) -> None:
        if self._barred:
            self._barred = False
            self._look_at_idle()

    def _look_at_idle(self) -> None:
        """Let as many workers idle as could do what stands in line, and no more."""
        busy = {one.worker for _, one in self._loop.running()}
        idle = [self._lane(one) for one in range(1, self._home.thread)]
        idle = [lane for lane in idle if lane.thread not in busy]
        known = map(self._contentions.get, self._in_line.values())
        contention = next(filter(None, known), None)
        wanted = len(self._in_line) if contention is not None else 0
        for count, lane in enumerate(idle):
            if count < wanted:
                lane.idle(contention)
            elif self._barred:
                lane.idle(None)
            else:
                lane.end_idling()

    def _answered(self, event: Answered) -> None:
        number, trace = event.transaction, event.trace
        lane = self._lane(trace.worker)
        handed = self._handed.pop(number, 0)
        blocker = self._blocker_of(lane, trace.began_ns) if handed else None
        began = lane.begin(number, handed, trace.began_ns, blocker)
        run = self._runs[number] = Run(lane, event.label, trace, began)
        lane.last = run.ended
        if lane is self._home and run.ended - began >= _LONG_NS:
            culprit = self._inevitable.get(run.label) or self._first_place(run)
            self._blocker = began, run.ended, culprit
        if self._in_line or self._barred:
            self._look_at_idle()

    def _waited(self, event: Waited) -> None:
        run = self._runs.get(event.transaction)
        if run is not None:
            culprit = self._causes.get(event.inevitable, b"")
            run.hold(self._first_place(run), culprit)

    def _committed(self, event: Committed) -> None:
        run = self._runs.pop(event.transaction, None)
        self._forget(event.transaction)
        if run is not None:
            run.finish(None, aborted=False)
            if run.trace.writes:
                self._winners.note(event.version, run.label, run.trace)

    def _conflicted(self, event: Conflicted) -> None:
        run = self._runs.pop(event.transaction, None)
        if run is not None:
            contention = self._contention(run, event.conflict)
            self._causes[event.transaction] = contention[1]
            self._contentions[run.label] = contention
            run.finish(contention, aborted=True)

    def _retried(self, event: Retried) -> None:
        # What it waits for is a write of what it has read.
        self._abort(event.transaction, CONTENTION_WRITE_READ)
        if event.waits:
            self._forget(event.transaction)

    def _refused(self, event: Aborted) -> None:
        run = self._runs.get(event.transaction)
        if run is not None and run.trace.stop is not None:
            self._inevitable[run.label] = self._places.marker(run.trace.stop, run.label)
        self._abort(event.transaction, CONTENTION_INEVITABLE)

    def _dropped(self, event: Dropped) -> None:
        run = self._runs.pop(event.transaction, None)
        self._forget(event.transaction)
        if run is not None:
            run.finish(None, aborted=True)

    def _closed(self, _: Closed) -> None:
        for run in self._runs.values():
            run.finish(None, aborted=True)
        self._runs.clear()
        for lane in self._lanes.values():
            lane.lose(lane.now)
            lane.end_idling()
        self._winners.close()
        self._hub.leave(self)

    def _abort(self, transaction: int, kind: int) -> None:
        """Write an attempt in vain that says itself at which line it gave up."""
        run = self._runs.pop(transaction, None)
        if run is None:
            return
        stop, place = run.trace.stop, b""
        if stop is not None:
            place = self._places.marker(stop, run.label)
        run.finish((kind, place, b"") if place else None, aborted=True)

    def _forget(self, transaction: int) -> None:
        """Forget what is known of a transaction: it has ended, or waits."""
        self._handed.pop(transaction, None)
        self._causes.pop(transaction, None)
        self._in_line.pop(transaction, None)
        for lane in self._lanes.values():
            if lane.open == transaction:
                lane.lose(lane.now)

    def retire(self) -> None:
        """Listen no more: nobody takes what happens."""
        self._winners.close()
        self._loop.untrace(self)

    # What is known by and by

    def catch_up(self, until: int) -> None:
        """Add what is certain of the time before `until`, although it goes on."""
        self._work_off()
        running = {}
        for transaction, one in self._loop.running():
            lane = self._lane(one.worker)
            running[one.worker] = transaction
            handed = self._handed.get(transaction, 0)
            if lane.open and one.since_ns > lane.last + _ANOTHER_NS:
                lane.lose(one.since_ns)  # another run of it, in another process
            if handed and not lane.open and one.since_ns < until:
                lane.start(transaction, handed, one.since_ns)
        for worker, lane in self._lanes.items():
            if lane.open and running.get(worker) != lane.open:
                lane.lose(until)
        for run in self._runs.values():
            run.settle(until)

    # Places

    def _lane(self, worker: int) -> Lane:
        lane = self._lanes.get(worker)
        if lane is None:
            lane = Lane(worker, self._hub.timeline, self._home)
            self._lanes[worker] = lane
        return lane

    def _blocker_of(self, lane: Lane, began: int) -> Contention | None:
        """Return who kept the loop thread for most of the time before `began`."""
        if self._blocker is None:
            return None
        begin, end, culprit = self._blocker
        gap = began - lane.last
        if not culprit or 2 * (min(end, began) - max(begin, lane.last)) < gap:
            return None
        return CONTENTION_INEVITABLE, b"", culprit

    def _first_place(self, run: Run) -> bytes:
        """Return one line of an attempt, a write if there is one."""
        sites, trace = run.trace.sites, run.trace
        index = next(iter(trace.writes.values()), 0)
        return self._places.marker(sites[index], run.label) if sites else b""

    def _contention(self, run: Run, conflict: Conflict) -> Contention:
        cell, trace, places = conflict.cell, run.trace, self._places
        index, kind = _index(trace, cell)
        victim = b""
        if index is not None:
            victim = places.marker(trace.sites[index], run.label, cell)
        label, site = self._winners.of(conflict)
        culprit = places.marker(site, label, cell) if site is not None else b""
        return kind, victim, culprit


def _index(trace: Trace, cell: Cell) -> tuple[int | None, int]:
    """Return the index of the place that lost a cell, and whether it wrote or read."""
    if cell in trace.writes:
        return trace.writes[cell], CONTENTION_WRITE_WRITE
    return trace.reads.get(cell), CONTENTION_WRITE_READ


_ON: dict[type, Callable[[Scribe, Any], None]] = {
    RoundRun: Scribe._round_run,
    RoundWaits: Scribe._round_waits,
    Started: Scribe._started,
    LinedUp: Scribe._lined_up,
    Answered: Scribe._answered,
    Waited: Scribe._waited,
    Committed: Scribe._committed,
    Conflicted: Scribe._conflicted,
    Retried: Scribe._retried,
    Aborted: Scribe._refused,
    Dropped: Scribe._dropped,
    Closed: Scribe._closed,
}
"""What a scribe does at each event."""
