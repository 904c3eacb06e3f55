"""Takes marked requests over from Tornado, and answers them at commit."""

from __future__ import annotations

import contextlib
import contextvars
import functools
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.ioloop import IOLoop
from tornado.log import app_log
from tornado.web import Application, RequestHandler, _HandlerDelegate

from txloop.errors import TxInternalError
from txloop.loop import TransactionLoop
from txloop.scan import scan_handler
from txloop.types import Call
from txloop.web.body import Response, run_request
from txloop.web.eligible import Plan, logs_by_itself, plan_for
from txloop.web.frozen import FrozenRequest
from txloop.web.targets import Target, register_all, target_of
from txloop.web.variables import set_all

if TYPE_CHECKING:
    from collections.abc import Awaitable

__all__ = ["TransactionDelegate", "take_requests_over"]


class TransactionDelegate(_HandlerDelegate):
    """Serves one request as a transaction; owned by the loop thread."""

    plan: Plan
    loop: TransactionLoop

    def execute(self) -> Awaitable[None] | None:
        """Submit the request, whose body has arrived."""
        dispatcher = self.loop.dispatcher
        if dispatcher.executor.forks and not dispatcher.started:
            register_all()
        plan = self.plan
        target = target_of(self.application, self.handler_class, self.handler_kwargs)
        commits_on = plan.mark.commits_on
        watched = plan.watched or logs_by_itself(self.application)
        context = contextvars.copy_context()
        frozen = FrozenRequest(self.request, context)
        arguments = (target, frozen, self.path_args, self.path_kwargs)
        call = Call(
            run_request,
            (*arguments, commits_on, watched),
            {},
            plan.label,
            self.loop.options.order == "arrival",
        )
        profile = dispatcher.profiles.find(
            (self.handler_class, self.request.method), plan.label, self._findings
        )
        assert self.connection is not None
        done = functools.partial(self._answer, target, context, self.connection)
        dispatcher.submit(call, profile, done)
        return None

    def _findings(self) -> Any:
        if self.plan.mark.trust:
            return ()
        assert self.request.method is not None
        verb = self.request.method.lower()
        return scan_handler(
            self.handler_class, verb, self.handler_kwargs, self.application
        )

    def _answer(
        self,
        target: Target,
        context: contextvars.Context,
        connection: httputil.HTTPConnection,
        response: object,
        error: BaseException | None,
    ) -> None:
        """Send what a committed attempt answered."""
        self.request.connection = connection
        if error is not None:
            context.run(self._fail, error)
            return
        if not isinstance(response, Response):
            raise TxInternalError(f"a request was answered with {response!r}")
        handler = response.handler
        if handler is None:
            handler = _revived(target, self.request, response)
            context.run(set_all, response.variables)
        response.recorder.release(connection)
        if response.rest is not None:
            task = IOLoop.current().asyncio_loop.create_task(  # type: ignore[attr-defined] # a TransactionLoop
                response.rest, context=context
            )
            task.add_done_callback(lambda task: task.cancelled() or task.result())
        elif response.recorder.finished:
            context.run(_after_response, handler)

    def _fail(self, error: BaseException) -> None:
        """Answer with 500: the handler could not be made, or its workers died."""
        trace = (type(error), error, error.__traceback__)
        app_log.error("Uncaught exception", exc_info=trace)
        try:
            handler = self.handler_class(
                self.application, self.request, **self.handler_kwargs
            )
            handler._transforms = []
            handler.send_error(500, exc_info=trace)
        except Exception:  # its constructor is what failed: Tornado closes, too
            assert self.request.connection is not None
            self.connection.close()  # type: ignore[union-attr] # an HTTP1Connection


def _after_response(handler: RequestHandler) -> None:
    """Do what `RequestHandler.finish` does after the response was written."""
    handler._log()
    try:
        handler.on_finish()
    except Exception as error:
        handler._handle_request_exception(error)
    handler._break_cycles()


def _revived(
    target: Target, request: httputil.HTTPServerRequest, response: Response
) -> RequestHandler:
    """Return a handler object in the state in which the attempt left its own."""
    handler = target.handler_class.__new__(target.handler_class)
    vars(handler).update(
        {"application": target.application, "request": request, "_finished": True},
        ui=None,
        _status_code=response.recorder.status_code,
    )
    if response.state:
        with contextlib.suppress(httputil.HTTPInputError):  # answered with 400
            request._parse_body()
        vars(handler).update(response.state)
    return handler


_stock_get_handler_delegate = Application.get_handler_delegate


@functools.wraps(_stock_get_handler_delegate)
def _get_handler_delegate(
    self: Application,
    request: httputil.HTTPServerRequest,
    target_class: type[RequestHandler],
    target_kwargs: dict[str, Any] | None = None,
    path_args: list[bytes] | None = None,
    path_kwargs: dict[str, bytes] | None = None,
) -> _HandlerDelegate:
    arguments = (request, target_class, target_kwargs, path_args, path_kwargs)
    plan = plan_for(target_class, request.method or "")
    if plan is not None:
        loop = IOLoop.current()
        if isinstance(loop, TransactionLoop):
            delegate = TransactionDelegate(self, *arguments)
            delegate.plan = plan
            delegate.loop = loop
            return delegate
    return _stock_get_handler_delegate(self, *arguments)


def take_requests_over() -> None:
    """Let marked handlers' requests become transactions; inert on a stock loop."""
    Application.get_handler_delegate = _get_handler_delegate  # type: ignore[method-assign]
