"""The game over HTTP: plain Tornado, no txloop.

Nothing here knows whether it runs as a transaction. The benchmark serves these classes
as they are, `handlers.astar` marks them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import tornado.web

from handlers.astar_errors import Refused
from handlers.astar_input import (
    read_object,
    read_place,
    read_place_of_text,
    read_player,
    read_tag,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.astar_events import Event
    from handlers.astar_game import Game

__all__ = [
    "ErrorHandler",
    "GameHandler",
    "MapHandler",
    "MoveHandler",
    "PathHandler",
    "PlayerHandler",
    "PlayersHandler",
    "WallHandler",
    "event_as_json",
]


class GameHandler(tornado.web.RequestHandler):
    """A request to the game; whatever is wrong with it is answered as JSON."""

    def initialize(self, game: Game) -> None:
        """Take the game that is asked."""
        self.game = game

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Answer with the reason if what is done inside is refused."""
        try:
            yield
        except Refused as refused:
            self.set_status(refused.status)
            self.write({"error": str(refused)})

    def query(self, name: str) -> str | None:
        """Return an argument of the query as it was sent, or None."""
        return self.get_query_argument(name, None, strip=False)

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Write what Tornado itself refuses, such as a wrong method, as JSON too."""
        self.finish({"error": f"{status_code} {self._reason}"})


class ErrorHandler(tornado.web.ErrorHandler):
    """What answers paths that there are not."""

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Write the error as JSON."""
        self.finish({"error": f"{status_code} {self._reason}"})


class MapHandler(GameHandler):
    """The whole game at one moment."""

    def get(self) -> None:
        """Write the map, the players and the version."""
        game = self.game
        self.write(
            {
                "version": game.log.version,
                "width": game.width,
                "height": game.height,
                "rows": game.rows(),
                "players": game.players(),
            }
        )


class PlayersHandler(GameHandler):
    """Where players come in."""

    def post(self) -> None:
        """Let a player join."""
        with self.refusals():
            wanted = read_object(self.request.body)
            player, place = self.game.join(read_tag(wanted.get("tag")))
            self.set_status(201)
            self.write({"id": player, "at": place})


class PlayerHandler(GameHandler):
    """One player."""

    def delete(self, player: str) -> None:
        """Let the player leave."""
        with self.refusals():
            self.game.leave(read_player(player), read_tag(self.query("tag")))
            self.set_status(204)


class MoveHandler(GameHandler):
    """One player's steps."""

    def post(self, player: str) -> None:
        """Take the first step of a shortest path."""
        with self.refusals():
            number = read_player(player)
            wanted = read_object(self.request.body)
            goal, tag = read_place(wanted.get("to")), read_tag(wanted.get("tag"))
            place, path = self.game.move(number, goal, tag)
            self.write({"at": place, "path": path.places, "cost": path.cost})


class PathHandler(GameHandler):
    """Shortest paths, without anybody walking them."""

    def get(self) -> None:
        """Write a shortest path between two cells, null where there is none."""
        with self.refusals():
            start, goal = self._place("from"), self._place("to")
            path = self.game.find_path(start, goal)
            self.write(
                {
                    "path": path and path.places,
                    "cost": path and path.cost,
                    "version": self.game.log.version,
                }
            )

    def _place(self, name: str) -> tuple[int, int]:
        parts = (self.query(name) or "").split(",")
        if len(parts) != 2:
            raise Refused(400, f'"{name}" must be a cell: {name}=x,y')
        return read_place_of_text(*parts)


class WallHandler(GameHandler):
    """One cell's wall."""

    def put(self, x: str, y: str) -> None:
        """Build it."""
        with self.refusals():
            place = read_place_of_text(x, y)
            wanted = read_object(self.request.body)
            self.game.build(place, read_tag(wanted.get("tag")))
            self.write({"at": place, "wall": True})

    def delete(self, x: str, y: str) -> None:
        """Destroy it."""
        with self.refusals():
            place = read_place_of_text(x, y)
            self.game.destroy(place, read_tag(self.query("tag")))
            self.write({"at": place, "wall": False})


def event_as_json(version: int, event: Event) -> dict[str, object]:
    """Return an event as clients see it."""
    kind, x, y, player, tag = event
    return {
        "version": version,
        "kind": kind,
        "x": x,
        "y": y,
        "player": player,
        "tag": tag,
    }
