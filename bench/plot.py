"""Rendering: rows as a bar chart, an SVG file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from bench.report import Run


def write_plot(run: Run, path: Path) -> None:
    """Write the requests per second of each row, with their spread, to `path`."""
    rows = list(reversed(run.rows))  # the first row is to be on top
    medians = [row.rate_median for row in rows]
    spread = [
        [row.rate_median - row.rate_min for row in rows],
        [row.rate_max - row.rate_median for row in rows],
    ]
    # A file that changes only when its figures do, with text that stays text.
    with mpl.rc_context({"svg.hashsalt": "txloop", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 1.2 + 0.45 * len(rows)), layout="constrained")
        axes = figure.subplots()
        bars = axes.barh([row.name for row in rows], medians, xerr=spread, capsize=3)
        axes.bar_label(bars, [_label(row.ratio) for row in rows], padding=8)
        axes.set_xlabel("requests per second, median and range")
        axes.set_title(f"{run.case.name}: {run.case.summary}", fontsize="medium")
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        figure.text(
            1.0,
            -0.02,
            f"{run.machine.cpu}, {run.machine.cores} cores,"
            f" {run.machine.interpreter}, {run.machine.date[:10]}",
            ha="right",
            va="top",
            fontsize="x-small",
        )
        figure.savefig(path, format="svg", metadata={"Date": None}, bbox_inches="tight")


def _label(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x"
