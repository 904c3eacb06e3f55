"""The trial `scale`: what it makes of figures, what it draws, and a short run."""

from __future__ import annotations

import importlib.util
import json

import pytest

from bench.__main__ import main, make_parser
from bench.trials import scale
from bench.trials.trial import Row

DASK = importlib.util.find_spec("distributed") is not None


def test_a_turn_is_condensed():
    found = {"calls": 1000.0, "seconds": 2.0, "owner": 0.5, "all": 2.0}
    found["machine"] = 3.0

    figures = scale.condense(found, workers=40, milliseconds=50)

    expected = {
        "rate": 500.0,
        "ideal": 800.0,
        "efficiency": 0.625,
        "owner": 0.0005,
        "owner cores": 0.25,
        "all cores": 1.0,
        "other_cpu_cores": 0.5,
        "end": 100.0,
    }
    assert expected == pytest.approx(figures)


def test_the_limit_is_that_of_the_most_workers():
    rows = [
        Row("4 workers", {"owner": [0.001]}),
        Row("16 workers", {"owner": [0.0004, 0.0005, 0.0009]}),
    ]

    assert 2000.0 == pytest.approx(scale.limit(rows))


def test_numbers_of_workers_are_selected():
    options = make_parser().parse_args(["scale", "--workers", "8,2,8"])

    assert [2, 8] == options.workers


def test_without_dask_it_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(scale, "is_installed", lambda: False)

    with pytest.raises(SystemExit) as caught:
        main(["scale"])

    assert 2 == caught.value.code
    assert "bench: Dask is missing: pip install 'txloop[dask]'\n" == (
        capsys.readouterr().err
    )


@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_a_run_has_a_row_for_each_number_and_a_plot(monkeypatch, capsys, tmp_path):
    # GIVEN
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(scale, "is_installed", lambda: True)

    def take(workers, *_):
        found = {"calls": 16.0 * workers, "seconds": 1.0, "owner": 0.1, "all": 1.0}
        found["machine"] = 1.0
        return scale.condense(found, workers, milliseconds=50)

    monkeypatch.setattr(scale, "take", take)
    plot = tmp_path / "scale.svg"

    # WHEN
    code = main(["scale", "--workers", "4,64", "--repeat", "2", "--plot", str(plot)])

    # THEN
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[4:6]]
    assert 0 == code
    assert ["4 workers", "64", "80", "0.80 (0.80..0.80)"] == rows[0][:4]
    assert ["64 workers", "1,024", "1,280", "0.80 (0.80..0.80)"] == rows[1][:4]
    drawn = plot.read_text()
    assert all(name in drawn for name in ("txloop, dask", "ideal", "limit"))
    assert (tmp_path / "scale-dark.svg").exists()


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(not DASK, reason="Dask is an extra")
def test_a_run_on_a_cluster(capsys, tmp_path):
    result = tmp_path / "result.json"

    words = "scale --workers 2 --milliseconds 20 --seconds 1 --repeat 1 --json"
    code = main([*words.split(), str(result)])

    captured = capsys.readouterr()
    assert (0, "") == (code, captured.err)
    (row,) = json.loads(result.read_text())["rows"]
    assert "2 workers" == row["name"]
    assert 0 < row["figures"]["efficiency"][0] <= 1.1
