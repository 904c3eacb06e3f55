"""The trial `records`: its servers under load, and what it makes of their figures."""

from __future__ import annotations

import json

import pytest

from bench.__main__ import main, make_parser
from bench.errors import LoadError
from bench.server import Server
from bench.trials import records
from tests.programs import require_program

SIDES = {side.name: side for side in records.make_sides(100, 2)}


def figures(rate: float, cpu: float) -> dict[str, float]:
    return {"rate": rate, "all": cpu, "other_cpu_cores": rate / 1000}


def test_a_turn_is_condensed_to_ratios():
    turn = {
        "stock": figures(100, 2.0),
        "txloop": figures(150, 3.0),
        "control": figures(90, 2.0),
    }

    expected = {
        "stock": 100,
        "txloop to stock": 1.5,
        "control": 0.9,
        "cpu": 1.5,
        "other_cpu_cores": 0.15,
    }
    assert expected == records.compare(turn)


@pytest.mark.parametrize(("size", "number"), [(10, 10), (100, 100), (1000, 100)])
def test_numbers_from_all_parts_of_the_list_are_asked_for(size, number):
    paths = records.paths_of("find", size)

    assert number == len({*paths})
    assert f"/find/{size - size // number}" == paths[-1]


def test_sizes_are_selected():
    options = make_parser().parse_args(["records", "--sizes", "5,50"])

    assert [5, 50] == options.sizes
    assert [*records.VERBS] == options.verbs


def test_verbs_are_selected(capsys):
    options = make_parser().parse_args(["records", "--verbs", "mark,find"])

    assert ["mark", "find"] == options.verbs
    with pytest.raises(SystemExit):
        make_parser().parse_args(["records", "--verbs", "mark,fetch"])
    assert "fetch is none of find, sum" in capsys.readouterr().err


def test_an_error_says_where_it_was(monkeypatch):
    def drive(*_):
        raise LoadError("no request was answered")

    monkeypatch.setattr(records.Turns, "_drive", drive)
    options = make_parser().parse_args(["records"])
    turns = records.Turns("find", 10, None, options)  # type: ignore[arg-type] # unused

    with pytest.raises(LoadError, match=r"^stock, find, 10: no request was answered"):
        turns.take()


MORE = {
    "/mark/5": b"5",
    "/find/5": b'{"number": 5, "name": "record 5", "marked": true}',
    "/field/0": b"1",
    "/edit/7": b"7",
    "/find/7": b'{"number": 7, "name": "an edited record"}',
    "/front/98": b"98",
    "/keep/1": b"1",
    "/copy/9": b"",
}


@pytest.mark.slow
@pytest.mark.parametrize("side", ["stock", "txloop"])
def test_its_servers_do_the_same(side):
    one = SIDES[side]
    with Server(side, one.command, "/find/3", one.environment) as server:
        answers = [
            server.get(path)
            for path in ("/find/3", "/sum/3", "/swap/3", "/find/3", "/dump/0")
        ]
        more = [server.get(path) for path in MORE]

    assert {200} == {status for status, _ in answers}
    assert [*MORE.values()][:-1] == [body for _, body in more[:-1]]
    copied = json.loads(more[-1][1])
    assert [99, "9", 10] == [copied[0]["number"], copied[0]["asked"], len(copied)]
    bodies = [body for _, body in answers]
    assert {"number": 3, "name": "record 3"} == json.loads(bodies[0])
    assert [b"4950", b"3"] == bodies[1:3]
    assert {"number": 3, "name": "another record"} == json.loads(bodies[3])
    assert [*range(3), *range(4, 100), 3] == [
        one["number"] for one in json.loads(bodies[4])
    ]


def test_a_run_has_a_row_for_each_verb_and_size(monkeypatch, capsys):
    require_program("wrk")
    found = {"stock": 100, "txloop": 150, "control": 90}
    monkeypatch.setattr(
        records.Turns, "_drive", lambda _, side, turn: figures(found[side.name], 1.0)
    )

    code = main(["records", "--repeat", "2", "--fronts", "3", "--sizes", "10,20"])

    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines[2 : 4 + 2 * len(records.VERBS)]
    ]
    assert (0, "") == (code, captured.err)
    assert "fronts 3 / stock" == rows[0][2]
    names = [f"{verb}, {size}" for verb in records.VERBS for size in (10, 20)]
    assert names == [row[0] for row in rows[2:]]
    assert ["100", "1.50 (1.50..1.50)", "0.90 (0.90..0.90)"] == rows[2][1:4]
