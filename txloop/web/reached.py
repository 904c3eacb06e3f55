"""What a request's verb can reach: where the watch on plain objects begins."""

from __future__ import annotations

import asyncio
import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from tornado.web import Application, RequestHandler

from txloop.watch import Roots, add_functions, held_in_reach, names_in_templates
from txloop.web.eligible import plan_for, verbs_of
from txloop.web.targets import all_targets, targets_of
from txloop.web.verdicts import is_served_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.scan import Finding
    from txloop.web.frozen import FrozenRequest
    from txloop.web.targets import Target

__all__ = ["findings_in_reach", "roots_of_request", "roots_of_verb"]

_VERBS = frozenset(verb.lower() for verb in RequestHandler.SUPPORTED_METHODS)

# What Tornado calls of a handler, or a handler of itself, besides its verb.
_METHODS = frozenset(
    name for name in dir(RequestHandler) if not name.startswith("__")
) - {
    *_VERBS,
    # These run on the loop thread, after the commit ...
    *("on_connection_close", "on_finish"),
    # ... and these are called by the program alone.
    *("render", "render_string", "reverse_url"),
}


def roots_of_request(target: Target, frozen: FrozenRequest, *_: object) -> Roots:
    """Return what a call of `run_request` really runs, given its arguments."""
    return roots_of_verb(target, frozen.method.lower())


def roots_of_verb(target: Target, verb: str) -> Roots:
    """Return where the walk of one verb begins."""
    roots = target.roots.get(verb)
    if roots is None:
        roots = target.roots[verb] = _roots(target, verb)
    return roots


def findings_in_reach(
    handler_class: type[RequestHandler], verb: str
) -> tuple[Finding, ...]:
    """Return which plain objects in a verb's reach keep it on the loop thread."""
    targets = targets_of(handler_class)
    found = [held_in_reach(roots_of_verb(target, verb.lower())) for target in targets]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _roots(target: Target, verb: str) -> Roots:
    handler_class, application = target.handler_class, target.application

    def template_names() -> Iterable[str]:
        module = sys.modules.get(handler_class.__module__)
        folder = os.path.dirname(getattr(module, "__file__", None) or "")
        return names_in_templates(application.settings, folder)

    return Roots(
        (target.number, verb),
        (
            (handler_class.__qualname__, handler_class),
            *target.handler_kwargs.items(),
            ("initialize", target.handler_kwargs),
        ),
        _METHODS | {verb, "transforms"},
        template_names,
        SimpleNamespace(
            application=application,
            settings=application.settings,
            # What Tornado uses of it, without any code that names it.
            reverse_url=_routes(application),
            transforms=application.transforms,
            ui=(application.ui_methods, application.ui_modules),
        ),
    )


def _routes(application: Application) -> tuple[object, ...]:
    """Return the lists and tables of routes, which may get more."""
    routers = (application.default_router, application.wildcard_router)
    return tuple(
        one for router in routers for one in (router.rules, router.named_rules)
    )


def _verbs() -> Iterator[Roots]:
    """Yield where the walks of all verbs begin that run as transactions.

    Those of applications that other loops have served are left out: there may be many
    in a process that runs tests, waiting to be collected.
    """
    loop = asyncio._get_running_loop()
    for target in all_targets():
        if is_served_elsewhere(target.application, loop):
            continue
        for verb in verbs_of(target.handler_class):
            plan = plan_for(target.handler_class, verb)
            if plan is not None and not plan.mark.trust:
                yield roots_of_verb(target, verb.lower())


add_functions(_verbs)
