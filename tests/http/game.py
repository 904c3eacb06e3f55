"""A game server for tests: small maps, plain talk."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from handlers.astar import make_application, make_game
from tests.messages import Request
from tests.serving import Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.messages import Answer

__all__ = ["GameServer", "game_server", "request"]

KEPT_EVENTS = 40


class GameServer:
    """A running game, and a client of it."""

    def __init__(self, server, game):
        self.server: Server = server
        self.game = game

    def ask(self, method, path, body=None):
        """Return the status and the JSON of the answer."""
        return read(self.server.fetch_together([request(method, path, body)])[0])

    def ask_together(self, *wanted):
        """Ask for all at once, each on a connection of its own."""
        requests = [request(*each) for each in wanted]
        return [read(answer) for answer in self.server.fetch_together(requests)]

    def join(self, tag=None):
        """Let a player join; return its number and place."""
        status, joined = self.ask("POST", "/players", {"tag": tag})
        assert status == 201
        return joined["id"], tuple(joined["at"])

    def map(self):
        """Return the map."""
        status, answer = self.ask("GET", "/map")
        assert status == 200
        return answer

    def events(self, since=0):
        """Return the events after a version."""
        status, answer = self.ask("GET", f"/events?since={since}")
        assert status == 200
        return answer["events"]


@contextmanager
def game_server(kind: str, *rows: str) -> Iterator[GameServer]:
    """Serve a game on the map that the rows show while the block runs."""
    walls = [[int(cell == "#") for cell in row] for row in rows]
    game = make_game(walls, KEPT_EVENTS)
    with serving(kind, lambda: make_application(game), early=True) as server:
        yield GameServer(server, game)


def request(method: str, path: str, body: object = None) -> Request:
    """Return a request; a body that is not bytes is sent as JSON."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return Request(method, path, body=body)


def read(answer: Answer) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON of an answer."""
    if answer.status == 204:
        assert answer.body == b""
        return 204, {}
    kind = answer.header("Content-Type")
    assert kind == "application/json; charset=UTF-8", answer
    return answer.status, json.loads(answer.body)
