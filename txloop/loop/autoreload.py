"""`tornado.autoreload` puts a new program into the process: its workers must not stay.

They would leave by themselves when their sockets close, but the new program would be
the parent of a process that it knows nothing of: no `wait` would end that one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from tornado import autoreload

from txloop.stmlog import hub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.executors.protocol import Executor

__all__ = ["end_at_reload"]

_executors: WeakSet[Executor] = WeakSet()  # a registry


def end_at_reload(executor: Executor) -> None:
    """End the workers of `executor` before the program is loaded anew."""
    _executors.add(executor)
    for module in _autoreloaders():
        if _end_workers not in module["_reload_hooks"]:
            module["add_reload_hook"](_end_workers)


def _end_workers() -> None:
    for executor in list(_executors):
        executor.close()
    hub.close()  # the new program begins the log anew


def _autoreloaders() -> Iterator[dict[str, Any]]:
    """Yield the globals of the module, and of the one that runs us, if one does."""
    yield vars(autoreload)
    # `python -m tornado.autoreload` is another module than the imported one, and while
    # it runs the program not even `__main__` in sys.modules.
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__") == "__main__" and (
            "_reload_hooks" in frame.f_globals
        ):
            yield frame.f_globals
            return
