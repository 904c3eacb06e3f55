"""What ties a loop's dispatcher to the log."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from txloop.stmlog.hub import hub
from txloop.stmlog.scribe import Scribe

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.events import Listener
    from txloop.executors.base import Executor, Running

__all__ = ["connect"]


class Reactor(Protocol):
    """What is needed of the event loop."""

    def call_later(
        self, delay: float, callback: Callable[..., object], /, *args: object
    ) -> object:
        """Call `callback` after `delay` seconds."""


class Dispatching(Protocol):
    """What is needed of a dispatcher."""

    executor: Executor
    traces: bool

    @property
    def reactor(self) -> Reactor:
        """The running event loop."""

    def is_over(self) -> bool:
        """Tell whether it runs no more transactions."""

    def trace(self, listener: Listener) -> None:
        """Tell `listener` of what happens, too, and trace all calls from now on."""

    def untrace(self, listener: Listener) -> None:
        """Undo `trace`."""

    def running(self) -> list[tuple[int, Running]]:
        """Return what runs away from the loop thread, by transaction's number."""


def connect(dispatcher: Dispatching, name: str | None, most_bytes: int) -> None:
    """Log what a dispatcher does, now or as soon as anybody wants that.

    Args:
        dispatcher: Of a loop that has not run yet.
        name: The file to write, as in ``PYPYSTM``, or None.
        most_bytes: How long that may become before it is rotated.
    """
    if name:
        hub.open(name, most_bytes)
    hub.when_wanted(dispatcher, _begin)


def _begin(dispatcher: Dispatching) -> None:
    if dispatcher.is_over() or dispatcher.traces:
        return
    executor = dispatcher.executor
    # The serial executor has no place but the loop thread, which is its one worker.
    away = not math.isinf(executor.transport_seconds)
    home = executor.workers + 1 if away else 1
    reactor = dispatcher.reactor
    dispatcher.trace(Scribe(hub, dispatcher, home, reactor.call_later))
