"""Numbers by which workers know applications, handler classes and their arguments.

None of these pickles in general. All that exist when the workers are forked are
inherited by them, so a number is enough.
"""

from __future__ import annotations

import functools
import gc
import itertools
import operator
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from tornado.routing import RuleRouter
from tornado.web import Application, RequestHandler

from txloop.loop.patches import patch
from txloop.scan import Served, add_served
from txloop.stm.cell_names import add_roots
from txloop.stm.origin import claim
from txloop.stm.threads import asked_by_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from txloop.watch import Roots

__all__ = [
    "Target",
    "all_targets",
    "applications",
    "copied_target",
    "known_target",
    "mounted",
    "register_all",
    "target_numbered",
    "target_of",
    "targets_of",
]

_ATTRIBUTE = "_txloop_targets"

_numbers = itertools.count(1)
_targets: WeakValueDictionary[int, Target] = WeakValueDictionary()  # a registry


class Target:
    """Where a request goes; lives as long as its application."""

    __txloop_private__ = True  # no program changes it

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
        self.roots: dict[str, Roots] = asked_by_all({})  # of the watch, by verb
        self.proved: set[str] = set()  # verbs that share nothing: see `marking`
        _targets[self.number] = self
        _claim(type(application), Application)
        _claim(handler_class, RequestHandler)

    def __reduce__(self) -> tuple[object, ...]:
        return target_numbered, (self.number, self.handler_class.__qualname__)


def copied_target(number: int) -> Target:
    """Return what is to be the target of that number, in a copy of the program."""
    target = _targets[number] = Target.__new__(Target)
    target.number = number
    return target


def _claim(cls: type, kind: type) -> None:
    """Make the class, and those of that kind that it inherits from, the program's."""
    for each in cls.__mro__:
        if issubclass(each, kind):
            claim(each.__module__)


def target_numbered(number: int, name: str) -> Target:
    """Return the target that has that number in the loop's process.

    Raises:
        LookupError: the workers were forked before it was made; `name` says whose.
    """
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
    # By identity: the arguments are the rule's own dict, or one made for the request.
    key = (id(handler_class), id(handler_kwargs) if handler_kwargs else 0)
    target = targets.get(key)
    if target is None:
        target = Target(application, handler_class, handler_kwargs)
        if registering or not handler_kwargs:
            targets[key] = target
    return target


def known_target(
    application: Application,
    handler_class: type[RequestHandler],
    handler_kwargs: Mapping[str, object],
) -> Target | None:
    """Return the target of that application, class and arguments, if it is kept."""
    targets = application.__dict__.get(_ATTRIBUTE)
    if targets is None:
        return None
    key = (id(handler_class), id(handler_kwargs) if handler_kwargs else 0)
    found: Target | None = targets.get(key)
    return found


def all_targets() -> list[Target]:
    """Return all targets that there are."""
    return list(_targets.values())


def targets_of(handler_class: type[RequestHandler]) -> list[Target]:
    """Return the known targets of a handler class."""
    found = [one for one in all_targets() if one.handler_class is handler_class]
    return sorted(found, key=operator.attrgetter("number"))


def register_all() -> None:
    """Make all targets of all applications, so that workers forked now know them."""
    for application in applications():
        for handler_class, handler_kwargs in _handlers(application):
            target_of(application, handler_class, handler_kwargs, registering=True)


def applications() -> list[Application]:
    """Return the applications that there are, the oldest first."""
    return list(_applications.values())


def mounted(application: Application) -> list[type[RequestHandler]]:
    """Return the handler classes that the application's rules name."""
    return list(dict.fromkeys(each for each, _ in _handlers(application)))


def _named_arguments() -> Iterator[tuple[str, object]]:
    """Yield what handlers and settings are given, with the names that it has there."""
    for application in list(_applications.values()):
        yield "application", application
    for target in all_targets():
        yield from target.handler_kwargs.items()
        for name, value in target.application.settings.items():
            yield f"settings[{name!r}]", value


add_roots(_named_arguments)


def _served() -> Iterator[Served]:
    register_all()  # it also claims their code as the program's own
    for application in applications():
        for handler_class, handler_kwargs in _handlers(application):
            yield Served(handler_class, handler_kwargs, application)


add_served(_served)


def _with_subclasses(kind: type[Application]) -> set[type]:
    return {kind}.union(*map(_with_subclasses, kind.__subclasses__()))


def _applications_so_far() -> list[Application]:
    kinds = _with_subclasses(Application)
    # `type`, not `isinstance`: proxies would be asked for their class.
    return [one for one in gc.get_objects() if type(one) in kinds]


def _notice_applications() -> None:
    """Remember each application that is made from now on."""
    initialize = Application.__init__

    @functools.wraps(initialize)
    def initialize_and_note(self: Application, *args: Any, **kwargs: Any) -> None:
        initialize(self, *args, **kwargs)
        _applications[id(self)] = self

    patch(Application, "__init__", initialize_and_note)


_applications: WeakValueDictionary[int, Application] = WeakValueDictionary(
    {id(one): one for one in _applications_so_far()}
)
_notice_applications()


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
