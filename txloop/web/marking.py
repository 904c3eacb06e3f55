"""Marks that a program does not set itself: by name, and by proof.

``--transactional Main`` marks the classes of that name, ``--transactional 'app.*'``
those of a module. A name that no handler has is most likely misspelt: then a message
says so.

``--auto`` marks the verbs that are proved to share nothing. A proof is the scan's: it
could follow all that the verb calls, and has found nothing. It holds for the arguments
with which the class is registered. A request may come with others: by routes that were
added since, or by a router of the program's own. Then the proof is made again, or
counts no more. What is not proved runs as in stock Tornado.
"""

from __future__ import annotations

import difflib
import fnmatch
from typing import TYPE_CHECKING
from weakref import WeakSet

from txloop.engine.marks import Mark
from txloop.loop.ioloop import on_options
from txloop.web.eligible import Plan, forget_plans, mark_matching, mark_proved, plan_for
from txloop.web.targets import (
    applications,
    known_target,
    mounted,
    register_all,
    targets_of,
)
from txloop.web.verdicts import all_found
from txloop.web.watched import findings_in_reach

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tornado.web import Application, RequestHandler

    from txloop.loop.options import Options
    from txloop.scan import Finding

__all__ = [
    "has_patterns",
    "is_auto",
    "mark_named",
    "proved_plan",
    "unmatched_patterns",
    "why_unproved",
]

_patterns: list[str] = []  # a registry, filled before the first request

_PROVED = Mark("commit", vouched=False, proved=True)

_on = False  # as the loop says that was made last; forked processes inherit it

_elsewhere: WeakSet[type[RequestHandler]] = WeakSet()
"""Classes that are given requests with arguments that no route names."""


def mark_named(patterns: Sequence[str], mark: Mark) -> None:
    """Treat handler classes as marked that one of the patterns names.

    Call it before the first request.
    """

    def matcher(handler_class: type[RequestHandler]) -> Mark | None:
        return mark if any(_fits(handler_class, one) for one in patterns) else None

    if patterns:
        _patterns.extend(patterns)
        mark_matching(matcher)


def has_patterns() -> bool:
    """Tell whether there are patterns."""
    return bool(_patterns)


def unmatched_patterns() -> list[str]:
    """Return a message for each pattern that names no handler of any application."""
    classes = [each for one in applications() for each in mounted(one)]
    return [
        _message(pattern, classes)
        for pattern in dict.fromkeys(_patterns)
        if not any(_fits(each, pattern) for each in classes)
    ]


def _message(pattern: str, classes: Sequence[type[RequestHandler]]) -> str:
    names = [name for each in classes for name in _names(each)]
    meant = difflib.get_close_matches(pattern, names, n=1)
    hint = f"; did you mean {meant[0]!r}?" if meant else ""
    return f"--transactional {pattern!r} marks nothing: no handler has that name{hint}"


def _fits(handler_class: type[RequestHandler], pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in _names(handler_class))


def _names(handler_class: type[RequestHandler]) -> tuple[str, str]:
    name = handler_class.__qualname__
    return name, f"{handler_class.__module__}.{name}"


def is_auto() -> bool:
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
