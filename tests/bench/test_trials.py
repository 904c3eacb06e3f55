"""Trials: how their figures are taken, condensed and shown; and each trial itself."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

import pytest

from bench import interpreters
from bench.__main__ import main
from bench.errors import WrongAnswerError
from bench.trials import handoff, pair, sum_server
from bench.trials.command import TRIALS, run_trial
from bench.trials.report import TrialRun, make_json, make_text
from bench.trials.trial import (
    OTHER_CORES,
    Column,
    Contender,
    Row,
    collect,
    middle,
    ratios,
)
from tests.bench.samples import MACHINE


def test_contenders_take_turns():
    told: list[str] = []
    taken: list[str] = []

    def contender(name):
        def take():
            taken.append(name)
            return {"number": float(len(taken))}

        return Contender(name, take)

    rows = collect([contender(name) for name in "abc"], 2, told.append)

    assert list("abcbca") == taken
    assert "b, repeat 2 of 2" == told[3]
    expected = {"a": [1.0, 6.0], "b": [2.0, 4.0], "c": [3.0, 5.0]}
    assert expected == {row.name: row.figures["number"] for row in rows}


ROWS = [
    Row("a plain loop", {"seconds": [2.0, 4.0, 3.0], "bytes": [1e6, 1e6, 3e6]}),
    Row("a queue", {"seconds": [1.0, 2.0, 3.0]}),
]


def test_ratios_are_those_of_each_repeat():
    assert [2.0, 2.0, 1.0] == ratios(ROWS[1], ROWS[0], "seconds")
    assert [] == ratios(ROWS[1], ROWS[0], "bytes")


def test_the_middle_of_what_there_is():
    assert 3.0 == middle(ROWS[0], "seconds")
    assert middle(ROWS[1], "bytes") is None


def make_run(**fields):
    run = TrialRun(
        title="trial: a test",
        machine=MACHINE,
        command="python -m bench trial",
        repeat=3,
        other_cpu_cores=0.0,
        columns=[
            Column("seconds", "seconds", digits=1),
            Column("ratio", "seconds", relative=True),
            Column("KB", "bytes", digits=0, scale=1e-3),
            Column("worse", "bytes", digits=1, relative=True),
        ],
        notes=["a note"],
        rows=ROWS,
    )
    return dataclasses.replace(run, **fields)


GOLDEN = """\
trial: a test

|              | seconds | ratio |   min..max |    KB | worse | min..max |
|--------------|---------|-------|------------|-------|-------|----------|
| a plain loop |     3.0 |  1.00 | 1.00..1.00 | 1,000 |   1.0 | 1.0..1.0 |
| a queue      |     2.0 |  2.00 | 1.00..2.00 |       |       |          |

2026-11-20, Test CPU, 2 cores
CPython 3.11.7, commit 0123456789ab
median of 3 interleaved repeats
a note
"""


def test_the_table():
    assert GOLDEN == make_text(make_run())


def test_a_column_can_have_its_spread_beside_it():
    columns = [
        Column("ms", "seconds", digits=0, scale=1e3, spread=True),
        Column("bytes", "bytes", spread=True),
    ]

    lines = make_text(make_run(columns=columns)).splitlines()

    cells = [cell.strip() for cell in lines[5].split("|")]
    assert ["", "a queue", "2,000 (1,000..3,000)", "", ""] == cells


def test_a_trial_can_tell_itself_what_others_used(monkeypatch, capsys):
    figures = iter([{OTHER_CORES: 0.2}, {OTHER_CORES: 0.7}, {OTHER_CORES: 0.1}])
    trial = dataclasses.replace(
        TRIALS[0],
        contenders=lambda _: [Contender("one", lambda: next(figures))],
        columns=lambda _: [],
        notes=lambda _: [],
    )

    run_trial(trial, argparse.Namespace(repeat=3, json=None), "trial")

    assert "NOT ALONE: others used 70% of a core" in capsys.readouterr().out


def test_the_caption_tells_when_the_machine_did_other_work():
    text = make_text(make_run(other_cpu_cores=0.4))

    assert "NOT ALONE: others used 40% of a core meanwhile" in text


def test_json_has_everything():
    document = json.loads(make_json(make_run()))

    assert ("txloop-bench-trial", 1) == (document["format"], document["version"])
    assert dataclasses.asdict(MACHINE) == document["machine"]
    assert [dataclasses.asdict(row) for row in ROWS] == document["rows"]


def test_the_promised_trials_are_there():
    expected = {
        "transaction",
        "sum",
        "channels",
        "memory",
        "handoff",
        "light",
        "cores",
        "records",
        "scale",
    }
    assert expected == {trial.name for trial in TRIALS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("transaction --pieces 20 --microseconds 50 --workers 2", 4),
        ("sum --requests 8 --number 10", 4),
        ("channels --tasklets 20 --steps 100", 2),
    ],
)
def test_a_run_prints_the_table_and_writes_the_figures(words, rows, capsys, tmp_path):
    result = tmp_path / "result.json"

    code = main([*words.split(), "--repeat", "1", "--json", str(result)])

    captured = capsys.readouterr()
    assert (0, "") == (code, captured.err)
    assert rows == len(json.loads(result.read_text())["rows"])
    assert rows + 2 == sum(line.startswith("|") for line in captured.out.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("kind", pair.KINDS)
def test_hand_offs_are_counted_on_each_interpreter(kind, monkeypatch):
    assert handoff.count(sys.executable, kind, 1, 0.1) > 0

    monkeypatch.setattr(interpreters, "NAMES", ())
    options = argparse.Namespace(busy=1, seconds=1, python=[])
    names = [one.name for one in handoff.contenders(options)]
    assert len(names) == len(pair.KINDS)
    assert all(one.startswith(("CPython ", "PyPy ")) for one in names)


@pytest.mark.slow
def test_a_wrong_sum_is_an_error(monkeypatch):
    with sum_server.serving("plain") as port:
        sum_server.ask(port, 10)
        monkeypatch.setattr(sum_server, "int", lambda text: 54, raising=False)
        with pytest.raises(WrongAnswerError, match="the sum up to 10"):
            sum_server.ask(port, 10)
