"""Coroutines driven to their end in an attempt, which none may leave unfinished.

A native coroutine needs no help: `RequestHandler._execute` awaits it, and what drives
`_execute` sees whether it suspends. `gen.coroutine` makes a future, which belongs
to a loop, so its generator is driven here instead, as long as all that it yields is
done. What is not suspends, and that ends the attempt: the verb runs as in stock Tornado
on the loop thread. So nothing here has to know how to wait.
"""

from __future__ import annotations

import contextvars
import inspect
import sys
import types
from collections.abc import Awaitable, Generator
from typing import TYPE_CHECKING, Any

from tornado import gen

from txloop.stm.attempt import current
from txloop.stm.callables import contents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from txloop.stm.attempt import Attempt

__all__ = ["close_prepared", "driven", "hide_generators"]


@gen.coroutine
def _nothing() -> Generator[None, None, None]:
    yield


_WRAPPER = _nothing.__code__
"""The code of each function that `gen.coroutine` returns."""


def driven(function: Callable[..., object]) -> Callable[..., object]:
    """Return a method, or what does the same without a future."""
    bare = getattr(function, "__func__", None)
    if bare is None or getattr(bare, "__code__", None) is not _WRAPPER:
        return function
    owner, body = function.__self__, _body_of(bare)  # type: ignore[attr-defined] # a method

    async def run(*args: object, **kwargs: object) -> object:
        return await _run(body, owner, *args, **kwargs)

    return run


def _body_of(wrapper: types.FunctionType) -> Callable[..., Any]:
    """Return what `gen.coroutine` was given.

    `__wrapped__` may be another function: that which a decorator of the program's
    around it has named to `functools.wraps`.
    """
    body: Callable[..., Any] = contents_of(wrapper)["func"]  # type: ignore[assignment] # it is called
    return body


async def _run(body: Callable[..., Any], *args: object, **kwargs: object) -> object:
    """Do what `gen.coroutine` does with a function, which has a context of its own."""
    context = contextvars.copy_context()
    try:
        result = context.run(body, *args, **kwargs)
        if not isinstance(result, Generator):
            return result
        yielded = context.run(next, result)
        while True:
            try:
                value = await _settled(yielded, context)
            except Exception as error:
                yielded = context.run(result.throw, error)
            else:
                yielded = context.run(result.send, value)
    except (gen.Return, StopIteration) as end:
        return end.value


async def _settled(yielded: Any, context: contextvars.Context) -> object:
    """Return the result of what a coroutine has yielded, if it is there."""
    if isinstance(yielded, list):
        return [await _settled(one, context) for one in yielded]
    if isinstance(yielded, dict):
        return {key: await _settled(one, context) for key, one in yielded.items()}
    if isinstance(yielded, types.CoroutineType):
        return await _as_in_task(yielded, context.copy())
    if isinstance(yielded, Awaitable) and yielded is not gen.moment:
        return await yielded
    await _suspend()
    return None


async def _as_in_task(
    coroutine: types.CoroutineType[Any, Any, object], context: contextvars.Context
) -> object:
    """Run a coroutine in a context of its own, up to its end or its first wait."""
    try:
        context.run(coroutine.send, None)
    except StopIteration as end:
        return end.value
    try:
        await _suspend()
        return None
    finally:
        close_prepared(coroutine)
        coroutine.close()


@types.coroutine
def _suspend() -> Generator[None, None, None]:
    yield


def close_prepared(execution: Any, error: BaseException | None = None) -> None:
    """Close coroutines that were made to be awaited, and are not: that is no mistake.

    Python complains of each in stderr otherwise.

    Args:
        execution: The coroutine that is given up.
        error: What has ended it, if that has happened.
    """
    for frame in _frames(execution, error):
        for value in list(frame.f_locals.values()):
            for one in value if isinstance(value, tuple | list) else (value,):
                if (
                    isinstance(one, types.CoroutineType)
                    and inspect.getcoroutinestate(one) == inspect.CORO_CREATED
                ):
                    one.close()


def hide_generators(attempt: Attempt) -> Callable[[], object]:
    """Have an async generator that the attempt leaves amid its work end the attempt.

    The loop's own hook would ask the loop to close it, and what ends the attempt there
    is printed to stderr and ignored.

    Returns:
        What puts back the hook that there was.
    """
    stock = sys.get_asyncgen_hooks().finalizer

    def finalize(generator: Any) -> None:
        if attempt.speculative and current() is attempt:
            attempt.abandoned = "it leaves an async generator for the loop to close"
        elif stock is not None:
            stock(generator)

    sys.set_asyncgen_hooks(finalizer=finalize)
    return lambda: sys.set_asyncgen_hooks(finalizer=stock)


def _frames(execution: Any, error: BaseException | None) -> Iterator[types.FrameType]:
    """Yield where a coroutine stands, or stood."""
    while isinstance(execution, types.CoroutineType):
        if execution.cr_frame is not None:
            yield execution.cr_frame
        execution = execution.cr_await
    trace = None if error is None else error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next
