"""One attempt of a request: a fresh handler's run against a recorder."""

from __future__ import annotations

import contextlib
import contextvars
import errno
import functools
import types
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from tornado.web import Finish, RequestHandler

from txloop.errors import BecomeInevitable, TxInternalError
from txloop.stm.attempt import Attempt, current
from txloop.stm.origin import Owner, owner_of
from txloop.stm.run import hide_task
from txloop.stm.variables import Named, named
from txloop.watch import ROOTS_OF
from txloop.web.driving import close_prepared, driven, hide_generators
from txloop.web.eligible import may_wait
from txloop.web.ending import Ending, ends_as_stock
from txloop.web.leftovers import Leftovers, told
from txloop.web.reached import roots_of_request
from txloop.web.templates import reset_caches

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator, Mapping, Sequence

    from tornado.httputil import HTTPServerRequest
    from tornado.web import Application

    from txloop.web.eligible import Plan
    from txloop.web.frozen import FrozenRequest
    from txloop.web.recorder import Recorder
    from txloop.web.targets import Target

__all__ = [
    "Response",
    "arrived",
    "go_on",
    "run_in_place",
    "run_request",
    "show_as_stock",
]


def _nothing() -> None:
    pass


_REPLACED: tuple[str, ...] = (
    *("_log", "on_finish", "_break_cycles", "_handle_request_exception"),
)


class Response:
    """What a handler answered; it goes to the client at commit.

    Attributes:
        recorder: Holds the response, unless it is left open.
        open: Whether it is to be finished at commit, by the handler itself: see
            `txloop.web.ending`.
        handler: The handler object, where this is the process that ran it.
        context: The context in which it ran, where this is the process.
        target: Where the request went, if the program looks at the handler after the
            response.
        before: The request and a copy of the context as they were then, if so.
        leftovers: What the handler left behind, if so, where it ran elsewhere.
        variables: Context variables that it set, where it ran elsewhere.
        rest: What is still to run, where the handler waits for something.
    """

    # In the class, as most have none of these.
    open = False
    context: contextvars.Context | None = None
    target: Target | None = None
    before: tuple[HTTPServerRequest, contextvars.Context] | None = None
    leftovers: Leftovers | None = None
    variables: Named = MappingProxyType({})
    rest: Coroutine[object, object, None] | None = None

    def __init__(self, recorder: Recorder, handler: RequestHandler | None) -> None:
        self.recorder = recorder
        self.handler = handler

    def __reduce__(self) -> tuple[object, ...]:
        leftovers, variables = self.leftovers, self.variables
        if self.before is not None and self.context is not None:
            assert self.handler is not None
            assert self.target is not None
            request, context = self.before
            leftovers = Leftovers.of(self.handler, request, self.target)
            variables = named(self.context, context)
        return arrived, (self.recorder, leftovers, variables)


def arrived(
    recorder: Recorder, leftovers: Leftovers | None, variables: Named
) -> Response:
    """Return a response that was made elsewhere."""
    response = Response(recorder, None)
    response.leftovers = leftovers
    response.variables = variables
    return response


def run_request(
    target: Target,
    frozen: FrozenRequest,
    path_args: tuple[bytes, ...],
    path_kwargs: tuple[tuple[str, bytes], ...],
    commits_on: tuple[type[BaseException], ...],
    watched: bool,
) -> Response:
    """Run a handler through Tornado's ``_execute``; called inside an attempt.

    Args:
        target: Its application, class and constructor's arguments.
        frozen: The request.
        path_args: Matched by the route, as Tornado passes them.
        path_kwargs: Likewise, as items.
        commits_on: The exceptions that do not undo the handler's writes.
        watched: Whether the program looks at the handler after the response.
    """
    attempt = current()
    if attempt is None:
        raise TxInternalError("a request's body outside an attempt")
    try:
        frozen = frozen.for_attempt(attempt.speculative)
    except Exception as error:  # whatever the objects in it raise
        attempt.abandon(f"its request cannot be copied ({error})")
    context = contextvars.copy_context()
    kept = watched and attempt.speculative
    before = (frozen.before(), context.copy()) if kept else None
    request, recorder = frozen.open()
    came = told(request)
    try:
        response = context.run(
            _run_handler,
            attempt,
            target,
            request,
            recorder,
            path_args,
            dict(path_kwargs),
            (Finish, *commits_on),
            attempt.speculative and may_wait(target.handler_class, request.method),
            not attempt.speculative and ends_as_stock(target.handler_class),
        )
    finally:
        if attempt.retrying:
            frozen.restore()
    if attempt.speculative:
        assert response.handler is not None
        RequestHandler._break_cycles(response.handler)
        response.target, response.before = target, before
        if before is None:
            response.leftovers = Leftovers.of_access(response.handler, came)
    response.context = attempt.variables.context = context
    return response


setattr(run_request, ROOTS_OF, roots_of_request)


def run_in_place(
    destination: Destination,
    frozen: FrozenRequest,
    path_args: Sequence[bytes],
    path_kwargs: Mapping[str, bytes],
    plan: Plan,
) -> Response:
    """Do the same where the request has arrived, in the context of its attempt."""
    attempt = current()
    if attempt is None:
        raise TxInternalError("a request's body outside an attempt")
    request, recorder = frozen.open()
    try:
        response = _run_handler(
            attempt,
            destination,
            request,
            recorder,
            path_args,
            path_kwargs,
            (Finish, *plan.commits_on),
            attempt.speculative and plan.coroutine,
            plan.ends_as_stock,
        )
    finally:
        if attempt.retrying:
            frozen.restore()
    if attempt.speculative and not response.open:
        assert response.handler is not None
        RequestHandler._break_cycles(response.handler)
    response.context = attempt.variables.base
    return response


