from __future__ import annotations

import dataclasses
import json
import xml.etree.ElementTree as ElementTree

import pytest

from bench.case import Column
from bench.load import Checked, Latency
from bench.report import make_json, make_text
from tests.bench.samples import MACHINE, make_measurement, make_run

LATENCY = Latency(rate=700.0, seconds=(0.001, 0.002, 0.25), client_cpu_cores=0.25)

GOLDEN = """\
hello: requests that cost nothing: what the loop adds

| implementation  | req/s |   min..max | ratio | p50 ms | p99 ms | at req/s | server CPU | client CPU |
|-----------------|-------|------------|-------|--------|--------|----------|------------|------------|
| stock           |  1010 | 1000..1020 |  1.00 |    2.0 |    250 |      700 |       90 % |       40 % |
| txloop unmarked |  98.5 |  97.0..100 |  0.10 |      - |      - |        - |       50 % |     40 % ! |

2026-11-20, Test CPU, 2 cores, 2 server processes where there are several
CPython 3.11.7, Tornado 6.6.1, commit 0123456789ab
req/s: median of 2 interleaved repeats, siege 4.0.7, 50 clients, 5 s each, GET /
ratio: to stock, median of each repeat's own ratio
p50, p99: open loop at 70% of the measured req/s, from the intended start
!: the client used more than half a core for each of the server's; its own limit may show
"""  # noqa: E501  a golden table is as wide as it is


@pytest.fixture
def run():
    return make_run(
        [
            make_measurement(
                "stock", 0, rate=1000, server=0.9, client=0.4, latency=LATENCY
            ),
            make_measurement("txloop unmarked", 0, rate=97, server=0.5, client=0.4),
            make_measurement("stock", 1, rate=1020, server=0.9, client=0.4),
            make_measurement("txloop unmarked", 1, rate=100, server=0.5, client=0.4),
        ]
    )


def test_the_table(run):
    assert GOLDEN == make_text(run)


def test_the_caption_is_silent_about_what_was_not_measured():
    measurement = make_measurement("stock", 0, rate=10, client=0.1)

    text = make_text(make_run([measurement], latency_seconds=0))

    assert "p50, p99:" not in text
    assert "!:" not in text


def test_the_caption_tells_when_the_machine_did_other_work():
    measurements = [
        make_measurement("stock", 0, rate=10),
        make_measurement("stock", 1, rate=10, other=0.8),
    ]

    text = make_text(make_run(measurements))

    assert "NOT ALONE: others used up to 80% of a core meanwhile" in text


def test_a_case_s_own_columns_and_notes_are_shown():
    measurements = [
        make_measurement("stock", 0, rate=9, figures={"load": 0.954, "lost": 3}),
        make_measurement("txloop unmarked", 0, rate=9),
    ]
    columns = (Column("of ideal", "load", 2), Column("lost", "lost"))

    lines = make_text(
        make_run(measurements, columns=columns, notes=("lost: for ever",))
    ).splitlines()

    cells = [[cell.strip() for cell in lines[at].split("|")] for at in (2, 4, 5)]
    at = cells[0].index("of ideal")
    assert [["of ideal", "lost"], ["0.95", "3"], ["-", "-"]] == [
        one[at : at + 2] for one in cells
    ]
    assert "lost: for ever" in lines


def test_a_case_may_show_the_tail_of_its_latencies():
    lines = make_text(
        make_run([make_measurement("stock", 0, rate=9, latency=LATENCY)], tail=True)
    ).splitlines()

    names, values = ([cell.strip() for cell in lines[at].split("|")] for at in (2, 4))
    expected = {"p50 ms": "2.0", "p99.9 ms": "250", "max ms": "250", "n": "3"}
    assert expected.items() <= dict(zip(names, values, strict=True)).items()


def test_checked_answers_are_counted_over_all_repeats():
    measurements = [
        make_measurement("stock", 0, rate=9, checked=Checked(90, 2, None)),
        make_measurement("txloop unmarked", 0, rate=9, checked=Checked(90, 3, 4)),
        make_measurement("txloop unmarked", 1, rate=8, checked=Checked(80, 1, 5)),
    ]

    lines = make_text(make_run(measurements)).splitlines()

    ends = [line.split("|")[-5:-1] for line in lines[2:6] if "--" not in line]
    cells = [[cell.strip() for cell in end] for end in ends]
    assert ["answers", "409", "wrong", "conflicts"] == cells[0]
    assert [["90", "2", "0", "-"], ["170", "4", "0", "9"]] == cells[1:]


def test_the_caption_tells_when_there_was_no_gil(run):
    run = dataclasses.replace(run, machine=dataclasses.replace(MACHINE, gil=False))

    assert "CPython 3.11.7, without the GIL, Tornado" in make_text(run)


def test_json_names_its_format_and_where_it_was_measured(run):
    document = json.loads(make_json(run))

    expected = {
        "format": "txloop-bench",
        "version": 1,
        "case": "hello",
        "paths": ["/"],
        "baseline": "stock",
        "command": "python -m bench hello",
        "load": "siege 4.0.7",
        "machine": dataclasses.asdict(MACHINE),
    }
    assert expected.items() <= document.items()
    assert {"settings", "rows", "measurements"} == document.keys() - expected.keys()


def test_json_has_each_row_and_each_turn(run):
    document = json.loads(make_json(run))

    assert ["stock", "txloop unmarked"] == [row["name"] for row in document["rows"]]
    assert document["rows"][0]["ratio"] == 1.0
    assert document["measurements"][0] == {
        "competitor": "stock",
        "repeat": 0,
        "rate": 1000.0,
        "closed_loop_mean_ms": 50.0,
        "server_cpu_cores": 0.9,
        "other_cpu_cores": 0.0,
        "throughput": {
            "transactions": 1000,
            "elapsed_seconds": 1.0,
            "client_cpu_seconds": 0.4,
            "command": "siege -b",
            "exit_code": 0,
            "stdout": "{}",
            "stderr": "",
            "figures": {},
            "whole_seconds": None,
        },
        "latency": {
            "rate": 700.0,
            "requests": 3,
            "client_cpu_cores": 0.25,
            "milliseconds": {
                "p50": 2.0,
                "p90": 250.0,
                "p99": 250.0,
                "p99.9": 250.0,
                "p100": 250.0,
            },
        },
        "checked": None,
    }


@pytest.mark.slow
@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_the_plot_shows_every_row_and_is_reproducible(run, tmp_path):
    write_plot = pytest.importorskip("bench.plot").write_plot
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"

    write_plot(run, first)
    write_plot(run, second)

    text = "".join(ElementTree.parse(first).getroot().itertext())
    assert "stock" in text
    assert "txloop unmarked" in text
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_txloop_stands_out_on_light_and_on_dark_plots(run, tmp_path):
    plot = pytest.importorskip("bench.plot")

    plot.write_plot(run, tmp_path / "plot.svg")

    for scheme, name in ((plot._LIGHT, "plot.svg"), (plot._DARK, "plot-dark.svg")):
        text = (tmp_path / name).read_text()
        assert all(colour in text for colour in scheme), name


@pytest.mark.slow
@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_a_plot_is_what_its_name_says(run, tmp_path):
    plot = pytest.importorskip("bench.plot")

    plot.write_plot(run, tmp_path / "plot.png")

    for name in ("plot.png", "plot-dark.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
