"""A handler's run: some of its methods are the attempt's while it runs."""

from __future__ import annotations

import contextlib
import errno
import functools
import types
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from tornado.gen import convert_yielded
from tornado.web import Finish, RequestHandler

from txloop.errors import BecomeInevitable
from txloop.stm.tracebacks import hide_own_frames
from txloop.web.driving import close_prepared, driven
from txloop.web.ending import Ending

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

    from txloop.stm.attempt import Attempt
    from txloop.web.recorder import Recorder

__all__ = ["HandlerRun", "awaiting", "go_on"]


def _nothing() -> None:
    pass


_REPLACED: tuple[str, ...] = (
    *("_log", "on_finish", "_break_cycles", "_handle_request_exception"),
)


class HandlerRun:
    """A handler's run, during which some of its methods are the attempt's.

    What `finish` calls after the response waits for the commit, and an error undoes
    what was written.

    Attributes:
        left_open: Whether its answer is to be finished at commit.
        rest: What is still to run, where it waits for something.
    """

    __slots__ = (
        *("_answering", "_attempt", "_commits_on", "_ending", "_own_on_finish"),
        *("_recorder", "_replaced", "left_open", "rest"),
    )

    def __init__(
        self,
        attempt: Attempt,
        handler: RequestHandler,
        recorder: Recorder,
        commits_on: tuple[type[BaseException], ...],
        leaves_open: bool,
    ) -> None:
        self.left_open = False
        self.rest: Coroutine[object, object, None] | None = None
        self._attempt = attempt
        self._answering = handler
        self._recorder = recorder
        self._commits_on = commits_on
        self._own_on_finish: object = _nothing
        self._replaced = _REPLACED
        # The class may have a `__setattr__` of its own; and `vars` would make all that
        # Tornado does with the object's attributes slower.
        replace = object.__setattr__
        replace(handler, "_log", self._keep_own)
        replace(handler, "on_finish", _nothing)
        replace(handler, "_break_cycles", _nothing)
        replace(handler, "_handle_request_exception", self._handle_exception)
        self._ending = Ending(handler, recorder, attempt) if leaves_open else None

    def drive(self) -> None:
        """Have coroutines driven that may end without a wait."""
        handler, attempt = self._answering, self._attempt
        attempt.unnoticed = True
        attempt.plead = None  # it may not act where it could not wait afterwards
        verb = (handler.request.method or "").lower()
        object.__setattr__(handler, verb, driven(getattr(handler, verb)))
        object.__setattr__(handler, "prepare", driven(handler.prepare))
        self._replaced = (*_REPLACED, verb, "prepare")

    def begin(self, execution: Coroutine[object, object, None]) -> None:
        """Let it run up to its end, or to its first wait."""
        attempt = self._attempt
        try:
            awaited = execution.send(None)
        except StopIteration:
            self._end()
        except BecomeInevitable as error:
            if attempt.unnoticed:
                close_prepared(execution, error)
            raise
        else:
            if attempt.speculative or attempt.retrying:
                _give_up(execution)
            if attempt.speculative:
                attempt.abandon("it waits for something")
            self._keep_own()
            if self._ending is not None and self._ending.release():
                RequestHandler.finish(self._answering)
            self.rest = go_on(execution, awaited)

    def _end(self) -> None:
        """Have its answer finished, now or after the commit."""
        self._keep_own()
        self.left_open = self._ending is not None and self._ending.settle()
        finished = self.left_open or self._recorder.finished
        if self._attempt.speculative and not finished:
            self._attempt.abandon("it leaves its response to be finished later")

    def let_go(self) -> None:
        """Give its methods back to the handler."""
        handler = self._answering
        if self._ending is not None:
            self._ending.let_finish()
        for name in self._replaced:
            object.__delattr__(handler, name)
        if self._own_on_finish is not _nothing:
            object.__setattr__(handler, "on_finish", self._own_on_finish)
        # Leave no cyclic garbage.
        if self._attempt.abandoned is not None or self._attempt.retrying:
            RequestHandler._break_cycles(handler)
            self._recorder.set_close_callback(None)

    def _keep_own(self) -> None:
        """Keep an `on_finish` that the verb has given its handler for after the commit.

        `RequestHandler.finish` calls it next to `_log`, in the place of which this is.
        """
        own = vars(self._answering)["on_finish"]
        if own is not _nothing:
            if self._attempt.speculative:
                self._attempt.abandon("it gives its handler another on_finish")
            self._own_on_finish = own
            object.__setattr__(self._answering, "on_finish", _nothing)

    def _handle_exception(self, error: BaseException) -> None:
        """Undo the writes, then let Tornado, or the class, make the error's response.

        That a descriptor is none is no error of a program that has opened it before
        other processes were forked, which do not have it.
        """
        attempt, handler, recorder = self._attempt, self._answering, self._recorder
        if attempt.speculative and attempt.files is not None and _lacks_file(error):
            attempt.warns = True
            attempt.abandon(
                "it uses a file or a socket that only the loop's process has"
            )
        hide_own_frames(error)
        attempt.error_answered = not isinstance(error, Finish)
        if not isinstance(error, self._commits_on):
            attempt.roll_back()
            if handler._headers_written and not (recorder.released or recorder.refused):
                # What was undone must not be answered as done.
                recorder.clear()
                handler._finished = handler._headers_written = False
                handler._transforms = [
                    transform(handler.request)
                    for transform in handler.application.transforms
                ]
        type(handler)._handle_request_exception(handler, error)


def _give_up(execution: Coroutine[object, object, None]) -> None:
    close_prepared(execution)
    # What it does at its end counts no more than all that it did.
    with contextlib.suppress(Exception):
        execution.close()


def _lacks_file(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EBADF


async def awaiting(result: Any) -> None:
    """Do as `_execute`, where an object's own has returned what is no coroutine.

    As where it has refused its request already.
    """
    if isinstance(result, Awaitable):
        await result
    elif result is not None:
        await convert_yielded(result)


async def go_on(execution: Coroutine[object, object, None], awaited: object) -> None:
    """Go on with a coroutine that has run up to its first await, in a task."""
    await _rest_of(execution, awaited)


@types.coroutine
def _rest_of(
    execution: Coroutine[object, object, None], awaited: object
) -> Generator[object, object, None]:
    while True:
        try:
            sent = yield awaited
        except BaseException as error:  # a cancellation is the coroutine's to handle
            step = functools.partial(execution.throw, error)
        else:
            step = functools.partial(execution.send, sent)
        try:
            awaited = step()
        except StopIteration:
            return
