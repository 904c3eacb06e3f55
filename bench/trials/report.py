"""Rendering: a trial's rows as a table for people and as JSON for programs."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from bench.trials.trial import Column, Row, middle, ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.machine import Machine

FORMAT = "txloop-bench-trial"
VERSION = 1

_MUCH_ELSEWHERE = 0.1
_WIDTH = 200


@dataclass(frozen=True, slots=True)
class TrialRun:
    """Everything that a report is made from."""

    title: str
    machine: Machine
    command: str
    repeat: int
    other_cpu_cores: float
    columns: Sequence[Column]
    notes: Sequence[str]
    rows: Sequence[Row]


def make_text(run: TrialRun) -> str:
    """Return the table, and below it where its figures come from."""
    table = Table(box=box.MARKDOWN)
    table.add_column("", no_wrap=True)
    for column in run.columns:
        table.add_column(column.title, justify="right", no_wrap=True)
        if column.relative:
            table.add_column("min..max", justify="right", no_wrap=True)
    for row in run.rows:
        shown = (_cells(row, run.rows[0], column) for column in run.columns)
        table.add_row(row.name, *(cell for cells in shown for cell in cells))
    # Without a terminal's width: a line that wraps is better than a figure cut short.
    console = Console(file=io.StringIO(), width=_WIDTH)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().split("\n") if line.strip()]
    return "\n".join([run.title, "", *lines, "", *_caption(run), ""])


def make_json(run: TrialRun) -> str:
    """Return the run as JSON, with the figures of every repeat."""
    document = {"format": FORMAT, "version": VERSION, **asdict(run)}
    return json.dumps(document, indent=1) + "\n"


def _cells(row: Row, baseline: Row, column: Column) -> list[str]:
    if column.relative:
        found = ratios(row, baseline, column.figure)
        if not found:
            return ["", ""]
        digits = column.digits
        spread = f"{min(found):.{digits}f}..{max(found):.{digits}f}"
        return [f"{median(found):.{digits}f}", spread]
    value = middle(row, column.figure)
    return ["" if value is None else f"{value * column.scale:,.{column.digits}f}"]


def _caption(run: TrialRun) -> list[str]:
    machine = run.machine
    lock = "" if machine.gil else ", without the GIL"
    repeats = "repeat" if run.repeat == 1 else "repeats"
    lines = [
        f"{machine.date[:10]}, {machine.cpu}, {machine.cores} cores",
        f"{machine.interpreter}{lock}, commit {machine.commit}",
        f"median of {run.repeat} interleaved {repeats}",
        *run.notes,
    ]
    if run.other_cpu_cores > _MUCH_ELSEWHERE:
        lines.append(
            f"NOT ALONE: other programs used {run.other_cpu_cores:.0%} of a core"
            " meanwhile"
        )
    return lines
