from __future__ import annotations

import dataclasses

import pytest

from bench.case import Column, Comparison, load_case
from bench.load import Latency
from bench.rows import Row, make_rows, median_ratio, percentile
from tests.bench.samples import make_measurement

HELLO = load_case("hello")
BY_RATE = HELLO.compare


def turns(*rates):
    return {
        number: make_measurement("any", number, rate=rate).throughput
        for number, rate in enumerate(rates)
    }


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1), (50, 5), (90, 9), (99, 10), (99.9, 10), (100, 10)]
)
def test_percentile_is_one_of_the_values(percent, expected):
    assert expected == percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percent)


def test_percentile_of_one_value_is_that_value():
    assert [7.0] * 3 == [percentile([7.0], percent) for percent in (0, 50, 99)]


def test_ratio_is_taken_within_each_repeat():
    """The machine got three times faster in repeat 2; the ratio stays what it was."""
    stock, other = turns(10, 10, 30), turns(20, 22, 57)

    assert median_ratio(other, stock, BY_RATE) == 2.0


def test_there_is_no_ratio_without_the_baseline():
    assert median_ratio(turns(10), {}, BY_RATE) is None


def test_a_row_condenses_all_repeats():
    measurements = [
        make_measurement("stock", 0, rate=10, server=1.0, client=0.1),
        make_measurement("fast", 0, rate=30, server=1.8, client=0.3),
        make_measurement("stock", 1, rate=20, server=1.0, client=0.1),
        make_measurement("fast", 1, rate=40, server=1.6, client=0.2),
        make_measurement("stock", 2, rate=20, server=1.0, client=0.1),
        make_measurement("fast", 2, rate=50, server=2.0, client=0.4),
    ]

    _, row = make_rows(measurements, ["stock", "fast"], HELLO)

    expected = Row(
        name="fast",
        rate_median=40.0,
        rate_min=30.0,
        rate_max=50.0,
        ratio=2.5,
        latency_rate=None,
        p50_ms=None,
        p99_ms=None,
        server_cpu_percent=180.0,
        client_cpu_percent=30.0,
        client_too_busy=False,
    )
    assert expected == row


def test_latencies_of_all_repeats_count_together():
    early, late = Latency(7.0, (0.001,) * 9, 0.1), Latency(9.0, (0.005,), 0.1)
    measurements = [
        make_measurement("stock", 0, rate=10, latency=early),
        make_measurement("stock", 1, rate=10, latency=late),
    ]

    (row,) = make_rows(measurements, ["stock"], HELLO)

    assert (8.0, 1.0, 5.0) == (row.latency_rate, row.p50_ms, row.p99_ms)
    assert (10, 5.0, 5.0) == (row.latencies, row.p999_ms, row.max_ms)


def test_a_case_says_what_its_ratio_is_of():
    comparison = Comparison("slowness", lambda own, base: base.rate / own.rate)
    case = dataclasses.replace(HELLO, comparison=comparison)
    measurements = [
        make_measurement("stock", 0, rate=10),
        make_measurement("fast", 0, rate=40),
    ]

    _, row = make_rows(measurements, ["stock", "fast"], case)

    assert row.ratio == 0.25


def test_a_case_condenses_figures_of_its_own():
    columns = (Column("typical", "size"), Column("worst", "size", condense=max))
    missing = Column("missing", "weight")
    case = dataclasses.replace(HELLO, columns=(*columns, missing))
    measurements = [
        make_measurement("stock", number, rate=1, figures={"size": size})
        for number, size in enumerate([3.0, 1.0, 8.0])
    ]

    (row,) = make_rows(measurements, ["stock"], case)

    assert {"typical": 3.0, "worst": 8.0} == row.figures


def test_a_client_that_needs_half_a_core_for_each_server_core_is_marked():
    measurements = [
        make_measurement("calm", 0, rate=10, server=1.0, client=0.5),
        make_measurement("busy", 0, rate=10, server=1.0, client=0.51),
    ]

    calm, busy = make_rows(measurements, ["calm", "busy"], HELLO)

    assert (False, True) == (calm.client_too_busy, busy.client_too_busy)
