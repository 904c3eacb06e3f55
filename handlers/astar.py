"""The game server: many players, one map, no locks.

The requests are plain synchronous Tornado over plain Python rules. What makes them run
in parallel is that the game's state is in containers and that the classes are marked.
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import tornado.web

import txloop
from handlers.astar_events import KEPT_EVENTS, EventLog
from handlers.astar_game import Game
from handlers.astar_input import read_version
from handlers.astar_live import Live, LiveHandler
from handlers.astar_requests import (
    ErrorHandler,
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
    from handlers.astar_search import Walls

__all__ = ["make_application", "make_game"]

WAIT_SECONDS = 20.0
"""How long ``/events`` waits for an event."""

_PAGE = pathlib.Path(__file__).with_suffix(".html")
_PING_SECONDS = 20


# The mark is a decorator; here it goes to classes that know nothing of txloop.
for _handler_class in (
    MapHandler,
    PlayersHandler,
    PlayerHandler,
    MoveHandler,
    PathHandler,
    WallHandler,
):
    txloop.transactional(_handler_class)


@txloop.transactional
class EventsHandler(GameHandler):
    """``GET /events``."""

    def get(self) -> None:
        """Write what has happened since a version; wait while there is nothing."""
        with self.refusals():
            version = read_version(self.query("since") or "0")
            events = self.game.log.since(version)
            if not events:
                txloop.retry(timeout=WAIT_SECONDS)
            shown = [event_as_json(*numbered) for numbered in events]
            self.write({"events": shown})


class PageHandler(tornado.web.RequestHandler):
    """``GET /``: the game, to play."""

    def get(self) -> None:
        """Write the page."""
        self.set_header("Cache-Control", "no-cache")
        self.write(_PAGE.read_bytes())


def make_game(walls: Walls, kept_events: int = KEPT_EVENTS) -> Game:
    """Return a game whose state is in containers; to be made before the loop runs."""
    log = EventLog(txloop.TList, txloop.TDict, kept_events)
    return Game(walls, txloop.TList, txloop.TDict, txloop.on_commit, log)


def make_application(game: Game) -> tornado.web.Application:
    """Return the application that serves a game."""
    of_game = {"game": game}
    return tornado.web.Application(
        [
            ("/", PageHandler),
            ("/map", MapHandler, of_game),
            ("/players", PlayersHandler, of_game),
            ("/players/([^/]+)", PlayerHandler, of_game),
            ("/players/([^/]+)/move", MoveHandler, of_game),
            ("/path", PathHandler, of_game),
            ("/walls/([^/]+)/([^/]+)", WallHandler, of_game),
            ("/events", EventsHandler, of_game),
            ("/live", LiveHandler, {"live": Live(game.log)}),
        ],
        default_handler_class=ErrorHandler,
        default_handler_args={"status_code": 404},
        websocket_ping_interval=_PING_SECONDS,
        websocket_ping_timeout=_PING_SECONDS,
        websocket_max_message_size=1024,
    )
