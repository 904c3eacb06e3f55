"""Rendering: a trial's rows as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from bench.tables import (
    interleaved,
    interpreter_of,
    make_report,
    not_alone,
    place_of,
)
from bench.trials.trial import Column, Row, middle, ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.machine import Machine

FORMAT = "txloop-bench-trial"
VERSION = 1


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
    titles = [""]
    for column in run.columns:
        titles += [column.title, "min..max"] if column.relative else [column.title]
    rows = []
    for row in run.rows:
        shown = (_cells(row, run.rows[0], column) for column in run.columns)
        rows.append([row.name, *(cell for cells in shown for cell in cells)])
    return make_report(run.title, titles, rows, _caption(run))


def make_json(run: TrialRun) -> str:
    """Return the run as JSON, with the figures of every repeat."""
    document = {"format": FORMAT, "version": VERSION, **asdict(run)}
    return json.dumps(document, indent=1) + "\n"


def _cells(row: Row, baseline: Row, column: Column) -> list[str]:
    if column.relative:
        return _with_spread(ratios(row, baseline, column.figure), column)
    if column.spread:
        shown, spread = _with_spread(row.figures.get(column.figure, ()), column)
        return [f"{shown} ({spread})" if shown else ""]
    value = middle(row, column.figure)
    return ["" if value is None else f"{value * column.scale:,.{column.digits}f}"]


def _with_spread(found: Sequence[float], column: Column) -> list[str]:
    if not found:
        return ["", ""]
    shown, least, most = (
        f"{of(found) * column.scale:,.{column.digits}f}" for of in (median, min, max)
    )
    return [shown, f"{least}..{most}"]


def _caption(run: TrialRun) -> list[str]:
    return [
        place_of(run.machine),
        f"{interpreter_of(run.machine)}, commit {run.machine.commit}",
        interleaved(run.repeat),
        *run.notes,
        *not_alone(run.other_cpu_cores),
    ]
