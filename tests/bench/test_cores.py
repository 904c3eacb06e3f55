"""The trial `cores`: its servers, and what it makes of their figures."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.__main__ import main, make_parser
from bench.errors import WrongAnswerError
from bench.server import Server
from bench.trials import cores
from bench.trials.tally import HELLO
from bench.wrk import Wrk

WRK = Wrk("wrk", "4.1.0", spare_from=64, threads=2)


def options_of(*words):
    """Return the options that a command line gives."""
    return make_parser().parse_args(["cores", *words])


@pytest.mark.parametrize(
    ("kind", "number", "fronts"), [("txloop", 1, None), ("txloop", 4, "4")]
)
def test_txloop_has_as_many_fronts_as_cores_if_there_are_several(kind, number, fronts):
    side = cores.make_side(kind, number, "threads")

    assert fronts == side.environment.get("TXLOOP_FRONTS")
    assert str(number) == side.command[side.command.index("--workers") + 1]
    assert "threads" in side.command
    assert side.shares


def test_processes_that_share_nothing_are_not_asked_for_a_total():
    assert not cores.make_side("prefork", 2, "processes").shares


@pytest.mark.parametrize(
    ("words", "kinds"), [((), ("prefork", "txloop")), (("--plain",), ("txloop",))]
)
def test_each_number_of_cores_has_a_server_once(monkeypatch, words, kinds):
    monkeypatch.setattr(cores, "find_wrk", lambda *_, **__: WRK)

    found = cores.contenders(options_of("--cores", "2,1,2", *words))

    several = [f"{kind} {number}" for kind in kinds for number in (1, 2)]
    assert ["stock", "control", *several] == [one.name for one in found]


def test_a_turn_asks_for_everything_and_keeps_the_worst_neighbour(monkeypatch):
    asked = []

    class Fake:
        url, pid = "http://127.0.0.1:1", 7

        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    def measure(server, load, wrk, checked):
        asked.append((load.paths[0], load.clients, load.seconds, checked))
        other = 0.1 * len(asked)
        figures = {"rate": 50.0, "owner": 0.002, "all": 0.01, "client": 0.2}
        return {**figures, "other_cpu_cores": other}

    monkeypatch.setattr(cores, "Server", Fake)
    monkeypatch.setattr(cores, "measure", measure)
    side = cores.make_side("txloop", 2, "processes")

    found = cores.Turns(side, WRK, 9, 3).take()

    assert [
        ("/read/0", 9, 3, False),
        ("/add/0", 9, 3, True),
        ("/same", 9, 3, True),
        ("/burn/1000", 9, 3, False),
        ("/burn/10000", 9, 3, False),
    ] == asked
    assert pytest.approx(0.5) == found["other_cpu_cores"]
    assert 0.02 == found["add"]
    assert pytest.approx(0.1) == found["add: owner cores"]
    assert pytest.approx(0.5) == found["10 ms: cores"]


def test_an_error_says_where_it_was(monkeypatch):
    def measure(*_):
        raise WrongAnswerError("lost: 1 of 2")

    monkeypatch.setattr(cores, "measure", measure)
    side = cores.make_side("stock", 1, "processes")

    with pytest.raises(WrongAnswerError, match=r"^stock 1, read: lost: 1 of 2"):
        cores.Turns(side, WRK, 1, 1).take()


@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_a_run_has_a_row_for_each_server_and_a_plot(monkeypatch, capsys, tmp_path):
    # GIVEN
    pytest.importorskip("matplotlib")
    rates = {"stock": 100, "control": 100, "prefork 2": 200, "txloop 2": 150}

    def take(side, *_):
        name = "stock" if side.name == "stock 1" else side.name
        figures = {"rate": rates[name], "owner": 0.002, "all": 0.01, "client": 0.2}
        names = ("read", "add", "same", "1 ms", "10 ms")
        found = [cores.condense(one, figures) for one in names]
        merged = {key: value for one in found for key, value in one.items()}
        return SimpleNamespace(take=lambda: {**merged, "other_cpu_cores": 0.0})

    monkeypatch.setattr(cores, "Turns", take)
    monkeypatch.setattr(cores, "find_wrk", lambda *_, **__: WRK)
    plot = tmp_path / "cores.svg"

    # WHEN
    words = "cores --cores 2 --repeat 2 --seconds 1"
    code = main([*words.split(), "--plot", str(plot)])

    # THEN
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:8]]
    assert 0 == code
    assert list(rates) == [row[0] for row in rows[2:]]
    assert ["txloop 2", "1.50", "1.50..1.50"] == rows[5][:3]
    assert "0.30" == rows[5][-1]
    assert "txloop, 10 ms" in plot.read_text()


@pytest.mark.slow
def test_what_has_work_computes_for_as_long_as_it_is_asked_to():
    side = cores.make_side("txloop", 2, "processes")
    with Server(side.name, side.command, HELLO, side.environment) as server:
        before = server.cpu_seconds()
        answers = [server.get("/burn/50000") for _ in range(3)]
        spent = server.cpu_seconds() - before

    assert [(200, b"done")] * 3 == answers
    assert 0.12 < spent
