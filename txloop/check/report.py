"""What ``check`` prints: a line for each verb, a paragraph for each shared object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from txloop.check.judging import IN_PARALLEL, ON_LOOP, STOCK
from txloop.scan import FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from txloop.check.judging import Shared, Verdict

__all__ = ["as_json", "as_text"]


def as_json(verdicts: Sequence[Verdict], objects: Sequence[Shared]) -> str:
    """Return the report for programs; fields may be added, never change meaning."""
    return json.dumps(
        {
            "verbs": [
                {
                    "name": one.name,
                    "handler": one.handler,
                    "verb": one.verb,
                    "runs": one.runs,
                    "reasons": list(one.reasons),
                }
                for one in verdicts
            ],
            "objects": [
                {
                    "name": one.name,
                    "type": one.kind,
                    "verbs": list(one.verbs),
                    "lines": list(one.lines),
                    "remedy": one.remedy,
                }
                for one in objects
            ],
        },
        indent=1,
    )


def as_text(verdicts: Sequence[Verdict], objects: Sequence[Shared]) -> str:
    """Return the report for people."""
    return "\n".join([*_verbs(verdicts, objects), *_objects(objects)])


def _verbs(verdicts: Sequence[Verdict], objects: Sequence[Shared]) -> Iterator[str]:
    width = max(len(one.name) for one in verdicts)
    for one in verdicts:
        yield f"{one.name:{width}}  {_summary(one, objects)}"
        for reason in one.reasons:
            if reason.startswith("note: "):
                yield f"{'':{width}}  {reason}"
    if not any(one.marked for one in verdicts):
        yield ""
        yield (
            "Nothing is marked: mark handlers with @txloop.transactional, or run the "
            "program with --transactional PATTERN."
        )


def _summary(verdict: Verdict, objects: Sequence[Shared]) -> str:
    shared = [one.name for one in objects if verdict.name in one.verbs]
    acts = [one for one in verdict.findings if one.kind is FindingKind.ACTS_OUTSIDE]
    names = ", ".join([*shared, *dict.fromkeys(f"it {one.name}" for one in acts)])
    if verdict.runs == ON_LOOP:
        return f"{ON_LOOP}: {names}"
    if verdict.runs == IN_PARALLEL or verdict.marked:
        return verdict.runs
    if verdict.findings:
        return f"not marked; would run {ON_LOOP}: {names}"
    if verdict.judged:
        return f"not marked; would run {IN_PARALLEL}"
    return f"{STOCK}: {verdict.reasons[0]}"


def _objects(objects: Sequence[Shared]) -> Iterator[str]:
    for one in objects:
        kind = f" ({one.kind})" if one.kind else ""
        count = f"{len(one.verbs)} verb" + "s" * (len(one.verbs) > 1)
        yield ""
        yield f"{one.name}{kind} keeps {count} from running in parallel:"
        yield from (f"    {line}" for line in one.lines)
        yield f"  {one.remedy}."
