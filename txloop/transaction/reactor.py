"""A small event loop for transactions that run without one: in a plain script.

It does what a dispatcher and its executor need and no more, and it runs inside any
other loop's callback as well as outside of all loops. Tornado and asyncio are not
known here.
"""

from __future__ import annotations

import heapq
import itertools
import selectors
import socket
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable

__all__ = ["Reactor"]


class _Scheduled:
    """A callback that will be called later, unless it is cancelled."""

    __slots__ = ("args", "callback", "cancelled")

    def __init__(
        self, callback: Callable[..., object], args: tuple[object, ...]
    ) -> None:
        self.callback = callback
        self.args = args
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class _Watched(NamedTuple):
    """What to call when a descriptor is ready to be read, and to be written."""

    reader: Callable[[], object] | None = None
    writer: Callable[[], object] | None = None


class Reactor:
    """Calls callbacks when they are due; used by the thread that turns it."""

    def __init__(self) -> None:
        self._ready: deque[Callable[[], object]] = deque()
        self._timers: list[tuple[float, int, _Scheduled]] = []
        self._order = itertools.count()  # of timers that are due at the same time
        self._selector = selectors.DefaultSelector()
        self._closed = False
        # Other threads wake the selector by a byte; the other end is never full enough
        # for a write to fail that matters.
        self._bell, self._button = socket.socketpair()
        self._bell.setblocking(False)
        self._button.setblocking(False)
        self.add_reader(self._bell.fileno(), self._bell.recv, 4096)

    @property
    def has_ready(self) -> bool:
        """Whether the next turn will not wait."""
        return bool(self._ready)

    def call_soon(
        self,
        callback: Callable[..., object],
        /,
        *args: object,
        context: contextvars.Context | None = None,
    ) -> None:
        """Call `callback` in the next turn."""
        if context is None:
            self._ready.append(lambda: callback(*args))
        else:
            self._ready.append(lambda: context.run(callback, *args))

    def call_soon_threadsafe(
        self, callback: Callable[..., object], /, *args: object
    ) -> None:
        """Call `callback` in the next turn; any thread may ask for it.

        Raises:
            RuntimeError: if this is closed, as asyncio's does.
        """
        # Relies on deque.append being atomic without the GIL.
        self._ready.append(lambda: callback(*args))
        try:
            self._button.send(b"\0")
        except BlockingIOError:
            pass  # it has been woken often enough
        except OSError:
            raise RuntimeError("the reactor is closed") from None

    def call_later(
        self, delay: float, callback: Callable[..., object], /, *args: object
    ) -> _Scheduled:
        """Call `callback` after `delay` seconds, unless that is cancelled."""
        scheduled = _Scheduled(callback, args)
        due = time.monotonic() + delay
        heapq.heappush(self._timers, (due, next(self._order), scheduled))
        return scheduled

    def add_reader(
        self, fd: int, callback: Callable[..., object], /, *args: object
    ) -> None:
        """Call `callback` whenever `fd` is readable."""
        watched = self._watched(fd)
        self._watch(fd, watched._replace(reader=lambda: callback(*args)))

    def remove_reader(self, fd: int, /) -> None:
        """Undo `add_reader`, if it was called."""
        self._watch(fd, self._watched(fd)._replace(reader=None))

    def add_writer(
        self, fd: int, callback: Callable[..., object], /, *args: object
    ) -> None:
        """Call `callback` whenever `fd` is writable."""
        watched = self._watched(fd)
        self._watch(fd, watched._replace(writer=lambda: callback(*args)))

    def remove_writer(self, fd: int, /) -> None:
        """Undo `add_writer`, if it was called."""
        self._watch(fd, self._watched(fd)._replace(writer=None))

    def is_closed(self) -> bool:
        """Tell whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Forget everything. Closing again does nothing."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()
        self._selector.close()
        self._bell.close()
        self._button.close()

    def turn(self, wait: bool = True) -> None:
        """Call whatever is due; `wait` until something is.

        What callbacks raise is raised here.
        """
        patience_seconds = self._patience_seconds() if wait else 0.0
        for key, mask in self._selector.select(patience_seconds):
            # A callback before this one may have removed it.
            if mask & selectors.EVENT_READ:
                self._call(self._watched(key.fd).reader)
            if mask & selectors.EVENT_WRITE:
                self._call(self._watched(key.fd).writer)
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            _, _, scheduled = heapq.heappop(self._timers)
            if not scheduled.cancelled:
                scheduled.callback(*scheduled.args)
        for _ in range(len(self._ready)):
            if not self._ready:  # it was closed
                return
            self._ready.popleft()()

    def _patience_seconds(self) -> float | None:
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        if self._ready:
            return 0.0
        if self._timers:
            return max(0.0, self._timers[0][0] - time.monotonic())
        return None

    def _watched(self, fd: int) -> _Watched:
        keys = self._selector.get_map()
        if not keys or fd not in keys:  # None once it is closed
            return _Watched()
        watched: _Watched = keys[fd].data
        return watched

    def _watch(self, fd: int, watched: _Watched) -> None:
        known = self._watched(fd) != _Watched()
        events = 0
        if watched.reader is not None:
            events |= selectors.EVENT_READ
        if watched.writer is not None:
            events |= selectors.EVENT_WRITE
        if not events:
            if known:
                self._selector.unregister(fd)
        elif known:
            self._selector.modify(fd, events, watched)
        else:
            self._selector.register(fd, events, watched)

    @staticmethod
    def _call(callback: Callable[[], object] | None) -> None:
        if callback is not None:
            callback()
