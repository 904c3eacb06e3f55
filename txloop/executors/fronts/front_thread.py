"""The owner's end of a front that is a thread."""

from __future__ import annotations

import contextvars
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from txloop.executors.fronts.box import Box
from txloop.executors.fronts.reception import FrontEnd
from txloop.executors.fronts.thread_carrier import ThreadCarrier

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.codec.contexts import Base
    from txloop.executors.fronts.page import Page

__all__ = ["FrontThread", "Serving"]


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
