"""A game on shared state: the second part of the experiment of 2014.

Players walk to goals along shortest paths and build and destroy walls; each request is
one serializable step. Prefork and process pools cannot take part: their processes share
nothing. Every answer is checked; `bench.astar` says how.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import tornado.web

from bench.astar.generator import GameLoad
from bench.case import TXLOOP, Case, Competitor, Parameter, Sample, Values
from bench.errors import UsageError
from bench.servers.stats import STATS, StatsHandler
from handlers.astar_game import Game, make_walls
from handlers.astar_requests import (
    GameHandler,
    MapHandler,
    MoveHandler,
    PathHandler,
    PlayerHandler,
    PlayersHandler,
    WallHandler,
    event_as_json,
)

if TYPE_CHECKING:
    from bench.load import LoadGenerator

_MOST_CELLS = 1_000_000
_SIDE = 400  # so that a request is work; those of 2014 took CPython more than a second
_WARM_UP_PATHS = 8


class EventsHandler(GameHandler):
    """The event log without the waiting, of which the benchmark has no need."""

    def get(self) -> None:
        """Write the events since a version."""
        since = int(self.get_query_argument("since"))
        events = self.game.log.since(since)
        self.write({"events": [event_as_json(*numbered) for numbered in events]})


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the game on plain lists and dicts, for one thread."""
    game = {"game": Game(_walls(values))}
    return tornado.web.Application(
        [
            ("/map", MapHandler, game),
            ("/players", PlayersHandler, game),
            ("/players/([^/]+)", PlayerHandler, game),
            ("/players/([^/]+)/move", MoveHandler, game),
            ("/path", PathHandler, game),
            ("/walls/([^/]+)/([^/]+)", WallHandler, game),
            ("/events", EventsHandler, game),
        ]
    )


def transactional(_workers: int, values: Values) -> tornado.web.Application:
    """Return the demo server's application, whose handlers are marked."""
    from handlers.astar import make_application, make_game

    application = make_application(make_game(_walls(values)))
    application.add_handlers(".*", [(STATS, StatsHandler)])
    return application


def load(values: Values) -> tuple[str, ...]:
    """Return path queries to warm up with.

    Raises:
        UsageError: there is no such map.
    """
    width, height = values["width"], values["height"]
    if not (width > 1 and height > 1 and width * height <= _MOST_CELLS):
        raise UsageError(f"no map is {width} x {height}: at most {_MOST_CELLS} cells")
    if not 0 <= values["walls"] <= 50:
        raise UsageError(f"walls must be 0..50 percent, not {values['walls']}")
    chance = random.Random(values["seed"])
    return tuple(
        "/path?from={},{}&to={},{}".format(
            *(chance.randrange(size) for size in (width, height, width, height))
        )
        for _ in range(_WARM_UP_PATHS)
    )


def samples(values: Values) -> tuple[Sample, ...]:
    """Return the one request whose answer is known at any time, at least in part."""

    def is_right(body: bytes) -> bool:
        answer = json.loads(body)
        rows = [values["width"]] * values["height"]
        return [len(row) for row in answer.get("rows", ())] == rows

    return (Sample("/map", is_right),)


def players(values: Values, spare_from: int) -> LoadGenerator:
    """Return the load of 2014."""
    return GameLoad("play", values["seed"], spare_from)


def _walls(values: Values) -> list[list[int]]:
    names = ("width", "height", "walls", "seed")
    return make_walls(*(values[name] for name in names))


CASE = Case(
    name="astar",
    summary="a game on one map: shortest paths, walls that come and go",
    competitors=(
        Competitor("stock", "stock", "plain"),
        *TXLOOP,
    ),
    baseline="stock",
    load=load,
    samples=samples,
    parameters=(
        Parameter("width", _SIDE, "of the map, in cells"),
        Parameter("height", _SIDE, "of the map, in cells"),
        Parameter("walls", 30, "percent of the cells that are walls at first"),
        Parameter("seed", 1, "of the map and of what the players do"),
    ),
    generator=players,
    clients=24,
    notes=(
        "answers: of all repeats, each checked against the server's event log;"
        " conflicts: attempts thrown away",
    ),
)
