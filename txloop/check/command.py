"""The command: rehearses a program, prints what was found, and ends the process.

It prints a line for each verb, and a paragraph for each shared object.
"""

from __future__ import annotations

import os
import sys
from json import dumps
from typing import TYPE_CHECKING, NoReturn

from txloop.check.judging import IN_PARALLEL, ON_LOOP, STOCK, shared, verdicts
from txloop.check.rehearsal import end_children, rehearse
from txloop.scan import FindingKind
from txloop.web import marking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from txloop.check.judging import Shared, Verdict

__all__ = ["EXIT_CODES", "as_json", "as_text", "check"]


def as_json(verdicts: Sequence[Verdict], objects: Sequence[Shared]) -> str:
    """Return the report for programs; fields may be added, never change meaning."""
    return dumps(
        {
            "verbs": [
                {
                    "name": one.name,
                    "handler": one.handler,
                    "verb": one.verb,
                    "runs": one.runs,
                    "reasons": [*one.reasons, *_noted(one)],
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
        yield from (f"{'':{width}}  {note}" for note in _noted(one))
    if not any(one.marked or one.unproved for one in verdicts):
        yield ""
        yield (
            "Nothing is marked: mark handlers with @txloop.transactional, or run the "
            "program with --transactional PATTERN or --auto."
        )


def _noted(verdict: Verdict) -> list[str]:
    return [f"note: {note}" for note in verdict.notes]


def _summary(verdict: Verdict, objects: Sequence[Shared]) -> str:
    shared = [one.name for one in objects if verdict.name in one.verbs]
    acts = [one for one in verdict.findings if one.kind is FindingKind.ACTS_OUTSIDE]
    names = ", ".join([*shared, *dict.fromkeys(f"it {one.name}" for one in acts)])
    if verdict.runs == ON_LOOP:
        return f"{ON_LOOP}: {names}"
    if verdict.runs == IN_PARALLEL or verdict.marked:
        return verdict.runs
    if verdict.unproved:
        return f"{STOCK}: {names or 'it uses what cannot be followed'}"
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


EXIT_CODES = (
    "check ends with 0 if all that is marked runs in parallel, 1 if something that is "
    "marked runs on the loop thread, 2 if there is nothing to judge or the command is "
    "wrong."
)


def check(program: str, *, is_module: bool, json: bool = False) -> NoReturn:
    """Print how each handler of a program will run, and end with an exit code.

    What the program prints goes to the standard error.

    Args:
        program: A file or a module's name.
        is_module: Which of the two.
        json: Whether to print for programs.
    """
    report = _take_stdout()

    def at_loop() -> NoReturn:
        _end(report, json=json)

    ended = rehearse(program, is_module=is_module, at_loop=at_loop)
    print(f"txloop: {program} {ended}", file=sys.stderr)
    _end(report, json=json)


def _take_stdout() -> TextIO:
    """Return the standard output, and let the program print to the standard error."""
    sys.stdout.flush()
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return report


def _end(report: TextIO, *, json: bool) -> NoReturn:
    """Judge what is there, print it, and let nothing more of the program happen."""
    found = verdicts()
    objects = shared(found)
    if not found:
        print(
            "txloop: there is no application with handlers of the program, and "
            "nothing is marked",
            file=sys.stderr,
        )
    for message in marking.unmatched_patterns():
        print(f"txloop: {message}", file=sys.stderr)
    if json:
        print(as_json(found, objects), file=report)
    elif found:
        print(as_text(found, objects), file=report)
    report.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    end_children()
    held = any(verdict.runs == ON_LOOP for verdict in found)
    os._exit(int(held) if found else 2)
