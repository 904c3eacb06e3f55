"""The load that plays, on real servers."""

from __future__ import annotations

import dataclasses
import json

import pytest

from bench.astar.generator import GameLoad
from bench.case import load_case
from bench.errors import LoadError, WrongAnswerError
from bench.load import Load
from bench.server import server_for

pytestmark = pytest.mark.slow

ASTAR = load_case("astar")
COMPETITORS = {one.name: one for one in ASTAR.competitors}
SMALL = {"width": 20, "height": 20, "walls": 20, "seed": 3}


@pytest.fixture(scope="module", params=["stock", "txloop processes"])
def server(request):
    with server_for(ASTAR, COMPETITORS[request.param], SMALL, 2) as server:
        yield server


@pytest.fixture(scope="module")
def stock():
    with server_for(ASTAR, COMPETITORS["stock"], SMALL, 1) as server:
        yield server


@pytest.fixture(params=["play", "paths"])
def generator(request):
    return GameLoad(request.param, seed=1, spare_from=64)


def load_of(server, seconds=0.5, repeat=0):
    return Load(server.url, (), clients=6, seconds=seconds, repeat=repeat)


def asked_in(repeat, server):
    generator = GameLoad("paths", seed=1, spare_from=64)
    generator.run(load_of(server, repeat=repeat))
    _map, *answers = generator._answers
    return [(answer.start, answer.cell) for answer in answers]


def moves(answer):
    """Whether the player is not at its goal already, where a step is no event."""
    return len(json.loads(answer.body)["path"]) > 1


def test_each_server_gives_right_answers_to_each_load(server, generator):
    throughput = generator.run(load_of(server))
    checked = generator.check(load_of(server))

    assert throughput.transactions > 0
    assert checked.answers >= throughput.transactions
    assert (server.name == "stock") == (checked.conflicts is None)


def test_one_wrong_answer_is_told(stock):
    generator = GameLoad("play", seed=1, spare_from=64)
    generator.run(load_of(stock))
    position = next(
        index
        for index, answer in enumerate(generator._answers)
        if answer.kind == "move" and answer.status == 200 and moves(answer)
    )
    answer = generator._answers[position]
    lie = answer.body.replace('"at": [', '"at": [1')
    generator._answers[position] = dataclasses.replace(answer, body=lie)

    with pytest.raises(WrongAnswerError) as raised:
        generator.check(load_of(stock))

    message = str(raised.value)
    assert message.startswith("1 of ")
    assert f"answers are wrong: {answer}: player" in message


def test_a_server_that_is_gone_is_a_load_error(free_port, stock):
    generator = GameLoad("paths", seed=1, spare_from=64)
    generator.run(load_of(stock))

    with pytest.raises(LoadError, match="no answer to /map"):
        generator.check(Load(f"http://127.0.0.1:{free_port}", (), 1, 1))


def test_what_is_asked_is_the_same_in_a_repeat_and_no_other(stock):
    first, again, second = (asked_in(repeat, stock) for repeat in (0, 0, 1))

    begin = set(first[:6])
    assert begin <= set(again)
    assert not begin <= set(second)


def test_what_the_players_do_is_in_the_title():
    expected = "100 % path"

    assert expected in GameLoad("paths", seed=1, spare_from=64).title
