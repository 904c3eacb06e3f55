"""Objects of which the program notices when they come to their end.

A picture keeps alive what an object held (see `txloop.watch.pictures`). That does no
harm, unless the program finds out: by a weak reference, by ``__del__``, or since a file
or a connection is closed when nothing holds it any more.
"""

from __future__ import annotations

import threading
import types
import weakref
from typing import TYPE_CHECKING, Any

from txloop.scan.live_objects import class_has, is_application
from txloop.stm.origin import own_module_of
from txloop.watch.kinds import ATOMS, Kind, is_live_stream, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Trail", "is_missed", "is_missed_anywhere"]

_LASTING = (type, types.FunctionType, types.ModuleType)
"""What stays, as a rule, and so does what its names mean."""

_WITH_PARTS = (Kind.DICT, Kind.LIST, Kind.OBJECT, Kind.SET)
_count_references: Callable[[Any], int] = weakref.getweakrefcount


def is_missed(thing: object) -> bool:
    """Tell whether it is an object of the program's whose end the program notices."""
    cls = type(thing)
    if cls in ATOMS or issubclass(cls, _LASTING) or kind_of(thing) not in _WITH_PARTS:
        return False
    if own_module_of(cls) is None or is_application(cls):
        return False
    if issubclass(cls, threading.local):  # has weak references of its own
        return False
    return class_has(cls, "__del__") or _count_references(thing) > 0


def is_missed_anywhere(thing: object) -> bool:
    """Tell likewise of any object, also of those that are never pictured themselves."""
    kind = kind_of(thing)
    if kind is Kind.HELD_NEAR and hasattr(thing, "fileno"):
        return is_live_stream(thing)
    return kind is Kind.HELD or is_missed(thing)


class Trail:
    """What a walk went into, and from where; by identity, for as long as all lives."""

    def __init__(self) -> None:
        self._leading_to: dict[int, list[int]] = {}
        self._missed: list[int] = []
        self._current = 0

    def enter(self, thing: object) -> None:
        """Note that the walk goes into something now."""
        self._current = 0 if issubclass(type(thing), _LASTING) else id(thing)
        self.note(thing)

    def note(self, thing: object) -> None:
        """Note something that the walk may not go into."""
        if is_missed_anywhere(thing):
            self._missed.append(id(thing))

    def see(self, thing: object) -> None:
        """Note that what the walk is in leads to something."""
        if self._current:
            self._leading_to.setdefault(id(thing), []).append(self._current)

    def leading_to_missed(self) -> set[int]:
        """Return all that keeps alive objects of which the program would notice it."""
        found = set(self._missed)
        ahead = list(found)
        while ahead:
            new = set(self._leading_to.get(ahead.pop(), ())) - found
            found |= new
            ahead += new
        return found
