"""Takes marked requests over from Tornado, and answers them at commit."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.ioloop import IOLoop
from tornado.log import app_log
from tornado.web import Application, RequestHandler

from txloop.engine.elsewhere import arrive_refused, goes_away
from txloop.errors import (
    TxClosedError,
    TxInternalError,
    TxOverloadError,
    TxTimeoutError,
)
from txloop.loop.ioloop import TransactionLoop, before_start
from txloop.loop.patches import patch
from txloop.stm.types import Call
from txloop.stm.variables import set_all
from txloop.web.as_stock import asks_for_attempts, let_go_on, run_as_stock
from txloop.web.clients import keep_open, leave_next, let_close
from txloop.web.eligible import Plan, logs_by_itself, plan_for
from txloop.web.ending import finish
from txloop.web.frozen import FrozenRequest
from txloop.web.leftovers import give_ui, revived
from txloop.web.marking import proved_plan
from txloop.web.request_attempt import Response, run_in_place, run_request
from txloop.web.targets import Target, register_all, target_of
from txloop.web.tornado_private import HandlerDelegate
from txloop.web.verdicts import held_because, is_judged, judge_all
from txloop.web.watched import loop_serving, notice_handlers

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Awaitable, Mapping

    from txloop.engine.profile import Profile
    from txloop.stm.types import Refusal
    from txloop.web.recorder import Recorder

__all__ = ["TransactionDelegate", "give_marked", "take_requests_over"]


class TransactionDelegate(HandlerDelegate):
    """Serves one request as a transaction; owned by the loop thread.

    It is a `txloop.stm.types.Ready`: the request runs where it has arrived, if it may,
    and is made into a call that travels only if not.
    """

    connection: Any  # an HTTP1Connection
    plan: Plan
    loop: TransactionLoop
    args: tuple[()] = ()
    kwargs: Mapping[str, object] = MappingProxyType({})
    commits_on: tuple[()] = ()  # a handler's errors are answered before
    _target: Target | None = None
    _context: contextvars.Context | None = None
    _number = 0  # of its transaction, if that has not ended at once
    _ordered = False  # whether it commits in the order of arrival
    _explains = False  # in debug mode, where it was not a front that ran it

    def execute(self) -> Awaitable[None] | None:
        """Have the request run, whose body has arrived, in the next iteration.

        So does stock Tornado: first all requests are read that are there, then all
        handlers run. A processor is quicker with one kind of work after another.
        """
        loop, plan = self.loop, self.plan
        options, dispatcher = loop.options, loop.dispatcher
        if self.application.settings.get("debug"):
            # What was written for stock Tornado has stock Tornado's pages.
            self._explains = plan.mark.on_error != "commit"
        key = self.handler_class, self.request.method
        profile = dispatcher.profiles.known(key) or self._first_profile(key)
        self.timeout_seconds = profile.timeout_seconds
        stream = self.connection.stream
        refusal = getattr(stream, "refusal", None)
        if refusal is not None:
            self._run_refused(profile, refusal)
            return None
        if plan.coroutine:
            return self._run_coroutine(profile)
        # Of a client that has left Tornado reads on: nothing waits for an answer.
        self._ordered = stream.closed() or options.order == "arrival"
        if self._ordered:
            dispatcher.submit_ready(self, profile, self._answer, ordered=True)
        else:
            keeps = plan.keeps and not asks_for_attempts()
            as_stock = self._run_as_stock if keeps else None
            dispatcher.ask(self, profile, self._answer, as_stock)
        return None

    def _run_coroutine(self, profile: Profile) -> Awaitable[None] | None:
        """Run a verb that may wait: elsewhere while it does not, or as in stock."""
        dispatcher = self.loop.dispatcher
        if self.loop.options.order == "arrival" or not goes_away(dispatcher, profile):
            return super().execute()
        back = self._run_as_ever
        number = dispatcher.submit(
            self.call(), profile, self._answer, away=True, hand_back=back
        )
        if number:
            self.goes_on(number)
        return None

    def _run_as_ever(self, _: object) -> None:
        """Run it on the loop thread, as an attempt elsewhere was given up."""
        assert self._context is not None
        let_close(self.connection)
        self._context.run(super().execute)

    def _run_as_stock(self) -> bool:
        """Run it on the loop thread, where nothing of it has to be undone."""
        try:
            return run_as_stock(self)
        except Exception as error:  # the handler could not be made
            self._fail(error)
            return True

    def _run_refused(self, profile: Profile, refusal: Refusal) -> None:
        """Have a request run here that a front has refused to run."""
        self.connection.stream.refusal = None
        back = self._run_as_ever if self.plan.coroutine else None
        number = arrive_refused(
            self.loop.dispatcher, self.call(), profile, self._answer, refusal, back
        )
        if number:
            self.goes_on(number)

    def goes_on(self, number: int) -> None:
        """Look after the client, which may leave before its answer is there."""
        self._number = number
        leave = functools.partial(self.loop.dispatcher.leave, number)
        stream = getattr(self.connection, "stream", None)
        if stream is None or not stream.closed():  # else it was, before this began
            self.connection.set_close_callback(self._leave)
        keep_open(self.connection, leave)

    def _leave(self) -> None:
        """Give the request up, or its place in the order: its connection is closed.

        Those that were sent after it are read at once.
        """
        dispatcher = self.loop.dispatcher
        dispatcher.leave(self._number)
        dispatcher.put_in_order(self._number)

    def _first_profile(self, key: tuple[type[RequestHandler], str | None]) -> Profile:
        handler_class, method = key
        return self.loop.dispatcher.profiles.find(
            key,
            self.plan.label,
            lambda: held_because(handler_class, method or "", self.application),
            self.plan.mark.timeout_seconds(self.loop.options.timeout),
        )

    def function(self) -> Response:
        """Run the handler here and now; called inside an attempt."""
        path = self.path_args, self.path_kwargs
        return run_in_place(self, FrozenRequest(self.request), *path, self.plan)

    def call(self) -> Call:
        """Return the request as a call."""
        plan = self.plan
        target = target_of(self.application, self.handler_class, self.handler_kwargs)
        watched = plan.watched or logs_by_itself(self.application)
        # Nothing that can be changed, so that threads need not copy it.
        path = tuple(self.path_args), tuple(self.path_kwargs.items())
        call = Call(
            run_request,
            (target, FrozenRequest(self.request), *path, plan.commits_on, watched),
            {},
            plan.label,
            self._ordered or self.loop.options.order == "arrival",
            timeout_seconds=self.timeout_seconds,
            watched=not plan.mark.trust,
            guarded=not plan.mark.vouched,
            followed=watched,
        )
        self._target, self._context = target, call.context
        return call

    def is_wanted(self) -> bool:
        """Return True: as in stock Tornado, it runs though its client has left."""
        return True

    def _answer(self, response: object, error: BaseException | None) -> None:
        """Send what a committed attempt answered."""
        self.request.connection = connection = self.connection
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
        if response.open:
            assert handler is not None
            context.run(finish, handler)
            return
        if handler is None:
            assert self._target is not None
            handler = revived(
                self._target, self.request, recorder.status_code, response.leftovers
            )
            context.run(set_all, response.variables)
        elif response.before is not None:
            give_ui(handler)
        if not recorder.released:
            if self._explains and recorder.status_code == 500:
                self._explain(recorder)
            try:
                recorder.release(connection)
            except Exception:  # it was checked: whatever this is, the client must know
                connection.close()
                raise
            leave_next(connection)
        if not recorder.finished:  # it goes on, or the program will finish it
            let_close(connection)
        if response.rest is not None:
            let_go_on(response.rest, context)
        elif recorder.finished:
            context.run(_after_response, handler)

    def _explain(self, recorder: Recorder) -> None:
        """Add to the page of an error how it came to that, if it did not at once."""
        # What has no number ran once, here and now.
        story = self.loop.stories.tell_of(self._number) if self._number else ""
        if story:
            recorder.add_text(f"\n{story}\n")

    def _fail(self, error: BaseException) -> None:
        """Answer with 500: the handler could not be made, or its workers died.

        With 503 if there was no room for it, or not enough time, or the program ends.
        """
        trace = (type(error), error, error.__traceback__)
        unserved = isinstance(error, _UNSERVED)
        try:
            if not unserved:  # or the log knows it already
                app_log.error("Uncaught exception", exc_info=trace)
        finally:
            self._send_error(error, 503 if unserved else 500)

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
            self.connection.close()
            if not isinstance(failure, Exception):
                raise


_UNSERVED = (TxClosedError, TxOverloadError, TxTimeoutError)


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


_log = logging.getLogger("txloop")

Give = Callable[..., httputil.HTTPMessageDelegate | None]
"""Given loop, application, request, handler class and the handler's arguments."""

