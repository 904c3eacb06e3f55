"""The scribe of one loop: from what its dispatcher tells to the events of the log.

What it is told on the loop thread, in the order in which it is decided, it notes in the
log's threads, one for each worker, at the times at which it happened there.
"""

from __future__ import annotations

from dataclasses import dataclass
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
)
from txloop.stmlog.idling import Idling
from txloop.stmlog.log_threads import Contention, LogThread, LogThreads, Span
from txloop.stmlog.sides import Places, Winners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from txloop.engine.events import Listener
    from txloop.executors.protocol import Running
    from txloop.stm.types import Trace
    from txloop.stmlog.process_log import Hub

__all__ = ["Scribe"]

TICK_SECONDS = 0.1
"""How often what is certain is written while anything happens."""

_AT_ONCE = frozenset({LinedUp, RoundWaits, Closed})
"""What is about workers that idle: of these, only the present is known."""

_LONG_NS = 1_000_000
"""What keeps the loop thread for longer keeps workers from their next calls."""


class Loop(Protocol):
    """What a scribe needs of its dispatcher."""

    def running(self) -> list[tuple[int, Running]]:
        """Return what runs away from the loop thread, by transaction's number."""

    def untrace(self, listener: Listener) -> None:
        """Undo `trace`."""


@dataclass(slots=True)
class Undecided:
    """An attempt that has an answer.

    Attributes:
        thread: Where it is in the log.
        span: How it ends there.
        label: What ran.
        trace: When, and at which lines.
    """

    thread: LogThread
    span: Span
    label: str
    trace: Trace


