"""The routes of applications, as fronts have copies of them.

A front finds the handler of a request by the routes that there were when it was forked.
Routes that are added later may take precedence over others. So as soon as an
application's routes change, none of its verbs runs in a front until new fronts are
there.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from tornado.routing import RuleRouter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tornado.web import Application

__all__ = ["Routing"]

_SETTINGS = ("default_handler_class", "default_handler_args")


class Routing:
    """What the routes of some applications were; the loop thread's.

    Attributes:
        changed: Those of which they are known to be otherwise now.
    """

    def __init__(self) -> None:
        """Begin with no applications."""
        self._parts: WeakKeyDictionary[Application, tuple[object, ...]]
        self._parts = WeakKeyDictionary()
        self.changed: WeakSet[Application] = WeakSet()

    def take(self, application: Application) -> None:
        """Remember the routes of an application as they are now."""
        self._parts[application] = tuple(_parts(application))
        self.changed.discard(application)

    def look(self) -> bool:
        """Tell whether routes are found to be otherwise just now.

        Their applications are in `changed` until the routes are taken again.
        """
        found = False
        for application, parts in list(self._parts.items()):
            if application not in self.changed:
                now = tuple(_parts(application))
                if len(now) != len(parts) or not all(map(operator.is_, now, parts)):
                    self.changed.add(application)
                    found = True
        return found


def _parts(application: Application) -> Iterator[object]:
    yield from _parts_of(application.default_router)
    yield from _parts_of(application.wildcard_router)
    for name in _SETTINGS:
        yield application.settings.get(name)


def _parts_of(router: RuleRouter) -> Iterator[object]:
    yield router
    for rule in router.rules:
        yield from (rule, rule.matcher, rule.target, rule.target_kwargs)
        if isinstance(rule.target, RuleRouter):
            yield from _parts_of(rule.target)
