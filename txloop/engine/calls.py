"""Plain functions as transactions: callbacks, and calls from coroutines."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from txloop.engine.marks import UNMARKED, mark_of
from txloop.errors import TxError
from txloop.scan import scan_function, unless_it_fails
from txloop.stm.attempt import running
from txloop.stm.callables import is_coroutine, name_of, without_partials
from txloop.stm.types import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from txloop.engine.dispatcher import Dispatcher
    from txloop.engine.marks import Mark
    from txloop.engine.profile import Profile
    from txloop.engine.transaction import Done
    from txloop.scan import Finding

__all__ = [
    "FunctionCalls",
    "Settled",
    "check_awaitable",
    "held_because",
    "resolve",
]

T = TypeVar("T")

_Terms: TypeAlias = tuple[tuple[type[BaseException], ...], float | None, bool]
"""What commits though it is raised, the timeout, and whether no look is wanted."""


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
        self.dispatcher = dispatcher
        self._commits_on = commits_on
        self._ordered = ordered
        self._timeout = timeout
        self._unmarked = self._terms(UNMARKED)

    def profile(self, function: Callable[..., object]) -> Profile:
        """Return the record of a function, which is scanned when first seen."""
        bare = without_partials(function)
        identity, profiles = _identity(bare), self.dispatcher.profiles
        return profiles.known(identity) or profiles.find(
            identity, name_of(bare), lambda: held_because(function)
        )

    def submit(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        done: Done,
        *,
        ordered: bool,
        spare_loop: bool = False,
    ) -> int:
        """Have a call run as a transaction and its result handed to `done`.

        What is short may have run, and `done` have been called, when this returns.

        Args:
            function: What to call.
            args: Its positional arguments.
            kwargs: Its keyword arguments.
            done: Takes the result.
            ordered: Whether it commits in order.
            spare_loop: Whether only what is short may run on the loop thread.

        Returns:
            The transaction's number, 0 if it has ended.
        """
        asked = _Asked(self, function, args, kwargs, ordered or self._ordered)
        profile, ordered = self.profile(function), asked.ordered
        return self.dispatcher.submit_ready(asked, profile, done, ordered, spare_loop)

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

        It does not begin before the next iteration. If the future is cancelled while
        the transaction waits for a change, or before it does, it is dropped then.
        """
        future: asyncio.Future[T] = loop.create_future()
        awaited = _Awaited(self, function, args, kwargs, ordered or self._ordered)
        awaited.future, awaited.leave = future, None
        profile, dispatcher = self.profile(function), self.dispatcher
        if awaited.ordered:  # from now on
            number = dispatcher.submit(awaited.call(), profile, awaited.done)
            awaited.goes_on(number)
        else:
            dispatcher.ask(awaited, profile, awaited.done)
        return future

    def terms(self, function: Callable[..., object]) -> _Terms:
        """Return how calls of a function run, as its mark says."""
        mark = mark_of(function)
        return self._unmarked if mark is None else self._terms(mark)

    def _terms(self, mark: Mark) -> _Terms:
        commits_on = self._commits_on + mark.commits_on
        return commits_on, mark.timeout_seconds(self._timeout), mark.trust


class _Asked:
    """A function call that was asked for; `txloop.stm.types.Ready` to run."""

    __slots__ = (
        *("args", "commits_on", "function", "kwargs", "ordered", "timeout_seconds"),
        *("_calls", "_trust"),
    )

    def __init__(
        self,
        calls: FunctionCalls,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        ordered: bool,
    ) -> None:
        self.function = function
        self.args = args
        for argument in args:
            if isinstance(argument, asyncio.Future):
                self.args = tuple(map(_settled, args))
                break
        self.kwargs = kwargs
        self.ordered = ordered
        terms = calls.terms(function)
        self.commits_on, self.timeout_seconds, self._trust = terms
        self._calls = calls

    def is_wanted(self) -> bool:
        return True

    def goes_on(self, number: int) -> None:
        pass  # its thread waits for it

    def call(self) -> Call:
        return Call(
            self.function,
            self.args,
            self.kwargs,
            name_of(self.function),
            self.ordered,
            self.commits_on,
            timeout_seconds=self.timeout_seconds,
            watched=not self._trust,
        )


class _Awaited(_Asked):
    """One of which the result is that of a future.

    Attributes:
        future: That.
        leave: Called when it is done, if the call did not run at once; else None.
    """

    __slots__ = ("future", "leave")

    future: asyncio.Future[Any]
    leave: Callable[[asyncio.Future[Any]], object] | None

    def is_wanted(self) -> bool:
        return not self.future.cancelled()

    def goes_on(self, number: int) -> None:
        dispatcher = self._calls.dispatcher

        def leave(future: asyncio.Future[object]) -> None:
            if future.cancelled():
                dispatcher.leave(number)

        self.leave = leave
        self.future.add_done_callback(leave)

    def done(self, value: object, error: BaseException | None) -> None:
        """Give the future its result: from now on, nothing is left by a cancel."""
        if self.leave is not None:
            self.future.remove_done_callback(self.leave)
        resolve(self.future, value, error)


def held_because(function: Callable[..., object]) -> tuple[Finding, ...]:
    """Return what keeps calls of a function on the loop thread; nothing for most.

    Loop thread only.
    """
    mark = mark_of(function) or UNMARKED
    scan = functools.partial(scan_function, function)
    return () if mark.trust else unless_it_fails(name_of(function), scan)


def check_awaitable(function: Callable[..., object]) -> None:
    """Check that a coroutine may await `function` as a transaction here and now.

    Raises:
        TxError: if called inside a transaction, or for a coroutine function.
    """
    attempt = running.attempt
    if attempt is not None:
        attempt.reveal("it awaits a transaction")
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
    """Return an argument as it may travel: futures that are done as their results."""
    if (
        isinstance(argument, asyncio.Future)
        and argument.done()
        and not argument.cancelled()
    ):
        error = argument.exception()
        return Settled(None if error else argument.result(), error)
    return argument


def resolve(
    future: asyncio.Future[T], value: object, error: BaseException | None
) -> None:
    """Give a transaction's result to its future."""
    if future.done():
        return  # its awaiter was cancelled
    if error is None:
        # What its function returned; a cast would take as long.
        future.set_result(value)  # type: ignore[arg-type]
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:  # a future cannot carry these out of the loop
        wrapped = RuntimeError(f"the transaction raised {error!r}")
        wrapped.__cause__ = error
        future.set_exception(wrapped)


def _identity(function: Callable[..., object]) -> Hashable:
    """Return what is the same for all calls of a function."""
    # A closure or a bound method is a new object each time; its code is not.
    code: Hashable = getattr(function, "__code__", None)
    return (
        code
        if code is not None
        else getattr(function, "__qualname__", id(type(function)))
    )
