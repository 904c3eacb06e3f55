"""The orderly end: stop accepting, finish what runs, leave no child, exit with 0.

The program may catch what ends its loop; threads of its own that go on do not keep it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from txloop.loop.closing import (
    HANDSHAKE_SECONDS,
    ListeningLoop,
    accept_and_close,
    end_after_answers,
    turn_newcomers_away,
)

if TYPE_CHECKING:
    from txloop.engine.dispatcher import Dispatcher

__all__ = ["Guests", "InterruptedProgram", "drain_on_signals"]

_POLL_SECONDS = 0.02

LINGER_SECONDS = 1.0
"""How long after SIGTERM a client may send another request on an open connection."""

_GRACE_SECONDS = 1.0
"""How long threads may go on when the main thread is through. In stock Tornado SIGTERM
stops them wherever they are."""

_log = logging.getLogger("txloop")


class Guests(Protocol):
    """The connections that other processes of the program serve."""

    @property
    def connections(self) -> int:
        """How many there are."""

    def stop(self) -> None:
        """Have all of them come back, and give none away any more."""


class DrainableLoop(ListeningLoop, Protocol):
    """What is asked of the loop that is to end."""

    asyncio_loop: asyncio.AbstractEventLoop
    dispatcher: Dispatcher
    writers: set[int]
    doorman: Guests | None

    def shares_sockets(self) -> bool:
        """Tell whether other processes listen on the very same sockets."""

    def end(self, error: SystemExit | None) -> None:
        """Stop the loop from within; raise the error where it was started, if any."""


def drain_on_signals(loop: DrainableLoop, drain_seconds: float) -> None:
    """Drain and end `loop` on SIGTERM and SIGINT; at once on the second one.

    Only on the main thread, and only for signals that the program leaves to Python.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    drain = _Drain(loop, drain_seconds)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        drain.handle(signal.SIGTERM)
    if _is_pythons(signal.getsignal(signal.SIGINT)):
        drain.handle(signal.SIGINT)


def _is_pythons(handler: object) -> bool:
    # `asyncio.run` sets a method of its Runner, as a partial.
    function = getattr(handler, "func", handler)
    return function is signal.default_int_handler or (
        getattr(function, "__module__", None) == "asyncio.runners"
    )


class _Drain:
    """One loop's way to its end; used on the loop thread only.

    ::

        SIGTERM --> listening sockets: no newcomers, those in the queue, closed
                --> requests: answered, each the last one on its connection;
                    those that wait without a timeout when nothing else runs: refused
                --> connections without a request: open for LINGER_SECONDS
                --> end
    """

    def __init__(self, loop: DrainableLoop, drain_seconds: float) -> None:
        self._loop = loop
        self._drain_seconds = drain_seconds
        self._deadline: float | None = None
        self._close_at: float | None = None  # when to close the ports; None: closed
        self._linger_until = 0.0
        self._handled: list[int] = []
        self._error: SystemExit | None = None

    def handle(self, number: int) -> None:
        """Begin when that signal comes."""
        self._loop.asyncio_loop.add_signal_handler(number, self.request, number)
        self._handled.append(number)

    def request(self, number: int) -> None:
        if number == signal.SIGTERM:
            _leave_threads_behind()
        else:
            self._error = InterruptedProgram()
        if self._deadline is not None:  # asked for a second time: end at once
            self._end()
            return
        now = time.monotonic()
        linger_seconds = LINGER_SECONDS if number == signal.SIGTERM else 0.0
        self._deadline = now + self._drain_seconds
        self._linger_until = now + min(linger_seconds, self._drain_seconds)
        self._close_at = now
        if not self._loop.shares_sockets() and turn_newcomers_away(self._loop):
            self._close_at += HANDSHAKE_SECONDS
        self._loop.dispatcher.stop_waiting()
        if self._loop.doorman is not None:
            self._loop.doorman.stop()
        self._poll()

    def _poll(self) -> None:
        assert self._deadline is not None
        now = time.monotonic()
        if self._close_at is not None and now >= self._close_at:
            accept_and_close(self._loop)
            self._close_at = None
        connections = end_after_answers(self._loop.asyncio_loop)
        dispatcher = self._loop.dispatcher
        busy = self._busy()
        if not busy and connections.busy <= dispatcher.pending:
            dispatcher.end_waits()  # nothing is left that could end them
        busy = busy or bool(connections.busy)
        idle = connections.idle and now < self._linger_until
        if busy or idle or self._close_at is not None:
            if now < self._deadline:
                self._loop.asyncio_loop.call_later(_POLL_SECONDS, self._poll)
                return
            if busy:
                _log.warning(
                    "ended with requests unanswered after %g s", self._drain_seconds
                )
        self._end()

    def _end(self) -> None:
        """Stop the loop; what comes later is no longer for it."""
        while self._handled:
            self._loop.asyncio_loop.remove_signal_handler(self._handled.pop())
        self._loop.end(self._error)

    def _busy(self) -> bool:
        doorman = self._loop.doorman
        return bool(
            self._loop.dispatcher.busy
            or (doorman is not None and doorman.connections)
            or self._loop.writers
            or any(map(_is_request, asyncio.all_tasks(self._loop.asyncio_loop)))
        )


def _is_request(task: asyncio.Task[object]) -> bool:
    """Tell whether a handler that runs as in stock Tornado has to answer yet."""
    coroutine = task.get_coro()
    if not getattr(coroutine, "__qualname__", "").endswith("._execute"):
        return False
    # The coroutine of a WebSocket lasts as long as it is open.
    frame = getattr(coroutine, "cr_frame", None)
    handler = None if frame is None else frame.f_locals.get("self")
    return getattr(handler, "ws_connection", None) is None


class InterruptedProgram(KeyboardInterrupt, SystemExit):
    """Ends the loop after Ctrl-C.

    The program may catch it, as it would without us: to save something. If it does not,
    the interpreter ends with exit code 0 and prints nothing.
    """


def _leave_threads_behind() -> None:
    """Have the program end even if some of its threads never do.

    The interpreter waits at its end for all threads that are no daemons, and for what
    runs in the threads of executors. Now it does so for a second, and the exit code is
    that of a program that was ended in order. The main thread has all the time that it
    takes.
    """
    at_end = threading.Event()
    # Before the interpreter waits; `atexit` comes after. Executors use it as well.
    with suppress(AttributeError, RuntimeError):  # there is none; it ends already
        threading._register_atexit(at_end.set)  # type: ignore[attr-defined]
        # Started here, since at the end CPython 3.12 starts no thread any more.
        threading.Thread(
            target=_outlast, args=[at_end], name="txloop end", daemon=True
        ).start()


def _outlast(at_end: threading.Event) -> None:
    at_end.wait()
    deadline = time.monotonic() + _GRACE_SECONDS
    for thread in _others():
        thread.join(max(0.0, deadline - time.monotonic()))
    left = ", ".join(thread.name for thread in _others())
    if not left:
        return  # the interpreter goes on to its end
    _log.warning("ended while threads of the program still run: %s", left)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # whatever stands for it
            stream.flush()
    os._exit(0)


def _others() -> list[threading.Thread]:
    main = threading.main_thread()
    return [one for one in threading.enumerate() if not one.daemon and one is not main]
