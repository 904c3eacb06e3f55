"""What each thread's time went into, and which lines it is charged to.

`accounts` draws the phases that a thread goes through. `reader` has the same changes
written out for the events that every transaction has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conflict_log import formats
from conflict_log.accounts import (
    DETACHED,
    LOST,
    OUTSIDE,
    QUEUED,
    RUNNING,
    WAITING,
    Contention,
    Cost,
    Thread,
)
from conflict_log.curve import MOST_PIECES, Curve

if TYPE_CHECKING:
    from conflict_log.formats import Format

__all__ = ["Ledger"]

_INSIDE: Final = frozenset({RUNNING, WAITING, DETACHED})
_CHARGEABLE: Final = frozenset({formats.WAIT_CONTENTION, formats.WAIT_INEVITABLE})

# A log can name any number of lines and threads; memory has an end.
MOST_COSTS: Final = 50_000
MOST_THREADS: Final = 5_000
MOST_LANES: Final = 64
MOST_ADDRESSES: Final = 3  # of one thread


class Ledger:
    """The accounts of one log."""

    def __init__(self, form: Format) -> None:
        self.form = form
        # In C8 becoming inevitable is no contention until somebody waits or aborts.
        self._tentative = -1 if form.two_markers else formats.INEVITABLE
        self.threads: dict[int, Thread] = {}
        self.addresses: dict[int, list[str]] = {}  # where threads were, the last ones
        self.costs: dict[tuple[int, bytes, bytes, bool, int], Cost] = {}
        self.events = 0
        self.start = self.stop = 0
        self.unfinished = 0  # transactions whose end is not in the log
        self.unstarted = 0  # and those whose start is not
        self.crowded = False  # whether a cost or thread had to share a place
        self.curve = Curve()
        # At the end of a piece of time: committed, aborted and paused by thread.
        self.marks: dict[int, dict[int, tuple[int, int, int]]] = {}

    def thread(self, number: int, now: int, kind: int) -> Thread:
        """Return a thread seen for the first time."""
        if len(self.threads) >= MOST_THREADS:
            self.crowded = True
            return next(reversed(self.threads.values()))
        outside = kind in {formats.START, formats.WAIT_FREE}
        thread = Thread(number, now, self.start, not outside)
        self.threads[number] = thread
        return thread

    def locate(self, number: int, address: bytes) -> None:
        """Note where a thread is from now on; before, it may have been another."""
        text = address.decode(errors="backslashreplace")
        known = self.addresses.get(number)
        if known is None and len(self.addresses) < MOST_THREADS:
            self.addresses[number] = [text]
        elif known is not None and known[-1] != text:
            self.addresses[number] = [*known[1 - MOST_ADDRESSES :], text]

    def begin(self, thread: Thread, now: int) -> None:
        """Start a transaction, whatever the thread did before."""
        if thread.phase in _INSIDE:
            self._leave(thread, now)
            thread.lost += thread.run
            self.unfinished += 1
        elif thread.phase != OUTSIDE:
            self._leave(thread, now)
        thread.run = 0
        thread.contention = None
        thread.phase, thread.since = RUNNING, now

    def commit(self, thread: Thread, now: int) -> None:
        """End a transaction that took effect."""
        if self._end(thread, now):
            thread.committed += thread.run
        thread.commits += 1
        contention = thread.contention
        if contention is not None:
            if contention.cost is None and contention.kind != self._tentative:
                self._cost(thread, contention).count += 1
            thread.contention = None
        thread.run = 0

    def abort(self, thread: Thread, now: int) -> None:
        """End a transaction that did not; the contention before it pays."""
        known = self._end(thread, now)
        run, thread.run = thread.run, 0
        if known:
            thread.aborted += run
        thread.aborts += 1
        contention, thread.contention = thread.contention, None
        if contention is None:
            contention = Contention(formats.ABORT, b"", b"", 0)
        cost = contention.cost
        if cost is None:
            cost = self._cost(thread, contention)
            cost.count += 1
        cost.aborted += run
        cost.aborts += 1
        self._file(cost, now, run)

    def wait(self, thread: Thread, now: int, kind: int) -> None:
        """Begin to wait, inside of a transaction or before one."""
        phase = thread.phase
        if phase == RUNNING and now >= thread.since:
            thread.run += now - thread.since
            thread.since = now
        else:
            self._leave(thread, now)
        thread.phase = WAITING if phase in _INSIDE else QUEUED
        thread.cause = kind

    def wake(self, thread: Thread, now: int) -> None:
        """End a wait."""
        phase = thread.phase
        if phase == WAITING:
            self._pause(thread, now)
            thread.phase = RUNNING
        elif phase == QUEUED:
            self._pause(thread, now)
            thread.phase = OUTSIDE

    def contend(self, thread: Thread, contention: Contention, now: int) -> None:
        """Remember a contention until it is known who pays how much."""
        if thread.phase >= DETACHED:
            self.touch(thread, now)
        before = thread.contention
        if contention.kind == self._tentative:
            # Where it became inevitable. What it has lost to already, stays.
            if before is None:
                thread.contention = contention
            return
        paid = before is None or before.cost is not None
        if before is not None and not paid and before.kind != self._tentative:
            self._cost(thread, before).count += 1
        thread.contention = contention

    def pass_on(self, thread: Thread) -> None:
        """Let the other thread pay for a contention: it is the one that aborts."""
        contention = thread.contention
        if contention is None or contention.remote:
            return
        other = self.threads.get(contention.other)
        if other is not None and other.phase in _INSIDE:
            thread.contention = None
            contention.remote = True
            contention.cost = None
            other.contention = contention

    def detach(self, thread: Thread, now: int) -> None:
        """Leave the interpreter in the midst of a transaction."""
        if thread.phase in _INSIDE:
            self._leave(thread, now)
            thread.phase = DETACHED

    def touch(self, thread: Thread, now: int) -> None:
        """Notice that the thread runs: the JIT does not tell when it reattaches."""
        if thread.phase in {DETACHED, LOST}:
            self._leave(thread, now)
            thread.phase = RUNNING

    def open(self, now: int) -> None:
        """Begin at the time of the first event."""
        self.start = self.stop = now
        self.curve = Curve(now)

    def restart(self, now: int) -> None:
        """Forget all accounts, but not what the threads are doing."""
        for thread in self.threads.values():
            phase, cause, number = thread.phase, thread.cause, thread.number
            thread.__init__(number, now, now, False)  # type: ignore[misc]  # anew
            thread.phase, thread.cause = phase, cause
        self.costs.clear()
        self.marks.clear()
        self.events = self.unfinished = self.unstarted = 0
        self.open(now)

    def mark(self, now: int) -> None:
        """Write down where the accounts stand in a piece of time."""
        threads = list(self.threads.values())[:MOST_LANES]
        self.marks[self.curve.place(now)] = {
            one.number: (one.committed, one.aborted, one.paused) for one in threads
        }

    def reach(self, now: int) -> None:
        """Make pieces longer until there are few enough up to a time."""
        while self.curve.place(now) >= MOST_PIECES:
            self.curve.shift += 1
            self.marks = {place >> 1: mark for place, mark in self.marks.items()}
            for cost in self.costs.values():
                halved: dict[int, int] = {}
                for place, spent in cost.bins.items():
                    halved[place >> 1] = halved.get(place >> 1, 0) + spent
                cost.bins = halved

    def gap(self) -> None:
        """Note that events are missing here: who was inside may not be any more."""
        for thread in self.threads.values():
            if thread.phase != OUTSIDE:
                thread.lost += thread.run
                thread.run = 0
                thread.phase = LOST
                thread.contention = None

    def close(self) -> None:
        """Account for what the end of the log cuts off."""
        for thread in self.threads.values():
            if thread.phase in _INSIDE:
                self.unfinished += 1
                self._leave(thread, self.stop)
                thread.lost += thread.run
                thread.run = 0
            elif thread.phase != OUTSIDE:
                self._leave(thread, self.stop)
            thread.phase = OUTSIDE
        # Clocks that step back must not make idle time negative.
        busiest = max((one.busy for one in self.threads.values()), default=0)
        self.stop = max(self.stop, self.start + busiest)

    def _leave(self, thread: Thread, now: int) -> None:
        """Put the time since the last change where it belongs."""
        phase = thread.phase
        if phase in {WAITING, QUEUED}:
            self._pause(thread, now)
            return
        spent = now - thread.since
        if spent < 0:  # two threads' clocks of C7 can differ by microseconds
            spent, now = 0, thread.since
        if phase == RUNNING:
            thread.run += spent
        elif phase == DETACHED:
            thread.detached += spent
        elif phase == LOST:
            thread.lost += spent
        thread.since = now

    def _pause(self, thread: Thread, now: int) -> None:
        """Put the time since a wait began where it belongs."""
        spent = now - thread.since
        if spent < 0:
            spent, now = 0, thread.since
        kind, waited = thread.cause, thread.waited
        waited[kind] = waited[kind] + spent if kind in waited else spent
        thread.paused += spent
        contention = thread.contention
        if contention is None or contention.remote or kind not in _CHARGEABLE:
            cost = thread.waits.get(kind)
            if cost is None:
                nobody = Contention(kind, b"", b"", 0)
                cost = thread.waits[kind] = self._cost(thread, nobody)
            cost.count += 1
        else:
            cost = contention.cost
            if cost is None:
                cost = contention.cost = self._cost(thread, contention)
                cost.count += 1
        cost.paused += spent
        self._file(cost, now, spent)
        thread.since = now

    def _end(self, thread: Thread, now: int) -> bool:
        """Leave a transaction; return whether its start is known."""
        phase = thread.phase
        if phase == RUNNING:
            spent = now - thread.since
            if spent > 0:
                thread.run += spent
            thread.phase = OUTSIDE
            return True
        if phase != OUTSIDE:
            self._leave(thread, now)
            thread.phase = OUTSIDE
        if phase in _INSIDE:
            return True
        self.unstarted += 1
        return False

    def _file(self, cost: Cost, now: int, spent: int) -> None:
        """Put a loss where it belongs in time."""
        if spent > cost.longest:
            cost.longest = spent
        curve = self.curve
        place = now - curve.begin >> curve.shift
        if not 0 <= place < MOST_PIECES:
            self.reach(now)
            place = curve.place(now)
        bins = cost.bins  # `reach` may have made others
        bins[place] = bins.get(place, 0) + spent

    def _cost(self, thread: Thread, contention: Contention) -> Cost:
        key = (
            contention.kind,
            contention.marker1,
            contention.marker2,
            contention.remote,
            thread.number,
        )
        cost = self.costs.get(key)
        if cost is None:
            if len(self.costs) >= MOST_COSTS:
                self.crowded = True
                key = (contention.kind, b"", b"", False, 0)
                cost = self.costs.get(key)
            if cost is None:
                cost = self.costs[key] = Cost(*key)
        return cost
