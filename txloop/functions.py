"""Plain functions as transactions: callbacks, and calls from coroutines."""

from __future__ import annotations

import asyncio
import functools
import inspect
import types
from typing import TYPE_CHECKING, TypeVar, cast

from txloop.attempt import current
from txloop.errors import TxError
from txloop.marks import Mark, mark_of
from txloop.scan import scan_function
from txloop.types import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from txloop.dispatch import Dispatcher, Done
    from txloop.profile import Profile
    from txloop.scan import Finding

__all__ = [
    "FunctionCalls",
    "Settled",
    "check_awaitable",
    "held_because",
    "is_coroutine",
    "name_of",
]

T = TypeVar("T")

_UNMARKED = Mark()

_COROUTINE_FLAGS = (
    inspect.CO_COROUTINE
    | inspect.CO_GENERATOR
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)


class FunctionCalls:
    """Makes transactions of function calls; owned by the loop thread.

    Args:
        dispatcher: Runs them.
        commits_on: The exceptions that commit whatever the mark says.
        ordered: Whether all of them commit in the order in which they were made.
        timeout: After how many seconds a run is ended, if its mark does not say.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        commits_on: tuple[type[BaseException], ...],
        ordered: bool,
        timeout: float | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._commits_on = commits_on
        self._ordered = ordered
        self._timeout = timeout

    def profile(self, function: Callable[..., object]) -> Profile:
        """Return the record of a function, which is scanned when first seen."""
        bare = _unwrapped(function)
        return self._dispatcher.profiles.find(
            _identity(bare),
            name_of(bare),
            lambda: held_because(function),
        )

    def submit(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        done: Done,
        *,
        ordered: bool,
    ) -> int:
        """Have a call run as a transaction and its result handed to `done`.

        Returns:
            The transaction's number.
        """
        mark = mark_of(function) or _UNMARKED
        call = Call(
            function,
            tuple(_settled(argument) for argument in args),
            kwargs,
            name_of(function),
            ordered or self._ordered,
            self._commits_on + mark.commits_on,
            timeout_seconds=mark.timeout_seconds(self._timeout),
            watched=not mark.trust,
        )
        return self._dispatcher.submit(call, self.profile(function), done)

    def future(
        self,
        loop: asyncio.AbstractEventLoop,
        function: Callable[..., T],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        *,
        ordered: bool = False,
    ) -> asyncio.Future[T]:
        """Run a call as one transaction and return the future of its result.

        If the future is cancelled while the transaction waits for a change, or before
        it does, it is dropped then.
        """
        future: asyncio.Future[T] = loop.create_future()
        done = functools.partial(_resolve, future)
        number = self.submit(function, args, kwargs, done, ordered=ordered)
        future.add_done_callback(functools.partial(self._leave, number))
        return future

    def _leave(self, number: int, future: asyncio.Future[T]) -> None:
        if future.cancelled():
            self._dispatcher.leave(number)


def held_because(function: Callable[..., object]) -> tuple[Finding, ...]:
    """Return what keeps calls of a function on the loop thread; nothing for most.

    Loop thread only.
    """
    mark = mark_of(function) or _UNMARKED
    return () if mark.trust else scan_function(function)


def check_awaitable(function: Callable[..., object]) -> None:
    """Check that a coroutine may await `function` as a transaction here and now.

    Raises:
        TxError: if called inside a transaction, or for a coroutine function.
    """
    if current() is not None:
        raise TxError(
            "a transaction cannot wait for another one; call "
            f"{name_of(function)} directly, as a part of this one"
        )
    if is_coroutine(function):
        raise TxError(
            f"{name_of(function)} is a coroutine function, and a transaction never "
            "spans an await: use a plain function"
        )


class Settled:
    """A future that is done, as an argument that may travel: result or exception."""

    def __init__(self, value: object, error: BaseException | None) -> None:
        self._value = value
        self._error = error

    def result(self) -> object:
        """Return the result, or raise the exception."""
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self) -> BaseException | None:
        """Return the exception, or None."""
        return self._error

    def done(self) -> bool:
        """Return True."""
        return True

    def cancelled(self) -> bool:
        """Return False; a cancelled future is not turned into this."""
        return False


def _settled(argument: object) -> object:
    if (
        isinstance(argument, asyncio.Future)
        and argument.done()
        and not argument.cancelled()
    ):
        error = argument.exception()
        return Settled(None if error else argument.result(), error)
    return argument


def _resolve(
    future: asyncio.Future[T], value: object, error: BaseException | None
) -> None:
    if future.done():
        return  # its awaiter was cancelled
    if error is None:
        future.set_result(cast("T", value))  # what its function returned
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:  # a future cannot carry these out of the loop
        wrapped = RuntimeError(f"the transaction raised {error!r}")
        wrapped.__cause__ = error
        future.set_exception(wrapped)


def is_coroutine(function: Callable[..., object]) -> bool:
    """Tell whether calling it makes a coroutine, decorated or not."""
    if type(function) is types.FunctionType and not vars(function):
        return bool(function.__code__.co_flags & _COROUTINE_FLAGS)
    bare: object = function
    while True:
        if isinstance(bare, functools.partial):
            bare = bare.func
        elif inspect.iscoroutinefunction(bare) or getattr(
            bare, "__tornado_coroutine__", False
        ):
            return True
        elif hasattr(bare, "__wrapped__"):
            bare = bare.__wrapped__
        else:
            return inspect.isgeneratorfunction(bare) or inspect.isasyncgenfunction(bare)


def name_of(function: Callable[..., object]) -> str:
    """Return what a function is called in statistics and warnings."""
    bare = _unwrapped(function)
    name = getattr(bare, "__qualname__", None) or type(bare).__qualname__
    return str(name)


def _identity(function: Callable[..., object]) -> Hashable:
    # A closure or a bound method is a new object each time; its code is not.
    code: Hashable = getattr(function, "__code__", None)
    return (
        code
        if code is not None
        else getattr(function, "__qualname__", id(type(function)))
    )


def _unwrapped(function: Callable[..., object]) -> Callable[..., object]:
    while isinstance(function, functools.partial):
        function = function.func
    return function