class Destination(Protocol):
    """Where a request goes: a `Target`, or what Tornado has found for it."""

    application: Application
    handler_class: type[RequestHandler]

    @property
    def handler_kwargs(self) -> Mapping[str, object]: ...


def _run_handler(
    attempt: Attempt,
    destination: Destination,
    request: HTTPServerRequest,
    recorder: Recorder,
    path_args: Sequence[bytes],
    path_kwargs: Mapping[str, bytes],
    commits_on: tuple[type[BaseException], ...],
    passes: bool,
    leaves_open: bool,
) -> Response:
    """Make a handler and run it up to its end, or to its first wait.

    Args:
        attempt: The one that runs here.
        destination: Where the request goes.
        request: The request.
        recorder: Takes the place of its connection.
        path_args: Matched by the route.
        path_kwargs: Likewise.
        commits_on: The exceptions that do not undo the handler's writes.
        passes: Whether the verb may be a coroutine that has to run without a wait.
        leaves_open: Whether the answer may be finished after the commit.
    """
    application = destination.application
    if application.settings:
        reset_caches(application.settings)
    kwargs: Mapping[str, Any] = destination.handler_kwargs
    handler = destination.handler_class(application, request, **kwargs)
    # The class may have a `__setattr__` of its own; and `vars` would make all that
    # Tornado does with the object's attributes slower.
    replace = object.__setattr__
    # What `finish` calls after the response waits for the commit.
    kept: list[object] = []
    keep_own = functools.partial(_keep_own, handler, attempt, kept)
    replace(handler, "_log", keep_own)
    replace(handler, "on_finish", _nothing)
    replace(handler, "_break_cycles", _nothing)
    handle_exception = functools.partial(
        _handle_exception, handler, attempt, recorder, commits_on
    )
    replace(handler, "_handle_request_exception", handle_exception)
    replaced = (*_REPLACED, *_drive(handler, attempt)) if passes else _REPLACED
    ending = None
    if leaves_open and not application.transforms:
        ending = Ending(handler, recorder, attempt)
    response = Response(recorder, handler)
    transforms = [transform(request) for transform in application.transforms]
    execution = handler._execute(transforms, *path_args, **path_kwargs)
    shows = [hide_task(attempt), hide_generators(attempt)] if passes else ()
    try:
        awaited = execution.send(None)
    except StopIteration:
        keep_own()
        response.open = ending is not None and ending.settle()
        if attempt.speculative and not (response.open or recorder.finished):
            attempt.abandon("it leaves its response to be finished later")
    except BecomeInevitable as error:
        if attempt.unnoticed:
            close_prepared(execution, error)
        raise
    else:
        if attempt.speculative or attempt.retrying:
            _give_up(execution)
        if attempt.speculative:
            attempt.abandon("it waits for something")
        keep_own()
        if ending is not None and ending.release():
            RequestHandler.finish(handler)
        response.rest = go_on(execution, awaited)
    finally:
        for show in shows:
            show()
        if ending is not None:
            ending.let_finish()
        for name in replaced:
            object.__delattr__(handler, name)
        if kept:
            replace(handler, "on_finish", kept[0])
        # Leave no cyclic garbage.
        if attempt.abandoned is not None or attempt.retrying:
            RequestHandler._break_cycles(handler)
            recorder.set_close_callback(None)
    return response


def _drive(handler: RequestHandler, attempt: Attempt) -> tuple[str, str]:
    """Have coroutines driven that may end without a wait; return what was replaced."""
    attempt.unnoticed = True
    attempt.plead = None  # it may not act where it could not wait afterwards
    verb = (handler.request.method or "").lower()
    object.__setattr__(handler, verb, driven(getattr(handler, verb)))
    object.__setattr__(handler, "prepare", driven(handler.prepare))
    return verb, "prepare"


def _give_up(execution: Coroutine[object, object, None]) -> None:
    close_prepared(execution)
    # What it does at its end counts no more than all that it did.
    with contextlib.suppress(Exception):
        execution.close()


def _keep_own(handler: RequestHandler, attempt: Attempt, kept: list[object]) -> None:
    """Keep an `on_finish` that the verb has given its handler for after the commit.

    `RequestHandler.finish` calls it next to `_log`, in the place of which this is.
    """
    own = vars(handler)["on_finish"]
    if own is not _nothing:
        if attempt.speculative:
            attempt.abandon("it gives its handler another on_finish")
        kept[:] = [own]
        object.__setattr__(handler, "on_finish", _nothing)


def show_as_stock(error: BaseException) -> None:
    """Remove txloop's frames from tracebacks, which a client may see."""
    errors = [error]
    for one in errors:  # it grows
        entry = None if isinstance(one, TxInternalError) else one.__traceback__
        while entry is not None and entry.tb_next is not None:
            if owner_of(entry.tb_next.tb_frame.f_code.co_filename) is Owner.TXLOOP:
                entry.tb_next = entry.tb_next.tb_next
            else:
                entry = entry.tb_next
        for other in (one.__cause__, one.__context__):
            if other is not None and all(other is not one for one in errors):
                errors.append(other)


def _handle_exception(
    handler: RequestHandler,
    attempt: Attempt,
    recorder: Recorder,
    commits_on: tuple[type[BaseException], ...],
    error: BaseException,
) -> None:
    """Undo the writes, then let Tornado, or the class, make the error's response.

    That a descriptor is none is no error of a program that has opened it before other
    processes were forked, which do not have it.
    """
    if attempt.speculative and attempt.files is not None and _lacks_file(error):
        attempt.warns = True
        attempt.abandon("it uses a file or a socket that only the loop's process has")
    show_as_stock(error)
    attempt.error_answered = not isinstance(error, Finish)
    if not isinstance(error, commits_on):
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


def _lacks_file(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EBADF


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
