"""When a loop's fronts are opened, and why there may be none.

Fronts that were asked for are opened when the first marked request comes. With
``fronts="auto"`` they are opened when they pay: when the loop thread has been busy for
some time. One process serves a few requests as well, without starting others. Threads
have to be asked for: their gain was not measured well enough to be a default.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import time
from typing import TYPE_CHECKING

from tornado.process import task_id

from txloop.executors.faults import faults_on_purpose
from txloop.executors.protocol import available_cores
from txloop.stm.threads import gil_enabled
from txloop.web.delegate import give_marked
from txloop.web.fronts.doorman import Doorman

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tornado import httputil
    from tornado.web import Application, RequestHandler

    from txloop.executors.faults import Faults
    from txloop.loop.ioloop import TransactionLoop
    from txloop.loop.options import Options

__all__ = ["Load", "open_fronts", "why_none"]

_log = logging.getLogger("txloop")

_MOST_UNASKED = 16
"""How many fronts there are at most with ``"auto"``: more were not measured."""

_BUSY = 0.25
"""A thread that is busy for less of its time keeps no requests waiting."""

_LOAD = "_txloop_load"

_WINDOW_SECONDS = 0.5
_EVERY = 20  # requests, one of which looks at the clocks


def _give(
    loop: TransactionLoop,
    application: Application,
    request: httputil.HTTPServerRequest,
    handler_class: type[RequestHandler],
    handler_kwargs: Mapping[str, object],
) -> httputil.HTTPMessageDelegate | None:
    """Return what gives a marked request to a front; the first one opens them."""
    doorman = loop.doorman
    if doorman is not None:
        assert isinstance(doorman, Doorman)
        return doorman.delegate_for(application, request, handler_class, handler_kwargs)
    if not loop.opened:
        _consider(loop)
    return None


give_marked(_give)


def _consider(loop: TransactionLoop) -> None:
    """Open the fronts of a loop that has none yet, if it shall have some now."""
    if loop.options.fronts == "auto":
        if loop.dispatcher.executor.name == "threads":
            return
        load: Load | None = vars(loop).get(_LOAD)
        if load is None:
            load = vars(loop)[_LOAD] = Load()
        if not load.note_request() or why_none(loop.options, loop) is not None:
            return
    loop.opened = True
    reason = why_none(loop.options, loop)
    if reason is None:
        # Not now: the application is being asked for a handler.
        context = contextvars.copy_context()
        start = functools.partial(_open, loop)
        loop.asyncio_loop.call_soon(start, context=context)
    else:
        _log.info("there are no fronts: %s", reason)


class Load:
    """How busy a thread is, measured as requests come to it; used by that thread."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        work: Callable[[], float] = time.thread_time,
    ) -> None:
        """Begin to count, with what tells the time and how much of it was worked."""
        self._clock, self._work = clock, work
        self._requests = 0
        self._since, self._worked = clock(), work()

    def note_request(self) -> bool:
        """Count a request; return whether the thread has been busy for some time."""
        self._requests += 1
        if self._requests % _EVERY:
            return False
        seconds = self._clock() - self._since
        if seconds < _WINDOW_SECONDS:
            return False
        worked = self._work() - self._worked
        self._since, self._worked = self._clock(), self._work()
        return worked > _BUSY * seconds


def _open(loop: TransactionLoop) -> None:
    if not loop.dispatcher.closed:
        asked = loop.options.fronts
        cores = min(available_cores(), _MOST_UNASKED)
        size = asked if isinstance(asked, int) else cores
        open_fronts(loop, size, faults_on_purpose("fronts"))


def open_fronts(loop: TransactionLoop, size: int, faults: Faults | None) -> Doorman:
    """Start the fronts of a loop, which has to have none; loop thread only.

    Args:
        loop: The loop, of which `why_none` says nothing.
        size: How many.
        faults: What goes wrong on purpose.
    """
    doorman = Doorman(loop, size, faults)
    doorman.start()
    loop.doorman, loop.opened = doorman, True
    return doorman


def why_none(options: Options, loop: TransactionLoop) -> str | None:
    """Return why a loop that was asked for fronts has none, or None."""
    name = loop.dispatcher.executor.name
    if name == "threads" and gil_enabled():
        return "the GIL is on, and with the executor threads they are threads"
    if name not in ("processes", "threads"):
        return f"the executor {name} has none"
    if options.order == "arrival":
        return "order='arrival' wants one place through which all requests come"
    if options.rounds == "barrier":
        return "rounds='barrier' wants all transactions in the loop's iterations"
    if task_id() is not None:
        return "the program has forked servers of its own (fork_processes)"
    if available_cores() < 2:
        return "there is one core"
    return None
