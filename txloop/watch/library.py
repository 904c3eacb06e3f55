"""Objects of the standard library that do not show by attributes what they keep.

Loggers and their handlers: what is logged in a transaction is given to handlers when it
has committed, on the loop thread. So of a logger counts what code asks it for, and of a
handler what code names, but not what its own methods use.
"""

from __future__ import annotations

import abc
import logging
import weakref
from typing import TYPE_CHECKING, Any

from txloop.watch.pictures import Thing

if TYPE_CHECKING:
    import decimal
    from collections.abc import Callable, Mapping, Set

    from txloop.watch.pictures import Names

__all__ = [
    "ADAPTING",
    "Registered",
    "Subclasses",
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

_LOGS = frozenset(
    [
        *("critical", "debug", "error", "exception", "fatal", "info", "log"),
        *("warn", "warning"),
    ]
)


def logging_attributes(thing: object) -> Callable[[], Mapping[str, object]]:
    """Return what returns the attributes of a logger, an adapter or a handler.

    What its methods use stands under their names, too.
    """
    attributes = vars(thing)

    def look() -> Mapping[str, object]:
        found = {key: attributes[key] for key in attributes.keys() - _INNER}
        for name, methods in _LISTS.items():
            if name in found:
                found.update(dict.fromkeys(methods, found[name]))
        return found

    return look


def record_keeper(thing: object, names: Set[str]) -> str | None:
    """Return what code both fills by logging and reads; None if there is no such thing.

    Args:
        thing: A handler that code reaches by a name.
        names: All that the code uses.
    """
    if not issubclass(type(thing), logging.Handler) or _LOGS.isdisjoint(names):
        return None
    kept = vars(thing).keys() - _OF_ANY_HANDLER
    return min(kept & names, default=None)


def numbers_of(context: decimal.Context) -> Callable[[], Mapping[str, object]]:
    """Return what returns all that a context of decimal numbers does to results."""
    names = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")

    def look() -> Mapping[str, object]:
        found: dict[str, object] = {name: getattr(context, name) for name in names}
        found["traps"] = _set_ones(context.traps)
        return found

    return look


def flags_of(context: decimal.Context) -> Callable[[], Mapping[str, object]]:
    """Return what returns the flags that operations leave in a context."""

    def look() -> Mapping[str, object]:
        return dict.fromkeys(("flags", "clear_flags"), _set_ones(context.flags))

    return look


def _set_ones(signals: Mapping[Any, bool]) -> str:
    return " ".join(sorted(one.__name__ for one in signals if signals[one]))


class Registered(Thing):
    """The classes that were registered with an abstract one."""

    __slots__ = ("_picture", "_token")

    def retake(self) -> None:
        self._token = abc.get_cache_token()
        self._picture = _registry(self.object)

    def difference(self, names: Names | None) -> str | None:
        token = abc.get_cache_token()
        if token == self._token:  # no class was registered, with any abstract one
            return None
        if _registry(self.object).keys() - self._picture.keys():
            return ""
        self._token = token
        return None


def _registry(cls: Any) -> dict[int, object]:
    """Return the references to the registered classes, which are there for good."""
    own = vars(cls).get("_abc_registry")  # as on PyPy
    references = abc._get_dump(cls)[0] if own is None else own.data  # type: ignore[attr-defined] # of its own
    return {id(one): one for one in references}


class Subclasses(Thing):
    """The subclasses that a class tells of; they may go by themselves."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        found = type.__subclasses__(self.object)
        self._picture = {id(one): weakref.ref(one) for one in found}
        self.parts = 1 + len(found)

    def difference(self, names: Names | None) -> str | None:
        for cls in type.__subclasses__(self.object):
            known = self._picture.get(id(cls))
            if known is None or known() is not cls:
                return ""
        return None
