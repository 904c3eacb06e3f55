"""What each worker did, as the C7 format tells it: one thread does one thing at a time.

::

    START --- WRITE_WRITE, WRITE_READ, INEVITABLE + ABORT
          `-- COMMIT
          `-- INEVITABLE + WAIT_CONTENTION --- WAIT_DONE + any of the above
    WAIT_FREE_SEGMENT --- WAIT_DONE + START
    WRITE_WRITE, WRITE_READ + WAIT_CONTENTION --- WAIT_DONE
    WAIT_SYNC_PAUSE --- WAIT_DONE

The last two are a worker with nothing to do, while calls stand in line for a cell, and
while those of the next round wait for the end of this one. Where PyPy has a wait for a
cell, it is in the midst of a transaction; what it costs is read in the same way.

A worker on another machine says where that is, by a contention before its START, now
and then: nothing is charged to it there, and its place is ``Worker ADDRESS``.

A thread keeps what it does as a row of spans, each of which begins when the one before
has ended. It writes them one after another, as far as the log has got, so their events
cannot mix, in whatever order they become known. What goes on is written in part.

A worker goes on with its next call while it is not decided yet what becomes of its last
one. So that no time is counted twice, an attempt ends in the log when its function has
returned, or, where it has to wait for an inevitable transaction, when that is over or
the worker begins its next call, whatever comes first. One that is not decided when its
end has to be written counts as committed, as most are; `LogThread.note_abort` corrects
it. To wait would stop the log for as long as others are ahead of it, perhaps minutes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from txloop.stmlog.c7_format import (
    ABORT,
    COMMIT,
    CONTENTION_INEVITABLE,
    START,
    WAIT_CONTENTION,
    WAIT_DONE,
    WAIT_FREE_SEGMENT,
    WAIT_SYNC_PAUSE,
    tail,
    worker_marker,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from txloop.stmlog.timeline import Timeline

__all__ = ["Contention", "LogThread", "LogThreads", "Span"]

AGAIN_NS = 60_000_000_000
"""How often it is said where a worker is: readers may have the last minutes only."""

Contention: TypeAlias = tuple[int, bytes, bytes]
"""An event number, and the markers of the one that lost and the one that won."""


@dataclass(slots=True, eq=False)
class Span:
    """What a thread does for some time: an attempt, a wait, or the wait of an attempt.

    Attributes:
        began: When it began.
        opening: Its first packets, without their time.
        closing: Its last ones; they may change until they are written.
        ended: When it ended, None as long as that is not known.
        begun: Whether its first packets are written.
        written: Whether all are.
    """

    began: int
    opening: tuple[bytes, ...]
    closing: tuple[bytes, ...]
    ended: int | None = None
    begun: bool = False
    written: bool = False


class LogThread:
    """One thread of the log; used by the loop thread only.

    Attributes:
        number: As the log has it.
        free: When its last span has ended, or began, if that has not; 0 without one.
    """

    def __init__(
        self, number: int, timeline: Timeline, addresses: Mapping[int, str]
    ) -> None:
        """Set its number, where its events go, and where workers are, by number."""
        self.number = number
        self._addresses = addresses
        self._told = ""  # where it was when that was last said
        self._told_ns = 0  # when that was
        self.free = 0
        self._timeline = timeline
        self._spans: deque[Span] = deque()  # that are not written
        self._pause: Span | None = None  # the last one
        self._start = (self._packet(START),)
        self._commit = (self._packet(COMMIT),)
        self._abort = (self._packet(ABORT),)
        self._queued = (self._packet(WAIT_FREE_SEGMENT),)
        self._done = (self._packet(WAIT_DONE),)

    def __bool__(self) -> bool:
        """Tell whether there is something to write, now or later."""
        return bool(self._spans)

    def write(self, until: int) -> None:
        """Write what is known of the time before `until`."""
        spans, add = self._spans, self._timeline.add
        while spans:
            span = spans[0]
            if not span.begun:
                if span.began >= until:
                    return
                span.begun = True
                for packet in span.opening:
                    add(span.began, packet)
            if span.ended is None or span.ended >= until:
                return
            span.written = True
            for packet in span.closing:
                add(span.ended, packet)
            spans.popleft()

    # Attempts

    def begin(self, began: int, handed: int, blocker: Contention | None = None) -> Span:
        """Begin an attempt, and end what the worker did before.

        Args:
            began: When it began.
            handed: When it was given to the executor, 0 if it was not.
            blocker: Why it had to wait, if not just for a worker.
        """
        opening = (*self._naming(began), *self._start)
        if not self.stop(began) and 0 < handed < self.free < began:
            waits: tuple[bytes, ...] = self._queued
            if blocker is not None:  # it has begun when it waits for something
                waits, opening = opening + self._waits(blocker), ()
            self._append(self.free, waits, self._done, began)
        return self._append(began, opening, self._abort)  # until there is an answer

    def _naming(self, now: int) -> tuple[bytes, ...]:
        """Return what tells where the worker is, if it is time to say that."""
        address = self._addresses.get(self.number, "")
        again = now - self._told_ns >= AGAIN_NS
        if not address or (address == self._told and not again):
            return ()
        self._told, self._told_ns = address, now
        return (self._packet(CONTENTION_INEVITABLE, worker_marker(address)),)

    def answer(self, attempt: Span, ended: int) -> None:
        """End an attempt when its function has returned."""
        attempt.closing = self._commit
        self._end(attempt, ended)

    def hold(self, attempt: Span, victim: bytes, culprit: bytes) -> Span:
        """Let an attempt wait for an inevitable transaction; return what it ends with.

        Nothing is changed if it is too late for that.
        """
        spans, pause = self._spans, self._pause
        if pause is not None and not pause.begun and spans[-1] is pause:
            spans.pop()  # its worker was taken for idle before this was known
            self._pause = None
        if not spans or spans[-1] is not attempt:
            return attempt
        assert attempt.ended is not None
        self.free = attempt.ended
        waits = self._waits((CONTENTION_INEVITABLE, victim, culprit))
        closing, attempt.closing = self._done + attempt.closing, ()
        return self._append(attempt.ended, waits, closing)

    def decide(
        self, attempt: Span, aborted: bool, contention: Contention | None
    ) -> bool:
        """Set how an attempt ends; tell whether it was not too late for that."""
        if attempt.written:
            return False
        if aborted:
            lost = self._lost(contention) + self._abort
            attempt.closing = attempt.closing[:-1] + lost
        if attempt.ended is None:
            self._end(attempt, self._timeline.now)
        return True

    def note_abort(self, contention: Contention | None) -> None:
        """Add an aborted attempt without its time: it was written as committed."""
        now = self._timeline.now
        self._append(now, self._start, self._lost(contention) + self._abort, now)

    def stop(self, when: int) -> bool:
        """End what goes on; tell whether something did."""
        if not self._spans or self._spans[-1].ended is not None:
            return False
        self._end(self._spans[-1], when)
        return True

    # Pauses

    def idle(self, contention: Contention | None) -> None:
        """Begin to have nothing to do: because of a contention, or a round."""
        if not self.free or (self._spans and self._spans[-1].ended is None):
            return  # a thread of the log begins with a START
        if contention is not None:
            waits = self._waits(contention)
        else:
            waits = (self._packet(WAIT_SYNC_PAUSE),)
        self._pause = self._append(self._timeline.now, waits, self._done)

    def end_idling(self) -> None:
        """End that, if it is so."""
        if self._pause is not None and self._pause.ended is None:
            self._end(self._pause, self._timeline.now)

    # Spans

    def _append(
        self,
        began: int,
        opening: tuple[bytes, ...],
        closing: tuple[bytes, ...],
        ended: int | None = None,
    ) -> Span:
        """Add a span after all others, as late as need be."""
        began = max(began, self.free)
        span = Span(began, opening, closing)
        self._spans.append(span)
        self.free = began
        if ended is not None:
            self._end(span, ended)
        return span

    def _end(self, span: Span, when: int) -> None:
        """End the last span."""
        self.free = span.ended = max(when, span.began)

    def _waits(self, contention: Contention) -> tuple[bytes, ...]:
        return self._packet(*contention), self._packet(WAIT_CONTENTION)

    def _lost(self, contention: Contention | None) -> tuple[bytes, ...]:
        return () if contention is None else (self._packet(*contention),)

    def _packet(self, event: int, marker1: bytes = b"", marker2: bytes = b"") -> bytes:
        return tail(self.number, event, marker1, marker2)


class LogThreads(dict[int, LogThread]):
    """The threads of one loop, by worker, and by 0 its own; made when asked for."""

    def __init__(
        self, own_place: int, timeline: Timeline, addresses: Mapping[int, str]
    ) -> None:
        """Begin with the loop's own thread.

        Args:
            own_place: Its number.
            timeline: Takes events.
            addresses: Where workers are that are on other machines, by number.
        """
        super().__init__({0: LogThread(own_place, timeline, {})})
        self._timeline = timeline
        self._addresses = addresses

    def __missing__(self, worker: int) -> LogThread:
        thread = self[worker] = LogThread(worker, self._timeline, self._addresses)
        return thread

    def of_workers(self) -> list[LogThread]:
        """Return those of all workers."""
        places = {*range(1, self[0].number), *self._addresses}
        return [self[worker] for worker in sorted(places)]
