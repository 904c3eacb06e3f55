"""One attempt of a request: a fresh handler's run against a recorder."""

from __future__ import annotations

import contextvars
from types import CoroutineType, MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from tornado.web import Finish, RequestHandler

from txloop.errors import TxInternalError
from txloop.stm.attempt import Attempt, current
from txloop.stm.run import hide_task
from txloop.stm.variables import Named, named
from txloop.watch import ROOTS_OF
from txloop.web.driving import hide_generators
from txloop.web.eligible import logs_by_itself, may_wait
from txloop.web.ending import ends_as_stock
from txloop.web.handler_run import HandlerRun, awaiting
from txloop.web.leftovers import Leftovers, told
from txloop.web.templates import reset_caches
from txloop.web.watched import roots_of_request

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from tornado.httputil import HTTPServerRequest
    from tornado.web import Application

    from txloop.web.eligible import Plan
    from txloop.web.frozen import FrozenRequest
    from txloop.web.recorder import Recorder
    from txloop.web.targets import Target

__all__ = [
    "Response",
    "arrived",
    "run_in_place",
    "run_request",
]


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
        return arrived, (self.recorder, leftovers, dict(variables))


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
    if attempt.speculative and not (response.open or plan.watched):
        assert response.handler is not None
        if not logs_by_itself(destination.application):
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
    leaves_open = leaves_open and not application.transforms
    run = HandlerRun(attempt, handler, recorder, commits_on, leaves_open)
    if passes:
        run.drive()
    transforms = [transform(request) for transform in application.transforms]
    execution = handler._execute(transforms, *path_args, **path_kwargs)
    if type(execution) is not CoroutineType:
        execution = awaiting(execution)
    shows = (hide_task(attempt), hide_generators(attempt)) if passes else ()
    try:
        run.begin(execution)
    finally:
        for show in shows:
            show()
        run.let_go()
    response = Response(recorder, handler)
    response.open, response.rest = run.left_open, run.rest
    return response
