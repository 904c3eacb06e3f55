"""A game played by one thread, and what its clients would have seen of it.

Every answer is right; the tests of the check make wrong ones of them. One request takes
one second of the clock, from a whole second to the next half, unless told otherwise.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.astar.check import check
from bench.astar.record import Answer
from handlers.astar_search import find_path

if TYPE_CHECKING:
    from bench.astar.record import Cell, Kind

__all__ = ["INSIDE", "ROWS", "Game", "change", "problems", "refuse"]

ROWS = [
    "......",
    ".####.",
    ".#..#.",
    ".####.",
    "......",
    "......",
]
INSIDE = (2, 2)
"""A cell of that map which no path leads to."""


class Game:
    """State, event log and answers; `rows` is the map at the beginning."""

    def __init__(self, rows: list[str]) -> None:
        self.walls = [[int(letter == "#") for letter in row] for row in rows]
        self.players: dict[str, Cell] = {}
        self.events: list[dict[str, object]] = []
        self.answers: list[Answer] = []
        self.now = 0.0
        self.initial_map = self.snapshot()

    def snapshot(self):
        """Return what GET /map answers."""
        return {
            "version": len(self.events),
            "width": len(self.walls[0]),
            "height": len(self.walls),
            "rows": ["".join(".#"[wall] for wall in row) for row in self.walls],
            "players": {player: list(at) for player, at in self.players.items()},
        }

    def look(self) -> Answer:
        """Ask for the map."""
        return self._answer("map", 200, self.snapshot())

    def path(self, start: Cell, goal: Cell) -> Answer:
        """Ask for a path."""
        body = {**self._plan(start, goal), "version": len(self.events)}
        return self._answer("path", 200, body, start=start, cell=goal)

    def join(self, at: Cell | None) -> Answer:
        """Enter on that cell, or find the map full."""
        tag = self._tag()
        if at is None:
            return self._answer("join", 409, {"error": "full"}, tag=tag)
        player = str(len(self.events) + 1)
        self.players[player] = at
        self._event("join", at, player, tag)
        body = {"id": int(player), "at": list(at)}
        return self._answer("join", 201, body, tag=tag)

    def leave(self, player: str) -> Answer:
        """Leave the map, or be unknown."""
        if player not in self.players:
            return self._answer("leave", 404, {"error": "unknown"}, player=player)
        self._event("leave", self.players.pop(player), player, None)
        return self._answer("leave", 204, None, player=player)

    def move(self, player: str, goal: Cell) -> Answer:
        """Take the first step to the goal, or be refused."""
        tag = self._tag()
        details = {"tag": tag, "player": player, "cell": goal}
        if player not in self.players:
            return self._answer("move", 404, {"error": "unknown"}, **details)
        plan = self._plan(self.players[player], goal)
        path = plan["path"]
        if path is None:
            return self._answer("move", 409, {"error": "no path"}, **details)
        if len(path) == 1:
            return self._answer("move", 200, {"at": list(goal), **plan}, **details)
        step = (path[1][0], path[1][1])
        if step in self.players.values():
            return self._answer("move", 409, {"error": "occupied"}, **details)
        self.players[player] = step
        self._event("move", step, player, tag)
        return self._answer("move", 200, {"at": list(step), **plan}, **details)

    def build(self, cell: Cell) -> Answer:
        """Build a wall, or be refused."""
        free = not self._wall(cell) and cell not in self.players.values()
        return self._change_wall("build", cell, free, 1)

    def destroy(self, cell: Cell) -> Answer:
        """Destroy a wall, or be refused."""
        return self._change_wall("destroy", cell, self._wall(cell), 0)

    def overlap(self, *answers: Answer) -> list[Answer]:
        """Let these have been asked for and answered at the same time, all of it."""
        sent = min(answer.sent for answer in answers)
        received = max(answer.received for answer in answers)
        return [self.replace(one, sent=sent, received=received) for one in answers]

    def replace(self, answer: Answer, **changes: object) -> Answer:
        """Put another answer in the place of this one."""
        position = self.answers.index(answer)
        fields = {name: getattr(answer, name) for name in Answer.__slots__}
        self.answers[position] = new = Answer(**{**fields, **changes})
        return new

    def _change_wall(self, kind: Kind, cell: Cell, possible: bool, wall: int) -> Answer:
        tag = self._tag()
        if not possible:
            return self._answer(kind, 409, {"error": "no"}, tag=tag, cell=cell)
        self.walls[cell[1]][cell[0]] = wall
        self._event(kind, cell, None, tag)
        return self._answer(kind, 200, {}, tag=tag, cell=cell)

    def _wall(self, cell: Cell) -> bool:
        return bool(self.walls[cell[1]][cell[0]])

    def _plan(self, start: Cell, goal: Cell):
        found = find_path(self.walls, start, goal)
        if found is None:
            return {"path": None, "cost": None}
        return {"path": [list(cell) for cell in found.places], "cost": found.cost}

    def _tag(self) -> str:
        return f"tag {len(self.answers)}"

    def _event(self, kind: Kind, cell: Cell, player: str | None, tag: str | None):
        names = ("version", "kind", "x", "y", "player", "tag")
        who = None if player is None else int(player)
        fields = (len(self.events) + 1, kind, *cell, who, tag)
        self.events.append(dict(zip(names, fields, strict=True)))

    def _answer(self, kind: Kind, status: int, body: object, **details) -> Answer:
        text = "" if body is None else json.dumps(body)
        sent, self.now = self.now, self.now + 1
        answer = Answer(kind, sent, sent + 0.5, status, text, **details)
        self.answers.append(answer)
        return answer


def problems(game: Game) -> list[str]:
    """Return what the check says of the game's answers."""
    return check(game.events, game.answers, game.initial_map)


def change(game: Game, answer: Answer, **fields: object) -> Answer:
    """Let an answer say something else."""
    body = json.dumps({**json.loads(answer.body), **fields})
    return game.replace(answer, body=body)


def refuse(game: Game, answer: Answer, status: int = 409) -> Answer:
    """Let a change have been refused, even though it was possible."""
    game.events = [event for event in game.events if event["tag"] != answer.tag]
    return game.replace(answer, status=status, body="{}")
