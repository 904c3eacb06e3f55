"""Rendering: several runs of a case, which differ in one parameter, as one table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.report import caption, make_json
from bench.tables import make_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.report import Run
    from bench.rows import Row

__all__ = ["make_sweep_json", "make_sweep_text"]


def make_sweep_text(runs: Sequence[Run]) -> str:
    """Return a table with a line for each run, and where its figures come from."""
    first = runs[0]
    names = [row.name for row in first.rows]
    others = [name for name in names if name != first.case.baseline]
    titles = [
        next(iter(first.settings.values)),
        *(f"{name}, req/s" for name in names),
        *(f"{name} {first.case.compare.title}" for name in others),
    ]
    return make_report(
        f"{first.case.name}: {first.case.summary}",
        titles,
        [_cells(run, others) for run in runs],
        caption(first),
    )


def make_sweep_json(runs: Sequence[Run]) -> str:
    """Return the documents of all runs as one list."""
    return json.dumps([json.loads(make_json(run)) for run in runs], indent=1) + "\n"


def _cells(run: Run, others: Sequence[str]) -> list[str]:
    value = next(iter(run.settings.values.values()))
    rates = [f"{row.rate_median:.0f}" for row in run.rows]
    by_name = {row.name: row for row in run.rows}
    return [f"{value:,}", *rates, *(_ratio(by_name[name]) for name in others)]


def _ratio(row: Row) -> str:
    return "-" if row.ratio is None else f"{row.ratio:.2f}"
