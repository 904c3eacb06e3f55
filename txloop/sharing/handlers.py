"""Which classes are handlers: what Tornado derives from, and what these mix in.

A handler lives for one request, so what it keeps for itself is not shared. A store or
a `logging.Handler` may have the same names and methods, and lives on: so what classes
are is asked where the program runs, not of its text.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from tornado.web import RequestHandler

from txloop.scan.syntax import last_name
from txloop.stm.origin import file_of, own_module_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "VERBS",
    "handlers_of_program",
    "is_given_texts",
    "is_handler_class",
    "mark_handlers",
]

VERBS = ("delete", "get", "head", "options", "patch", "post", "put")
"""Methods of handlers; their arguments are texts out of the request's path."""

_OF_SOCKETS = ("on_message", "on_ping", "on_pong", "open")
"""Methods of WebSockets whose arguments are texts or bytes."""


def handlers_of_program() -> set[tuple[str, str]]:
    """Return the files and the qualified names of the classes that are handlers.

    What only handlers are derived from is one, too. Call it where the program runs.
    """
    handlers = {*_derived_from(RequestHandler)}
    mixed_in = {base for one in handlers for base in one.__mro__} - handlers
    alone = (one for one in mixed_in if handlers.issuperset(_ends_of(one)))
    found = [(one, own_module_of(one)) for one in [*handlers, *alone]]
    return {
        (file_of(module), one.__qualname__)
        for one, module in found
        if module is not None
    }


def _derived_from(base: type) -> Iterator[type]:
    derived: list[type] = type.__subclasses__(base)
    for one in derived:
        yield one
        yield from _derived_from(one)


def _ends_of(base: type) -> Iterator[type]:
    """Yield the classes that are derived from one, and from which none is derived."""
    derived: list[type] = type.__subclasses__(base)
    for one in derived:
        yield from _ends_of(one)
    if not derived:
        yield base


def mark_handlers(tree: ast.AST, names: Collection[str], around: str = "") -> None:
    """Note in a module's tree which classes are handlers.

    Args:
        tree: The syntax of the module, or a part of it.
        names: The qualified names of those classes.
        around: What the qualified names of that part begin with.
    """
    for node in ast.iter_child_nodes(tree):
        inside = around
        match node:
            case ast.ClassDef(name=name):
                node.is_handler = around + name in names  # type: ignore[attr-defined] # trees take notes
                inside = f"{around}{name}."
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                inside = f"{around}{name}.<locals>."
            case ast.expr():
                continue
        mark_handlers(node, names, inside)


def is_handler_class(owner: ast.ClassDef | None) -> TypeGuard[ast.ClassDef]:
    """Tell whether a class was marked as a handler."""
    return getattr(owner, "is_handler", False)


def is_given_texts(owner: ast.ClassDef | None, method: str) -> bool:
    """Tell whether Tornado gives a method texts only: of a path, or a message."""
    if not is_handler_class(owner):
        return False
    of_socket = any("Socket" in last_name(base) for base in owner.bases)
    return method in VERBS or (of_socket and method in _OF_SOCKETS)
