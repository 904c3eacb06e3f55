"""The moments at which an event loop begins to sleep, and wakes up.

asyncio has no hook for them: it asks its selector, which waits. So the selector's
`select` is replaced. What only looks, without waiting, is passed on.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # quicker than `signal`, ten times
import signal
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Nap", "is_alone"]

_HARMLESS = ("asyncio.runners", "asyncio.unix_events", "signal", "_signal")
"""Modules whose handlers of signals neither read nor change what is shared."""


class Nap:
    """Has something called when a loop begins to sleep and when it wakes up."""

    def __init__(
        self,
        selector: Any,
        before: Callable[[], bool | None],
        after: Callable[[], object],
    ) -> None:
        """Replace the `select` of a selector until `end`; see `of`."""
        # Weakly, and by its class: a dropped loop would be cyclic garbage.
        self._selector = weakref.ref(selector)
        self._select = type(selector).select
        self._before, self._after = before, after
        selector.select = self._sleep

    @classmethod
    def of(
        cls,
        loop: object,
        before: Callable[[], bool | None],
        after: Callable[[], object],
    ) -> Nap | None:
        """Follow a loop; None if it is not one of asyncio's own.

        Args:
            loop: The event loop.
            before: Called when it has nothing to do; returns whether `after` is wanted.
            after: Called when it wakes up from that, before all callbacks.
        """
        selector = getattr(loop, "_selector", None)
        if selector is None or not hasattr(selector, "__dict__"):
            return None
        return cls(selector, before, after)

    def end(self) -> None:
        """Let the loop sleep as ever."""
        selector = self._selector()
        if selector is not None:
            vars(selector).pop("select", None)

    def _sleep(self, timeout: float | None = None) -> Any:
        selector, select = self._selector(), self._select
        if timeout is not None and timeout <= 0:
            return select(selector, timeout)
        events = select(selector, 0)
        if events or not self._before():
            return events or select(selector, timeout)
        try:
            return select(selector, timeout)
        finally:
            self._after()


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
