"""Rendering: rows as bars or lines, an SVG or PNG file, and a dark one beside it.

What the figures are about stands out: rows of txloop have a colour, others are grey.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matplotlib.axes import Axes

    from bench.machine import Machine
    from bench.report import Run


def write_plot(run: Run, path: Path) -> None:
    """Write the requests per second of each row, with their spread, to `path`."""
    rows = list(reversed(run.rows))  # the first row is to be on top
    medians = [row.rate_median for row in rows]
    spread = [
        [row.rate_median - row.rate_min for row in rows],
        [row.rate_max - row.rate_median for row in rows],
    ]
    for scheme, file in _schemes(path):
        with _drawn(scheme):
            figure = Figure(figsize=(7, 1.2 + 0.45 * len(rows)), layout="constrained")
            axes = figure.subplots()
            bars = axes.barh(
                [row.name for row in rows],
                medians,
                xerr=spread,
                capsize=3,
                color=[scheme.colour_of(row.name) for row in rows],
                ecolor=scheme.text,
            )
            axes.bar_label(bars, [_label(row.ratio) for row in rows], padding=8)
            axes.set_xlabel("requests per second, median and range")
            axes.set_title(f"{run.case.name}: {run.case.summary}", fontsize="medium")
            axes.margins(x=0.15)
            _save(figure, axes, run.machine, file)


def write_sweep_plot(runs: Sequence[Run], path: Path) -> None:
    """Write the ratio of each competitor, by the value of the parameter, to `path`."""
    first = runs[0]
    values = [next(iter(run.settings.values.values())) for run in runs]
    for scheme, file in _schemes(path):
        with _drawn(scheme):
            figure = Figure(figsize=(7, 4), layout="constrained")
            axes = figure.subplots()
            for place, row in enumerate(first.rows):
                ratios = [run.rows[place].ratio or 0.0 for run in runs]
                # Evenly spaced: on a scale, what is short would be one point.
                axes.plot(
                    range(len(runs)),
                    ratios,
                    marker="o",
                    label=row.name,
                    color=scheme.colour_of(row.name),
                    linestyle=_STYLES[place % len(_STYLES)],
                )
            axes.set_xticks(range(len(runs)), [f"{value:,}" for value in values])
            axes.set_xlabel(next(iter(first.settings.values)))
            axes.set_ylabel(f"requests per second, {first.case.compare.title}")
            title = f"{first.case.name}: {first.case.summary}"
            axes.set_title(title, fontsize="medium")
            axes.set_ylim(bottom=0)
            axes.legend(frameon=False)
            _save(figure, axes, first.machine, file)


class Line(NamedTuple):
    """Values to draw as a line, evenly spaced."""

    name: str
    values: Sequence[float]


def write_lines(
    places: Sequence[str],
    lines: Sequence[Line],
    labels: tuple[str, str],
    title: str,
    machine: Machine,
    path: Path,
) -> None:
    """Write lines to `path`, on a scale on which each step is a factor.

    Args:
        places: What stands below the values.
        lines: What to draw.
        labels: What the two axes are.
        title: What stands above it.
        machine: Where it was measured.
        path: The file; a dark one gets a name of its own.
    """
    for scheme, file in _schemes(path):
        with _drawn(scheme):
            figure = Figure(figsize=(7, 4), layout="constrained")
            axes = figure.subplots()
            for place, line in enumerate(lines):
                axes.plot(
                    range(len(places)),
                    line.values,
                    marker="o",
                    label=line.name,
                    color=scheme.colour_of(line.name),
                    linestyle=_STYLES[place % len(_STYLES)],
                )
            axes.set_xticks(range(len(places)), places)
            axes.set_yscale("log")
            axes.set_xlabel(labels[0])
            axes.set_ylabel(labels[1])
            axes.set_title(title, fontsize="medium")
            axes.legend(frameon=False)
            _save(figure, axes, machine, file)


_STYLES = ("-", "--", "-.", ":")  # of lines of one colour


class _Scheme(NamedTuple):
    """Colours for readers who prefer it light, or dark."""

    back: str
    text: str
    txloop: str
    others: str

    def colour_of(self, name: str) -> str:
        """Return the colour of a row."""
        return self.txloop if name.startswith("txloop") else self.others


_LIGHT = _Scheme("#ffffff", "#1b1f24", "#0b62c4", "#9aa3ad")
_DARK = _Scheme("#15181c", "#e4e7eb", "#6cb2ff", "#6b7681")


def _schemes(path: Path) -> list[tuple[_Scheme, Path]]:
    """Return what to draw, and where: the dark one gets a name of its own."""
    return [(_LIGHT, path), (_DARK, path.with_stem(f"{path.stem}-dark"))]


def _drawn(scheme: _Scheme) -> AbstractContextManager[None]:
    """Make files that change only when their figures do, with text that stays text."""
    text, back = scheme.text, scheme.back
    return mpl.rc_context(
        {
            "svg.hashsalt": "txloop",
            "svg.fonttype": "none",
            "savefig.dpi": 160,
            "text.color": text,
            "axes.labelcolor": text,
            "axes.edgecolor": text,
            "xtick.color": text,
            "ytick.color": text,
            "figure.facecolor": back,
            "axes.facecolor": back,
            "savefig.facecolor": back,
        }
    )


def _save(figure: Figure, axes: Axes, machine: Machine, path: Path) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(
        1.0,
        -0.02,
        f"{machine.cpu}, {machine.cores} cores,"
        f" {machine.interpreter}, {machine.date[:10]}",
        ha="right",
        va="top",
        fontsize="x-small",
    )
    png = path.suffix.lower() == ".png"
    metadata = {"Software": None} if png else {"Date": None}
    form = "png" if png else "svg"
    figure.savefig(path, format=form, metadata=metadata, bbox_inches="tight")


def _label(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x"
