"""The end of an answer: what comes after a handler's verb, in Tornado's words `finish`.

A handler that has only written keeps its response in itself: a status, headers and a
buffer. Where its connection is, Tornado's own `finish` sends that when the attempt has
committed, as if there were no attempt. So nothing is recorded, and what takes time in a
short request is outside of its transaction. It has to be certain that nothing goes
wrong then, for what the handler has written to containers is committed: whatever is not
ordinary ends inside of the attempt, on a `Recorder`.
"""

from __future__ import annotations

from http.client import responses
from typing import TYPE_CHECKING, Any, Final

from tornado.httputil import HTTPHeaders
from tornado.log import app_log
from tornado.web import RequestHandler

from txloop.web.recorder import is_ordinary

if TYPE_CHECKING:
    from txloop.stm.attempt import Attempt
    from txloop.web.recorder import Recorder

__all__ = ["ends_as_stock", "finish", "is_left_open", "leave_open", "let_finish"]

_ENDING = (
    *("finish", "flush", "compute_etag", "set_etag_header", "check_etag_header"),
    *("set_header", "set_status", "clear_header", "_clear_representation_headers"),
)

_DEFAULT_HEADERS = 3  # that a handler begins with


class _Later:
    """In place of `_auto_finish`: it is true, but not yet."""

    def __bool__(self) -> bool:
        return False


_LATER: Final = _Later()


def ends_as_stock(handler_class: type[RequestHandler]) -> bool:
    """Tell whether nothing of a class's own runs from its verb's end to the answer's.

    What runs after the answer (`on_finish`) does not count: no attempt is left then.
    """
    return all(
        getattr(handler_class, name) is getattr(RequestHandler, name)
        for name in _ENDING
    )


def leave_open(handler: RequestHandler) -> None:
    """Have `_execute` leave the end of the answer to others."""
    # The class may have a `__setattr__` of its own.
    object.__setattr__(handler, "_auto_finish", _LATER)


def let_finish(handler: Any) -> None:
    """Undo `leave_open`, unless the program has set something else since."""
    if handler._auto_finish is _LATER:
        object.__setattr__(handler, "_auto_finish", True)


def is_left_open(handler: Any, attempt: Attempt, recorder: Recorder) -> bool:
    """Tell whether an answer is to be finished after the commit; finish it if not.

    Args:
        handler: Whose verb has returned, after `leave_open`.
        attempt: The attempt that it has run in, which is the current one.
        recorder: Takes the place of its connection.
    """
    if handler._finished or handler._auto_finish is not _LATER:
        return False  # it has been finished, or the program will do that
    let_finish(handler)
    if not (attempt.effects or recorder.operations) and _is_certain(handler):
        return True
    finish(handler)
    return False


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
    few = len(headers) <= _DEFAULT_HEADERS and reason == responses.get(status)
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
