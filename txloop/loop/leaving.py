"""The end of a program whose threads do not end: SIGTERM ends it all the same."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import suppress

__all__ = ["leave_threads_behind"]

_GRACE_SECONDS = 1.0
"""How long threads may go on when the main thread is through. In stock Tornado SIGTERM
stops them wherever they are."""

_log = logging.getLogger("txloop")


def leave_threads_behind() -> None:
    """Have the program end even if some of its threads never do.

    The interpreter waits at its end for all threads that are no daemons, and for what
    runs in the threads of executors. Now it does so for a second, and the exit code is
    that of a program that was ended in order. The main thread has all the time that it
    takes.
    """
    # Before the interpreter waits; `atexit` comes after. Executors use it as well.
    with suppress(AttributeError, RuntimeError):  # there is none; it ends already
        threading._register_atexit(_watch)  # type: ignore[attr-defined]


def _watch() -> None:
    watcher = threading.Thread(target=_outlast, name="txloop end", daemon=True)
    with suppress(RuntimeError):  # no thread can be started any more
        watcher.start()


def _outlast() -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    for thread in _others():
        thread.join(max(0.0, deadline - time.monotonic()))
    left = ", ".join(thread.name for thread in _others())
    if not left:
        return  # the interpreter goes on to its end
    _log.warning("ended while threads of the program still run: %s", left)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # whatever stands for it
            stream.flush()
    os._exit(0)


def _others() -> list[threading.Thread]:
    main = threading.main_thread()
    return [one for one in threading.enumerate() if not one.daemon and one is not main]
