"""The names under which a program that has reached its loop keeps its objects.

Strange are those that are neither plain nor of its own classes: a connection, a
counter, a pool. Nothing of what they give was put there by the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tornado.web import Application

from txloop.scan.live_objects import has_type
from txloop.scan.source import own_modules
from txloop.sharing.making import NOTED, PLAIN
from txloop.stm.container import Container
from txloop.stm.origin import is_own_module, own_module_of
from txloop.web.targets import all_targets, applications

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["names_of_plain", "strange_names"]

_MOST_OBJECTS = 10_000
_KNOWN = (*PLAIN, tuple, frozenset, type(None), Container)


def strange_names() -> set[str]:
    """Return the names that lead to strange objects only."""
    strange: set[str] = set()
    others: set[str] = set()
    for namespace in _namespaces():
        for name, thing in list(namespace.items()):
            (others if _is_known(thing) else strange).add(str(name))
    return strange - others


def names_of_plain() -> dict[int, set[str]]:
    """Return the names of each plain object, by its identity: it may have several."""
    found: dict[int, set[str]] = {}
    for namespace in _namespaces():
        for name, thing in list(namespace.items()):
            if type(thing) in NOTED:
                found.setdefault(id(thing), set()).add(str(name))
    return found


def _is_known(thing: object) -> bool:
    """Tell whether it is plain, of the program's, or stands for what is not seen."""
    kind = type(thing)
    return (
        has_type(thing, *_KNOWN)
        or own_module_of(kind) is not None
        or hasattr(kind, "__get__")  # a method, a property, a slot
    )


def _namespaces() -> Iterator[Mapping[str, object]]:
    waiting: list[object] = [*own_modules(), *applications()]
    for target in all_targets():
        yield target.handler_kwargs
        waiting += target.handler_kwargs.values()
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_OBJECTS:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if has_type(one, dict):
            waiting += dict.values(one)
        elif type(one) in (list, tuple, set, frozenset):
            waiting += one  # type: ignore[arg-type] # it is iterable
        elif is_own_module(one) or _is_own(one):
            namespace = getattr(one, "__dict__", {})
            yield namespace
            waiting += namespace.values()
        settings = getattr(one, "__dict__", {}).get("settings")
        if has_type(settings, dict):
            yield settings


def _is_own(thing: object) -> bool:
    cls = thing if has_type(thing, type) else type(thing)
    return own_module_of(cls) is not None or has_type(thing, Application)
