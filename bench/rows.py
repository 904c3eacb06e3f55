"""From measurements to the rows of the table: pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.case import Case, Column, Comparison
    from bench.load import Throughput
    from bench.measure import Measurement

    Turns = Mapping[int, Throughput]  # by the number of the repeat

_BUSY_CLIENT = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says about one competitor, over all repeats.

    `ratio` and the latencies are None where there is nothing to compute them from.
    `client_too_busy` marks figures that may be the client's limit, not the server's:
    it used more than half a core for each core that the server used. `answers` were
    checked, of which none was wrong, and `refused` said 409; None where none were kept.
    `figures` are those of the case's own columns.
    """

    name: str
    rate_median: float
    rate_min: float
    rate_max: float
    ratio: float | None
    latency_rate: float | None
    p50_ms: float | None
    p99_ms: float | None
    server_cpu_percent: float
    client_cpu_percent: float
    client_too_busy: bool
    answers: int | None = None
    refused: int | None = None
    conflicts: int | None = None
    latencies: int = 0
    p999_ms: float | None = None
    max_ms: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


def make_rows(
    measurements: Sequence[Measurement], names: Sequence[str], case: Case
) -> list[Row]:
    """Return a row for each of the names, in their order."""
    return [_make_row(measurements, name, case) for name in names]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` % of them do not exceed."""
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


def median_ratio(
    turns: Turns, baseline_turns: Turns, comparison: Comparison
) -> float | None:
    """Return the median over repeats of each repeat's own ratio, if there is any.

    Both turns of a repeat saw the machine in the same state, so their ratio is worth
    more than that of two medians.
    """
    ratios = [
        comparison.ratio(own, baseline_turns[number])
        for number, own in turns.items()
        if number in baseline_turns
    ]
    return median(ratios) if ratios else None


def _make_row(measurements: Sequence[Measurement], name: str, case: Case) -> Row:
    own = [one for one in measurements if one.competitor == name]
    turns = _turns(measurements, name)
    rates = [one.rate for one in turns.values()]
    latencies = [one.latency for one in own if one.latency is not None]
    milliseconds = [1000 * each for latency in latencies for each in latency.seconds]
    checked = [one.checked for one in own if one.checked is not None]
    conflicts = [one.conflicts for one in checked if one.conflicts is not None]
    server_cores = median(one.server_cpu_cores for one in own)
    client_cores = median(
        one.throughput.client_cpu_seconds / one.throughput.spent_seconds for one in own
    )
    return Row(
        name=name,
        rate_median=median(rates),
        rate_min=min(rates),
        rate_max=max(rates),
        ratio=median_ratio(turns, _turns(measurements, case.baseline), case.compare),
        latency_rate=median(one.rate for one in latencies) if latencies else None,
        p50_ms=percentile(milliseconds, 50) if milliseconds else None,
        p99_ms=percentile(milliseconds, 99) if milliseconds else None,
        server_cpu_percent=100 * server_cores,
        client_cpu_percent=100 * client_cores,
        client_too_busy=client_cores > _BUSY_CLIENT * server_cores,
        answers=sum(one.answers for one in checked) if checked else None,
        refused=sum(one.refused for one in checked) if checked else None,
        conflicts=sum(conflicts) if conflicts else None,
        latencies=len(milliseconds),
        p999_ms=percentile(milliseconds, 99.9) if milliseconds else None,
        max_ms=max(milliseconds, default=None),
        figures=_figures([one.throughput.figures for one in own], case.columns),
    )


def _figures(
    turns: Sequence[Mapping[str, float]], columns: Sequence[Column]
) -> dict[str, float]:
    figures = {}
    for column in columns:
        values = [turn[column.figure] for turn in turns if column.figure in turn]
        if values:
            figures[column.title] = column.condense(values)
    return figures


def _turns(measurements: Sequence[Measurement], name: str) -> Turns:
    return {
        one.repeat: one.throughput for one in measurements if one.competitor == name
    }
