"""Rendering: rows as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

from bench.rows import percentile
from bench.tables import (
    interleaved,
    interpreter_of,
    make_report,
    not_alone,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.case import Case
    from bench.load import Latency, Throughput
    from bench.machine import Machine
    from bench.measure import Measurement, Settings
    from bench.rows import Row

T = TypeVar("T")

FORMAT = "txloop-bench"
VERSION = 1

_PERCENTS = (50, 90, 99, 99.9, 100)
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that a report is made from."""

    case: Case
    settings: Settings
    machine: Machine
    load: str
    command: str
    measurements: Sequence[Measurement]
    rows: Sequence[Row]


def make_text(run: Run) -> str:
    """Return the table, and below it where its figures come from."""
    rows = [_cells(row, run) for row in run.rows]
    return make_report(
        f"{run.case.name}: {run.case.summary}",
        rows[0],
        [cells.values() for cells in rows],
        caption(run),
    )


def make_json(run: Run) -> str:
    """Return the run as JSON, with everything that siege said word for word."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "case": run.case.name,
        "paths": run.case.load(run.settings.values),
        "baseline": run.case.baseline,
        "command": run.command,
        "machine": asdict(run.machine),
        "load": run.load,
        "settings": asdict(run.settings),
        "rows": [asdict(row) for row in run.rows],
        "measurements": [
            _measurement_fields(one, run.settings.clients) for one in run.measurements
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _cells(row: Row, run: Run) -> dict[str, str]:
    """Return what stands in each column of a row, by the title of the column."""
    mark = " !" if row.client_too_busy else ""
    tail = {
        "p99.9 ms": _or_nothing(row.p999_ms, _short),
        "max ms": _or_nothing(row.max_ms, _short),
        "n": str(row.latencies),
    }
    checked = {
        "answers": _or_nothing(row.answers, str),
        "409": _or_nothing(row.refused, str),
        # One would have ended the run.
        "wrong": _NOTHING if row.answers is None else "0",
        "conflicts": _or_nothing(row.conflicts, str),
    }
    own = {
        column.title: _or_nothing(
            row.figures.get(column.title), f"{{:.{column.digits}f}}".format
        )
        for column in run.case.columns
    }
    return {
        "implementation": row.name,
        "req/s": _short(row.rate_median),
        "min..max": f"{_short(row.rate_min)}..{_short(row.rate_max)}",
        "ratio": _or_nothing(row.ratio, "{:.2f}".format),
        "p50 ms": _or_nothing(row.p50_ms, _short),
        "p99 ms": _or_nothing(row.p99_ms, _short),
        **(tail if run.case.tail else {}),
        "at req/s": _or_nothing(row.latency_rate, _short),
        **own,
        "server CPU": f"{row.server_cpu_percent:.0f} %",
        "client CPU": f"{row.client_cpu_percent:.0f} %{mark}",
        **(checked if any(one.answers is not None for one in run.rows) else {}),
    }


def caption(run: Run) -> list[str]:
    """Return the lines that tell where and how it was measured."""
    machine, settings = run.machine, run.settings
    paths = ", GET " + " ".join(run.case.load(settings.values))
    asked = "" if run.case.generator else paths
    lines = [
        f"{place_of(machine)},"
        f" {settings.workers} server processes where there are several",
        f"{interpreter_of(machine)}, Tornado {machine.tornado},"
        f" commit {machine.commit}",
        f"req/s: {interleaved(settings.repeat)}, {run.load},"
        f" {settings.clients} clients, {settings.seconds} s each{asked}",
        f"ratio: {run.case.compare.title}, median of each repeat's own ratio",
    ]
    if settings.latency_seconds:
        lines.append(
            f"p50, p99: open loop at {settings.latency_share:.0%} of the measured"
            " req/s, from the intended start"
        )
    lines += run.case.notes
    other = max((one.other_cpu_cores for one in run.measurements), default=0.0)
    lines += not_alone(other, "up to ")
    if any(row.client_too_busy for row in run.rows):
        lines.append(
            "!: the client used more than half a core for each of the server's;"
            " its own limit may show"
        )
    return lines


def _or_nothing(value: T | None, render: Callable[[T], str]) -> str:
    return _NOTHING if value is None else render(value)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def _measurement_fields(one: Measurement, clients: int) -> dict[str, object]:
    return {
        "competitor": one.competitor,
        "repeat": one.repeat,
        "rate": one.throughput.rate,
        # By Little's law, which needs no clock ticks; only true of a closed loop.
        "closed_loop_mean_ms": 1000 * clients / one.throughput.rate,
        "server_cpu_cores": one.server_cpu_cores,
        "other_cpu_cores": one.other_cpu_cores,
        "throughput": _throughput_fields(one.throughput),
        "latency": None if one.latency is None else _latency_fields(one.latency),
        "checked": None if one.checked is None else asdict(one.checked),
    }


def _throughput_fields(throughput: Throughput) -> dict[str, object]:
    fields = asdict(throughput)
    del fields["latency"]  # condensed beside it
    return fields


def _latency_fields(latency: Latency) -> dict[str, object]:
    return {
        "rate": latency.rate,
        "requests": len(latency.seconds),
        "client_cpu_cores": latency.client_cpu_cores,
        "milliseconds": {
            f"p{percent}": 1000 * percentile(latency.seconds, percent)
            for percent in _PERCENTS
        },
    }
