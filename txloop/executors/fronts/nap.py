"""The moments at which an event loop begins to sleep, and wakes up.

asyncio has no hook for them: it asks its selector, which waits. So the selector's
`select` is replaced. What only looks, without waiting, is passed on.

While it sleeps, something may be done now and then of which the loop does not know::

    before()   select   during()   select   during()   select   after()
               pause               pause               events
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # quicker than `signal`, ten times
import math
import signal
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Nap", "is_alone"]

_HARMLESS = ("asyncio.runners", "asyncio.unix_events", "signal", "_signal")
"""Modules whose handlers of signals neither read nor change what is shared."""


class Nap:
    """Has something called when a loop begins to sleep, meanwhile, and at the end."""

    def __init__(
        self,
        loop: Any,
        before: Callable[[], float | None],
        during: Callable[[], float | None],
        after: Callable[[], object],
    ) -> None:
        """Replace the `select` of a loop's selector until `end`; see `of`."""
        # Weakly, and by its class: a dropped loop would be cyclic garbage.
        self._loop = weakref.ref(loop)
        self._select = type(loop._selector).select
        self._before, self._during, self._after = before, during, after
        loop._selector.select = self._sleep

    @classmethod
    def of(
        cls,
        loop: object,
        before: Callable[[], float | None],
        during: Callable[[], float | None],
        after: Callable[[], object],
    ) -> Nap | None:
        """Follow a loop; None if it is not one of asyncio's own.

        Args:
            loop: The event loop.
            before: Called when it has nothing to do; returns after how many seconds to
                call `during`, 0 if neither that nor `after` is wanted.
            during: Called while it sleeps; returns likewise, 0 if the loop has to wake
                up. It does by itself if there is something to do then.
            after: Called when it wakes up from that, before all callbacks.
        """
        selector = getattr(loop, "_selector", None)
        if not hasattr(selector, "__dict__") or not hasattr(loop, "_ready"):
            return None
        return cls(loop, before, during, after)

    def end(self) -> None:
        """Let the loop sleep as ever."""
        loop = self._loop()
        if loop is not None:
            vars(loop._selector).pop("select", None)

    def _sleep(self, timeout: float | None = None) -> Any:
        loop = self._loop()
        assert loop is not None  # it is what calls this
        selector, select = loop._selector, self._select
        if timeout is not None and timeout <= 0:
            return select(selector, timeout)
        events = select(selector, 0)
        pause = 0.0 if events else self._before()
        if not pause:
            return events or select(selector, timeout)
        end = math.inf if timeout is None else time.monotonic() + timeout
        try:
            while pause and not events and not loop._ready:
                left = end - time.monotonic()
                events = select(selector, max(min(pause, left), 0))
                if left <= pause:
                    break
                pause = 0.0 if events else self._during()
        finally:
            self._after()
        return events


def is_alone() -> bool:
    """Tell whether no other code of this process can run while its loop sleeps.

    It could in other threads, and in handlers of signals.
    """
    if threading.active_count() > 1:
        return False
    return all(map(_is_harmless, map(_signal.getsignal, _SIGNALS)))


_SIGNALS = sorted(signal.valid_signals())


def _is_harmless(handler: Any) -> bool:
    if not callable(handler):
        return True
    function = getattr(handler, "func", handler)
    return getattr(function, "__module__", None) in _HARMLESS
