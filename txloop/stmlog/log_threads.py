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
A worker goes on with its next call while it is not decided yet what becomes of its last
one. So that no time is counted twice, an attempt ends in the log when its function has
returned, or, where it has to wait for an inevitable transaction, when that is over or
the worker begins its next call, whatever comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
)

if TYPE_CHECKING:
    from txloop.stm.types import Trace
    from txloop.stmlog.timeline import Timeline

__all__ = ["Contention", "Lane", "Run"]

Contention = tuple[int, bytes, bytes]
"""An event number, and the markers of the one that lost and the one that won."""


class Run:
    """An attempt whose function has returned; owned by its lane.

    Attributes:
        label: What ran.
        trace: When, and at which lines.
        began: Its START.
        ended: When its function returned.
        waits: Whether it is held by an inevitable transaction.
        until: When its worker began something else, while it was held; or None.
        written: Whether its end is in the log.
    """

    __slots__ = (
        "began",
        "ended",
        "label",
        "lane",
        "trace",
        "until",
        "waits",
        "written",
    )

    def __init__(self, lane: Lane, label: str, trace: Trace, began: int) -> None:
        self.lane = lane
        self.label = label
        self.trace = trace
        self.began = began
        self.ended = max(trace.ended_ns, began)
        self.waits = False
        self.until: int | None = None
        self.written = False

    def hold(self, victim: bytes, culprit: bytes) -> None:
        """Have it wait for an inevitable transaction."""
        lane = self.lane
        if not (self.waits or self.written):
            self.waits = True
            # That its worker idles may be in the log already: it was known first.
            lane.end_idling()
            self.ended = max(self.ended, lane.last)
            lane.put(self.ended, CONTENTION_INEVITABLE, victim, culprit)
            lane.put(self.ended, WAIT_CONTENTION)
            lane.held = self

    def finish(self, contention: Contention | None, aborted: bool) -> None:
        """Write its end; where that is written already, only that it was in vain."""
        lane = self.lane
        if self.written:
            if aborted:
                lane.note_abort(contention)
            return
        self.written = True
        end = self.ended
        if self.waits:
            end = max(end, self.until or lane.now)
            lane.put(end, WAIT_DONE)
            if lane.held is self:
                lane.held = None
                lane.last = end
        if contention is not None:
            lane.put(end, *contention)
        lane.put(end, ABORT if aborted else COMMIT)

    def settle(self, until: int) -> None:
        """Take it for committed if it ended before `until`: the log has to go on."""
        end = self.until if self.waits else self.ended
        if end is not None and end < until and not self.written:
            self.finish(None, aborted=False)


class Lane:
    """One thread of the log; used by the loop thread only.

    Attributes:
        thread: Its number.
        last: When something last changed.
        open: The transaction whose START is written, before its answer has come; or 0.
        held: The last run, while it has to wait for an inevitable transaction.
        idles: Whether it has nothing to do although there are calls.
    """

    def __init__(self, thread: int, timeline: Timeline, loop: Lane | None) -> None:
        """Take its number, where events go, and the lane of the loop thread."""
        self.thread = thread
        self.last = 0
        self.open = 0
        self.held: Run | None = None
        self.idles = False
        self._timeline = timeline
        self._loop = loop

    @property
    def now(self) -> int:
        """The time of what is just being told of."""
        return self._timeline.now

    def put(
        self, nanoseconds: int, event: int, marker1: bytes = b"", marker2: bytes = b""
    ) -> None:
        """Add an event."""
        self._timeline.add(nanoseconds, tail(self.thread, event, marker1, marker2))

    def begin(
        self, transaction: int, handed: int, began: int, blocker: Contention | None
    ) -> int:
        """Write a START, with the wait before it, and return its time.

        Args:
            transaction: Whose attempt it is.
            handed: When it was given to the executor, 0 if it was not.
            began: When it began.
            blocker: Why it had to wait, if not just for a worker.
        """
        if self.open == transaction:
            self.open = 0
            return self.last
        self.lose(began)
        # Ends may be written later than this: two events at one time would mix.
        free = self.last + 2
        began = max(began, free)
        held, self.held = self.held, None
        if self.idles:
            self.idles = False
            self.put(began, WAIT_DONE)
        elif held is not None:
            held.until = began - 1
        elif 0 < handed < self.last and began > free:
            if blocker is not None:
                self.put(free, START)
                self.put(free, *blocker)
                self.put(free, WAIT_CONTENTION)
                self.put(began, WAIT_DONE)
                return began
            self.put(free, WAIT_FREE_SEGMENT)
            self.put(began, WAIT_DONE)
        self.put(began, START)
        return began

    def start(self, transaction: int, handed: int, began: int) -> None:
        """Write the START of an attempt whose answer has not come yet."""
        self.last = self.begin(transaction, handed, began, None)
        self.open = transaction

    def idle(self, contention: Contention | None) -> None:
        """Write that it has nothing to do from now on: for a contention, or a round."""
        if self.open or self.held or self.idles or not self.last:
            return  # a thread of the log begins with a START
        self.idles = True
        self.last = max(self.last + 2, self.now)
        if contention is not None:
            self.put(self.last, *contention)
            self.put(self.last, WAIT_CONTENTION)
        else:
            self.put(self.last, WAIT_SYNC_PAUSE)

    def end_idling(self) -> None:
        """Write that this is over."""
        if self.idles:
            self.idles = False
            self.last = max(self.last + 2, self.now)
            self.put(self.last, WAIT_DONE)

    def lose(self, when: int) -> None:
        """End an attempt that nobody will hear of: its worker has died."""
        if self.open:
            self.open = 0
            self.last = max(self.last, when - 2)
            self.put(self.last, ABORT)

    def note_abort(self, contention: Contention | None) -> None:
        """Write an attempt in vain, without its time: it was taken for committed."""
        loop = self._loop or self
        loop.last = max(loop.last + 2, self.now)
        loop.put(loop.last, START)
        if contention is not None:
            loop.put(loop.last, *contention)
        loop.put(loop.last, ABORT)
