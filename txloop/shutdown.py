"""The orderly end: stop accepting, finish what runs, leave no child, exit with 0."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from txloop.dispatch import Dispatcher

__all__ = ["drain_on_signals"]

_POLL_SECONDS = 0.02

_log = logging.getLogger("txloop")


class DrainableLoop(Protocol):
    """What is asked of the loop that is to end."""

    asyncio_loop: asyncio.AbstractEventLoop
    dispatcher: Dispatcher
    writers: set[int]

    def stop_accepting(self) -> None:
        """Close the listening sockets."""

    def end(self) -> None:
        """Stop the loop from within."""


def drain_on_signals(loop: DrainableLoop, drain_seconds: float) -> None:
    """Drain and end `loop` on SIGTERM and SIGINT; at once on the second one.

    Only on the main thread, and only for signals that the program leaves to Python.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    drain = _Drain(loop, drain_seconds)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        loop.asyncio_loop.add_signal_handler(signal.SIGTERM, drain.request)
    if _is_pythons(signal.getsignal(signal.SIGINT)):
        loop.asyncio_loop.add_signal_handler(signal.SIGINT, drain.request)


def _is_pythons(handler: object) -> bool:
    # `asyncio.run` sets a method of its Runner, as a partial.
    function = getattr(handler, "func", handler)
    return function is signal.default_int_handler or (
        getattr(function, "__module__", None) == "asyncio.runners"
    )


class _Drain:
    """One loop's way to its end; used on the loop thread only."""

    def __init__(self, loop: DrainableLoop, drain_seconds: float) -> None:
        self._loop = loop
        self._drain_seconds = drain_seconds
        self._deadline: float | None = None

    def request(self) -> None:
        if self._deadline is not None:  # asked twice: now
            self._loop.end()
            return
        self._deadline = time.monotonic() + self._drain_seconds
        self._loop.stop_accepting()
        self._poll()

    def _poll(self) -> None:
        assert self._deadline is not None
        if self._busy():
            if time.monotonic() < self._deadline:
                self._loop.asyncio_loop.call_later(_POLL_SECONDS, self._poll)
                return
            _log.warning(
                "ended with requests unanswered after %g s", self._drain_seconds
            )
        self._loop.end()

    def _busy(self) -> bool:
        return bool(
            self._loop.dispatcher.pending
            or self._loop.writers
            or any(
                # Handlers that run as in stock Tornado are tasks of this coroutine.
                getattr(task.get_coro(), "__qualname__", "").endswith("._execute")
                for task in asyncio.all_tasks(self._loop.asyncio_loop)
            )
        )
