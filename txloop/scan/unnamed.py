"""The program's code that runs although no line names it.

A container is not looked into: what it holds now says nothing of what it will hold. So
a method that is called on something unknown may be one of any class whose objects can
be there, and a property, too. Objects of other classes mean something on the loop
thread only; an attempt elsewhere that comes upon one is given up.

What a transaction logs is handed to filters and handlers when it has committed, on the
loop thread. So logging keeps no verb there; but what reads what a handler has written
finds the loop thread's only there. Nothing in the code names the handler when it logs:
these here are looked up in `logging` itself.
"""

from __future__ import annotations

import ast
import enum
import logging
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, cast

from txloop.scan.live_objects import class_label, functions_of, has_type, is_container
from txloop.scan.member import class_value, member
from txloop.scan.value import (
    Bound,
    Descriptor,
    Family,
    Instance,
    Live,
    alternatives,
    shared,
)
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.scan.frame import Frame
    from txloop.scan.source import Sources
    from txloop.scan.value import Value
    from txloop.scan.walk import Walk

__all__ = ["Contents", "walk_logs"]


class Contents:
    """The methods and properties of what containers may hold."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._instances: list[Instance] | None = None
        self._found: dict[str, tuple[Bound | Descriptor, ...]] = {}

    def called(self, name: str) -> tuple[Bound | Descriptor, ...]:
        """Return what an attribute of that name may be."""
        if name not in self._found:
            if self._instances is None:
                self._instances = [*self._all()]
            values = (member(one, name, self._sources) for one in self._instances)
            found = (one for one in values if isinstance(one, Bound | Descriptor))
            self._found[name] = tuple(found)
        return self._found[name]

    def called_on(
        self, method: ast.Attribute, frame: Frame
    ) -> tuple[Bound | Descriptor, ...]:
        """Return what a method may be of which no code of the program is known.

        ``self.write`` of a handler is Tornado's, whatever classes have a `write`, too.
        """
        of = method.value
        receivers = alternatives(
            frame.value(of.id) if isinstance(of, ast.Name) else None
        )
        known = all(self._is_inherited(one, method.attr) for one in receivers)
        return () if known else self.called(method.attr)

    def _is_inherited(self, receiver: Value, name: str) -> bool:
        """Tell whether a name of an object is what its class has, and nothing else."""
        if not isinstance(receiver, Instance):
            return False
        assigned = {*receiver.unshared, *self._sources.assigned(receiver.type)}
        has = any(name in vars(one) for one in receiver.type.__mro__)
        return has and name not in assigned

    def _all(self) -> Iterator[Instance]:
        for cls in self._sources.classes(_may_be_held):
            # What it holds is no shared state: that is in cells, or cannot change.
            yield Instance(cls, unshared={*self._sources.assigned(cls)})


def _may_be_held(cls: type) -> bool:
    frozen = getattr(vars(cls).get("__dataclass_params__"), "frozen", False)
    return frozen or is_container(cls) or issubclass(cls, tuple | enum.Enum)


_CALLED = ("emit", "filter", "flush", "format", "handle")
"""Methods of handlers, filters and formatters that `logging` calls."""

_SETTINGS = frozenset(["filters"])  # which no record changes


def walk_logs(walk: Walk) -> None:
    """Walk through what handlers and filters do that are there now."""
    handlers, modules = list(_handlers()), list(walk.sources.modules())
    for handler in handlers:
        label = class_label(type(handler))
        for name, thing in list(vars(handler).items()):
            if name not in _SETTINGS:
                slots = ((id(handler), name),)
                value = shared(thing, f"{label}.{name}", Family.GLOBAL, slots)
                emit = cast("FunctionType", type(handler).emit)
                walk.notes.change_by_library(value, emit)
    for thing in (*handlers, *_filters(handlers), *_formatters(handlers)):
        if has_type(thing, FunctionType, MethodType):
            owner = getattr(thing, "__self__", None)
            receiver = None if owner is None else _value(owner)
            walk.run(Bound(functions_of(thing), receiver))
        elif any(own_module_of(type(thing)) is each for each in modules):
            for name in _CALLED:
                walk.call_method(_value(thing), name)


def _value(thing: object) -> Live:
    if has_type(thing, type):
        return class_value(thing)
    return shared(thing, class_label(type(thing)), Family.GLOBAL)


def _handlers() -> Iterator[logging.Handler]:
    """Yield all handlers that exist, whether a logger has them or another handler."""
    for reference in list(logging._handlerList):  # type: ignore[attr-defined] # no other way
        handler = reference()
        if handler is not None:
            yield handler


def _filters(handlers: list[logging.Handler]) -> Iterator[object]:
    loggers = list(logging.root.manager.loggerDict.values())
    for one in (logging.root, *loggers, *handlers):
        if has_type(one, logging.Filterer):
            yield from list(one.filters)


def _formatters(handlers: list[logging.Handler]) -> Iterator[object]:
    for handler in handlers:
        if handler.formatter is not None:
            yield handler.formatter
