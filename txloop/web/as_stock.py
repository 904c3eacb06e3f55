"""Verbs that run on the loop thread as in stock Tornado: they need no attempt there.

An attempt is there to be undone: by a conflict, an error, a `retry`. On the loop thread
nothing conflicts with what runs, and a verb that is marked by a pattern, by proof or
with ``on_error="commit"`` keeps what it wrote before an error. So it runs there as code
does that is not marked: what it writes is committed at once, and the answer goes out as
it is written. Processes are told of that in the loop's next iteration, mostly as of one
commit (see `Store.join`). Threads could see what there is between two writes: while any
of this process runs an attempt, there are attempts only.

Nor does a verb run so in a program that uses more of txloop than containers anywhere: a
program that calls `retry` or `on_commit` was written with transactions in mind.
"""

from __future__ import annotations

import functools
import linecache
import re
import sys
from types import CoroutineType, ModuleType
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop
from tornado.web import Finish, RequestHandler

from txloop.stm.origin import Owner, file_of, is_own_module, owner_of
from txloop.stm.tracebacks import hide_own_frames
from txloop.web.clients import let_close
from txloop.web.handler_run import awaiting, go_on
from txloop.web.templates import reset_caches

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Coroutine
    from contextvars import Context

    from txloop.web.tornado_private import HandlerDelegate

__all__ = ["asks_for_attempts", "let_go_on", "run_as_stock"]


def run_as_stock(delegate: HandlerDelegate) -> bool:
    """Run a request, whose body is there, up to the end or its first wait.

    Loop thread only.

    Returns:
        Whether the verb has raised something.
    """
    application, request = delegate.application, delegate.request
    if application.settings:
        reset_caches(application.settings)
    handler = delegate.handler_class(application, request, **delegate.handler_kwargs)
    failures: list[bool] = []
    noticed = functools.partial(_handle_exception, handler, failures)
    object.__setattr__(handler, "_handle_request_exception", noticed)
    transforms = [transform(request) for transform in application.transforms]
    execution = handler._execute(
        transforms, *delegate.path_args, **delegate.path_kwargs
    )
    if type(execution) is not CoroutineType:
        execution = awaiting(execution)
    try:
        awaited = execution.send(None)
    except StopIteration:
        pass
    else:
        let_close(delegate.connection)  # it may have been kept open until now
        let_go_on(go_on(execution, awaited))
    finally:
        object.__delattr__(handler, "_handle_request_exception")
    return any(failures)


def let_go_on(
    rest: Coroutine[object, object, None], context: Context | None = None
) -> None:
    """Have the rest of a handler that waits run in a task, as all of it in stock."""
    loop: Any = IOLoop.current()
    task = loop.asyncio_loop.create_task(rest, context=context)
    task.add_done_callback(functools.partial(_end, loop))


def _end(loop: Any, task: Task[None]) -> None:
    loop.dispatcher.holds.note()  # it ran in no callback of the loop's own
    if not task.cancelled():
        task.result()


def _handle_exception(
    handler: RequestHandler, failures: list[bool], error: BaseException
) -> None:
    hide_own_frames(error)
    failures.append(not isinstance(error, Finish))
    type(handler)._handle_request_exception(handler, error)


_ASKS = re.compile(
    r"\b(Channel|YieldableThread|apply|atomically|exclusive_apply|explain|inevitable"
    r"|on_commit|or_else|retry|transaction)\b"
)
"""Names in a module's text that mean something only, or something else, in attempts."""

_PACKAGE = re.compile(r"\btxloop\b")

_looked_at: dict[str, bool] = {}  # by name of a module; for the loop's thread only
_asking = False


def asks_for_attempts() -> bool:
    """Tell whether the program uses more of txloop than containers; loop thread only.

    Modules that are imported later are looked at when they are there.
    """
    global _asking
    if not _asking and len(sys.modules) != len(_looked_at):
        for name, module in list(sys.modules.items()):
            if name not in _looked_at:
                _looked_at[name] = _asks(module)
        for name in _looked_at.keys() - sys.modules.keys():
            del _looked_at[name]
        _asking = any(_looked_at.values())
    return _asking


def _asks(module: object) -> bool:
    if not isinstance(module, ModuleType):
        return False
    file = file_of(module)
    if owner_of(file) is Owner.TXLOOP or not (is_own_module(module) or _knows(module)):
        return False
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            text = lines.read()
    except OSError:  # it is in an archive, perhaps
        text = "".join(linecache.getlines(file, vars(module)))
        if not text:
            return True
    return bool(_PACKAGE.search(text) and _ASKS.search(text))


def _knows(module: ModuleType) -> bool:
    """Tell whether a module has imported something of txloop: a library may have."""
    package = sys.modules["txloop"]
    public = {id(package), *(id(getattr(package, name)) for name in package.__all__)}
    return not public.isdisjoint(map(id, [*vars(module).values()]))
