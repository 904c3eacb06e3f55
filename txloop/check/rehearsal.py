"""Runs a program as Python would, up to where its event loop would start.

No port is bound, nothing is served, no process is forked, and what the program writes
into files goes into copies. The place is, whichever comes
first:

- ``IOLoop.start()``, if there is an application by then, but not that in `run_sync`;
- the first time a loop would wait, with all that was ready done: so coroutines under
  ``asyncio.run`` and ``IOLoop.run_sync`` are driven up to their first real wait;
- the end of the program.

There the program stands, with all its objects, when it is looked at. It is not gone on
with, and not unwound.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import selectors
import socket
import sys
import traceback
import types
from asyncio import base_events
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn
from unittest import mock

import tornado.netutil
import tornado.process
import tornado.tcpserver
from tornado.ioloop import IOLoop
from tornado.platform.asyncio import BaseAsyncIOLoop

from txloop.check.copies import Copies
from txloop.executors.protocol import executor_named
from txloop.loop import options
from txloop.loop.program import find_module, run_file
from txloop.stm.origin import Owner, claim, owner_of
from txloop.web.targets import applications

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from txloop.executors.protocol import Executor

__all__ = ["end_children", "rehearse"]


def rehearse(program: str, *, is_module: bool, at_loop: Callable[[], NoReturn]) -> str:
    """Run the program up to where its loop would start, and call `at_loop` there.

    Args:
        program: A file or a module's name; `sys.argv` and `sys.path` are as it expects.
        is_module: Which of the two.
        at_loop: Looks at the program, and ends the process. It may be called on any
            thread: that which runs the loop.

    Returns:
        How the program ended, where it did without a loop, after its name. Its modules
        are still there.
    """
    copies = Copies()
    with ExitStack() as stack:
        stack.callback(copies.remove)
        files = stack.enter_context(ExitStack())
        files.enter_context(copies.used())

        def look() -> NoReturn:
            files.close()  # the scan looks for Python's own functions
            copies.remove()
            at_loop()

        for patch in (*_loop_patches(look), *_server_patches()):
            stack.enter_context(patch)
        try:
            if is_module:
                _run_module(program)
            else:
                run_file(program)
        except SystemExit as end:
            code = "" if end.code is None else repr(end.code)
            return f"ended before it started a loop, with sys.exit({code})"
        except BaseException as error:
            _print_traceback(error)
            name = type(error).__name__
            return f"failed before it started a loop, with {name}: {error}"
    return "ended without starting a loop"


def end_children() -> None:
    """End what the program has started by `multiprocessing`, pools included.

    They are for a program that goes on. Where it was only looked at, its process ends
    without their being ended: they would wait forever, with its pipes open.
    """
    for process in multiprocessing.active_children():
        process.kill()
        process.join()


def _print_traceback(error: BaseException) -> None:
    """Print it from the first line of the program on."""
    trace = error.__traceback__
    while trace is not None and owner_of(_file(trace)) is not Owner.PROGRAM:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def _file(trace: types.TracebackType) -> str:
    return trace.tb_frame.f_code.co_filename


def _run_module(name: str) -> None:
    """Run a module as `__main__`, which stays there; `runpy` takes it out again."""
    spec = find_module(name)
    code = spec.loader.get_code(spec.name)  # type: ignore[union-attr] # of an InspectLoader
    module = types.ModuleType("__main__")
    module.__spec__, module.__package__ = spec, spec.parent
    sys.argv[0] = module.__file__ = spec.origin or name
    sys.modules["__main__"] = module
    claim("__main__")
    exec(code, vars(module))


def _loop_patches(at_loop: Callable[[], NoReturn]) -> Iterator[Any]:
    stock_start = BaseAsyncIOLoop.start
    stock_select = selectors.DefaultSelector.select
    stock_policy = asyncio.set_event_loop_policy
    stock_run_sync = IOLoop.run_sync
    in_run_sync = False

    def run_sync(loop: IOLoop, *args: Any, **kwargs: Any) -> Any:
        nonlocal in_run_sync
        in_run_sync = True
        try:
            return stock_run_sync(loop, *args, **kwargs)
        finally:
            in_run_sync = False

    def start(loop: BaseAsyncIOLoop) -> None:
        if applications() and not in_run_sync:
            at_loop()
        stock_start(loop)  # a callback of the program may make an application

    def select(selector: Any, timeout: float | None = None) -> Any:
        waits = timeout is None or timeout > 0
        if waits and asyncio._get_running_loop() is not None:
            at_loop()
        return stock_select(selector, timeout)

    def set_policy(policy: Any) -> None:
        # uvloop's waits cannot be seen; what runs on it runs on asyncio's loop, too.
        if not type(policy).__module__.startswith("uvloop"):
            stock_policy(policy)

    yield mock.patch.object(IOLoop, "run_sync", run_sync)
    yield mock.patch.object(BaseAsyncIOLoop, "start", start)
    yield mock.patch.object(selectors.DefaultSelector, "select", select)
    yield mock.patch.object(asyncio, "set_event_loop_policy", set_policy)


def _server_patches() -> Iterator[Any]:
    """Keep the program from listening, forking and starting workers."""
    served: list[object] = []  # kept here, as the loop would keep them

    def nothing(*_: object, **__: object) -> None:
        pass

    def bind_sockets(*_: object, **__: object) -> list[socket.socket]:
        return [socket.socket()]

    def bind_unix_socket(*_: object, **__: object) -> socket.socket:
        return socket.socket(socket.AF_UNIX)

    def accept_nothing(_: object, callback: object) -> Callable[[], None]:
        served.append(callback)
        return nothing

    def fork_nothing(*_: object, **__: object) -> int:
        return 0  # as in the first process that is forked

    def run_serially(_: str, workers: int | None = None, *__: object) -> Executor:
        return executor_named("serial", workers)

    for module in (tornado.netutil, tornado.tcpserver):
        yield mock.patch.object(module, "bind_sockets", bind_sockets)
        yield mock.patch.object(module, "add_accept_handler", accept_nothing)
    yield mock.patch.object(tornado.netutil, "bind_unix_socket", bind_unix_socket)
    if hasattr(tornado.tcpserver, "bind_unix_socket"):
        yield mock.patch.object(tornado.tcpserver, "bind_unix_socket", bind_unix_socket)
    yield mock.patch.object(socket.socket, "bind", nothing)
    yield mock.patch.object(socket.socket, "listen", nothing)
    yield mock.patch.object(base_events.Server, "_start_serving", nothing)
    yield mock.patch.object(tornado.process, "fork_processes", fork_nothing)
    yield mock.patch.object(options, "executor_named", run_serially)