TOLD = "_txloop_told"
"""The attribute of a stock loop that has warned of marked handlers."""

_give: Give | None = None  # set at import


def give_marked(give: Give) -> None:
    """Have marked requests served by what `give` returns, if it returns something."""
    global _give
    _give = give


_stock_get_handler_delegate = Application.get_handler_delegate


@functools.wraps(_stock_get_handler_delegate)
def _get_handler_delegate(
    self: Application,
    request: httputil.HTTPServerRequest,
    target_class: type[RequestHandler],
    target_kwargs: dict[str, Any] | None = None,
    path_args: list[bytes] | None = None,
    path_kwargs: dict[str, bytes] | None = None,
) -> httputil.HTTPMessageDelegate:
    found = request, target_class, target_kwargs, path_args, path_kwargs
    method, handler_kwargs = request.method or "", target_kwargs or {}
    plan = plan_for(target_class, method)
    if plan is not None and plan.mark.proved:
        plan = proved_plan(self, target_class, handler_kwargs, method, plan)
    if plan is None and is_judged(self):
        return _stock_get_handler_delegate(self, *found)
    loop = loop_serving(request) or IOLoop.current()
    if not isinstance(loop, TransactionLoop):
        if plan is not None:
            _warn_of_stock_loop(loop, plan)
        return _stock_get_handler_delegate(self, *found)
    if loop.dispatcher.executor.parallel:
        notice_handlers()
        judge_all(self, loop.asyncio_loop)
    if plan is None:
        return _stock_get_handler_delegate(self, *found)
    if _give is not None and (loop.options.fronts or loop.doorman is not None):
        giving = _give(loop, self, request, target_class, handler_kwargs)
        if giving is not None:
            return giving
    delegate = TransactionDelegate(self, *found)
    delegate.plan, delegate.loop = plan, loop
    return delegate


def _warn_of_stock_loop(loop: IOLoop, plan: Plan) -> None:
    """Log once that a stock loop runs what its author has marked as ever."""
    if plan.mark.vouched and TOLD not in vars(loop):
        vars(loop)[TOLD] = True
        _log.warning(
            "%s is marked @transactional, but this IOLoop is a stock one, which runs "
            "it as ever; call txloop.install() before anything asks for an IOLoop",
            plan.label,
        )


def take_requests_over() -> None:
    """Let marked handlers' requests become transactions; inert on a stock loop."""
    before_start(register_all)
    patch(Application, "get_handler_delegate", _get_handler_delegate)
