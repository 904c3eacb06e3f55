"""Why a verb runs on the loop thread: the one answer, for requests as for `check`.

A verb is judged once, with all that its class is registered with, when the first
request for its application comes in. So neither what requests do later nor the order in
which they come makes a difference.
"""

from __future__ import annotations

import logging
import weakref
from functools import partial
from typing import TYPE_CHECKING

from txloop.scan import (
    FindingKind,
    has_scanned,
    is_quiet_after,
    scan_handler,
    scan_once,
    unless_it_fails,
)
from txloop.web.eligible import (
    is_watched,
    loggers_of,
    logs_by_itself,
    plan_for,
    verbs_of,
)
from txloop.web.targets import mounted, register_all, targets_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tornado.web import Application, RequestHandler

    from txloop.scan import Finding
    from txloop.web.targets import Target

__all__ = [
    "acts_outside",
    "all_found",
    "ends_quietly",
    "forget_verdicts",
    "held_because",
    "is_judged",
    "is_served_elsewhere",
    "judge_all",
]

_ATTRIBUTE = "_txloop_judged"

_log = logging.getLogger("txloop")

_Known = tuple["Hashable", "tuple[Finding, ...]"]

# What `_findings` has found out; asking again gives the same.
_verdicts: weakref.WeakKeyDictionary[type[RequestHandler], dict[str, _Known]]
_verdicts = weakref.WeakKeyDictionary()


def is_judged(application: Application) -> bool:
    """Tell whether the verbs of the application have been judged."""
    return _ATTRIBUTE in application.__dict__


def judge_all(application: Application, loop: object = None) -> None:
    """Judge every marked verb of the application; again does nothing.

    Loop thread only, when the application is set up.

    Args:
        application: The application.
        loop: The one of asyncio's that serves it.
    """
    server = None if loop is None else weakref.ref(loop)  # one object for each loop
    if application.__dict__.get(_ATTRIBUTE, _ATTRIBUTE) is server:
        return
    application.__dict__[_ATTRIBUTE] = server
    with scan_once():
        for handler_class in mounted(application):
            for verb in verbs_of(handler_class):
                if plan_for(handler_class, verb) is not None:
                    held_because(handler_class, verb, application)


def is_served_elsewhere(application: Application, loop: object) -> bool:
    """Tell whether requests for it have come, and the last ones on another loop."""
    server = application.__dict__.get(_ATTRIBUTE)
    return server is not None and (loop is None or server() is not loop)


def held_because(
    handler_class: type[RequestHandler],
    verb: str,
    application: Application | None = None,
) -> tuple[Finding, ...]:
    """Return what keeps requests of that kind on the loop thread; nothing for most.

    Whether they can be transactions at all is asked of `eligible`. A verb is judged
    with all arguments with which its class is registered.

    Loop thread only.

    Args:
        handler_class: The handlers' class.
        verb: The verb.
        application: Where they are registered; None for any.
    """
    plan = plan_for(handler_class, verb)
    if plan is not None and plan.mark.trust:
        return ()
    passed = {FindingKind.NOT_FOLLOWED}
    if plan is None or plan.mark.vouched:
        passed.add(FindingKind.ACTS_OUTSIDE)
    found = _findings(handler_class, verb, application)
    return tuple(one for one in found if one.kind not in passed)


def forget_verdicts(handler_class: type[RequestHandler]) -> None:
    """Have the verbs of a class judged again when they are next asked about."""
    _verdicts.pop(handler_class, None)


def all_found(handler_class: type[RequestHandler], verb: str) -> tuple[Finding, ...]:
    """Return all that the scan finds, and what it could not follow.

    Loop thread only. Nothing is found of a class that is registered nowhere.
    """
    return _findings(handler_class, verb)


def acts_outside(handler_class: type[RequestHandler], verb: str) -> tuple[Finding, ...]:
    """Return what requests of that kind do to the world, as far as the source tells."""
    found = _findings(handler_class, verb)
    return tuple(one for one in found if one.kind is FindingKind.ACTS_OUTSIDE)


def ends_quietly(target: Target) -> bool:
    """Tell whether a front may do what follows the answers of a handler.

    That is an `on_finish` or an access log of the program's own which is seen to do
    nothing but log; or nothing of the program's at all. Loop thread only.
    """
    handler_class, application = target.handler_class, target.application
    if not (is_watched(handler_class) or logs_by_itself(application)):
        return True
    try:
        return is_quiet_after(handler_class, application, loggers_of(application))
    except Exception:
        _log.exception("what follows answers of %s could not be read", handler_class)
        return False


def _findings(
    handler_class: type[RequestHandler],
    verb: str,
    application: Application | None = None,
) -> tuple[Finding, ...]:
    if not has_scanned():
        register_all()
    targets = targets_of(handler_class)
    if application is not None:
        targets = [one for one in targets if one.application is application]
    key = tuple(target.number for target in targets)
    known = _verdicts.setdefault(handler_class, {}).get(verb)
    if known is None or known[0] != key:
        label = f"{verb} {handler_class.__qualname__}"
        found = {
            finding: None
            for target in targets
            for finding in unless_it_fails(label, partial(_scan, target, verb))
        }
        order = sorted(found, key=lambda one: (one.file, one.line, one.name))
        known = _verdicts[handler_class][verb] = key, tuple(order)
    return known[1]


def _scan(target: Target, verb: str) -> tuple[Finding, ...]:
    return scan_handler(
        target.handler_class, verb, target.handler_kwargs, target.application
    )
