"""What each command of the command line does, and the exit code that it ends with."""

from __future__ import annotations

import importlib.util
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from conflict_log.errors import UsageError
from conflict_log.escaping import escaped
from conflict_log.loading import load
from conflict_log.progress import told
from conflict_log.rows import keep
from conflict_log.sources import Sources
from conflict_log.summary import Summary, summarize

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from conflict_log.budgets import Verdict
    from conflict_log.report import Report

__all__ = [
    "DAMAGED",
    "OK",
    "OVER_BUDGET",
    "UNREADABLE",
    "USAGE",
    "run_check",
    "run_diff",
    "run_export",
    "run_report",
    "run_top",
]

# The exit codes: all is well, over budget, wrong question, no log, a damaged log.
OK: Final = 0
OVER_BUDGET: Final = 1
USAGE: Final = 2
UNREADABLE: Final = 3
DAMAGED: Final = 4


def read_report(files: Sequence[str], options: argparse.Namespace) -> Report:
    """Return the report of some logs, with what the filters leave of it."""
    with told(files, forks=not options.no_forks) as progress:
        report = load(
            *files,
            numbering=options.numbering,
            forks=not options.no_forks,
            begin_seconds=options.begin,
            end_seconds=options.end,
            progress=progress,
        )
    kept = keep(report.losses, options.kind, options.file, options.handler)
    return replace(report, losses=kept)


def _summary(options: argparse.Namespace) -> tuple[Summary, Sources]:
    sources = Sources(options.source_root)
    report = read_report(options.files, options)
    top = options.usual_top if options.top is None else options.top
    return summarize(report, sources, options.by, top), sources


def run_report(options: argparse.Namespace) -> int:
    """Print a report."""
    if options.compat:
        return _compat(options)
    _require_rich()
    from conflict_log.terminal import make_console, print_summary

    summary, _ = _summary(options)
    print_summary(summary, make_console(options.color))
    return OK


def _require_rich() -> None:
    """Refuse what needs the extra; its modules are imported after this only."""
    if importlib.util.find_spec("rich") is None:
        raise UsageError("rich is missing: pip install 'txloop[log]', or use export")


def _compat(options: argparse.Namespace) -> int:
    from conflict_log.compat import print_log

    for path in options.files:
        printed = print_log(path, options.numbering, options.top)
        sys.stdout.flush()
        binary: IO[bytes] = sys.stdout.buffer
        binary.write(printed.text)
        binary.flush()
        if printed.note:
            note = f"{path}: {printed.note}; what follows is ours"
            print(f"conflict-log: {escaped(note)}", file=sys.stderr)
    return OK


def run_export(options: argparse.Namespace) -> int:
    """Write a report for another program."""
    from conflict_log.exports import export, format_of

    name = options.format
    if name is None:
        if options.output is None:
            raise UsageError("export needs --format or --output")
        name = format_of(options.output)
    summary, sources = _summary(options)
    text = export(name, summary, sources)
    if options.output is None:
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")
    return OK


def run_check(options: argparse.Namespace) -> int:
    """Hold a log against budgets."""
    from conflict_log.budgets import Budget, check

    budget = Budget(
        options.max_abort_rate,
        options.max_lost_share,
        options.max_lost,
        options.min_commits,
        options.forbid,
    )
    unlimited = budget == Budget(forbidden=[]) and not options.baseline
    if unlimited and not options.strict:
        raise UsageError("check needs a budget, such as --max-abort-rate 5%")
    report = read_report(options.files, options)
    verdicts = check(report, budget)
    if options.baseline:
        verdicts += _check_baseline(report, options)
    for one in verdicts:
        print(f"{'ok  ' if one.kept else 'OVER'}  {escaped(one.text)}")
    for note in report.notes:
        print(f"note: {escaped(note)}", file=sys.stderr)
    if options.strict and report.damaged:
        return DAMAGED
    return OK if all(one.kept for one in verdicts) else OVER_BUDGET


def _check_baseline(report: Report, options: argparse.Namespace) -> list[Verdict]:
    from conflict_log.budgets import check_baseline
    from conflict_log.comparing import compare

    new_sources = Sources(options.source_root)
    old_sources = Sources(options.old_source_root or options.source_root)
    baseline = read_report([options.baseline], options)
    comparison = compare(baseline, report, old_sources, new_sources)
    return check_baseline(comparison, options.max_worse)


def run_diff(options: argparse.Namespace) -> int:
    """Print what differs between two logs."""
    _require_rich()
    from conflict_log.comparing import compare
    from conflict_log.terminal import make_console, print_comparison

    new_sources = Sources(options.source_root)
    old_sources = Sources(options.old_source_root or options.source_root)
    old, new = (read_report([one], options) for one in (options.old, options.new))
    comparison = compare(old, new, old_sources, new_sources, options.by)
    top = options.usual_top if options.top is None else options.top
    print_comparison(comparison, options.by, top, make_console(options.color))
    return OK


def run_top(options: argparse.Namespace) -> int:
    """Print a report again and again."""
    _require_rich()
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from conflict_log.following import Follower
    from conflict_log.terminal import make_console, renderables

    follower, sources = (
        Follower(options.file, options.numbering, options.last or None),
        Sources(options.source_root),
    )
    console = make_console(options.color)
    top = options.usual_top if options.top is None else options.top
    looks = options.looks
    Path(options.file).stat()  # a name that is wrong now will not come true
    try:
        with Live(console=console, auto_refresh=False, screen=False) as live:
            while True:
                report = follower.look()
                shown = Group(Text(f"{escaped(options.file)}: nothing yet"))
                if report is not None:
                    summary = summarize(report, sources, options.by, top)
                    shown = Group(*renderables(summary))
                live.update(shown, refresh=True)
                looks = None if looks is None else looks - 1
                if looks == 0:
                    return OK
                time.sleep(options.interval)
    finally:
        follower.close()
