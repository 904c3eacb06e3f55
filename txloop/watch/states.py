"""What modules of the standard library keep for the whole process, beside objects.

It matters to code that uses the module, or a function of it, by whatever name.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # it has no stub
import copyreg
import gc
import mimetypes
import signal
import socket
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.watch.pictures import Thing, all_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from txloop.watch.pictures import Names

__all__ = ["State", "state_behind"]


class _Kept(NamedTuple):
    """What one module keeps.

    Attributes:
        what: What messages call it.
        look: Returns its parts, as they are now.
    """

    what: str
    look: Callable[[], Iterable[object]]


def _garbage() -> tuple[object, ...]:
    thresholds: tuple[int, ...] = getattr(gc, "get_threshold", tuple)()  # not on PyPy
    return gc.isenabled(), *thresholds


def _handlers() -> list[object]:
    # Python's own function makes members of enumerations of them, which takes longer.
    return [_signal.getsignal(number) for number in range(1, signal.NSIG)]


def _types() -> list[object]:
    if not mimetypes.inited:
        mimetypes.init()  # else the first use would look like a change
    known = mimetypes._db  # type: ignore[attr-defined] # by which its functions look up
    parts: list[object] = []
    for table in (*known.types_map, known.encodings_map, known.suffix_map):
        parts += table.keys()
        parts += table.values()
    return parts


def _dialects() -> list[object]:
    """Return what is registered with csv, by value: most code does it at each use."""
    csv: Any = sys.modules["csv"]
    parts: list[object] = [csv.field_size_limit()]
    for name in csv.list_dialects():
        dialect = csv.get_dialect(name)
        parts += [name, *(getattr(dialect, one, None) for one in _OF_DIALECTS)]
    return parts


_OF_DIALECTS = (
    *("delimiter", "doublequote", "escapechar", "lineterminator", "quotechar"),
    *("quoting", "skipinitialspace", "strict"),
)


def _prefixes() -> list[object]:
    trees: Any = sys.modules["xml.etree.ElementTree"]
    prefixes: dict[object, object] = trees._namespace_map
    return [*prefixes, *prefixes.values()]


def _reducers() -> list[object]:
    table = copyreg.dispatch_table
    return [*table, *table.values()]


_MADE_BY_URLOPEN = frozenset(
    [
        *("DataHandler", "FTPHandler", "FileHandler", "HTTPDefaultErrorHandler"),
        *("HTTPErrorProcessor", "HTTPHandler", "HTTPRedirectHandler", "HTTPSHandler"),
        *("ProxyHandler", "UnknownHandler"),
    ]
)


def _openers() -> list[object]:
    """Return what was installed, but not what `urlopen` makes at its first use."""
    opener: Any = getattr(sys.modules["urllib.request"], "_opener", None)
    names = {type(one).__name__ for one in getattr(opener, "handlers", ())}
    is_bare = type(opener).__name__ == "OpenerDirector" and names <= _MADE_BY_URLOPEN
    return [] if opener is None or is_bare else [opener]


_KEPT = {
    "calendar": _Kept(
        "the first day of a week", lambda: [sys.modules["calendar"].firstweekday()]
    ),
    "csv": _Kept("the dialects and limits of csv", _dialects),
    "copyreg": _Kept("the reducers in copyreg", _reducers),
    "gc": _Kept("how garbage is collected", _garbage),
    "mimetypes": _Kept("the tables of mimetypes", _types),
    "signal": _Kept("the signal handlers", _handlers),
    "socket": _Kept(
        "the default timeout of sockets", lambda: [socket.getdefaulttimeout()]
    ),
    "urllib.request": _Kept("the opener of urllib.request", _openers),
    "xml.etree.ElementTree": _Kept("the prefixes of XML's namespaces", _prefixes),
    "warnings": _Kept("warnings.filters", lambda: list(warnings.filters)),
}


_ASKED_BY = {"copy": "copyreg", "pickle": "copyreg"}
"""Modules that have no state, but use that of another one."""


def state_behind(thing: object) -> str | None:
    """Return the module whose state a module or function may use; None if it has none.

    Args:
        thing: What code uses by some name.
    """
    kind = type(thing)
    name: object = None
    if kind is types.ModuleType:
        name = vars(thing).get("__name__")
    elif kind in (types.FunctionType, types.BuiltinFunctionType):
        name = thing.__module__
    if not isinstance(name, str):
        return None
    name = name.removeprefix("_")  # their halves that are written in C
    name = _ASKED_BY.get(name, name)
    return name if name in _KEPT else None


class State(Thing):
    """What a module keeps; its name here is the module's."""

    __slots__ = ("_kept", "_picture")

    def retake(self) -> None:
        self._kept = _KEPT[self.name]
        self._picture = tuple(self._kept.look())
        self.parts = 10 + len(self._picture)

    def difference(self, names: Names | None) -> str | None:
        now = tuple(self._kept.look())
        if len(now) == len(self._picture) and all_same(self._picture, lambda: now):
            return None
        return self._kept.what
