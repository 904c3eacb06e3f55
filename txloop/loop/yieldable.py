"""Yieldable threads: blocking I/O in a thread, computing on the executor.

David Beazley's thought experiment of 2010 ("Yieldable Threads", part 1): a generator
runs in a thread, does its I/O there as any code does, and yields the calls that keep a
processor busy; the code that makes the thread says where those run. `apply` makes
transactions of them, on the loop that runs in another thread.
"""

from __future__ import annotations

import concurrent.futures
import functools
import threading
from types import GeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from tornado.ioloop import IOLoop

from txloop.errors import TxClosedError, TxError
from txloop.loop.ioloop import TransactionLoop
from txloop.stm.attempt import current
from txloop.stm.callables import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

__all__ = ["YieldableThread", "apply", "exclusive_apply"]

T = TypeVar("T")

Work: TypeAlias = (
    "tuple[Callable[..., object], Sequence[object]]"
    " | tuple[Callable[..., object], Sequence[object], Mapping[str, object]]"
)
"""What a target yields: a function, its arguments, perhaps some by keyword."""

_NO_KEYWORDS: Mapping[str, object] = {}

_LOOK_SECONDS = 0.5  # between two looks whether the loop is still there


class YieldableThread(threading.Thread):
    """A thread whose target yields the calls that it does not want to make itself.

    The target is a generator function; ``result = yield function, (1, 2)`` has
    ``cpu_apply(function, (1, 2))`` called, and gets its result or its exception. A
    third part of what is yielded are arguments by keyword. A target that is no
    generator function runs as in any thread.

    >>> def serve_client(connection):
    ...     number = int(connection.recv(16))
    ...     result = yield sumn, (number,)
    ...     connection.send(str(result).encode())
    >>> YieldableThread(serve_client, (connection,), cpu_apply=txloop.apply).start()
    """

    def __init__(
        self,
        target: Callable[..., Generator[Work, Any, object] | object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        cpu_apply: Callable[..., object] | None = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        """Prepare a thread, which `start` starts.

        Args:
            target: What it runs.
            args: The target's arguments.
            kwargs: Those by keyword.
            cpu_apply: Makes the calls: `apply`, `exclusive_apply`, the method of that
                name of a pool of `multiprocessing`. None: the thread itself.
            daemon: As for any thread.
        """
        super().__init__(daemon=daemon)
        self._run_target = functools.partial(target, *args, **(kwargs or {}))
        self._cpu_apply = _apply_here if cpu_apply is None else cpu_apply

    def run(self) -> None:
        """Run the target to its end."""
        result = self._run_target()
        if isinstance(result, GeneratorType):
            self._step_through(result)

    def _step_through(self, generator: Generator[Work, Any, object]) -> None:
        step: Callable[[], Work] = functools.partial(next, generator)
        while True:
            try:
                work = step()
            except StopIteration:
                return
            try:
                step = functools.partial(generator.send, self._cpu_apply(*work))
            except BaseException as error:  # the target's to handle, where it yields
                step = functools.partial(generator.throw, error)


def _apply_here(
    function: Callable[..., T],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] = _NO_KEYWORDS,
) -> T:
    return function(*args, **kwargs)


_exclusive = threading.Lock()


def exclusive_apply(
    function: Callable[..., T],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] = _NO_KEYWORDS,
) -> T:
    """Return ``function(*args, **kwargs)``, called by one thread at a time.

    With a global lock that spares threads the fight for it. Any thread may call it, but
    not from within itself.
    """
    with _exclusive:
        return function(*args, **kwargs)


def apply(
    function: Callable[..., T],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] = _NO_KEYWORDS,
) -> T:
    """Return ``function(*args, **kwargs)``, run as a transaction of the running loop.

    Any thread but the loop's may call it, and waits for the commit. It is
    `txloop.atomically` for threads: the function may run more than once and in another
    process, takes effect once, and an exception undoes its writes. Inside a transaction
    it is a part of that.

    Raises:
        TxError: if no loop of txloop runs, or on its thread, which must not wait; else
            as `txloop.atomically`.
    """
    if current() is not None:
        return function(*args, **kwargs)
    loop = _running_loop(function)
    waiting: concurrent.futures.Future[T] = concurrent.futures.Future()

    def done(value: object, error: BaseException | None) -> None:
        if error is None:
            waiting.set_result(cast("T", value))  # of the very function
        else:
            waiting.set_exception(error)

    submit = functools.partial(loop.calls.submit, ordered=False, spare_loop=True)
    loop.add_callback(submit, function, tuple(args), kwargs, done)
    while True:
        try:
            return waiting.result(_LOOK_SECONDS)
        except concurrent.futures.TimeoutError:
            if waiting.done():  # it was the function's own, or has come just now
                return waiting.result()
            if loop.asyncio_loop.is_closed():
                raise TxClosedError(
                    f"the loop was closed before {name_of(function)} could commit"
                ) from None


def _running_loop(function: Callable[..., object]) -> TransactionLoop:
    for asyncio_loop, loop in list(IOLoop._ioloop_for_asyncio.items()):
        if isinstance(loop, TransactionLoop) and asyncio_loop.is_running():
            if IOLoop.current(instance=False) is loop:
                raise TxError(
                    "apply() would hold up the loop that it waits for; use await "
                    f"txloop.atomically({name_of(function)}, ...) there"
                )
            return loop
    raise TxError(
        "apply() needs a loop that runs in another thread; call txloop.install() and "
        "start the loop first"
    )
