"""Loops that refuse attempts: what is asked of them cannot be undone.

An attempt that may be thrown away finds no running loop (`txloop.stm.run`). But the
program may have kept the loop in a variable of its own. In a forked worker that is a
copy, which never runs: what is added to it is lost. In another thread it is the loop
itself: what is added to it happens, even if the attempt comes to nothing. So such loops
end the attempt that uses them, and its call runs on the loop thread.

It is the classes that are changed, as loops are reached in too many ways: by callbacks
of futures, by handles of timers, by Tornado's loop around them.
"""

from __future__ import annotations

import asyncio
import functools
import weakref
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from txloop.stm.attempt import current, running

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["adopt_loop", "disown_loops", "guard_loop", "refusing"]

_USES = (
    *("add_reader", "add_signal_handler", "add_writer", "call_at", "call_later"),
    *("call_soon_threadsafe", "close", "create_task", "remove_reader"),
    *("remove_signal_handler", "remove_writer", "run_in_executor"),
    *("set_debug", "set_default_executor", "set_exception_handler"),
    *("set_task_factory", "stop", "_timer_handle_cancelled"),
)
"""The methods by which a loop is changed, but for the one that all others use most."""

_guarded: dict[type, type] = {}  # by a loop's class, that which refuses attempts

P = ParamSpec("P")
T = TypeVar("T")


def refusing(method: Callable[P, T]) -> Callable[P, T]:
    """Return `method` so that it ends an attempt which may be thrown away."""

    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        attempt = running.attempt
        if attempt is not None and attempt.speculative:
            attempt.abandon("it uses the running event loop")
        return method(*args, **kwargs)

    return guarded


def guard_loop(loop: object) -> None:
    """Have `loop` refuse the attempts of other threads; on its own thread.

    A plain `call_soon` of asyncio's is let through. Each step of each task goes that
    way, and would pay for it; Tornado takes another one in attempts, which see no
    running loop.
    """
    kind = type(loop)
    if not isinstance(loop, asyncio.AbstractEventLoop) or kind in _guarded.values():
        return
    if kind not in _guarded:
        methods = {name: refusing(method) for name, method in _methods(kind, _USES)}
        names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
        _guarded[kind] = type(kind.__name__, (kind,), {**names, **methods})
    loop.__class__ = _guarded[kind]


def disown_loops() -> None:
    """Have all loops that there are refuse attempts; at the start of a forked worker.

    Loops that are made from then on are the worker's own.
    """
    own: weakref.WeakSet[object] = weakref.WeakSet()
    found: list[tuple[type, str, Any]] = [
        (kind, name, method)
        for kind in _kinds(asyncio.AbstractEventLoop)
        for name, method in _methods(kind, ("call_soon", *_USES))
    ]
    for kind, name, method in found:
        setattr(kind, name, _refusing_but(method, own))
    for each in {kind for kind, _, _ in found}:
        _note_new(each, own)


def adopt_loop(loop: object) -> None:
    """Have a loop of this process refuse attempts as `guard_loop` does, and no more.

    For one that was made after `disown_loops`, and has much to do.
    """
    kind = type(loop)
    methods: dict[str, Any] = {"__module__": kind.__module__}
    for name, method in _methods(kind, ("call_soon", *_USES)):
        bare = getattr(method, "__wrapped__", method)
        methods[name] = bare if name == "call_soon" else refusing(bare)
    loop.__class__ = type(kind.__name__, (kind,), methods)


def _kinds(base: type) -> Iterator[type]:
    """Yield all classes that are derived from `base`, a class before its own."""
    derived: list[type] = base.__subclasses__()
    for kind in derived:
        yield kind
        yield from _kinds(kind)


def _methods(kind: type, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        method = getattr(kind, name, None)
        if method is not None:
            yield name, method


def _refusing_but(
    method: Callable[..., object], own: Collection[object]
) -> Callable[..., object]:
    @functools.wraps(method)
    def guarded(loop: object, *args: object, **kwargs: object) -> object:
        if loop not in own:
            _refuse()
        return method(loop, *args, **kwargs)

    return guarded


def _note_new(kind: Any, own: weakref.WeakSet[object]) -> None:
    """Have all loops of a class that are made from now on be in `own`."""
    init = kind.__init__

    @functools.wraps(init)
    def noting(loop: object, *args: object, **kwargs: object) -> None:
        own.add(loop)
        init(loop, *args, **kwargs)

    kind.__init__ = noting


def _refuse() -> None:
    attempt = current()
    if attempt is not None and attempt.speculative:
        attempt.abandon("it uses the running event loop")
