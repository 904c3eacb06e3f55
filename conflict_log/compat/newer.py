"""How PyPy's tool adds up logs of C8, from the version of March 2015 on."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from conflict_log import formats
from conflict_log.compat.packets import GaveUp
from conflict_log.compat.tally import Tally

if TYPE_CHECKING:
    from conflict_log.compat.packets import Packet
    from conflict_log.formats import Format

__all__ = ["NewerTally"]


class _Phase(enum.Enum):
    """What a thread's time is spent on."""

    STOP = enum.auto()
    RUN = enum.auto()
    PAUSE = enum.auto()
    DETACHED = enum.auto()


class _Thread:
    """One thread's sums, and its transaction's."""

    def __init__(self) -> None:
        self.committed = self.aborted = self.paused = self.minor = self.major = 0.0
        self.commits = self.aborts = 0
        self.phase, self.since = _Phase.STOP, 0.0
        self.inside = False
        self.major_since: float | None = None
        self.begin()

    def begin(self) -> None:
        """Forget the transaction before, and a wait for a free segment."""
        self.run = self.pause = 0.0
        self.losing = False
        self.inevitable: Packet | None = None
        self.waiting: float | None = None
        self.minor_since: float | None = None

    def go(self, seconds: float, phase: _Phase) -> None:
        """Add the time until now to what it was spent on."""
        spent = seconds - self.since
        if spent < 0.0:
            raise GaveUp("a time before the one before it")
        if self.phase is _Phase.RUN:
            self.run += spent
        elif self.phase is _Phase.PAUSE:
            self.pause += spent
        self.phase, self.since = phase, seconds


class NewerTally(Tally):
    """Sums by thread and row, committed and aborted time apart."""

    def __init__(self, form: Format) -> None:
        super().__init__(form)
        self.threads: dict[int, _Thread] = {}

    def total(self, name: str) -> float:
        """Return the sum of one of the threads' figures."""
        figures = [getattr(self.threads[one], name) for one in sorted(self.threads)]
        return float(sum(figures))

    def add(self, packet: Packet) -> None:
        """Add one packet."""
        kind, now = packet.kind, packet.seconds
        thread = self.threads.get(packet.thread)
        if thread is None:
            thread = self.threads[packet.thread] = _Thread()
        if kind == formats.START:
            if thread.inside:
                raise GaveUp("a transaction that starts inside of another")
            thread.begin()
            if self.form.name != "n13":  # which adds the time since a wait before it
                thread.phase = _Phase.STOP
            thread.go(now, _Phase.RUN)
            thread.inside = True
        elif kind in {formats.COMMIT, formats.ABORT}:
            self._end(thread, now, kind == formats.COMMIT)
        elif kind == formats.DETACH:
            thread.go(now, _Phase.DETACHED)
        elif kind in {formats.INEVITABLE, formats.REATTACH}:
            thread.go(now, _Phase.RUN)
            thread.inevitable = thread.inevitable or packet
        elif kind == formats.WRITE_READ:
            self._lose(thread, packet)
        elif kind in formats.WAITS:
            thread.go(now, _Phase.PAUSE)
            if kind == formats.WAIT_INEVITABLE and thread.inevitable is not None:
                thread.waiting = now
        elif kind == formats.WAIT_DONE:
            thread.go(now, _Phase.RUN)
            if thread.inevitable is not None and thread.waiting is not None:
                self.toll(thread.inevitable).paused += now - thread.waiting
                thread.waiting = None
        else:
            self._collect(thread, kind, now)

    @staticmethod
    def _end(thread: _Thread, now: float, committed: bool) -> None:
        if committed and thread.losing:
            raise GaveUp("a commit of a transaction that has to abort")
        thread.go(now, _Phase.STOP)
        thread.inside = False
        thread.paused += thread.pause
        if committed:
            thread.committed += thread.run
            thread.commits += 1
        else:
            thread.aborted += thread.run
            thread.aborts += 1

    def _lose(self, thread: _Thread, packet: Packet) -> None:
        if thread.losing:
            return
        thread.losing = True
        toll = self.toll(packet)
        thread.go(packet.seconds, _Phase.RUN)
        toll.aborted += thread.run
        toll.paused += thread.pause

    @staticmethod
    def _collect(thread: _Thread, kind: int, now: float) -> None:
        if kind == formats.MINOR_START:
            if thread.phase is _Phase.DETACHED:
                thread.go(now, _Phase.RUN)
            thread.minor_since = now
        elif kind == formats.MINOR_DONE and thread.minor_since is not None:
            thread.minor += now - thread.minor_since
            thread.minor_since = None
        elif kind == formats.MAJOR_START:
            thread.major_since = now
        elif kind == formats.MAJOR_DONE and thread.major_since is not None:
            thread.major += now - thread.major_since
            thread.major_since = None
