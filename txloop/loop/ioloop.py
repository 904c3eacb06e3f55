"""The IOLoop that runs marked callbacks, fd handlers and requests as transactions.

Unmarked ones run on the loop thread exactly as in stock Tornado. The loop is Tornado's
own asyncio loop with its two choke points extended: `_run_callback`, through which all
callbacks, timers and futures go, and `_handle_events` (`txloop.loop.descriptors`).
"""

from __future__ import annotations

import asyncio
import functools
import logging
import weakref
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from tornado import gen
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.log import app_log
from tornado.platform.asyncio import AsyncIOLoop, AsyncIOMainLoop, BaseAsyncIOLoop
from tornado.process import task_id
from tornado.web import Finish

from txloop import stmlog
from txloop.engine.calls import FunctionCalls, check_awaitable
from txloop.engine.dispatcher import Dispatcher
from txloop.errors import TxClosedError
from txloop.executors.carried import carry
from txloop.executors.refusing import refusing
from txloop.loop.autoreload import end_at_reload
from txloop.loop.descriptors import Descriptors, is_marked
from txloop.loop.options import Options, take_executor
from txloop.loop.patches import extend, patch
from txloop.loop.shutdown import Guests, drain_on_signals
from txloop.stm.log_capture import handle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

__all__ = [
    "TransactionIOLoop",
    "TransactionMainLoop",
    "atomically",
    "before_start",
    "on_options",
    "prepare_to_fork",
    "tell_options",
]

P = ParamSpec("P")
T = TypeVar("T")


