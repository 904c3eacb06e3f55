"""Verbs without a mark: those that are proved to share nothing are marked here.

A proof is the scan's: it could follow all that the verb calls, and has found nothing.
It holds for the arguments with which the class is registered. A request may come with
others: by routes that were added since, or by a router of the program's own. Then the
proof is made again, or counts no more. What is not proved runs as in stock Tornado.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from txloop.engine.marks import Mark
from txloop.loop.ioloop import on_options
from txloop.web.eligible import Plan, forget_plans, mark_proved, plan_for
from txloop.web.reached import findings_in_reach
from txloop.web.targets import known_target, register_all, targets_of
from txloop.web.verdicts import all_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tornado.web import Application, RequestHandler

    from txloop.loop.options import Options
    from txloop.scan import Finding

__all__ = ["is_on", "proved_plan", "why_unproved"]

_PROVED = Mark("commit", vouched=False, proved=True)

_on = False  # as the loop says that was made last; forked processes inherit it

_elsewhere: WeakSet[type[RequestHandler]] = WeakSet()
"""Classes that are given requests with arguments that no route names."""


def is_on() -> bool:
    """Tell whether verbs without a mark are proved."""
    return _on


def why_unproved(handler_class: type[RequestHandler], verb: str) -> tuple[Finding, ...]:
    """Return what speaks against running a verb as a transaction without a mark.

    Loop thread only.
    """
    return all_found(handler_class, verb) or findings_in_reach(handler_class, verb)


def proved_plan(
    application: Application,
    handler_class: type[RequestHandler],
    handler_kwargs: Mapping[str, object],
    method: str,
    plan: Plan,
) -> Plan | None:
    """Return how a request runs of which `plan_for` says that its verb is proved.

    Loop thread only.
    """
    target = known_target(application, handler_class, handler_kwargs)
    if target is not None and method in target.proved:
        return plan
    register_all()
    target = known_target(application, handler_class, handler_kwargs)
    if target is None:
        _elsewhere.add(handler_class)
    forget_plans()
    return plan_for(handler_class, method)


def _prove(handler_class: type[RequestHandler], method: str) -> Mark | None:
    if not _on or handler_class in _elsewhere or why_unproved(handler_class, method):
        return None
    targets = targets_of(handler_class)
    for target in targets:
        target.proved.add(method)
    return _PROVED if targets else None


def _hear(options: Options) -> None:
    global _on
    if options.auto is not _on:
        _on = options.auto
        forget_plans()


mark_proved(_prove)
on_options(_hear)
