"""Marks by name, for handlers of a program that is not to be changed.

``--transactional Main`` marks the classes of that name, ``--transactional 'app.*'``
those of a module. A name that no handler has is most likely misspelt: then a message
says so.
"""

from __future__ import annotations

import difflib
import fnmatch
from typing import TYPE_CHECKING

from txloop.web.eligible import mark_matching
from txloop.web.targets import applications, mounted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tornado.web import RequestHandler

    from txloop.engine.marks import Mark

__all__ = ["are_given", "mark_named", "unmatched"]

_patterns: list[str] = []  # a registry, filled before the first request


def mark_named(patterns: Sequence[str], mark: Mark) -> None:
    """Treat handler classes as marked that one of the patterns names.

    Call it before the first request.
    """

    def matcher(handler_class: type[RequestHandler]) -> Mark | None:
        return mark if any(_fits(handler_class, one) for one in patterns) else None

    if patterns:
        _patterns.extend(patterns)
        mark_matching(matcher)


def are_given() -> bool:
    """Tell whether there are patterns."""
    return bool(_patterns)


def unmatched() -> list[str]:
    """Return a message for each pattern that names no handler of any application."""
    classes = [each for one in applications() for each in mounted(one)]
    return [
        _message(pattern, classes)
        for pattern in dict.fromkeys(_patterns)
        if not any(_fits(each, pattern) for each in classes)
    ]


def _message(pattern: str, classes: Sequence[type[RequestHandler]]) -> str:
    names = [name for each in classes for name in _names(each)]
    meant = difflib.get_close_matches(pattern, names, n=1)
    hint = f"; did you mean {meant[0]!r}?" if meant else ""
    return f"--transactional {pattern!r} marks nothing: no handler has that name{hint}"


def _fits(handler_class: type[RequestHandler], pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in _names(handler_class))


def _names(handler_class: type[RequestHandler]) -> tuple[str, str]:
    name = handler_class.__qualname__
    return name, f"{handler_class.__module__}.{name}"
