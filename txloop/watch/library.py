"""Objects of the standard library that do not show by attributes what they keep.

Loggers and their handlers: what is logged in a transaction is given to handlers when it
has committed, on the loop thread. So of a logger counts what code asks it for, and of a
handler what code names, but not what its own methods use.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from txloop.scan.known import LOGS

if TYPE_CHECKING:
    import decimal
    from collections.abc import Mapping, Set

__all__ = [
    "ADAPTING",
    "flags_of",
    "logging_attributes",
    "numbers_of",
    "record_keeper",
]

ADAPTING = frozenset(["extra", "logger", "process"])
"""What an adapter's own methods use of it."""

_INNER = frozenset(["_cache", "lock", "manager", "name", "parent", "root"])

_LISTS = {
    "handlers": ("addHandler", "hasHandlers", "removeHandler"),
    "filters": ("addFilter", "removeFilter"),
}
"""What loggers and handlers have, with the methods that use it."""

_OF_ANY_HANDLER = frozenset([*vars(logging.NullHandler()), "formatter", "stream"])


def logging_attributes(thing: object) -> Mapping[str, object]:
    """Return the attributes of a logger, an adapter or a handler.

    What its methods use stands under their names, too.
    """
    attributes = vars(thing)
    found = {key: attributes[key] for key in attributes.keys() - _INNER}
    for name, methods in _LISTS.items():
        if name in found:
            found.update(dict.fromkeys(methods, found[name]))
    return found


def record_keeper(thing: object, names: Set[str]) -> str | None:
    """Return what code both fills by logging and reads; None if there is no such thing.

    Args:
        thing: A handler that code reaches by a name.
        names: All that the code uses.
    """
    if not issubclass(type(thing), logging.Handler) or LOGS.isdisjoint(names):
        return None
    kept = vars(thing).keys() - _OF_ANY_HANDLER
    return min(kept & names, default=None)


def numbers_of(context: decimal.Context) -> Mapping[str, object]:
    """Return all that a context of decimal numbers does to results."""
    names = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
    found: dict[str, object] = {name: getattr(context, name) for name in names}
    return {**found, "traps": _set_ones(context.traps)}


def flags_of(context: decimal.Context) -> Mapping[str, object]:
    """Return the flags that operations leave in a context."""
    return dict.fromkeys(("flags", "clear_flags"), _set_ones(context.flags))


def _set_ones(signals: Mapping[Any, bool]) -> str:
    return " ".join(sorted(one.__name__ for one in signals if signals[one]))
