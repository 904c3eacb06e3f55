"""Calls that change what belongs to the whole process, as far as the source tells.

Such a thing is plain shared state, of which C or the standard library keeps the only
copy: a forked worker changes its own, and a thread may not be allowed to. What the
watch compares by value (`txloop.watch.ambient`) is not named here, nor what is as a
rule set to the same value again and again, or put back at once.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.things import has_type

if TYPE_CHECKING:
    from collections.abc import Mapping

_CHANGERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "atexit": frozenset(["register", "unregister"]),
        "codecs": frozenset(["register", "register_error", "unregister"]),
        "faulthandler": frozenset(["disable", "enable", "register", "unregister"]),
        "gc": frozenset(
            ["disable", "enable", "freeze", "set_debug", "set_threshold", "unfreeze"]
        ),
        "gettext": frozenset(["bindtextdomain", "install", "textdomain"]),
        "mimetypes": frozenset(["add_type", "init"]),
        "os": frozenset(["nice", "putenv", "setpriority", "unsetenv"]),
        "signal": frozenset(
            [
                *("alarm", "pthread_sigmask", "set_wakeup_fd", "setitimer"),
                *("siginterrupt", "signal"),
            ]
        ),
        "socket": frozenset(["setdefaulttimeout"]),
        "sys": frozenset(["setprofile", "setswitchinterval", "settrace"]),
        "threading": frozenset(["setprofile", "settrace", "stack_size"]),
        "time": frozenset(["tzset"]),
        "tracemalloc": frozenset(["start", "stop"]),
    }
)
"""The functions that do, by their module."""

_HOMES = {"posix": "os", "thread": "threading"}


def process_changer(thing: object) -> str | None:
    """Return the name of a function that changes the whole process, or None."""
    if not has_type(thing, FunctionType, BuiltinFunctionType):
        return None
    # A module in C has the name of the one around it, with an underscore.
    home = str(getattr(thing, "__module__", "")).removeprefix("_")
    home = _HOMES.get(home, home)
    name = str(getattr(thing, "__name__", ""))
    return f"{home}.{name}" if name in _CHANGERS.get(home, ()) else None
