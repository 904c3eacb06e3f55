"""Where the events of all loops of this process come together, and go from there.

There is one hub in a process, as there is one store. `keep` and `recent` are for a live
page: they need no file. All functions belong to the loop thread, except `keep`, which
may also be called when the application is set up, before there is a loop.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from txloop.stmlog.c7_format import HEADER
from txloop.stmlog.file import LogFile, forget_begun, open_log
from txloop.stmlog.timeline import SETTLING_NS, MemoryLog, Timeline
from txloop.stmlog.writer import Scribe

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.dispatcher import Dispatcher

__all__ = ["Hub", "connect", "hub", "keep", "recent"]

T = TypeVar("T")

_MAIN = os.getpid()
"""The process that has imported this; those forked from it have another number."""

_FOREVER = 1 << 63
_MINUTE_NS = 60_000_000_000
_SECOND_NS = 1_000_000_000


class Source(Protocol):
    """Whose events are logged: the scribe of one loop."""

    def catch_up(self, until: int) -> None:
        """Add what is certain of the time before `until`."""

    def retire(self) -> None:
        """Listen no more: the log is not wanted."""


class Hub:
    """The timeline of this process, and the files and the memory that it goes to.

    Attributes:
        clock: Returns the time in nanoseconds.
        timeline: Where scribes put what happens.
        own_place: The thread number of the loop thread; 0 before there is a scribe.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self.clock = clock
        self.timeline = Timeline()
        self.own_place = 0
        self._sources: list[Source] = []
        self._memory: MemoryLog | None = None
        # After how long without a `recent` the memory ends; None: never.
        self._unasked_ns: int | None = None
        self._asked_ns = 0  # when something last did
        self._files: dict[str, LogFile] = {}
        self._loops: list[tuple[weakref.ref[Any], Callable[[Any], object]]] = []

    @property
    def wanted(self) -> bool:
        """Whether there is a file or a memory to write to."""
        return self._memory is not None or bool(self._files)

    def keep(self, kept_ns: int, unasked_ns: int | None = None) -> None:
        """Keep the last events in memory from now on.

        Args:
            kept_ns: Those of at least how long.
            unasked_ns: After how long without a `recent` it ends; None: never.
        """
        self._asked_ns = self.clock()
        if self._memory is not None:
            self._memory.kept_ns = max(kept_ns, self._memory.kept_ns)
            if self._unasked_ns is not None:
                self._unasked_ns = unasked_ns
            return
        self._memory, self._unasked_ns = MemoryLog(kept_ns), unasked_ns
        self._wake()

    def open(self, name: str, most_bytes: int) -> None:
        """Write to a file from now on; the same one again changes nothing.

        Args:
            name: The file. With a ``+`` at its end, forked processes write, too, each
                to its own ``NAME.fork<PID>``; otherwise they do not.
            most_bytes: How long it may become before it is rotated.
        """
        if name not in self._files:
            file = open_log(name, most_bytes, is_fork=os.getpid() != _MAIN)
            if file is not None:
                self._files[name] = file
                self._wake()

    def when_wanted(self, loop: T, begin: Callable[[T], object]) -> None:
        """Call `begin` with `loop` when a log is wanted: now, or later.

        It may be called again while that is so.
        """
        self._loops = [one for one in self._loops if one[0]() is not None]
        self._loops.append((weakref.ref(loop), begin))
        if self.wanted:
            begin(loop)

    def _wake(self) -> None:
        for reference, begin in self._loops:
            loop = reference()
            if loop is not None:
                begin(loop)

    def enter(self, source: Source) -> None:
        """Let a scribe take part."""
        self._sources.append(source)

    def leave(self, source: Source) -> None:
        """Write all that it knows; after the last one, close the files."""
        self.flush(settling_ns=0)
        if source in self._sources:
            self._sources.remove(source)
        if not self._sources:
            self._close_files()

    def close(self) -> None:
        """Write what there is, and close the files: this process ends."""
        if self._files:
            self.flush(settling_ns=0)
            self._close_files()

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def flush(self, settling_ns: int = SETTLING_NS) -> None:
        """Write what is older than `settling_ns`."""
        until = self.clock() - settling_ns if settling_ns else _FOREVER
        for source in self._sources:
            source.catch_up(until)
        last, block = self.timeline.take()
        forgotten = self._is_forgotten()
        if forgotten:
            self._memory = None
        if block and self._memory is not None:
            self._memory.write(last, block)
        if block:
            for file in self._files.values():
                file.write(block)
        if forgotten or any(file.ended for file in self._files.values()):
            self._drop_ended()

    def _is_forgotten(self) -> bool:
        if self._memory is None or self._unasked_ns is None:
            return False
        return self.clock() - self._asked_ns > self._unasked_ns

    def _drop_ended(self) -> None:
        self._files = {
            name: file for name, file in self._files.items() if not file.ended
        }
        if not self.wanted:
            sources, self._sources = self._sources, []
            for source in sources:
                source.retire()

    def recent(self, kept_ns: int) -> bytes:
        """Return a log of the last time."""
        self._asked_ns = self.clock()
        self.flush()
        if self._memory is None:
            return HEADER
        return self._memory.since(self.clock() - kept_ns)

    def abandon(self) -> None:
        """Begin anew in a forked process: all that was so far is the parent's."""
        for file in self._files.values():
            file.abandon()
        forget_begun()
        self.__init__()  # type: ignore[misc] # anew


hub = Hub()
atexit.register(hub.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=hub.abandon)


def keep(minutes: float = 5.0, unasked_minutes: float | None = None) -> None:
    """Keep the log of the last minutes in memory, for `recent`.

    Call it when the application is set up, or on the loop thread at any time; the loops
    of this process are logged from then on, and lines of the source are recorded, which
    costs transactions a little. Calling it again changes nothing, except that more
    minutes count. At most 32 MB are kept, the newest.

    Args:
        minutes: How many.
        unasked_minutes: After how long without a `recent` it ends. After one call with
            None it goes on as long as the program.
    """
    unasked_ns = None
    if unasked_minutes is not None:
        unasked_ns = round(unasked_minutes * _MINUTE_NS)
    hub.keep(round(minutes * _MINUTE_NS), unasked_ns)


def recent(seconds: float = 300.0) -> bytes:
    """Return the log of the last `seconds`, whole blocks of about half a second.

    It is a complete stm.log in the C7 format, header and all, as ``PYPYSTM=stm.log``
    writes it: only its header if nothing has happened or `keep` was not called. What
    happened in the last half second is not in it yet. Loop thread only; it takes about
    as long as copying the bytes does.
    """
    return hub.recent(round(seconds * _SECOND_NS))


def connect(dispatcher: Dispatcher, name: str | None, most_bytes: int) -> None:
    """Log what a dispatcher does, now or as soon as a log is wanted.

    Args:
        dispatcher: The dispatcher of a loop that has not run yet.
        name: The file to write, as in ``PYPYSTM``, or None.
        most_bytes: How long that may become before it is rotated.
    """
    if name:
        hub.open(name, most_bytes)
    hub.when_wanted(dispatcher, _begin)


def _begin(dispatcher: Dispatcher) -> None:
    logged = any(isinstance(one, Scribe) for one in dispatcher.listeners)
    if dispatcher.is_over() or logged:
        return
    executor = dispatcher.executor
    hub.own_place = executor.own_place
    scribe = Scribe(
        hub,
        dispatcher,
        executor.own_place,
        dispatcher.reactor.call_later,
        executor.addresses,
    )
    dispatcher.trace(scribe)
