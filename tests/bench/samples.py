"""Measurements and runs made by hand, for the tests of what is computed from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench.case import load_case
from bench.load import Throughput
from bench.machine import Machine
from bench.measure import Measurement, Settings
from bench.report import Run
from bench.rows import make_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.load import Checked, Latency

MACHINE = Machine(
    cpu="Test CPU",
    cores=2,
    system="Linux 6.1",
    date="2026-11-20T12:00:00+00:00",
    interpreter="CPython 3.11.7",
    gil=True,
    tornado="6.6.1",
    commit="0123456789ab",
)


def make_measurement(
    competitor: str,
    repeat: int,
    *,
    rate: int,
    server: float = 1.0,
    client: float = 0.1,
    other: float = 0.0,
    latency: Latency | None = None,
    checked: Checked | None = None,
    figures: Mapping[str, float] | None = None,
) -> Measurement:
    """Return a turn of one second."""
    throughput = Throughput(
        transactions=rate,
        elapsed_seconds=1.0,
        client_cpu_seconds=client,
        command="siege -b",
        exit_code=0,
        stdout="{}",
        stderr="",
        latency=latency,
        figures=figures or {},
    )
    return Measurement(competitor, repeat, throughput, server, other, latency, checked)


def make_run(
    measurements: list[Measurement], *, latency_seconds: int = 3, **changes: object
) -> Run:
    """Return a run that found these, of the case hello with other fields."""
    case = replace(load_case("hello"), **changes)  # type: ignore[arg-type]  # of Case
    names = list(dict.fromkeys(one.competitor for one in measurements))
    settings = Settings(
        seconds=5,
        clients=50,
        repeat=2,
        workers=2,
        latency_seconds=latency_seconds,
        latency_share=0.7,
        values={},
    )
    return Run(
        case=case,
        settings=settings,
        machine=MACHINE,
        load="siege 4.0.7",
        command="python -m bench hello",
        measurements=measurements,
        rows=make_rows(measurements, names, case),
    )
