"""What a trial declares, and taking its figures in turns."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from bench.trials.report import TrialRun

Figures = dict[str, float]
"""What one turn has found, by name."""

OTHER_CORES = "other_cpu_cores"
"""A figure for trials whose servers leave children to others, which nobody adds up.

It is what neither the servers nor the load have used of the processors.
"""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do it.

    Attributes:
        name: What the table calls it.
        take: Does it once and returns the figures of that turn.
    """

    name: str
    take: Callable[[], Figures]


@dataclass(frozen=True, slots=True)
class Column:
    """A figure in the table: its median over the repeats.

    Attributes:
        title: What the table calls it.
        figure: Which one.
        digits: After the point.
        relative: Whether to show how many times better than the first contender's it
            is, as the median, least and most of each repeat's own ratio.
        scale: What to multiply it by, for the unit.
        spread: Whether its least and most stand beside it.
    """

    title: str
    figure: str
    digits: int = 2
    relative: bool = False
    scale: float = 1.0
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What one benchmark compares.

    Attributes:
        name: What the command line calls it.
        summary: What it measures.
        add_options: Adds its own options to a parser.
        contenders: The ways to do it, for those options. The first is what others are
            divided by; a contender may lack figures.
        columns: The figures in the table.
        notes: Lines below it.
        draw: Draws a run into a file, None where there is nothing to see.
    """

    name: str
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    contenders: Callable[[argparse.Namespace], Sequence[Contender]]
    columns: Callable[[argparse.Namespace], Sequence[Column]]
    notes: Callable[[argparse.Namespace], Sequence[str]]
    draw: Callable[[TrialRun, Path], None] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """All figures of one contender: of each repeat, by name."""

    name: str
    figures: Mapping[str, Sequence[float]]


def collect(
    contenders: Sequence[Contender], repeat: int, progress: Callable[[str], None]
) -> list[Row]:
    """Take the figures of each contender `repeat` times, in turns.

    Each repeat begins with another one, and `progress` is told of each turn.
    """
    found: dict[str, dict[str, list[float]]] = {one.name: {} for one in contenders}
    for number in range(repeat):
        shift = number % len(contenders)
        for one in (*contenders[shift:], *contenders[:shift]):
            progress(f"{one.name}, repeat {number + 1} of {repeat}")
            for name, value in one.take().items():
                found[one.name].setdefault(name, []).append(value)
    return [Row(name, figures) for name, figures in found.items()]


def ratios(row: Row, baseline: Row, figure: str) -> list[float]:
    """Return how many times less it took than the baseline, in each repeat."""
    own, base = row.figures.get(figure, ()), baseline.figures.get(figure, ())
    return [before / after for before, after in zip(base, own, strict=bool(own))]


def middle(row: Row, figure: str) -> float | None:
    """Return the median of a figure, None where the contender has none."""
    values = row.figures.get(figure)
    return median(values) if values else None
