"""Takes marked requests over from Tornado, and answers them at commit."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.log import app_log
from tornado.routing import Router
from tornado.web import Application, RequestHandler, _HandlerDelegate

from txloop.errors import TxInternalError, TxOverloadError, TxTimeoutError
from txloop.loop import TransactionLoop, before_start
from txloop.types import Call
from txloop.variables import set_all
from txloop.web.body import Response, run_request
from txloop.web.clients import (
    hear_of_leaving,
    keep_open,
    let_close,
    let_close_soon,
)
from txloop.web.eligible import Plan, logs_by_itself, plan_for
from txloop.web.frozen import FrozenRequest
from txloop.web.leftovers import give_ui, revived
from txloop.web.noticing import notice_handlers
from txloop.web.targets import Target, register_all, target_of
from txloop.web.verdicts import held_because, is_judged, judge_all

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Awaitable

    from tornado import httputil

__all__ = ["TransactionDelegate", "take_requests_over"]


class TransactionDelegate(_HandlerDelegate):
    """Serves one request as a transaction; owned by the loop thread."""

    plan: Plan
    loop: TransactionLoop

    def execute(self) -> Awaitable[None] | None:
        """Submit the request, whose body has arrived."""
        dispatcher = self.loop.dispatcher
        plan = self.plan
        target = target_of(self.application, self.handler_class, self.handler_kwargs)
        commits_on = plan.mark.commits_on
        watched = plan.watched or logs_by_itself(self.application)
        frozen = FrozenRequest(self.request)
        # Nothing that can be changed, so that threads need not copy it.
        path = tuple(self.path_args), tuple(self.path_kwargs.items())
        call = Call(
            run_request,
            (target, frozen, *path, commits_on, watched),
            {},
            plan.label,
            self.loop.options.order == "arrival",
            timeout_seconds=plan.mark.timeout_seconds(self.loop.options.timeout),
            watched=not plan.mark.trust,
            guarded=not plan.mark.vouched,
        )
        method = self.request.method or ""
        profile = dispatcher.profiles.find(
            (self.handler_class, method),
            plan.label,
            lambda: held_because(self.handler_class, method, self.application),
        )
        assert self.connection is not None
        done = functools.partial(self._answer, target, call.context, self.connection)
        number = dispatcher.submit(call, profile, done, at_once=True)
        if not number:
            return None
        leave = functools.partial(dispatcher.leave, number)
        self.connection.set_close_callback(leave)  # type: ignore[attr-defined] # an HTTP1Connection
        hear_of_leaving(self.connection, leave)
        return None

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
            status_code = response.recorder.status_code
            handler = revived(target, self.request, status_code, response.leftovers)
            context.run(set_all, response.variables)
        elif response.context is not None:
            context = response.context
            if response.before is not None:
                give_ui(handler)
        try:
            response.recorder.release(connection)
        except Exception:  # it was checked, so whatever this is, the client must know
            connection.close()  # type: ignore[attr-defined] # an HTTP1Connection
            raise
        if response.rest is not None:
            let_close(connection)
            task = IOLoop.current().asyncio_loop.create_task(  # type: ignore[attr-defined] # a TransactionLoop
                response.rest, context=context
            )
            task.add_done_callback(lambda task: task.cancelled() or task.result())
        elif response.recorder.finished:
            context.run(_after_response, handler)

    def _fail(self, error: BaseException) -> None:
        """Answer with 500: the handler could not be made, or its workers died.

        With 503 if there was no room for it, or not enough time.
        """
        trace = (type(error), error, error.__traceback__)
        busy = isinstance(error, TxOverloadError | TxTimeoutError)
        try:
            if not busy:  # or the log knows it already
                app_log.error("Uncaught exception", exc_info=trace)
        finally:
            self._send_error(error, 503 if busy else 500)

    def _send_error(self, error: BaseException, status: int) -> None:
        trace = (type(error), error, error.__traceback__)
        try:
            handler = self.handler_class(
                self.application, self.request, **self.handler_kwargs
            )
            handler._transforms = []
            if isinstance(error, TxOverloadError):
                _set_retry_after(handler, error.retry_after_seconds)
            handler.send_error(status, exc_info=trace)
            vars(handler).pop("set_default_headers", None)  # leave no cycle
        except BaseException as failure:
            # Its constructor is what failed: Tornado closes, too.
            assert self.request.connection is not None
            self.connection.close()  # type: ignore[union-attr] # an HTTP1Connection
            if not isinstance(failure, Exception):
                raise


def _set_retry_after(handler: RequestHandler, seconds: int) -> None:
    # `send_error` clears the headers, and then sets these.
    set_default_headers = handler.set_default_headers

    def set_headers() -> None:
        set_default_headers()
        handler.set_header("Retry-After", str(seconds))

    handler.set_default_headers = set_headers  # type: ignore[method-assign] # of this one


def _after_response(handler: RequestHandler) -> None:
    """Do what `RequestHandler.finish` does after the response was written."""
    handler._log()
    try:
        handler.on_finish()
    except Exception as error:
        handler._handle_request_exception(error)
    handler._break_cycles()


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
    if plan is not None or not is_judged(self):
        loop = IOLoop.current()
        if isinstance(loop, TransactionLoop):
            if loop.dispatcher.executor.parallel:
                judge_all(self, loop.asyncio_loop)
            if plan is not None:
                delegate = TransactionDelegate(self, *arguments)
                delegate.plan = plan
                delegate.loop = loop
                return delegate
    let_close_soon(request.connection)
    return _stock_get_handler_delegate(self, *arguments)


_stock_start_request = Router.start_request


@functools.wraps(_stock_start_request)
def _start_request(
    self: Router, server_conn: object, request_conn: httputil.HTTPConnection
) -> httputil.HTTPMessageDelegate:
    if isinstance(IOLoop.current(), TransactionLoop):
        keep_open(request_conn)
    return _stock_start_request(self, server_conn, request_conn)


def take_requests_over() -> None:
    """Let marked handlers' requests become transactions; inert on a stock loop."""
    before_start(register_all)
    notice_handlers()
    Application.get_handler_delegate = _get_handler_delegate  # type: ignore[method-assign]
    Router.start_request = _start_request  # type: ignore[method-assign] # in place
