"""The verdicts, and the objects that they are about.

Whether a verb runs in parallel is asked of the functions that decide it at run time:
`txloop.web.eligible` and `txloop.web.verdicts` for requests, `txloop.engine.calls` for
marked functions, and for both the watch, which tells what can never be copied.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.engine import calls
from txloop.engine.marks import mark_of
from txloop.scan import FindingKind, scan_once
from txloop.scan.source import own_modules
from txloop.stm.callables import is_coroutine, name_of
from txloop.stm.origin import own_module_of
from txloop.watch import held_in_reach, roots_of
from txloop.web import marking
from txloop.web.eligible import (
    NO_VERB,
    ON_MESSAGE,
    may_wait,
    plan_for,
    verbs_of,
    why_not,
)
from txloop.web.targets import applications, mounted, register_all
from txloop.web.verdicts import acts_outside, held_because
from txloop.web.watched import findings_in_reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tornado.web import RequestHandler

    from txloop.scan import Finding

__all__ = ["IN_PARALLEL", "ON_LOOP", "STOCK", "Shared", "Verdict", "shared", "verdicts"]

IN_PARALLEL = "in parallel"
ON_LOOP = "on the loop thread"
STOCK = "as in stock Tornado"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one verb or function will run.

    Attributes:
        name: What `txloop.stats` calls it.
        handler: The handler class, "" for a function.
        verb: Its verb, "" for a function.
        runs: `IN_PARALLEL`, `ON_LOOP` or `STOCK`.
        reasons: Why not in parallel, one line each.
        notes: What to know before it is marked, likewise.
        findings: What of the program's state is to blame, marked or not.
        marked: Whether it is marked, and could be a transaction.
        judged: Whether its code could be a transaction's.
        unproved: Whether it would be one if the scan proved that it shares nothing.
    """

    name: str
    handler: str
    verb: str
    runs: str
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    marked: bool = False
    judged: bool = False
    unproved: bool = False


@dataclass(slots=True)
class Shared:
    """An object that keeps verbs on the loop thread.

    Attributes:
        name: What the program calls it.
        kind: The name of its type, "" where it is not known.
        remedy: What to do about it, once for all verbs.
        verbs: The names of those that it holds.
        lines: The lines at which they read or change it.
    """

    name: str
    kind: str
    remedy: str
    verbs: dict[str, None] = field(default_factory=dict)
    lines: dict[str, None] = field(default_factory=dict)
    keys: set[object] = field(default_factory=set)

    def take(self, other: Shared) -> None:
        """Add what is known of another, which turns out to be the same object."""
        self.keys |= other.keys
        self.verbs |= other.verbs
        self.lines |= other.lines
        self.advise(other.remedy)

    def advise(self, remedy: str) -> None:
        """Keep of the remedies the one that says most of what has to change."""
        self.remedy = max(self.remedy, remedy, key=len)


def verdicts() -> list[Verdict]:
    """Judge each verb of the handlers that are mounted, and each marked function."""
    register_all()  # which tells whose code they are
    handlers = dict.fromkeys(each for one in applications() for each in mounted(one))
    own = [each for each in handlers if own_module_of(each) is not None]
    with scan_once():
        verbs = [
            _judge_verb(handler_class, verb)
            for handler_class in own
            for verb in sorted(verbs_of(handler_class))
            if why_not(handler_class, verb) != NO_VERB
        ]
        return [*verbs, *map(_judge_function, _marked_functions())]