class TransactionLoop(Descriptors):
    """What both kinds of transactional loops share.

    Attributes:
        options: As given to `txloop.install` or ``IOLoop.configure``.
        doorman: Gives connections to fronts; None if there are none.
        opened: Whether it was found out if there can be some.
        stories: What became of the last transactions.
    """

    options: Options
    doorman: Guests | None = None
    opened = False

    def initialize(self, **kwargs: object) -> None:  # type: ignore[override]
        """Begin with txloop's options in `kwargs`; the rest is Tornado's.

        Raises:
            TxConfigurationError: if an option has an unknown value.
        """
        self.options, rest = Options.split(kwargs)
        self._started_here = False
        self._main: asyncio.Future[Any] | None = None  # what `run_sync` waits for
        self._ended = False
        self._error: SystemExit | None = None  # that `start` raises at its end
        super().initialize(**rest)
        # A loop of asyncio or uvloop has all that a reactor needs.
        tell_options(self.options)
        executor = take_executor(self.options)
        end_at_reload(executor)
        # A weak method: a loop that is merely dropped must not become cyclic garbage.
        tie = weakref.WeakMethod(self._tie_to_asyncio_loop)
        self.dispatcher = Dispatcher(
            executor,
            self.asyncio_loop,
            on_start=lambda: _on_start(tie(), executor.forks),
            max_queue=self.options.max_queue,
            barrier=self.options.rounds == "barrier",
        )
        in_order = self.options.order == "arrival"
        self.calls = FunctionCalls(
            self.dispatcher, (Finish,), in_order, self.options.timeout
        )
        self.stories = stmlog.KeptStories(self.dispatcher)
        stmlog.connect(self.dispatcher, self.options.log, self.options.log_bytes)
        keep_records()
        if self.options.signals:
            drain_on_signals(self, self.options.drain_seconds)

    def start(self) -> None:
        self._started_here = True
        try:
            super().start()
        finally:
            self._started_here = False
        error, self._error = self._error, None
        if error is not None:
            raise error

    def run_sync(
        self, func: Callable[[], Any], timeout: float | None = None
    ) -> Any:  # Tornado's own signature
        """Return what a coroutine returns, or end the program when `end` cancels it.

        Raises:
            SystemExit: if it was cancelled so.
        """

        def call() -> asyncio.Future[Any] | None:
            result = func()
            self._main = None if result is None else gen.convert_yielded(result)
            return self._main

        self._ended = False
        try:
            return super().run_sync(call, timeout)
        except RuntimeError:
            if self._ended:
                raise SystemExit(0) from None
            raise
        finally:
            self._main = None

    @refusing
    def close(self, all_fds: bool = False) -> None:
        # To answer what is pending takes futures of this loop, which may no longer be
        # the current one: so does Tornado's AsyncTestCase end.
        running = asyncio._get_running_loop()
        asyncio._set_running_loop(self.asyncio_loop)
        try:
            self.dispatcher.close()
        finally:
            asyncio._set_running_loop(running)
        super().close(all_fds)

    def shares_sockets(self) -> bool:
        """Tell whether other processes listen on the very same sockets."""
        return task_id() is not None  # this is a process of `fork_processes`

    def end(self, error: SystemExit | None) -> None:
        """Stop the loop from within, however it was started, with exit code 0.

        Args:
            error: What is raised where it was started; None for nothing, if it can be.
        """
        self.dispatcher.close()
        if self._main is not None:  # `run_sync` takes a stopped loop for an error, too
            self._ended, self._error = True, error
            self._main.cancel()
        elif self._started_here:
            self._error = error
            self.stop()
        else:  # `asyncio.run` takes a stopped loop for an error
            raise error or SystemExit(0)

    def _tie_to_asyncio_loop(self) -> None:
        # `asyncio.run` closes async generators, and never the IOLoop.
        self._closer = _close_at_the_end(self.dispatcher)
        self._closing_task = self.asyncio_loop.create_task(anext(self._closer))

    # Callbacks

    def _run_callback(self, callback: Callable[[], object]) -> None:
        # Tornado hands over a functools.partial of the program's callback.
        function = getattr(callback, "func", callback)
        if is_marked(function):
            self._run_marked(callback)
            return
        periodic = getattr(function, "__self__", None)
        if isinstance(periodic, PeriodicCallback) and is_marked(periodic.callback):
            super()._run_callback(functools.partial(self._run_periodic, periodic))
            return
        self.dispatcher.profiles.unmarked += 1
        super()._run_callback(callback)
        self.note(function)

    def _run_marked(self, callback: Callable[[], object]) -> None:
        def done(value: object, error: BaseException | None) -> None:
            if error is None:
                # A result may be awaitable, as that of any callback.
                BaseAsyncIOLoop._run_callback(self, lambda: value)
            elif not isinstance(error, asyncio.CancelledError):
                app_log.error("Exception in callback %r", callback, exc_info=error)

        assert isinstance(callback, functools.partial)
        function, args, kwargs = callback.func, callback.args, callback.keywords
        self.calls.submit(function, args, kwargs, done, ordered=True)

    async def _run_periodic(self, periodic: PeriodicCallback) -> None:
        """Do what `PeriodicCallback._run` does, in a transaction."""
        if not periodic._running:
            return
        try:
            await self.calls.future(
                self.asyncio_loop, periodic.callback, (), {}, ordered=True
            )
        except TxClosedError:
            pass  # the program ends, and in stock Tornado there is no next tick either
        except Exception:
            app_log.error("Exception in callback %r", periodic.callback, exc_info=True)
        finally:
            periodic._schedule_next()

    # Asyncio's loop refuses attempts, but these change something before it is asked.
    add_handler = refusing(BaseAsyncIOLoop.add_handler)
    remove_timeout = refusing(BaseAsyncIOLoop.remove_timeout)  # type: ignore[arg-type] # of a subclass


def keep_records(_: object = None) -> None:
    """Have what is logged inside an attempt wait for its commit."""
    patch(logging.Logger, "handle", handle)


carry("kept records", lambda: None, keep_records)


async def _close_at_the_end(dispatcher: Dispatcher) -> AsyncGenerator[None, None]:
    # Without a reference to the loop: its own generator would keep it alive.
    try:
        yield
    finally:
        dispatcher.close()


_preparations: list[Callable[[], object]] = []  # a registry, filled at import


def before_start(function: Callable[[], object]) -> None:
    """Have a function called before workers are forked."""
    _preparations.append(function)


_hearers: list[Callable[[Options], object]] = []  # a registry, filled at import


def on_options(function: Callable[[Options], object]) -> None:
    """Call `function` with the options of each loop that is configured or made."""
    _hearers.append(function)


