"""The report for a terminal, or a pipe, by rich."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conflict_log.escaping import escaped
from conflict_log.summary import binned
from conflict_log.words import percent, seconds, sparkline, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from conflict_log.comparing import Comparison
    from conflict_log.report import Report
    from conflict_log.summary import Entry, Summary

__all__ = ["make_console", "print_comparison", "print_summary", "renderables"]

_COLUMNS = 20
_PIPE_WIDTH = 140
_SIDES = 3


def make_console(color: str) -> Console:
    """Return where to print: "auto" colours are for terminals, not for pipes."""
    if color == "never":
        console = Console(no_color=True, highlight=False, force_terminal=False)
    elif color == "always":
        console = Console(force_terminal=True, highlight=False)
    else:
        console = Console(highlight=False)
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


def print_summary(summary: Summary, console: Console) -> None:
    """Print a report: the verdict first."""
    for one in renderables(summary):
        console.print(one)


def renderables(summary: Summary) -> Iterator[RenderableType]:
    """Yield the parts of a report, from the top."""
    yield Text(_head(summary.report), style="dim")
    yield Text(escaped(summary.verdict), style="bold")
    yield Text()
    yield _parts_table(summary)
    yield Text()
    if summary.entries:
        yield _rows_table(summary)
    else:
        yield Text("No conflicts.")
    for note in summary.report.notes:
        yield Text(f"note: {escaped(note)}", style="yellow")


def _head(report: Report) -> str:
    """Return what was read, in a line."""
    first, *others = report.sources
    more = f" and {len(others)} more" if others else ""
    sure = "" if first.margin or len(report.sources) > 1 else ", a guess"
    workers = f"{len(report.workers)} worker{'s' if len(report.workers) != 1 else ''}"
    return (
        f"{escaped(first.path)}{more}: {seconds(report.real_ns)}, {workers}, "
        f"{times(report.events)} events, format {first.format}{sure}; "
        f"{times(report.totals.commits)} commits, {times(report.totals.aborts)} aborts"
    )


def _parts_table(summary: Summary) -> Table:
    """Return where the workers' time went."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    whole = summary.report.totals.worker_ns
    table.add_row("worker time", seconds(whole), "100.0%", style="bold")
    for one in summary.parts:
        indent = "    " if one.inner else "  "
        style = "dim" if one.inner else ""
        cells = (indent + one.name, seconds(one.spent_ns), percent(one.share))
        table.add_row(*cells, style=style)
    return table


def _rows_table(summary: Summary) -> Table:
    """Return the rows, with the source text and the advice below each."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for title in ("#", "lost", "share", "sum", "count", "mean", "max"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("time line", no_wrap=True)
    table.add_column(summary.by, overflow="fold", ratio=1)
    pieces = summary.report.pieces
    for entry in summary.entries:
        row = entry.row
        bins = binned(row.curve, pieces, _COLUMNS)
        table.add_row(
            str(entry.rank),
            Text(seconds(row.lost_ns), style="red"),
            percent(row.share),
            percent(row.cumulated),
            times(row.count),
            seconds(row.mean_ns),
            seconds(row.longest_ns),
            Text(sparkline(bins), style="cyan"),
            _place(entry, summary.by),
        )
    rest = summary.rest
    if rest is not None:
        table.add_row(
            "",
            seconds(rest.lost_ns),
            percent(rest.share),
            "100.0%",
            times(rest.count),
            *("", "", ""),
            Text(f"in {times(rest.rows)} more rows (--top 0 shows all)", style="dim"),
        )
    if summary.filtered_ns:
        left_out = Text("left out by the filters", style="dim")
        table.add_row("", seconds(summary.filtered_ns), *[""] * 6, left_out)
    return table


def _place(entry: Entry, by: str) -> Text:
    """Return what a row is about, in lines."""
    row, site = entry.row, entry.row.site
    text = Text(escaped(row.label), style="bold")
    details = ", ".join(row.kinds[:_SIDES])
    if by != "kind" and site is not None:
        if by == "line" and site.function:
            text.append(f" in {escaped(site.function)}", style="not bold")
        text.append(f"  {details}", style="not bold dim")
    if by == "line" and site is not None and (site.handler or site.cell):
        extra = [f"[{site.handler}]"] if site.handler else []
        extra += [f"{{{site.cell}}}"] if site.cell else []
        text.append(f"\n  {escaped(' '.join(extra))}", style="not bold")
    if entry.text is not None and by in {"line", "pair"}:
        text.append(f"\n    {escaped(entry.text.line)}", style="not bold green")
    if by == "line" and entry.against:
        sides = [escaped(one.place) for one in entry.against[:_SIDES]]
        more = len(entry.against) - _SIDES
        sides += [f"{more} more"] if more > 0 else []
        text.append(f"\n  against {', '.join(sides)}", style="not bold")
    if entry.rule is not None:
        text.append(f"\n  -> {entry.rule.advice}", style="not bold yellow")
    return text


def print_comparison(
    comparison: Comparison, by: str, top: int, console: Console
) -> None:
    """Print what got better or worse, for 1000 commits."""
    old, new = comparison.old_lost_ns, comparison.new_lost_ns
    busy = comparison.old_busy_ns, comparison.new_busy_ns
    lost = f"{seconds(round(new))} were lost, {seconds(round(old))} before"
    spent = f"busy {seconds(round(busy[1]))}, {seconds(round(busy[0]))} before"
    console.print(Text(f"For 1000 commits {lost}; {spent}.", style="bold"))
    console.print(Text())
    shown = comparison.changes[:top] if top else comparison.changes
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("")
    for title in ("change", "before", "now", "count before", "now"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column(by, overflow="fold", ratio=1)
    for one in shown:
        moved = f" (was {escaped(one.before)})" if one.before else ""
        sign = "+" if one.change_ns > 0 else ""
        table.add_row(
            Text(one.state, style=_STATES.get(one.state, "dim")),
            sign + seconds(round(one.change_ns)),
            seconds(round(one.old_ns)),
            seconds(round(one.new_ns)),
            f"{one.old_count:.1f}",
            f"{one.new_count:.1f}",
            Text(escaped(one.label) + moved),
        )
    hidden = comparison.changes[len(shown) :]
    if hidden:
        rest = seconds(round(sum(one.change_ns for one in hidden)))
        table.add_row("", rest, *[""] * 4, Text(f"in {times(len(hidden))} more rows"))
    console.print(table)


_STATES = {"worse": "red", "new": "red", "better": "green", "gone": "green"}