def _judge_verb(handler_class: type[RequestHandler], verb: str) -> Verdict:
    handler = handler_class.__qualname__
    name = f"{verb} {handler}"
    reason = why_not(handler_class, verb)
    if reason is not None:
        return Verdict(name, handler, verb, STOCK, (reason,))
    marked = plan_for(handler_class, verb) is not None
    if marking.is_auto() and not marked:
        if verb == ON_MESSAGE:
            reason = "messages are transactions only where they are marked"
            return Verdict(name, handler, verb, STOCK, (reason,))
        return _unproved(handler_class, verb)
    findings = held_because(handler_class, verb) or _reached(handler_class, verb)
    reasons = tuple(finding.describe() for finding in findings)
    would = ON_LOOP if findings else IN_PARALLEL
    if not marked:
        reasons = (f"it is not marked; if it were, it would run {would}", *reasons)
    notes = _notes(acts_outside(handler_class, verb), findings)
    if verb != ON_MESSAGE and may_wait(handler_class, verb):
        notes += ("it is a coroutine; if it waits, it runs as in stock",)
    return Verdict(
        name,
        handler,
        verb,
        would if marked else STOCK,
        reasons,
        notes,
        findings,
        marked,
        judged=True,
    )


def _unproved(handler_class: type[RequestHandler], verb: str) -> Verdict:
    """Return the verdict on a verb without a mark, where the others are proved."""
    handler = handler_class.__qualname__
    found = marking.why_unproved(handler_class, verb)
    findings = [one for one in found if one.kind is not FindingKind.NOT_FOLLOWED]
    reasons = [one.describe() for one in findings]
    return Verdict(
        f"{verb} {handler}",
        handler,
        verb,
        STOCK,
        ("it is not proved that it shares nothing", *reasons),
        tuple(one.describe() for one in found if one not in findings),
        tuple(findings),
        judged=True,
        unproved=True,
    )


def _reached(handler_class: type[RequestHandler], verb: str) -> tuple[Finding, ...]:
    """Return what the watch finds when it first sees the verb."""
    plan = plan_for(handler_class, verb)
    if plan is not None and plan.mark.trust:
        return ()
    return findings_in_reach(handler_class, verb)


def _notes(acts: Iterable[Finding], findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return what may happen more than once in a verb that its author marks."""
    return tuple(
        f"{act.statement()}; it may happen more than once"
        for act in acts
        if act not in findings
    )


def _judge_function(function: Callable[..., object]) -> Verdict:
    name = name_of(function)
    if is_coroutine(function):
        return Verdict(name, "", "", STOCK, ("it is a coroutine",))
    findings = tuple(calls.held_because(function))
    mark = mark_of(function)
    if not findings and not (mark is not None and mark.trust):
        finding = held_in_reach(roots_of(function, ()))
        findings = () if finding is None else (finding,)
    reasons = tuple(finding.describe() for finding in findings)
    runs = ON_LOOP if findings else IN_PARALLEL
    return Verdict(
        name, "", "", runs, reasons, findings=findings, marked=True, judged=True
    )


def _marked_functions() -> Iterator[Callable[..., object]]:
    """Return the marked functions of the program's modules, each once."""
    seen = set()
    for module in own_modules():
        for function in list(vars(module).values()):
            marked = inspect.isfunction(function) and mark_of(function) is not None
            if marked and function not in seen:
                seen.add(function)
                yield function


def shared(found: Iterable[Verdict]) -> list[Shared]:
    """Return what the findings are about, each object once."""
    objects: list[Shared] = []
    for verdict in found:
        for finding in verdict.findings:
            if finding.kind is FindingKind.ACTS_OUTSIDE:
                continue
            keys = _keys(finding)
            same = [one for one in objects if not one.keys.isdisjoint(keys)]
            if same:
                one = same[0]
            else:
                one = Shared(finding.name, finding.thing, finding.advice)
                objects.append(one)
            for other in same[1:]:
                one.take(other)
                objects.remove(other)
            one.keys |= keys
            one.verbs[verdict.name] = None
            one.lines[finding.statement()] = None
            if finding.written:
                one.lines[finding.written] = None
            one.advise(finding.advice)
    return objects


def _keys(finding: Finding) -> set[object]:
    """Return what tells the object from others: its name, and its identity."""
    keys: set[object] = {finding.identity} if finding.identity else set()
    # Other handlers' arguments and other functions' variables may have the same name.
    if "." in finding.name or not keys:
        keys.add(finding.name)
    return keys
