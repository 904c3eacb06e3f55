"""The front's end where fronts are threads: they read the store itself.

An attempt reads the newest version from between two callbacks of the owner. If a
version may be known outside that is not settled yet, because the owner is in the midst
of a callback that has written, the front waits for the end of that callback.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from txloop.executors.fronts.carrier import Carrier
from txloop.stm.log_capture import send_records
from txloop.stm.run import run_ready
from txloop.stm.types import Outcome
from txloop.watch.outside import guard

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Sequence

    from txloop.executors.codec.contexts import Base
    from txloop.executors.fronts.box import Box
    from txloop.executors.fronts.carrier import Kind, Undoable
    from txloop.executors.fronts.page import Page
    from txloop.executors.fronts.reception import DeskReactor
    from txloop.stm.types import Answer, Call

__all__ = ["ThreadCarrier"]


class ThreadCarrier(Carrier):
    """What one front's thread has of the owner; used by that thread only.

    Attributes:
        ended: Whether this front has to end.
    """

    def __init__(self, box: Box, page: Page, base: Base, place: int) -> None:
        """Begin with nothing that was asked for.

        Args:
            box: Shared with the owner.
            page: Likewise.
            base: The context in which the program has started the fronts.
            place: This front's number, from 1.
        """
        super().__init__(page, base)
        self._box = box
        self.ended = False
        self._news = False
        self._reactor: DeskReactor | None = None
        self._on_readable: Callable[[], object] = lambda: None
        self._stop: Callable[[], object] = lambda: None
        self.take_place(place)

    def begin(
        self,
        reactor: DeskReactor,
        on_readable: Callable[[], object],
        stop: Callable[[], object],
    ) -> None:
        """Tell the owner that this front is ready; on its thread.

        Args:
            reactor: The running event loop.
            on_readable: Called when there is something to `receive`.
            stop: Stops the loop.
        """
        self._reactor = reactor
        self._on_readable = on_readable
        self._stop = stop
        self._box.open(self._ring)
        self.tell(("hello",))

    def _ring(self) -> None:
        """Wake this front; called on the owner's thread."""
        reactor = self._reactor
        if reactor is not None:
            with suppress(RuntimeError):  # it has ended
                reactor.call_soon_threadsafe(self._on_readable)

    def end(self) -> None:
        self.ended = True
        send_records(None)
        self._stop()

    # What the owner sends

    @property
    def newest(self) -> tuple[int, int]:
        return self._page.version, 0

    def has_reached(self, needed: tuple[int, int]) -> bool:
        return needed[0] <= self._page.settled

    def ask(self) -> None:
        if not self._box.waits() and self._reactor is not None:
            self._reactor.call_soon(self._on_readable)

    def receive(self) -> Sequence[tuple[tuple[Any, ...], int | None]]:
        verdicts, given = self._box.take()
        notes = []
        for told, descriptor in given:
            match told:
                case ("answer", number, outcome):
                    self._take_answer(number, outcome)
                case ("close", number):
                    self._close(number)
                case _:
                    notes.append((told, descriptor))
        self._take_verdicts(verdicts)
        return notes

    # What the owner is sent

    def tell(self, note: tuple[Any, ...] | None, descriptor: int | None = None) -> None:
        self._box.post(("note", note, descriptor))
        self._news = True
        self.flush()

    def flush(self) -> None:
        if self._news:
            self._news = False
            self._box.ring()

    def log(self, record: logging.LogRecord) -> bool:
        first, self._news = not self._news, True
        self._box.post(("record", record))
        return first

    # Transactions

    def run(self, ready: Undoable, kind: Kind) -> Answer | None:
        slot, box = self._slot, self._box
        assert slot is not None
        worker = began_ns = 0
        if kind.guarded:
            guard()
        if self.traced_from:
            worker, began_ns = self.traced_from + self._place, time.monotonic_ns()
        version = box.begin()
        slot.begin(kind.number)
        found = run_ready(ready, self.context, kind.guarded, worker, version)
        slot.end()
        if type(found) is not Outcome:
            box.read()
        if worker:
            self._tell_of(kind, found, version, began_ns, time.monotonic_ns())
        if isinstance(found, float):
            slot.count(kind.number, found)
            return None
        return found

    def _post(self, number: int, kind: Kind, answer: Answer) -> None:
        self._news = True
        snapshot = answer.snapshot if isinstance(answer, Outcome) and number else None
        self._box.post(("answer", number, kind.number, answer), snapshot)
        self._box.read()

    # What is long

    def forward(
        self, call: Call, kind: Kind, done: Callable[[Outcome | None], object]
    ) -> int:
        if kind.guarded:  # it might go on in the place of the owner, with this socket
            return 0
        return self._send_call(call, kind, done)
