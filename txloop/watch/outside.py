"""The outside world: a call that no mark vouches for is stopped before it gets there.

A transaction may run more than once, beside others, and what it writes to shared state
is undone with it. What it does to files, to other processes and to whatever is at the
other end of a connection cannot be undone. A handler that a pattern has marked was not
written for that. So its attempts away from the loop thread run under an audit hook (PEP
578), which ends them *before* such a thing; the call then runs on the loop thread,
where it happens once, as in stock Tornado. In a thread, which shares the program's
plain objects, it goes on in place if it can: see `txloop.executors.plea`.

Reading is free, with one limit. On the loop thread nothing is meant to see a file half
written, and an attempt beside it might. So the hook also notes which files an attempt
has read, and which ones were written in the loop's process: what has read one of those
counts for nothing, and runs on the loop thread from then on.

The hook sees what Python's own modules do. It does not see what C code does by itself
(drivers of databases, dbm, writers of images), nor what is sent on a socket that was
connected before.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from txloop.errors import BecomeInevitable
from txloop.scan.finding import VOUCH, short_path
from txloop.stm.attempt import current
from txloop.stm.attempt_kinds import here
from txloop.watch import limits
from txloop.watch.acts import ACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from txloop.stm.attempt import Attempt
    from txloop.watch.acts import Act

__all__ = ["guard", "note_changes", "outdated"]

# How the files of code that imports are named, on CPython and on PyPy.
_IMPORTING = ("<frozen importlib", "<builtin>/frozen importlib")
_IMPORTING_DEPTH = 3  # frames from the event to the import system

# Guards the lists and the dict. An event may come while it is held: a finalizer's.
_lock = threading.RLock()
_hooks: list[Callable[[str, tuple[Any, ...]], None]] = []  # those added: one, or none
_noting: list[bool] = []  # not empty where changes are noted, in the loop's process
_changed: dict[str, None] = {}  # files; any thread adds to it, the loop's looks


def guard() -> None:
    """Stop guarded attempts of this process from now on; callable from any thread.

    It cannot be undone, and costs everything else in the process next to nothing.
    """
    if not _hooks:
        with _lock:
            if not _hooks:
                _hooks.append(_on_event)
                sys.addaudithook(_on_event)
                _wrap_silent_functions()


def note_changes() -> None:
    """Note from now on which files this process, the loop's, changes."""
    if not _noting:
        guard()
        _noting.append(True)


def outdated(files: frozenset[str]) -> str | None:
    """Return why what has read these files counts for nothing, or None."""
    changed = [file for file in files if file in _changed]
    if not changed:
        return None
    file = short_path(min(changed))
    return f"it reads {file}, which the program changes on the loop thread; {VOUCH}"


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    act = ACTS.get(event)
    if act is None:
        return
    attempt = current()
    read = None if attempt is None else attempt.files
    if read is None and not _noting:
        return
    what = act.what(arguments)
    if (what is None and read is None) or _is_importing():
        return
    if attempt is None or read is None:
        _note(act.paths(arguments))
    elif what is None:
        read.update(act.paths(arguments))
    else:
        _stop_or_stay(attempt, act, f"{_place()}{what}; {VOUCH}")
        _note(act.paths(arguments))


def _note(files: Iterable[str]) -> None:
    with _lock:
        _changed.update(dict.fromkeys(files))
        while len(_changed) > limits.MOST_CHANGED_FILES:
            del _changed[next(iter(_changed))]


def _stop_or_stay(attempt: Attempt, act: Act, reason: str) -> None:
    """Return if an attempt may act where it is, by a plea; else end it."""
    if attempt.abandoned is not None:  # the program has caught what stopped it
        raise BecomeInevitable(attempt.abandoned)
    plead = None if act.bound else attempt.plead
    if plead is None or not plead(attempt, reason):
        attempt.warns = True
        attempt.abandon(reason)


def _place() -> str:
    site = here()
    if site is None:
        return "it "
    file, line, function = site
    return f"{short_path(file)}:{line}: {function}() "


def _is_importing() -> bool:
    """Tell whether the import system is at work, which keeps what it has compiled."""
    frame = sys._getframe(1).f_back  # None: a thread, or the exit, calls a C function
    for _ in range(_IMPORTING_DEPTH):
        if frame is None:
            return False
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False


# What no event tells of

# PyPy's modules raise fewer events. A module that has imported one of these by name
# before has the function as it was.
_SILENT_ON_PYPY = {
    **{
        name: f"os.{name}"
        for name in (
            *("chmod", "chown", "link", "listdir", "mkdir", "remove", "rename"),
            *("rmdir", "scandir", "symlink", "utime"),
            *("fork", "forkpty", "kill", "killpg", "system"),
        )
    },
    "unlink": "os.remove",
    "replace": "os.rename",
}


def _wrap_silent_functions() -> None:
    """Have functions that raise no event tell of themselves all the same."""
    # Where there is an event, it comes when the thread is remembered as a new one.
    _wrap(threading.Thread, "start", "txloop.thread")
    if sys.implementation.name == "pypy":
        for name, event in _SILENT_ON_PYPY.items():
            _wrap(os, name, event)


def _wrap(owner: object, name: str, event: str) -> None:
    function = getattr(owner, name, None)
    if function is None:
        return

    @functools.wraps(function)
    def audited(*args: Any, **kwargs: Any) -> Any:
        _on_event(event, args)
        return function(*args, **kwargs)

    setattr(owner, name, audited)
