"""With ``order="arrival"`` a run is the one that stock Tornado gives, to the letter."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from bench.cases import astar
from handlers import astar as astar_server
from handlers.astar import make_game
from handlers.astar_game import make_walls
from tests.http.game import read, request
from tests.logs import allow_log
from tests.serving import Server, serving
from txloop.web.delegate import TransactionDelegate

if TYPE_CHECKING:
    import tornado.web

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

SIZE = 60
PLAYERS = 8
WAVES = 6

MAP = {"width": SIZE, "height": SIZE, "walls": 25, "seed": 3}


def make_stock() -> tornado.web.Application:
    return astar.plain(1, MAP)


def make_application() -> tornado.web.Application:
    return astar_server.make_application(make_game(make_walls(SIZE, SIZE, 25, 3)))


def wave(chance: random.Random, number: int):
    """Return what all players ask at once."""

    def cell():
        return [chance.randrange(SIZE), chance.randrange(SIZE)]

    for player in range(1, PLAYERS + 1):
        tag = f"{number}-{player}"
        yield "POST", f"/players/{player}/move", {"to": cell(), "tag": tag}
        x, y = cell()
        yield "PUT", f"/walls/{x}/{y}", {"tag": f"{tag}-wall"}


@pytest.fixture
def arrived(monkeypatch):
    """Return a list that gets method, path and body of each marked request."""
    arrived: list[tuple[str, str, bytes]] = []
    execute = TransactionDelegate.execute

    def recording(self: TransactionDelegate) -> object:
        arrived.append((self.request.method, self.request.uri, self.request.body))
        return execute(self)

    monkeypatch.setattr(TransactionDelegate, "execute", recording)
    return arrived


def play(server: Server) -> dict[str, object]:
    """Let all players ask at once, again and again; return the answers by tag."""
    chance = random.Random(5)
    answers: dict[str, object] = {}
    for _ in range(PLAYERS):
        server.fetch_together([request("POST", "/players", {"tag": None})])
    for number in range(WAVES):
        asked = list(wave(chance, number))
        got = server.fetch_together([request(*one) for one in asked])
        for (_, _, body), answer in zip(asked, got, strict=True):
            answers[body["tag"]] = read(answer)
    return answers


def replay(
    server: Server, requests: list[tuple[str, str, bytes]]
) -> dict[str | None, object]:
    """Ask one after another; return the answers by tag."""
    answers: dict[str | None, object] = {}
    for method, path, body in requests:
        (answer,) = server.fetch_together([request(method, path, body)])
        answers[json.loads(body)["tag"]] = read(answer)
    del answers[None]  # the players came with no tag
    return answers


def events(server: Server) -> tuple[int, dict[str, Any]]:
    return read(server.fetch_together([request("GET", "/events?since=0")])[0])


@pytest.mark.parametrize(
    ("kind", "rounds"),
    [
        ("serial", "overlapping"),
        ("processes", "overlapping"),
        ("threads", "overlapping"),
        ("processes", "barrier"),
    ],
)
def test_the_game_goes_as_on_stock_tornado(kind, rounds, arrived):
    with allow_log("tornado.access", "^409 "):
        # GIVEN a load on a server that commits in the order of arrival
        with serving(kind, make_application, order="arrival", rounds=rounds) as server:
            answers, load = play(server), list(arrived)
            seen = events(server)
            aborts = server.stats().aborts

        # WHEN the same requests go to stock Tornado, one after another
        with serving("stock", make_stock) as server:
            expected_answers = replay(server, load)
            expected = events(server)

    # THEN
    assert expected == seen
    assert expected_answers == answers
    assert len(seen[1]["events"]) > WAVES
    assert kind == "serial" or aborts


def test_it_is_another_run_in_the_order_of_completion(arrived):
    """Without this the test above might compare what cannot differ."""
    with allow_log("tornado.access", "^409 "):
        with serving("processes", make_application) as server:
            play(server)
            load, seen = list(arrived), events(server)
        with serving("stock", make_stock) as server:
            replay(server, load)
            assert events(server) != seen
