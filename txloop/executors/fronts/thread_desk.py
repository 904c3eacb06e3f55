"""All fronts of one loop where they are threads.

There is nothing to be sent: fronts read the store. What is let be known is as in
`Desk`: a commit that a front has asked for is settled before the front gets its
verdict; any other may be known at once, by what the program does next, and is settled
when the callback has ended that has made it. `FrontThread` is the owner's end of one.
"""

from __future__ import annotations

import atexit
import contextvars
import logging
import os
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from txloop.executors.fronts.box import Box
from txloop.executors.fronts.reception import FrontEnd, Reception
from txloop.executors.fronts.thread_carrier import ThreadCarrier
from txloop.stm.callables import weakly
from txloop.stm.log_capture import emit_here
from txloop.stm.store import committed
from txloop.stm.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.codec.contexts import Base
    from txloop.executors.fronts.box import Posted
    from txloop.executors.fronts.page import Page
    from txloop.executors.fronts.reception import Callbacks, DeskReactor
    from txloop.executors.threads.executor import ThreadsExecutor

__all__ = ["FrontThread", "Serving", "ThreadDesk"]

_log = logging.getLogger("txloop")


class Serving(Protocol):
    """What runs in a front's thread."""

    def serve(self) -> None:
        """Serve until the owner wants the front to end; on the thread."""

    def close(self) -> None:
        """Let go of everything; on the owner's thread, when the other has ended."""


