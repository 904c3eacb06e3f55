"""The command line: conflict-log [report|top|diff|check|export] FILE..."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conflict_log.commands import (
    OK,
    UNREADABLE,
    USAGE,
    run_check,
    run_diff,
    run_export,
    run_report,
    run_top,
)
from conflict_log.errors import ConflictLogError, FormatError, UsageError
from conflict_log.escaping import escaped
from conflict_log.formats import FORMATS, KIND_NAMES
from conflict_log.rows import GROUPINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "make_parser"]

COMMANDS: Final = ("report", "top", "diff", "check", "export")

_EXAMPLES: Final = {
    "report": "conflict-log report stm.log --by handler",
    "export": "conflict-log export stm.log -o report.html",
    "check": "conflict-log check stm.log --max-lost-share 10",
    "diff": "conflict-log diff before.log after.log",
    "top": "conflict-log top stm.log --last 60",
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> None:  # type: ignore[override]  # it ends, too
        """Exit with code 2."""
        self.exit(USAGE, f"{self.prog}: {escaped(message)}\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(
        prog="conflict-log",
        description="Show which conflicts cost how much time. PYPYSTM=stm.log makes"
        " txloop and PyPy-STM write the log.",
        epilog="Without a command, FILE is reported: conflict-log stm.log",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    report = _add_command(
        commands, "report", "Print how much time was lost, and at which lines"
    )
    _add_input(report)
    _add_rows(report)
    report.add_argument(
        "--compat", action="store_true", help="print PyPy's own text instead"
    )
    _add_color(report)
    report.set_defaults(run=run_report)

    export = _add_command(commands, "export", "Export a log to another format")
    _add_input(export)
    _add_rows(export, top=0)
    export.add_argument(
        "--format",
        choices=EXPORT_NAMES,
        help="default: told by the suffix of the output's name",
    )
    export.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to FILE (default: standard output)",
    )
    export.set_defaults(run=run_export)

    check = _add_command(
        commands,
        "check",
        "Compare a log with budgets, for CI; exit with 1 if one was not kept",
    )
    _add_input(check)
    _add_budgets(check)
    _add_baseline(check)
    check.set_defaults(run=run_check)

    diff = _add_command(
        commands, "diff", "Show what got better or worse between two logs"
    )
    diff.add_argument("old", metavar="OLD", help="the log of before")
    diff.add_argument("new", metavar="NEW", help="the log of after")
    _add_reading(diff)
    _add_rows(diff)
    diff.add_argument(
        "--old-source-root",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="folder of the source code of OLD (default: that of NEW)",
    )
    _add_color(diff)
    diff.set_defaults(run=run_diff)

    top = _add_command(commands, "top", "Follow a log that is being written")
    top.add_argument("file", metavar="FILE", help="a log that is being written")
    top.add_argument(
        "--numbering", choices=list(FORMATS), help="of the events (default: detected)"
    )
    top.add_argument(
        "--last",
        type=_seconds,
        default=300.0,
        metavar="SECONDS",
        help="show the last seconds (default: 300); 0 is all",
    )
    top.add_argument(
        "--interval",
        type=_seconds,
        default=2.0,
        metavar="SECONDS",
        help="time between two refreshes (default: 2)",
    )
    top.add_argument("--looks", type=_count, metavar="N", help="stop after N refreshes")
    _add_rows(top)
    _add_color(top)
    top.set_defaults(run=run_top)
    return parser


def _add_command(
    commands: argparse._SubParsersAction[_Parser], name: str, what: str
) -> argparse.ArgumentParser:
    epilog = f"example: {_EXAMPLES[name]}"
    return commands.add_parser(name, help=what, description=f"{what}.", epilog=epilog)


def _add_color(parser: argparse.ArgumentParser) -> None:
    choices = ["auto", "always", "never"]
    parser.add_argument(
        "--color",
        choices=choices,
        default="auto",
        help="default: auto, colors on a terminal only",
    )


def _add_budgets(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    for name, kind, metavar, what in (
        ("--max-abort-rate", _share, "PERCENT", "more of the attempts were aborted"),
        ("--max-lost-share", _share, "PERCENT", "more of the busy time was lost"),
        ("--max-lost", _seconds, "SECONDS", "more time was lost in all"),
        ("--min-commits", _count, "N", "there are fewer commits"),
    ):
        add(name, type=kind, metavar=metavar, help=f"fail if {what}")
    add(
        "--forbid",
        action="append",
        default=[],
        metavar="FILE[:LINE]",
        help="fail if any time was lost at this place",
    )
    add("--strict", action="store_true", help="exit with 4 if the log is damaged")


def _add_baseline(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--baseline", metavar="LOG", help="fail if more was lost than in this log")
    add(
        "--max-worse",
        type=_tolerance,
        default=0.1,
        metavar="PERCENT",
        help="how much more 1000 commits may lose than in the baseline (default: 10)",
    )
    for name, what in (
        ("--source-root", ""),
        ("--old-source-root", " of the baseline"),
    ):
        add(
            name,
            action="append",
            default=[],
            type=Path,
            metavar="FOLDER",
            help=f"where the source{what} is, to find lines that have moved",
        )


EXPORT_NAMES: Final = (
    *("json", "csv", "html", "speedscope", "chrome"),
    *("collapsed", "github", "quickfix"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] not in {*COMMANDS, "-h", "--help"}:
        words.insert(0, "report")
    options = make_parser().parse_args(words)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except UsageError as error:
        return _fail(error, USAGE)
    except (FormatError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            # Whoever read has seen enough; nothing is left to be flushed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        return _fail(error, UNREADABLE)
    except ConflictLogError as error:
        return _fail(error, USAGE)
    except KeyboardInterrupt:
        return 130
    return code


def _fail(error: Exception, code: int) -> int:
    """Say what is wrong in one line."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        name = os.fsdecode(error.filename)
        text = f"{name}: {error.strerror}{_meant(name)}"
    print(f"conflict-log: {escaped(text)}", file=sys.stderr)
    return code


