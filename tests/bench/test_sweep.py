from __future__ import annotations

import dataclasses
import json
import xml.etree.ElementTree as ElementTree

import pytest

from bench.__main__ import main
from bench.case import load_case
from bench.sweep import make_sweep_json, make_sweep_text
from tests.bench.samples import make_measurement, make_run


def run_of(microseconds, stock, txloop):
    run = make_run(
        [
            make_measurement("stock", 0, rate=stock),
            make_measurement("txloop processes", 0, rate=txloop),
        ]
    )
    values = {"microseconds": microseconds}
    settings = dataclasses.replace(run.settings, values=values)
    return dataclasses.replace(run, settings=settings, case=load_case("bodies"))


@pytest.fixture
def runs():
    return [run_of(0, 1000, 970), run_of(50_000, 20, 36)]


def test_each_value_has_a_line(runs):
    text = make_sweep_text(runs).splitlines()

    titles, *lines = ([cell.strip() for cell in one.split("|")] for one in text[2:6])
    assert "txloop processes to stock" == titles[-2]
    assert ["", "0", "1000", "970", "0.97", ""] == lines[1]
    assert ["", "50,000", "20", "36", "1.80", ""] == lines[2]
    assert any("2026-11-20, Test CPU" in one for one in text)


def test_the_json_has_every_run(runs):
    documents = json.loads(make_sweep_json(runs))

    values = [one["settings"]["values"]["microseconds"] for one in documents]
    assert [0, 50_000] == values
    assert [0.97, 1.8] == [one["rows"][1]["ratio"] for one in documents]


def test_a_sweep_has_a_column_for_fronts(capsys, monkeypatch):
    def collect(_case, competitors, *_):
        return [make_measurement(one.name, 0, rate=100) for one in competitors]

    monkeypatch.setattr("bench.__main__.collect", collect)
    quick = "--fronts 2 --repeat 1 --load builtin"

    code = main(["bodies", *quick.split()])

    assert code == 0
    titles = capsys.readouterr().out.splitlines()[2]
    assert "| txloop processes fronts 2 to stock |" in titles


@pytest.mark.slow
@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_the_plot_has_a_line_for_each_competitor(runs, tmp_path):
    write_sweep_plot = pytest.importorskip("bench.plot").write_sweep_plot
    path = tmp_path / "sweep.svg"

    write_sweep_plot(runs, path)

    text = "".join(ElementTree.parse(path).getroot().itertext())
    assert "txloop processes" in text
    assert "50,000" in text


def test_one_value_alone_is_a_case_as_any(capsys, monkeypatch):
    found = [make_measurement("stock", 0, rate=100)]
    monkeypatch.setattr("bench.__main__.collect", lambda *_: found)
    quick = "--microseconds 300 --only stock --repeat 1 --load builtin"

    code = main(["bodies", *quick.split()])

    assert code == 0
    assert "| implementation " in capsys.readouterr().out