def tell_options(options: Options) -> None:
    """Call what `on_options` was given with the next loop's options."""
    for hear in _hearers:
        hear(options)


def prepare_to_fork() -> None:
    """Call what has to be done before workers are forked."""
    for prepare in _preparations:
        prepare()


def _on_start(tie: Callable[[], None] | None, forks: bool) -> None:
    if forks:
        prepare_to_fork()
    if tie is not None:
        tie()


class TransactionIOLoop(TransactionLoop, AsyncIOLoop):
    """An `IOLoop` whose marked callbacks, handlers and requests are transactions.

    ``IOLoop.configure("txloop.TransactionIOLoop", workers=4)`` or `txloop.install` make
    it the class of every IOLoop of the program. The options are those of `install`, but
    the loop ends gracefully on signals only with ``signals=True``.
    """


class TransactionMainLoop(TransactionLoop, AsyncIOMainLoop):
    """The same on the asyncio loop that is already there, as under ``asyncio.run``."""


def atomically(
    function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> asyncio.Future[T]:
    """Run ``function(*args, **kwargs)`` as one transaction; await the result.

    The function may run more than once and in another process, and takes effect once,
    at its commit. Its exception is raised here, after its writes were undone. Must be
    called on the loop thread, outside a transaction. On a stock IOLoop the function
    runs at once, as a transaction with nothing beside it.

    Raises:
        TxError: if called inside a transaction, or for a coroutine function.
        TxOverloadError: (on awaiting) if `max_queue` calls wait for a worker already.
        TxTimeoutError: (on awaiting) if it ran for longer than its timeout.
        TxWorkerError: (on awaiting) if it has ended three workers.
        TxClosedError: (on awaiting) if the loop was closed before the commit.
    """
    check_awaitable(function)
    loop = IOLoop.current()
    assert isinstance(loop, BaseAsyncIOLoop)
    calls = loop.calls if isinstance(loop, TransactionLoop) else _calls_beside(loop)
    return calls.future(loop.asyncio_loop, function, args, kwargs)


def _calls_beside(loop: BaseAsyncIOLoop) -> FunctionCalls:
    """Return what runs transactions, serially, on behalf of a stock loop."""
    calls: FunctionCalls | None = getattr(loop, "_txloop_calls", None)
    if calls is None:
        executor = take_executor(Options(executor="serial"))
        calls = FunctionCalls(Dispatcher(executor, loop.asyncio_loop), (Finish,), False)
        loop._txloop_calls = calls  # type: ignore[attr-defined] # our own attribute
    return calls


# `IOLoop.current()` builds an AsyncIOMainLoop by name, whatever class is configured.
# Replacing the module's attribute would miss modules that imported it before.
_stock_new = AsyncIOMainLoop.__new__


@refusing  # attempts, which come here because they do not find the current loop
def _new_main_loop(
    cls: type[AsyncIOMainLoop], *args: object, **kwargs: object
) -> AsyncIOMainLoop:
    if cls is AsyncIOMainLoop:
        configured, options = IOLoop._save_configuration()
        if isinstance(configured, type) and issubclass(configured, TransactionLoop):
            made = TransactionMainLoop(**{**(options or {}), **kwargs})
            return cast("AsyncIOMainLoop", made)  # untyped, as is all of Configurable
    return cast("AsyncIOMainLoop", _stock_new(cls, *args, **kwargs))  # likewise


patch(AsyncIOMainLoop, "__new__", _new_main_loop)


# In an attempt these would change, or ask, what may be a copy of the object.
for _name in ("is_running", "start", "stop"):
    patch(PeriodicCallback, _name, refusing(getattr(PeriodicCallback, _name)))


def _run_yielded_call(yielded: tuple[object, ...]) -> asyncio.Future[object]:
    """Run the transaction of ``yield function, args[, kwargs]`` in a coroutine."""
    match yielded:
        case (function, tuple(args)) if callable(function):
            return atomically(function, *args)
        case (function, tuple(args), dict(kwargs)) if callable(function):
            return atomically(function, *args, **kwargs)
    raise gen.BadYieldError(f"yielded unknown object {yielded!r}")


extend(gen.convert_yielded, tuple, _run_yielded_call)
