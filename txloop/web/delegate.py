"""Takes marked requests over from Tornado, and answers them at commit."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.log import app_log
from tornado.web import Application, RequestHandler

from txloop.errors import TxInternalError, TxOverloadError, TxTimeoutError
from txloop.loop.ioloop import TransactionLoop, before_start
from txloop.loop.patches import patch
from txloop.stm.types import Call
from txloop.stm.variables import set_all
from txloop.web.clients import (
    keep_open,
    let_close,
)
from txloop.web.eligible import Plan, logs_by_itself, plan_for
from txloop.web.frozen import FrozenRequest
from txloop.web.leftovers import give_ui, revived
from txloop.web.noticing import notice_handlers
from txloop.web.request_attempt import Response, run_in_place, run_request
from txloop.web.targets import Target, register_all, target_of
from txloop.web.tornado_private import HandlerDelegate
from txloop.web.verdicts import held_because, is_judged, judge_all

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Awaitable, Mapping

    from tornado import httputil

    from txloop.engine.profile import Profile

__all__ = ["TransactionDelegate", "take_requests_over"]


class TransactionDelegate(HandlerDelegate):
    """Serves one request as a transaction; owned by the loop thread.

    It is a `txloop.stm.types.Ready`: the request runs where it has arrived, if it may,
    and is made into a call that travels only if not.
    """

    plan: Plan
    loop: TransactionLoop
    args: tuple[()] = ()
    kwargs: Mapping[str, object] = MappingProxyType({})
    commits_on: tuple[()] = ()  # a handler's errors are answered before
    _target: Target | None = None
    _context: contextvars.Context | None = None

    def execute(self) -> Awaitable[None] | None:
        """Have the request run, whose body has arrived, in the next iteration.

        So does stock Tornado: first all requests are read that are there, then all
        handlers run. A processor is quicker with one kind of work after another.
        """
        loop, plan = self.loop, self.plan
        options, dispatcher = loop.options, loop.dispatcher
        self.timeout_seconds = plan.mark.timeout_seconds(options.timeout)
        key = self.handler_class, self.request.method
        profile = dispatcher.profiles.known(key) or self._first_profile(key)
        if options.order == "arrival":
            dispatcher.submit_ready(self, profile, self._answer, ordered=True)
        else:
            dispatcher.ask(self, profile, self._answer)
        return None

    def goes_on(self, number: int) -> None:
        """Look after the client, which may leave before its answer is there."""
        assert self.connection is not None
        leave = functools.partial(self.loop.dispatcher.leave, number)
        self.connection.set_close_callback(leave)  # type: ignore[attr-defined] # an HTTP1Connection
        keep_open(self.connection, leave)

    def _first_profile(self, key: tuple[type[RequestHandler], str | None]) -> Profile:
        handler_class, method = key
        return self.loop.dispatcher.profiles.find(
            key,
            self.plan.label,
            lambda: held_because(handler_class, method or "", self.application),
        )

    def function(self) -> Response:
        """Run the handler here and now; called inside an attempt."""
        path = self.path_args, self.path_kwargs
        return run_in_place(self, self.request, *path, self.plan.mark.commits_on)

    def call(self) -> Call:
        """Return the request as a call."""
        plan = self.plan
        target = target_of(self.application, self.handler_class, self.handler_kwargs)
        watched = plan.watched or logs_by_itself(self.application)
        # Nothing that can be changed, so that threads need not copy it.
        path = tuple(self.path_args), tuple(self.path_kwargs.items())
        call = Call(
            run_request,
            (target, FrozenRequest(self.request), *path, plan.mark.commits_on, watched),
            {},
            plan.label,
            self.loop.options.order == "arrival",
            timeout_seconds=self.timeout_seconds,
            watched=not plan.mark.trust,
            guarded=not plan.mark.vouched,
        )
        self._target, self._context = target, call.context
        return call

    def is_wanted(self) -> bool:
        """Return True: as in stock Tornado, it runs though its client has left."""
        return True

    def _answer(self, response: object, error: BaseException | None) -> None:
        """Send what a committed attempt answered."""
        connection = self.connection
        assert connection is not None
        self.request.connection = connection
        if error is not None:
            if self._context is None:
                self._fail(error)
            else:
                self._context.run(self._fail, error)
            return
        if not isinstance(response, Response):
            raise TxInternalError(f"a request was answered with {response!r}")
        handler, recorder = response.handler, response.recorder
        context = self._context if response.context is None else response.context
        assert context is not None
        if handler is None:
            assert self._target is not None
            handler = revived(
                self._target, self.request, recorder.status_code, response.leftovers
            )
            context.run(set_all, response.variables)
        elif response.before is not None:
            give_ui(handler)
        if not recorder.released:
            try:
                recorder.release(connection)
            except Exception:  # it was checked: whatever this is, the client must know
                connection.close()  # type: ignore[attr-defined] # an HTTP1Connection
                raise
        if response.rest is not None:
            let_close(connection)
            task = IOLoop.current().asyncio_loop.create_task(  # type: ignore[attr-defined] # a TransactionLoop
                response.rest, context=context
            )
            task.add_done_callback(lambda task: task.cancelled() or task.result())
        elif recorder.finished or (recorder.settled and handler._finished):
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
) -> HandlerDelegate:
    plan = plan_for(target_class, request.method or "")
    if plan is not None or not is_judged(self):
        loop = IOLoop.current()
        if isinstance(loop, TransactionLoop):
            if loop.dispatcher.executor.parallel:
                notice_handlers()
                judge_all(self, loop.asyncio_loop)
            if plan is not None:
                delegate = TransactionDelegate(
                    self, request, target_class, target_kwargs, path_args, path_kwargs
                )
                delegate.plan = plan
                delegate.loop = loop
                return delegate
    return _stock_get_handler_delegate(
        self, request, target_class, target_kwargs, path_args, path_kwargs
    )


def take_requests_over() -> None:
    """Let marked handlers' requests become transactions; inert on a stock loop."""
    before_start(register_all)
    patch(Application, "get_handler_delegate", _get_handler_delegate)
