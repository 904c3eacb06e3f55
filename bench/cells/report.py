"""Rendering: rows as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bench.tables import (
    interleaved,
    interpreter_of,
    make_report,
    not_alone,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.cells.sizes import SizeRow
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
_SIZE_COLUMNS = ("of", "plain", "shared")
_SIZE_CAPTION = ["of TObject: beside an object with slots; measured by tracemalloc"]
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class CellsRun:
    """Everything that a report is made from."""

    machine: Machine
    command: str
    repeat: int
    other_cpu_cores: float
    rows: Sequence[CellRow]
    sizes: Sequence[SizeRow] = ()


def make_text(run: CellsRun) -> str:
    """Return the table, and below it where its figures come from."""
    title = "cells: what each operation of a container costs"
    text = make_report(title, _COLUMNS, map(_cells, run.rows), _caption(run))
    if not run.sizes:
        return text
    shown = [
        [one.name, f"{one.plain_bytes:.0f}", f"{one.shared_bytes:.0f}"]
        for one in run.sizes
    ]
    title = "cells: the bytes that each takes, beside those of what is in it"
    return text + "\n" + make_report(title, _SIZE_COLUMNS, shown, _SIZE_CAPTION)


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
    return [
        place_of(run.machine),
        f"{interpreter_of(run.machine)}, commit {run.machine.commit}",
        f"{interleaved(run.repeat)}, one thread; plain: on a dict,"
        " list, set or object of Python's",
        "outside: of any transaction, each write commits; inside: in one transaction,"
        " without its commit",
        "ratio: to plain, median of each repeat's own ratio",
        *not_alone(run.other_cpu_cores),
    ]
