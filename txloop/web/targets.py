"""What workers know applications, handler classes and their arguments by: numbers.

None of these pickles in general. All that exist when the workers are forked are
inherited by them, so a number is enough.
"""

from __future__ import annotations

import gc
import itertools
import operator
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from tornado.routing import RuleRouter
from tornado.web import Application, RequestHandler

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Target", "register_all", "target_of", "targets_of"]

_ATTRIBUTE = "_txloop_targets"

_numbers = itertools.count(1)
_targets: WeakValueDictionary[int, Target] = WeakValueDictionary()  # a registry


class Target:
    """Where a request goes; lives as long as its application."""

    def __init__(
        self,
        application: Application,
        handler_class: type[RequestHandler],
        handler_kwargs: Mapping[str, object],
    ) -> None:
        self.application = application
        self.handler_class = handler_class
        self.handler_kwargs = handler_kwargs
        self.number = next(_numbers)
        _targets[self.number] = self

    def __reduce__(self) -> tuple[object, ...]:
        return _find, (self.number, self.handler_class.__qualname__)


def _find(number: int, name: str) -> Target:
    target = _targets.get(number)
    if target is None:
        raise LookupError(
            f"{name} was added to its application after the workers were forked"
        )
    return target


def target_of(
    application: Application,
    handler_class: type[RequestHandler],
    handler_kwargs: Mapping[str, object],
    *,
    registering: bool = False,
) -> Target:
    """Return the target of that application, handler class and arguments.

    Arguments that were not there when the targets were registered may have been made
    for this one request, by a router of the program's own: these are not kept.
    """
    targets: dict[tuple[int, int], Target] | None
    targets = application.__dict__.get(_ATTRIBUTE)
    if targets is None:
        targets = application.__dict__[_ATTRIBUTE] = {}
    # The arguments are the rule's own dict, or one made for the request.
    key = (id(handler_class), id(handler_kwargs) if handler_kwargs else 0)
    target = targets.get(key)
    if target is None:
        target = Target(application, handler_class, handler_kwargs)
        if registering or not handler_kwargs:
            targets[key] = target
    return target


def targets_of(handler_class: type[RequestHandler]) -> list[Target]:
    """Return the known targets of a handler class."""
    found = [one for one in _targets.values() if one.handler_class is handler_class]
    return sorted(found, key=operator.attrgetter("number"))


def register_all() -> None:
    """Make all targets of all applications, so that workers forked now know them."""
    for thing in gc.get_objects():
        # `type`, not `isinstance`: proxies would be asked for their class.
        if issubclass(type(thing), Application):
            for handler_class, handler_kwargs in _handlers(thing):
                target_of(thing, handler_class, handler_kwargs, registering=True)


def _handlers(
    application: Application,
) -> Iterator[tuple[type[RequestHandler], Mapping[str, object]]]:
    yield from _routes(application.default_router)
    yield from _routes(application.wildcard_router)
    default = application.settings.get("default_handler_class")
    if default is not None:
        yield default, application.settings.get("default_handler_args", {})


def _routes(
    router: RuleRouter,
) -> Iterator[tuple[type[RequestHandler], Mapping[str, object]]]:
    for rule in router.rules:
        if isinstance(rule.target, RuleRouter):
            yield from _routes(rule.target)
        elif isinstance(rule.target, type) and issubclass(rule.target, RequestHandler):
            yield rule.target, rule.target_kwargs or {}
