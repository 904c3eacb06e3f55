"""The trial `light`: its servers under load, and what it makes of their figures."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.__main__ import main, make_parser
from bench.errors import LoadError, WrongAnswerError
from bench.server import Server
from bench.trials import light, tally
from bench.trials.light import REQUESTS
from bench.wrk import Wrk, find_wrk
from tests.programs import require_program

SIDES = {side.name: side for side in light.make_sides(2, 2, "processes")}
WRK = Wrk("wrk", "4.1.0", spare_from=64)


def turn_of(rates, owners):
    """Return what all sides did in a turn."""
    return {
        name: {"rate": rate, "owner": owner, "other_cpu_cores": rate / 1000}
        for name, rate, owner in zip(SIDES, rates, owners, strict=True)
    }


def test_a_turn_is_condensed_to_ratios():
    turn = turn_of([100, 160, 80, 200, 110], [10e-5, 0, 12e-5, 4e-5, 10e-5])

    found = light.compare(turn)

    expected = {
        "fronts to stock": 2.0,
        "fronts to prefork": 1.25,
        "no fronts to stock": 0.8,
        "prefork to stock": 1.6,
        "control": 1.1,
        "owner share": pytest.approx(0.4),
        "other_cpu_cores": 0.2,
        "stock: rate": 100,
    }
    assert expected.items() <= found.items()


@pytest.mark.parametrize("added", [100, 107])
def test_what_was_under_way_at_the_end_may_be_added(added):
    light.check_added(added, answered=100, connections=7)


@pytest.mark.parametrize(
    ("added", "message"),
    [(99, "lost: 1 of 100 answered"), (108, "repeated: 108 additions for 100")],
)
def test_additions_that_are_lost_or_repeated_are_errors(added, message):
    with pytest.raises(WrongAnswerError, match=message):
        light.check_added(added, answered=100, connections=7)


def test_each_turn_begins_with_another_side(monkeypatch):
    driven = []

    def drive(side, *_):
        driven.append(side.name)
        return {"rate": 1.0, "owner": 1.0, "other_cpu_cores": 0.0}

    monkeypatch.setattr(light, "drive", drive)
    turns = light.Turns(REQUESTS["read"], list(SIDES.values()), WRK, 1, 1)
    turns.take()
    turns.take()

    names = list(SIDES)
    assert [*names, *names[1:], names[0]] == driven


def test_an_error_says_where_it_was(monkeypatch):
    def drive(*_):
        raise LoadError("no request was answered")

    monkeypatch.setattr(light, "drive", drive)
    turns = light.Turns(REQUESTS["add"], list(SIDES.values()), WRK, 1, 1)

    with pytest.raises(LoadError, match=r"^stock, add: no request was answered"):
        turns.take()


def test_only_the_servers_of_txloop_are_told_of_fronts():
    told = {name: dict(side.environment) for name, side in SIDES.items()}

    assert {"TXLOOP_FRONTS": "2"} == told.pop("fronts")
    assert {"TXLOOP_FRONTS": "0"} == told.pop("no fronts")
    assert not any(told.values())


def test_the_two_sides_of_the_control_are_equal():
    assert SIDES["stock"].command == SIDES["control"].command


def test_requests_are_selected():
    options = make_parser().parse_args(["light", "--requests", "same, read,same"])

    assert [REQUESTS["same"], REQUESTS["read"]] == options.requests


def test_a_missing_wrk_is_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))

    code = main(["light"])

    captured = capsys.readouterr()
    assert (1, "") == (code, captured.out)
    assert captured.err.startswith("bench: wrk is not installed")
    assert 1 == captured.err.count("\n")


def test_a_run_has_a_row_for_each_request(monkeypatch, capsys):
    require_program("wrk")
    found = turn_of([100, 160, 80, 200, 110], [1.0, 0.0, 1.0, 0.5, 1.0])
    monkeypatch.setattr(light, "drive", lambda side, *_: found[side.name])

    code = main(["light", "--repeat", "2", "--fronts", "3"])

    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:9]]
    assert 0 == code
    assert ["fronts 3 / stock", "fronts 3 / prefork"] == rows[0][2:4]
    assert list(REQUESTS) == [row[0] for row in rows[2:]]
    assert ["100", "2.00 (2.00..2.00)", "1.25 (1.25..1.25)"] == rows[2][1:4]
    assert "0.50 (0.50..0.50)" == rows[2][-1]


@pytest.mark.slow
@pytest.mark.parametrize("side", [side for side in SIDES if side != "control"])
def test_what_is_asked_for_is_done(side):
    with Server(
        side, SIDES[side].command, tally.HELLO, SIDES[side].environment
    ) as server:
        answers = [server.get(path) for path in ("/read/999", "/hello")]
        added = [server.get(path)[0] for path in ("/add/0", "/add/999", "/same")]
        total = json.loads(server.get(tally.TOTAL)[1])["total"]

    assert [(200, b"0"), (200, b"Hello, world")] == answers
    assert [200, 200, 200] == added
    assert total == 3 if SIDES[side].shares else total in range(4)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("side", "request_name"),
    [
        ("stock", "unmarked-new"),
        ("stock", "add"),
        ("fronts", "same"),
        ("prefork", "add"),
    ],
)
def test_a_server_is_driven(side, request_name):
    require_program("wrk")
    asked = REQUESTS[request_name]

    found = light.drive(SIDES[side], asked, find_wrk(64, asked.keep_alive), 4, 1, 0)

    assert found["rate"] > 0
    assert 0 < found["all"] < 1
    assert 0 <= found["owner"] < 1.2 * found["all"]  # which is counted in ticks


@pytest.mark.slow
def test_stock_tornado_serves_the_cells_without_txloop():
    program = (
        "import sys; from bench.trials import tally; tally.plain(1, {});"
        "sys.exit('txloop' in sys.modules)"
    )

    assert 0 == subprocess.run([sys.executable, "-c", program]).returncode
