"""The end of an answer: what comes after a handler's verb, in Tornado's words `finish`.

A handler that has only written, or finished what it has written, keeps its response in
itself: a status, headers and a buffer. Where its connection is, Tornado's own `finish`
sends that when the attempt has committed, as if there were no attempt. So nothing is
recorded, and what takes time in a short request is outside of its transaction. It has
to be certain that nothing goes wrong then, because what the handler has written to
containers is committed. So whatever is not ordinary ends inside of the attempt, on a
`Recorder`.
"""

from __future__ import annotations

import sys
from http.client import responses
from typing import TYPE_CHECKING, Any

from tornado.httputil import HTTPHeaders
from tornado.log import app_log
from tornado.web import RequestHandler

from txloop.stm.threads import asked_by_all
from txloop.web.recorder import RECORDED, headers_copied, is_ordinary

if TYPE_CHECKING:
    from txloop.stm.attempt import Attempt
    from txloop.web.recorder import Recorder

__all__ = ["Ending", "ends_as_stock", "finish"]

_ENDING = (
    *("finish", "flush", "compute_etag", "set_etag_header", "check_etag_header"),
    *("set_header", "set_status", "clear_header", "_clear_representation_headers"),
)

_DEFAULT_HEADERS = 3  # that a handler begins with

_ANSWER = ("_status_code", "_reason", "_headers", "_write_buffer")


_reasons = asked_by_all(responses)

_EXECUTE = RequestHandler._execute.__code__


class _Later:
    """In place of `_auto_finish`: it is true, but not yet where nothing can go wrong.

    Else Tornado finishes the answer as ever, so that errors come from where they come
    from without txloop.
    """

    __slots__ = ("_ending",)

    def __init__(self, ending: Ending) -> None:
        self._ending = ending

    def __bool__(self) -> bool:
        asked_by_tornado = sys._getframe(1).f_code is _EXECUTE
        return not (asked_by_tornado and self._ending.put_off())


def ends_as_stock(handler_class: type[RequestHandler]) -> bool:
    """Tell whether nothing of a class's own runs from its verb's end to the answer's.

    What runs after the answer (`on_finish`) does not count: no attempt is left then.
    """
    return all(
        getattr(handler_class, name) is getattr(RequestHandler, name)
        for name in _ENDING
    )


class Ending:
    """Takes the place of a handler's `finish` while its verb runs.

    The verb returns without it, or calls it: `render`, `redirect` and errors do. Either
    way the answer is finished after the commit, if nothing can go wrong then. What the
    verb does afterwards finds a handler that has finished, and changes nothing.
    """

    __slots__ = (
        *("_answer", "_answering", "_attempt", "_over", "_recorder", "_stand_in"),
        "_waits",
    )

    def __init__(self, handler: Any, recorder: Recorder, attempt: Attempt) -> None:
        """Replace `finish`, and keep `_execute` from calling it.

        Args:
            handler: The handler, whose class ends as stock Tornado does.
            recorder: Takes the place of its connection.
            attempt: In which its verb runs.
        """
        self._answering = handler
        self._recorder = recorder
        self._attempt = attempt
        self._over = False  # whether the verb has returned
        self._waits = False  # whether it has left its answer open
        self._answer: tuple[object, ...] | None = None
        # The class may have a `__setattr__` of its own.
        replace = object.__setattr__
        replace(handler, "finish", self.finish)
        self._stand_in: _Later | None = _Later(self)
        replace(handler, "_auto_finish", self._stand_in)

    def finish(self, chunk: Any = None) -> Any:
        """Do what `finish` does, as far as the verb can tell."""
        handler = self._answering
        if handler._finished or self._over:  # called later; or for the second time
            return RequestHandler.finish(handler, chunk)
        self._answer = None  # an attempt's error may have undone what it was
        if chunk is not None:
            handler.write(chunk)
        tells = handler._status_code == 500  # a story may be added to what is recorded
        if tells or self._recorder.operations or not _is_certain(handler):
            return RequestHandler.finish(handler)
        headers, body = handler._headers, handler._write_buffer
        self._answer = handler._status_code, handler._reason, headers, body
        replace = object.__setattr__
        replace(handler, "_headers", headers_copied(headers))
        replace(handler, "_write_buffer", [])
        replace(handler, "_finished", True)
        replace(handler, "_headers_written", True)
        return RECORDED

    def release(self) -> bool:
        """Undo what `finish` has kept for later; tell whether there was anything."""
        handler, answer = self._answering, self._answer
        if answer is None or not handler._finished:
            return False
        self._answer = None
        replace = object.__setattr__
        for name, value in zip(_ANSWER, answer, strict=True):
            replace(handler, name, value)
        replace(handler, "_finished", False)
        replace(handler, "_headers_written", False)
        if hasattr(handler, "_new_cookie"):  # it was set afterwards
            object.__delattr__(handler, "_new_cookie")
        return True

    def put_off(self) -> bool:
        """Leave what the verb has not finished for after the commit, if that is safe.

        Returns:
            Whether it is; if not, the handler has its own `finish` again.
        """
        if self._recorder.operations or self._attempt.effects:
            certain = False
        else:
            certain = self._answer is not None or _is_certain(self._answering)
        if not certain:
            self.let_finish()
        # One that has finished, or has detached its connection, needs nothing more.
        self._waits = certain and not self._answering._finished
        return certain

    def settle(self) -> bool:
        """Return whether the answer is to be finished after the commit.

        One that was to be is finished now if there are effects, which come first.
        """
        handler = self._answering
        if self.release():
            self.let_finish()
            if not self._attempt.effects:
                return True
            finish(handler)
            return False
        return self._waits  # else it has been finished, or the program will do that

    def let_finish(self) -> None:
        """Restore the handler's `finish`, and `_auto_finish` if that is still ours."""
        handler, self._over = self._answering, True
        if handler.finish == self.finish:
            object.__delattr__(handler, "finish")
        if handler._auto_finish is self._stand_in:
            object.__setattr__(handler, "_auto_finish", True)
        self._stand_in = None  # leave no cyclic garbage


def _is_certain(handler: Any) -> bool:
    """Tell whether nothing can go wrong with the end of an answer."""
    status, reason, headers = handler._status_code, handler._reason, handler._headers
    if type(status) is not int or type(headers) is not HTTPHeaders:
        return False
    if status < 200 or status in (204, 304):
        return False
    if "Content-Length" in headers or hasattr(handler, "_new_cookie"):
        return False
    # `set_header` has checked the values of those that every handler has.
    few = len(headers) <= _DEFAULT_HEADERS and reason == _reasons.get(status)
    return few or is_ordinary(reason, headers)


def finish(handler: RequestHandler) -> None:
    """Do what `_execute` does when the verb has returned."""
    try:
        handler.finish()
    except Exception as error:
        try:
            handler._handle_request_exception(error)
        except Exception:
            app_log.error("Exception in exception handler", exc_info=True)
