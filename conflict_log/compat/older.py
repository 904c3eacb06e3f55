"""How PyPy's tool adds up logs of C7 and of the first days of C8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conflict_log import formats
from conflict_log.compat.packets import GaveUp
from conflict_log.compat.tally import Tally, Toll

if TYPE_CHECKING:
    from conflict_log.compat.packets import Packet
    from conflict_log.formats import Format

__all__ = ["OlderTally"]

# usleep(1) follows every abort.
_REST = 0.000001

_WAITS = {
    formats.WAIT_FREE,
    formats.WAIT_SYNC_PAUSE,
    formats.WAIT_CONTENTION,
    formats.WAIT_INEVITABLE,
}


class _Thread:
    """One thread; only what happens inside of transactions counts."""

    def __init__(self) -> None:
        self.cpu = 0.0
        self.begin(0.0)

    def begin(self, seconds: float) -> None:
        """Start a transaction."""
        self.since: float | None = seconds
        self.waiting: float | None = None
        self.waited = 0.0
        self.toll: Toll | None = None
        self.other = 0
        self.remote = False

    def end(self, seconds: float, aborted: bool) -> None:
        """End a transaction; its loss goes to the contention before it."""
        assert self.since is not None
        took = seconds - self.since - self.waited
        if took < 0.0:
            raise GaveUp("a transaction that takes less than no time")
        self.cpu += took
        self.since = self.waiting = None
        if self.toll is not None and aborted:
            self.toll.aborted += took
            self.toll.paused += _REST
            self.toll = None

    def resume(self, seconds: float) -> None:
        """End a wait, whose cost goes to the contention before it."""
        if self.waiting is None:
            return
        paused = seconds - self.waiting
        self.waited += paused
        self.waiting = None
        if self.toll is not None and not self.remote:
            self.toll.paused += paused
            self.toll = None


class OlderTally(Tally):
    """Sums by thread and row; a transaction counts as one time, however it ends."""

    def __init__(self, form: Format) -> None:
        super().__init__(form)
        self.threads: dict[int, _Thread] = {}

    @property
    def cpu(self) -> float:
        """The time in transactions, waits apart."""
        return sum(self.threads[number].cpu for number in sorted(self.threads))

    def add(self, packet: Packet) -> None:
        """Add one packet."""
        kind = packet.kind
        thread = self.threads.get(packet.thread)
        if kind == formats.START:
            if thread is None:
                thread = self.threads[packet.thread] = _Thread()
            thread.begin(packet.seconds)
            return
        inside = thread is not None and thread.since is not None
        if kind in formats.CONTENTIONS:
            toll = self.toll(packet)
            if thread is not None and inside:
                thread.toll, thread.other, thread.remote = toll, packet.other, False
        elif thread is None:
            return
        elif kind == formats.ABORTING_OTHER:
            self._pass_on(thread)
        elif not inside:
            return
        elif kind in {formats.COMMIT, formats.ABORT}:
            thread.end(packet.seconds, kind == formats.ABORT)
        elif kind in _WAITS:
            thread.waiting = packet.seconds
        elif kind == formats.WAIT_DONE:
            thread.resume(packet.seconds)

    def _pass_on(self, thread: _Thread) -> None:
        """Let the other thread pay: it is the one that aborts."""
        if thread.toll is None or thread.remote:
            return
        toll, thread.toll = thread.toll, None
        other = self.threads.get(thread.other)
        if other is not None and other.since is not None:
            other.toll, other.other, other.remote = toll, thread.other, True
