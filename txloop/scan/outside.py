"""Calls that change the world outside the program, or the process as a whole.

What of the world is not found here is stopped when it happens (`txloop.watch.outside`),
on the loop's behalf as here: only for code that was marked by a pattern.

What belongs to the process is plain shared state, of which C or the standard library
keeps the only copy: a forked worker changes its own, and a thread may not be allowed
to. What the watch compares by value (`txloop.watch.ambient`) is not named here, nor
what is as a rule set to the same value again and again, or put back at once.
"""

from __future__ import annotations

import ast
import os
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import has_type
from txloop.scan.value import constant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ACTS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("_sqlite3", "connect"): "opens the database",
        ("os", "popen"): "starts",
        ("posix", "pwrite"): "writes to",
        ("posix", "remove"): "removes",
        ("posix", "rename"): "renames",
        ("posix", "replace"): "renames",
        ("posix", "rmdir"): "removes",
        ("posix", "symlink"): "writes",
        ("posix", "system"): "starts",
        ("posix", "truncate"): "changes",
        ("posix", "unlink"): "removes",
        ("posix", "write"): "writes to",
        ("posix", "writev"): "writes to",
        ("shutil", "copy"): "copies",
        ("shutil", "copy2"): "copies",
        ("shutil", "copyfile"): "copies",
        ("shutil", "move"): "renames",
        ("shutil", "rmtree"): "removes",
        ("socket", "create_connection"): "connects to",
        ("sqlite3", "connect"): "opens the database",
        ("subprocess", "Popen"): "starts",
        ("subprocess", "call"): "starts",
        ("subprocess", "check_call"): "starts",
        ("subprocess", "check_output"): "starts",
        ("subprocess", "run"): "starts",
    }
)
"""What functions of the standard library do, by their module and name."""

HARMLESS_PATHS = frozenset([os.devnull, "/dev/stdout", "/dev/stderr"])
"""They lead nowhere, or where `print` leads, which nothing stops."""


def act_of(thing: object, node: ast.Call) -> str | None:
    """Say what a call of the object does to the world; None if that is not known."""
    words = "writes" if thing is open and _writes(node) else _words(thing)
    target = constant(node.args[0]) if node.args else None
    if words is None or target == ":memory:" or target in HARMLESS_PATHS:
        return None
    return f"{words} {target if isinstance(target, str) else _written(node.args)}"


def _written(arguments: Sequence[ast.expr]) -> str:
    """Return how the code names the first argument; other parts may be secret."""
    named = bool(arguments) and isinstance(arguments[0], ast.Name | ast.Attribute)
    return ast.unparse(arguments[0]) if named else "something"


def _words(thing: object) -> str | None:
    if not has_type(thing, FunctionType, BuiltinFunctionType, type):
        return None
    name = str(getattr(thing, "__name__", ""))
    return _ACTS.get((str(thing.__module__), name))


def _writes(node: ast.Call) -> bool:
    named = (each.value for each in node.keywords if each.arg == "mode")
    mode = constant(node.args[1] if len(node.args) > 1 else next(named, node.func))
    return isinstance(mode, str) and not set(mode).isdisjoint("wax+")


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
        "tornado.locale": frozenset(
            ["load_gettext_translations", "load_translations", "set_default_locale"]
        ),
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
