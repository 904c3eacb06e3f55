"""The command: rehearses a program, prints what was found, and ends the process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from txloop.check.judging import ON_LOOP, shared, verdicts
from txloop.check.rehearsal import rehearse
from txloop.check.report import as_json, as_text

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["EXIT_CODES", "check"]

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
    if json:
        print(as_json(found, objects), file=report)
    elif found:
        print(as_text(found, objects), file=report)
    report.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    held = any(verdict.runs == ON_LOOP for verdict in found)
    os._exit(int(held) if found else 2)