def _meant(name: str) -> str:
    """Return a hint where a file that is not there has nearly a command's name."""
    meant = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean the command {meant[0]}?" if meant else ""


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1e9:
        raise argparse.ArgumentTypeError(f"must be a time in seconds, not {text}")
    return number


def _share(text: str) -> float:
    number = float(text.removesuffix("%"))
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"must be from 0 to 100 per cent, not {text}")
    return number / 100


def _tolerance(text: str) -> float:
    number = float(text.removesuffix("%"))
    if not 0 <= number < 1e9:
        raise argparse.ArgumentTypeError(f"must be at least 0 per cent, not {text}")
    return number / 100


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, not {number}")
    return number


def _add_input(parser: argparse.ArgumentParser) -> None:
    """Add what says which logs, and which part of them."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="a log; - is standard input")
    _add_reading(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--numbering", choices=list(FORMATS), help="of the events (default: detected)")
    add("--no-forks", action="store_true", help="do not read FILE.fork<PID>")
    since = "seconds after the first event (default: the whole log)"
    add("--from", dest="begin", type=_seconds, metavar="SECONDS", help=since)
    add("--to", dest="end", type=_seconds, metavar="SECONDS", help=since)
    add(
        "--kind",
        action="append",
        default=[],
        choices=KIND_NAMES,
        metavar="KIND",
        help="only rows of that kind, as write-read or inevitable",
    )
    add(
        "--file",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only lines of such files, as '*/app.py'",
    )
    add(
        "--handler",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only such handlers, as 'GET *'",
    )


def _add_rows(parser: argparse.ArgumentParser, top: int = 10) -> None:
    """Add what says how to show it."""
    add = parser.add_argument
    add(
        "--by",
        choices=list(GROUPINGS),
        default="line",
        help="what makes a row (default: line)",
    )
    what = f"how many rows (default: {top or 'all'}); 0 is all"
    add("--top", type=_count, metavar="N", help=what)
    parser.set_defaults(usual_top=top)
    add(
        "--source-root",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="folder of the source code (default: here)",
    )
