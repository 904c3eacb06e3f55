"""From measurements to the rows of the table: pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.measure import Measurement

_BUSY_CLIENT = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says about one competitor, over all repeats.

    `ratio` and the latencies are None where there is nothing to compute them from.
    `client_too_busy` marks figures that may be the client's limit, not the server's:
    it used more than half a core for each core that the server used.
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


def make_rows(
    measurements: Sequence[Measurement], names: Sequence[str], baseline: str
) -> list[Row]:
    """Return a row for each of the names, in their order."""
    return [_make_row(measurements, name, baseline) for name in names]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` % of them do not exceed."""
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


def median_ratio(
    rates: dict[int, float], baseline_rates: dict[int, float]
) -> float | None:
    """Return the median over repeats of each repeat's own ratio, if there is any.

    Both turns of a repeat saw the machine in the same state, so their ratio is worth
    more than that of two medians.
    """
    ratios = [
        rate / baseline_rates[number]
        for number, rate in rates.items()
        if number in baseline_rates
    ]
    return median(ratios) if ratios else None


def _make_row(measurements: Sequence[Measurement], name: str, baseline: str) -> Row:
    own = [one for one in measurements if one.competitor == name]
    rates = _rates(measurements, name)
    latencies = [one.latency for one in own if one.latency is not None]
    milliseconds = [1000 * each for latency in latencies for each in latency.seconds]
    server_cores = median(one.server_cpu_cores for one in own)
    client_cores = median(
        one.throughput.client_cpu_seconds / one.throughput.elapsed_seconds
        for one in own
    )
    return Row(
        name=name,
        rate_median=median(rates.values()),
        rate_min=min(rates.values()),
        rate_max=max(rates.values()),
        ratio=median_ratio(rates, _rates(measurements, baseline)),
        latency_rate=median(one.rate for one in latencies) if latencies else None,
        p50_ms=percentile(milliseconds, 50) if milliseconds else None,
        p99_ms=percentile(milliseconds, 99) if milliseconds else None,
        server_cpu_percent=100 * server_cores,
        client_cpu_percent=100 * client_cores,
        client_too_busy=client_cores > _BUSY_CLIENT * server_cores,
    )


def _rates(measurements: Sequence[Measurement], name: str) -> dict[int, float]:
    return {
        one.repeat: one.throughput.rate
        for one in measurements
        if one.competitor == name
    }
