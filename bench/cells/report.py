"""Rendering: rows as a table for people and as JSON for programs."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.cells.timing import CellRow, Ratio
    from bench.machine import Machine

FORMAT = "txloop-bench-cells"
VERSION = 1

_COLUMNS = (
    "operation",
    "plain",
    "outside",
    "ratio",
    "min..max",
    "inside",
    "ratio",
    "min..max",
)
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_MUCH_ELSEWHERE = 0.1
_WIDTH = 200


@dataclass(frozen=True, slots=True)
class CellsRun:
    """Everything that a report is made from."""

    machine: Machine
    command: str
    repeat: int
    other_cpu_cores: float
    rows: Sequence[CellRow]


def make_text(run: CellsRun) -> str:
    """Return the table, and below it where its figures come from."""
    table = Table(box=box.MARKDOWN)
    for position, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if position else "left", no_wrap=True)
    for row in run.rows:
        table.add_row(*_cells(row))
    # Without a terminal's width: a line that wraps is better than a figure cut short.
    console = Console(file=io.StringIO(), width=_WIDTH)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().split("\n") if line.strip()]
    title = "cells: what each operation of a container costs"
    return "\n".join([title, "", *lines, "", *_caption(run), ""])


def make_json(run: CellsRun) -> str:
    """Return the run as JSON; times in seconds."""
    document = {"format": FORMAT, "version": VERSION, **asdict(run)}
    return json.dumps(document, indent=1) + "\n"


def show_seconds(seconds: float) -> str:
    """Return the time with three digits, in the unit that suits it."""
    for size, unit in _UNITS:
        if seconds >= 0.9995 * size:
            value = seconds / size
            digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
            return f"{value:.{digits}f} {unit}"
    return f"{seconds / 1e-9:.2f} ns"


def _cells(row: CellRow) -> list[str]:
    return [
        f"{row.container}: {row.name}",
        show_seconds(row.plain_seconds),
        show_seconds(row.outside_seconds),
        *_shown(row.outside),
        show_seconds(row.inside_seconds),
        *_shown(row.inside),
    ]


def _shown(ratio: Ratio) -> list[str]:
    return [f"{ratio.median:.2f}", f"{ratio.least:.2f}..{ratio.most:.2f}"]


def _caption(run: CellsRun) -> list[str]:
    machine = run.machine
    lock = "" if machine.gil else ", without the GIL"
    repeats = "repeat" if run.repeat == 1 else "repeats"
    lines = [
        f"{machine.date[:10]}, {machine.cpu}, {machine.cores} cores",
        f"{machine.interpreter}{lock}, commit {machine.commit}",
        f"median of {run.repeat} interleaved {repeats}, one thread; plain: on a dict,"
        " list, set or object of Python's",
        "outside: of any transaction, each write commits; inside: in one transaction,"
        " without its commit",
        "ratio: to plain, median of each repeat's own ratio",
    ]
    if run.other_cpu_cores > _MUCH_ELSEWHERE:
        lines.append(
            f"NOT ALONE: other programs used {run.other_cpu_cores:.0%} of a core"
            " meanwhile"
        )
    return lines
