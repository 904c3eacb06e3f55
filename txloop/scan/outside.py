"""Calls that change the world outside the program, as far as the source tells.

What is not found here is stopped when it happens (`txloop.outside`), on the loop's
behalf as here: only for code that was marked by a pattern.
"""

from __future__ import annotations

import os
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan._targets import constant
from txloop.scan.things import has_type

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

_ACTS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("_sqlite3", "connect"): "opens the database",
        ("os", "popen"): "starts",
        ("posix", "remove"): "removes",
        ("posix", "rename"): "renames",
        ("posix", "replace"): "renames",
        ("posix", "rmdir"): "removes",
        ("posix", "symlink"): "writes",
        ("posix", "system"): "starts",
        ("posix", "truncate"): "changes",
        ("posix", "unlink"): "removes",
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

_HARMLESS = frozenset([":memory:", os.devnull, "/dev/stdout", "/dev/stderr"])


def act_of(thing: object, node: ast.Call) -> str | None:
    """Say what a call of the object does to the world; None if that is not known."""
    words = "writes" if thing is open and _writes(node) else _words(thing)
    target = constant(node.args[0]) if node.args else None
    if words is None or target in _HARMLESS:
        return None
    return f"{words} {target}" if isinstance(target, str) else f"{words} something"


def _words(thing: object) -> str | None:
    if not has_type(thing, FunctionType, BuiltinFunctionType, type):
        return None
    name = str(getattr(thing, "__name__", ""))
    return _ACTS.get((str(thing.__module__), name))


def _writes(node: ast.Call) -> bool:
    named = (each.value for each in node.keywords if each.arg == "mode")
    mode = constant(node.args[1] if len(node.args) > 1 else next(named, node.func))
    return isinstance(mode, str) and not set(mode).isdisjoint("wax+")