class Scribe:
    """Listens to one dispatcher; used by its loop thread only."""

    def __init__(
        self,
        hub: Hub,
        loop: Loop,
        own_place: int,
        call_later: Callable[[float, Callable[[], object]], object],
        addresses: Mapping[int, str],
    ) -> None:
        """Join the hub.

        Args:
            hub: Where events go.
            loop: Knows what runs.
            own_place: The thread number of the loop thread.
            call_later: Calls a function after some seconds.
            addresses: Where workers are that are on other machines, by number.
        """
        self._hub = hub
        self._loop = loop
        self._call_later = call_later
        self._ticking = False
        self._told: list[tuple[int, Event]] = []  # with the time, not yet dealt with
        self._places = Places()
        self._winners = Winners(self._places)
        self._threads = LogThreads(own_place, hub.timeline, addresses)
        self._idling = Idling(loop.running, self._threads)
        self._handed: dict[int, int] = {}  # when, by transaction
        # By worker, what is in the log before its answer is there: whose attempt it is.
        self._running: dict[int, tuple[int, Running, Span]] = {}
        self._undecided: dict[int, Undecided] = {}  # by transaction
        self._causes: dict[int, bytes] = {}  # why it may become inevitable, likewise
        self._inevitable: dict[str, bytes] = {}  # the line that made it so, by label
        self._blocker: tuple[int, int, bytes] | None = None  # of the loop thread
        hub.enter(self)

    def __call__(self, event: Event) -> None:
        """Note an event; most are dealt with later, many at a time: it costs less."""
        kind = type(event)
        if kind not in _ON:
            return
        self._told.append((self._hub.clock(), event))
        if kind in _AT_ONCE or self._idling:
            self._work_off()
        if not self._ticking and kind is not Closed:
            self._ticking = True
            self._call_later(TICK_SECONDS, self._tick)

    def _work_off(self) -> None:
        told, self._told = self._told, []
        timeline = self._hub.timeline
        for timeline.now, event in told:
            _ON[type(event)](self, event)
        timeline.now = self._hub.clock()

    def _tick(self) -> None:
        self._ticking = False
        self._hub.flush()
        if not self._hub.wanted:
            return
        if self._handed or self._undecided or any(self._threads.values()):
            self._ticking = True
            self._call_later(TICK_SECONDS, self._tick)

    # What happens to transactions

    def _started(self, event: Started) -> None:
        if not event.inline:
            self._handed[event.transaction] = self._hub.timeline.now
        self._idling.leave_line(event.transaction)

    def _lined_up(self, event: LinedUp) -> None:
        self._idling.line_up(event.transaction, event.label)

    def _round_waits(self, _: RoundWaits) -> None:
        self._idling.set_barred(True)

    def _round_run(self, _: RoundRun) -> None:
        self._idling.set_barred(False)

    def _answered(self, event: Answered) -> None:
        number, trace = event.transaction, event.trace
        thread = self._threads[trace.worker]
        handed = self._handed.pop(number, 0)
        one = self._running.pop(trace.worker, None)
        if one is not None and one[0] == number:
            span = one[2]
        else:
            blocker = self._blocker_of(thread, trace.began_ns) if handed else None
            span = thread.begin(trace.began_ns, handed, blocker)
        thread.answer(span, trace.ended_ns)
        self._undecided[number] = Undecided(thread, span, event.label, trace)
        if not trace.worker and trace.ended_ns - trace.began_ns >= _LONG_NS:
            first = self._places.first(event.label, trace)
            culprit = self._inevitable.get(event.label) or first
            self._blocker = trace.began_ns, trace.ended_ns, culprit
        if self._idling:
            self._idling.look()

    def _answered_untraced(self, transaction: int) -> None:
        """End what is in the log of a call that was made before there was one."""
        for worker, (number, _, span) in list(self._running.items()):
            if number == transaction:
                del self._running[worker]
                self._threads[worker].answer(span, self._hub.timeline.now)

    def _waited(self, event: Waited) -> None:
        one = self._undecided.get(event.transaction)
        if one is not None:
            victim = self._places.first(one.label, one.trace)
            culprit = self._causes.get(event.inevitable, b"")
            one.span = one.thread.hold(one.span, victim, culprit)

    def _committed(self, event: Committed) -> None:
        one = self._undecided.get(event.transaction)
        if one is None and not event.failed:
            self._answered_untraced(event.transaction)
        elif one is not None and one.trace.writes:
            self._winners.note(event.version, one.label, one.trace)
        self._decide(event.transaction, aborted=False)
        self._forget(event.transaction)

    def _conflicted(self, event: Conflicted) -> None:
        one = self._undecided.get(event.transaction)
        if one is not None:
            contention = self._winners.contention(one.label, one.trace, event.conflict)
            self._causes[event.transaction] = contention[1]
            self._idling.note(one.label, contention)
            self._decide(event.transaction, aborted=True, contention=contention)

    def _retried(self, event: Retried) -> None:
        # What it waits for is a write of what it has read.
        self._give_up(event.transaction, CONTENTION_WRITE_READ)
        if event.waits:
            self._forget(event.transaction)

    def _aborted(self, event: Aborted) -> None:
        place = self._give_up(event.transaction, CONTENTION_INEVITABLE)
        if place:
            self._inevitable[event.label] = place

    def _dropped(self, event: Dropped) -> None:
        self._decide(event.transaction, aborted=True)
        self._forget(event.transaction)

    def _closed(self, _: Closed) -> None:
        for transaction in list(self._undecided):
            self._decide(transaction, aborted=True)
        for thread in self._threads.values():
            thread.stop(self._hub.timeline.now)
        self._winners.close()
        self._hub.leave(self)

    def _give_up(self, transaction: int, kind: int) -> bytes:
        """Abort an attempt that says itself at which line it gave up; return that."""
        one, place = self._undecided.get(transaction), b""
        if one is not None and one.trace.stop is not None:
            place = self._places.marker(one.trace.stop, one.label)
        contention = (kind, place, b"") if place else None
        self._decide(transaction, aborted=True, contention=contention)
        return place

    def _decide(
        self, transaction: int, aborted: bool, contention: Contention | None = None
    ) -> None:
        """Set how a transaction's attempt ends, if there is one."""
        one = self._undecided.pop(transaction, None)
        in_time = one is None or one.thread.decide(one.span, aborted, contention)
        if aborted and not in_time:
            self._threads[0].note_abort(contention)

    def _forget(self, transaction: int) -> None:
        """Forget what is known of a transaction: it has ended, or waits."""
        self._handed.pop(transaction, None)
        self._causes.pop(transaction, None)
        self._idling.leave_line(transaction)

    def retire(self) -> None:
        """Listen no more: the log is not wanted."""
        self._winners.close()
        self._loop.untrace(self)

    # What is known before it has ended

    def catch_up(self, until: int) -> None:
        """Add what is known of the time before `until`, although it goes on."""
        self._work_off()
        running = {
            one.worker: (transaction, one)
            for transaction, one in self._loop.running()
            if transaction in self._handed
        }
        for worker, (transaction, one, _) in list(self._running.items()):
            if running.get(worker) != (transaction, one):
                del self._running[worker]  # its answer will not come
                if worker not in running:
                    self._threads[worker].stop(self._hub.timeline.now)
        for worker, (transaction, one) in running.items():
            if worker not in self._running and one.since_ns < until:
                handed = self._handed[transaction]
                span = self._threads[worker].begin(one.since_ns, handed)
                self._running[worker] = transaction, one, span
        for thread in self._threads.values():
            thread.write(until)

    def _blocker_of(self, thread: LogThread, began: int) -> Contention | None:
        """Return what kept the loop thread for most of the time before `began`."""
        if self._blocker is None:
            return None
        begin, end, culprit = self._blocker
        free = thread.free
        if not culprit or 2 * (min(end, began) - max(begin, free)) < began - free:
            return None
        return CONTENTION_INEVITABLE, b"", culprit


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
    Aborted: Scribe._aborted,
    Dropped: Scribe._dropped,
    Closed: Scribe._closed,
}
"""What a scribe does at each event."""