class FrontThread(FrontEnd):
    """One front; owned by the loop thread.

    Attributes:
        thread: What runs.
        retiring: Whether it gets no more connections.
    """

    def __init__(
        self,
        place: int,
        page: Page,
        base: Base,
        ring: Callable[[], object],
        make: Callable[[ThreadCarrier], Serving],
    ) -> None:
        """Make the front and its thread, which is not started yet.

        Args:
            place: Its number, from 1.
            page: Shared by all.
            base: The context in which the program has started the fronts.
            ring: Wakes the owner; called on the front's thread.
            make: Makes what the thread runs.
        """
        super().__init__(place, page.slot(place))
        self.retiring = False
        self.box = Box(page, ring)
        self._serving = make(ThreadCarrier(self.box, page, base, place))
        # A daemon, as workers are: a call that goes on keeps no program from its end.
        name = f"txloop front {place}"
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread.

        Raises:
            RuntimeError: if there can be no more threads.
        """
        self.thread.start()
        self.pid = self.thread.native_id or 0

    def _run(self) -> None:
        # From Python 3.14 on a thread may begin in a copy of its starter's context.
        contextvars.Context().run(self._serving.serve)

    @property
    def name(self) -> str:
        return f"front {self.place}"

    @property
    def open(self) -> bool:
        return self.ready and not self.retiring

    def tell(self, note: tuple[Any, ...], descriptor: int | None = None) -> None:
        notes, self.notes = self.notes, []
        self.box.give((), [*((one, None) for one in notes), (note, descriptor)])

    def give(self) -> int | None:
        """Let it have all that there is; return the oldest version that it needs."""
        verdicts, self.verdicts = self.verdicts, []
        notes, self.notes = self.notes, []
        return self.box.give(verdicts, [(one, None) for one in notes])

    def end_call(self, cause: str, seconds: float) -> None:
        """Do nothing: a thread cannot be ended, and calls with a limit do not run."""

    def close(self, deadline: float) -> bool:
        """Wait for its end until then, if it has begun; tell whether it has ended."""
        self.lost = True
        if self.thread.ident is not None:
            self.thread.join(max(0.0, deadline - time.monotonic()))
        if self.thread.is_alive():
            return False
        for descriptor in self.box.left():
            with suppress(OSError):
                os.close(descriptor)
        self._serving.close()
        return True


class ThreadDesk(Reception):
    """Threads of this process; used by the loop thread only."""

    copies = False

    def __init__(
        self,
        size: int,
        executor: ThreadsExecutor,
        make: Callable[[ThreadCarrier], Serving],
        callbacks: Callbacks,
        label_of: Callable[[int], str | None],
    ) -> None:
        """Make ready to start them, which `start` does.

        Args:
            size: How many.
            executor: The one with worker threads: fronts end when these do.
            make: Makes what the thread of a front runs, on this thread.
            callbacks: Called for what fronts say.
            label_of: Returns what messages call a kind; None when the loop is dropped.
        """
        super().__init__(executor.limits, callbacks)
        self._size = size
        self._executor = executor
        self._make = make
        self._label_of = label_of
        self._fronts: list[FrontThread] = []
        self._floor = 0  # the oldest version that any of them may need
        self._process = os.getpid()
        self._posted: deque[tuple[FrontThread, Posted]] = deque()  # collected so far
        self._collects = weakly(self._collect)

    @property
    def fronts(self) -> list[FrontThread]:
        return self._fronts

    # Starting and ending

    def start(self, reactor: DeskReactor) -> None:
        self._begin(reactor)
        self._base.capture(self.context)
        self.page.settled = self._floor = committed.open_snapshot()
        committed.readers.add(self)
        committed.forget_views()
        self._executor.accompany(self.close)
        self._at_exit = weakly(self.close)
        atexit.register(self._at_exit)
        ring = weakly(self._ring)
        for place in range(1, self._size + 1):
            front = FrontThread(place, self.page, self._base, ring, self._make)
            try:
                front.start()
            except RuntimeError as error:
                front.close(0.0)
                _log.error("front %d cannot be started (%s)", place, error)
                break
            self._fronts.append(front)
        self._look_later()

    def retire(self) -> None:
        for front in self._fronts:
            if front.ready and not front.retiring:
                front.retiring = True
                front.tell(("retire",))

    def close(self) -> None:
        if not self._end():
            return
        atexit.unregister(self._at_exit)
        if self._process != os.getpid():  # in a forked copy there are no threads
            return
        self._posted.clear()
        for front in self._fronts:
            front.box.end()
        deadline = time.monotonic() + self._limits.grace_seconds
        left = [front for front in self._fronts if not front.close(deadline)]
        self._fronts.clear()
        if not left:
            committed.readers.discard(self)
            committed.close_snapshot(self._floor)
            return
        # What they read stays readable.
        running = [front.slot.running() for front in left]
        labels = {self._label_of(one[0]) for one in running if one is not None}
        _log.warning(
            "a thread cannot be ended: when the loop was closed, calls went on in "
            "fronts of %s; they have no effect",
            ", ".join(sorted(filter(None, labels))) or "something else",
        )

    # Between two callbacks

    def flush(self) -> None:
        self._flushes = False
        if self._reactor is None:
            return
        page, version = self.page, committed.version
        # In this order: a front that sees that something is known sees it settled.
        page.settled = version
        page.version = version
        needed = [front.give() for front in self._fronts]
        needed += [posted[3].snapshot for _, posted in self._posted if _waits(posted)]
        floor = min((one for one in needed if one is not None), default=version)
        if floor > self._floor:
            committed.open_snapshot(floor)
            committed.close_snapshot(self._floor)
            self._floor = floor

    def seen(self, epoch: int) -> None:
        """Do nothing: the plain objects of fronts are those of the program."""

    # What they say

    def _ring(self) -> None:
        """Wake the owner; called on a front's thread."""
        reactor = self._reactor
        if reactor is not None:
            with suppress(RuntimeError):  # the loop was closed without telling us
                reactor.call_soon_threadsafe(self._collects)

    def _collect(self) -> None:
        """Deal with what fronts have posted; let them have what came of it."""
        for front in self._fronts:
            self._posted.extend((front, posted) for posted in front.box.collect())
        try:
            while self._posted:
                self._take(*self._posted.popleft())
        finally:
            if self._posted and self._reactor is not None:  # an effect broke off
                self._reactor.call_soon(self._collects, context=contextvars.Context())
        self.flush()

    def _take(self, front: FrontThread, posted: Posted) -> None:
        match posted:
            case ("answer", number, kind, answer):
                self._decide(front, number, kind, answer)
            case ("record", record):
                emit_here(record)
            case ("note", ("hello",), _):
                front.ready = True
                self._callbacks.on_greeting(front)
            case ("note", ("left",), _):
                pass  # it ends with all others
            case ("note", note, descriptor):
                self._hear(front, note, descriptor)


def _waits(posted: Posted) -> bool:
    """Tell whether it is an outcome that has to be decided about."""
    return posted[0] == "answer" and bool(posted[1]) and isinstance(posted[3], Outcome)
