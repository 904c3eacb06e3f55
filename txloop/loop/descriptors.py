"""File descriptors that a loop watches.

For each request Tornado's stream stops listening when the headers are there, and
listens again at once, for the end of the connection. With asyncio these are two calls
of the system, and a new handle. Here a descriptor that is to be left alone stays
registered: it is taken out when something comes that is not wanted, which is rare.

It may be told then of what was there before it was left alone. A stream does not mind,
as it tries to read; other handlers may, and are served as in stock Tornado.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.iostream import BaseIOStream
from tornado.log import app_log
from tornado.platform.asyncio import AsyncIOLoop, BaseAsyncIOLoop

from txloop.engine.marks import mark_of
from txloop.executors.refusing import refusing
from txloop.stm.callables import is_coroutine

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.calls import FunctionCalls
    from txloop.engine.dispatcher import Dispatcher

__all__ = ["Descriptors", "LastingLoop", "LastingReaders", "is_marked"]


def is_marked(function: Callable[..., object]) -> bool:
    """Tell whether a callback or handler runs as a transaction."""
    return mark_of(function) is not None and not is_coroutine(function)


class LastingReaders(BaseAsyncIOLoop):
    """A loop of Tornado's whose streams stay registered while nothing comes."""

    def initialize(self, **kwargs: Any) -> None:  # type: ignore[override] # passed on
        """Begin with no descriptor."""
        self._resting = set[int]()  # registered, but not among the readers
        super().initialize(**kwargs)

    @refusing
    def update_handler(self, fd: Any, events: int) -> None:
        """Listen for other events, as Tornado does."""
        number, _ = self.split_fd(fd)
        if events & IOLoop.READ:
            if number in self._resting:
                self._resting.remove(number)
                self.readers.add(number)
        elif number in self.readers:
            _, handler = self.handlers[number]
            if isinstance(getattr(handler, "__self__", None), BaseIOStream):
                self.readers.remove(number)
                self._resting.add(number)
        super().update_handler(fd, events)

    @refusing
    def remove_handler(self, fd: Any) -> None:
        """Listen no more, as Tornado does."""
        number, _ = self.split_fd(fd)
        if number in self._resting:
            self._take_out(number)
        super().remove_handler(fd)

    def _handle_events(self, fd: int, events: int) -> None:
        if events == IOLoop.READ and fd in self._resting:
            self._take_out(fd)
        else:
            super()._handle_events(fd, events)

    def _take_out(self, fd: int) -> None:
        self._resting.remove(fd)
        self.selector_loop.remove_reader(fd)


class LastingLoop(LastingReaders, AsyncIOLoop):
    """The loop of a front."""


class Descriptors(LastingReaders):
    """What a transactional loop does when descriptors are ready.

    Attributes:
        dispatcher: The transactions of this loop.
        calls: Makes them of function calls.
    """

    dispatcher: Dispatcher
    calls: FunctionCalls

    def _handle_events(self, fd: int, events: int) -> None:
        if events == IOLoop.READ and fd in self._resting:
            self._take_out(fd)
            return
        fileobj, function = self.handlers[fd]
        if isinstance(getattr(function, "__self__", None), BaseIOStream):
            self.dispatcher.profiles.unmarked += 1
            function(fileobj, events)
        elif not is_marked(function):
            self.dispatcher.profiles.unmarked += 1
            function(fileobj, events)
            self.note(function)
        else:
            self._submit_handler(fd, events)

    def _submit_handler(self, fd: int, events: int) -> None:
        """Have a marked handler run as a transaction."""
        handler = self.handlers[fd]
        fileobj, function = handler
        # What was read cannot be unread, and workers do not have the descriptor.
        self.calls.profile(function).on_loop_because = "it handles a file descriptor"
        watched = (IOLoop.READ if fd in self.readers else 0) | (
            IOLoop.WRITE if fd in self.writers else 0
        )
        # It stays ready until the handler has run; do not ask again before that.
        self.update_handler(fd, 0)

        def done(_: object, error: BaseException | None) -> None:
            if self.handlers.get(fd) is handler and not self._watches(fd):
                self.update_handler(fd, watched)
            if error is not None:
                app_log.error("Exception in handler for fd %d", fd, exc_info=error)

        self.calls.submit(function, (fileobj, events), {}, done, ordered=True)

    def _watches(self, fd: int) -> bool:
        return fd in self.readers or fd in self.writers

    def note(self, function: Callable[..., object]) -> None:
        """Tell the dispatcher that an unmarked function of the program has run."""
        if not str(getattr(function, "__module__", "")).startswith("tornado."):
            self.dispatcher.holds.note()
