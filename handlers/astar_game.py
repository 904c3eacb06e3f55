"""The rules of the game and its state: no Tornado, no txloop.

Several players walk over one map of walls and build and destroy walls. The state is
held in whatever lists and dicts the game is given, so that it works on plain ones, one
request at a time, and on containers, where each request is a transaction.
"""

from __future__ import annotations

import random
from collections.abc import Callable, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING

from handlers.astar_errors import Refused
from handlers.astar_events import EventLog, MakeDict, MakeList
from handlers.astar_search import Path, Place, Walls, find_path

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Game", "make_walls"]

# Multiples of the golden ratio, without their whole part, spread evenly over 0..1.
_GOLDEN = (5**0.5 - 1) / 2

AtCommit = Callable[..., None]
"""Calls a function with arguments once, when what was changed has taken effect."""


def make_walls(width: int, height: int, percent: int, seed: int) -> list[list[int]]:
    """Return a map with so many walls by chance, the same for the same `seed`."""
    chance = random.Random(seed)
    cells = range(width * height)
    built = set(chance.sample(cells, len(cells) * percent // 100))
    return [[int(y * width + x in built) for x in range(width)] for y in range(height)]


def _at_once(function: Callable[..., object], *args: object) -> None:
    function(*args)


class Game:
    """One map with its players; all methods are made for one transaction each.

    Every change appends one event, with the client's `tag`, and reads no more of the
    state than its answer depends on. What is refused changes nothing.

    Attributes:
        width: Of the map, in cells.
        height: Likewise.
        log: The events.
    """

    def __init__(
        self,
        walls: Walls,
        make_list: MakeList = list,
        make_dict: MakeDict = dict,
        at_commit: AtCommit = _at_once,
        log: EventLog | None = None,
    ) -> None:
        """Start a game without players.

        Args:
            walls: The map.
            make_list: What makes the lists that hold the state.
            make_dict: What makes the dicts.
            at_commit: How to call what must run once, with nothing beside it.
            log: Where events go; None makes one.
        """
        self.width, self.height = len(walls[0]), len(walls)
        self.log = EventLog(make_list, make_dict) if log is None else log
        # The rows are shared, not the sequence of them: nobody ever changes that.
        self._rows: Sequence[MutableSequence[int]] = tuple(map(make_list, walls))
        self._players: MutableMapping[int, Place] = make_dict([])
        self._standing: MutableMapping[Place, int] = make_dict([])
        self._numbers: MutableMapping[str, int] = make_dict([("joined", 0)])
        self._at_commit = at_commit

    # What is

    def rows(self) -> list[str]:
        """Return the map as text, ``#`` for a wall and ``.`` for none."""
        return ["".join(".#"[cell] for cell in row) for row in self._rows]

    def players(self) -> dict[int, Place]:
        """Return where everybody stands."""
        return dict(self._players.items())

    def find_path(self, start: Place, goal: Place) -> Path | None:
        """Return a shortest path over the walls; players are not in the way.

        Raises:
            Refused: a cell is off the map.
        """
        self._check(start)
        self._check(goal)
        return find_path(self._rows, start, goal)

    # What players do

    def join(self, tag: str | None) -> tuple[int, Place]:
        """Put a new player on a free cell; return its number and the cell.

        Raises:
            Refused: the map is full.
        """
        player = self._numbers["joined"] + 1
        for place in self._places_from(player * _GOLDEN % 1):
            if not (self._is_wall(place) or place in self._standing):
                break
        else:
            raise Refused(409, "the map is full")
        self._numbers["joined"] = player
        self._players[player] = place
        self._standing[place] = player
        self._note("join", place, player, tag)
        return player, place

    def leave(self, player: int, tag: str | None) -> None:
        """Take a player off the map.

        Raises:
            Refused: there is no such player.
        """
        place = self._place_of(player)
        del self._players[player]
        del self._standing[place]
        self._note("leave", place, player, tag)

    def move(self, player: int, goal: Place, tag: str | None) -> tuple[Place, Path]:
        """Plan a path for a player and take its first step.

        Who is at the goal already stays there, and no event says so.

        Returns:
            Where the player stands now, and the path from where it stood.

        Raises:
            Refused: there is no such player, no path, or someone on that first step.
        """
        place = self._place_of(player)
        path = self.find_path(place, goal)
        if path is None:
            raise Refused(409, f"no path from {_shown(place)} to {_shown(goal)}")
        if place == goal:
            return place, path
        step = path.places[1]
        if step in self._standing:
            raise Refused(409, f"another player stands on {_shown(step)}")
        del self._standing[place]
        self._standing[step] = player
        self._players[player] = step
        self._note("move", step, player, tag)
        return step, path

    def build(self, place: Place, tag: str | None) -> None:
        """Build a wall.

        Raises:
            Refused: there is one, or a player.
        """
        if self._is_wall(place):
            raise Refused(409, f"there is a wall on {_shown(place)} already")
        if place in self._standing:
            raise Refused(409, f"a player stands on {_shown(place)}")
        self._rows[place[1]][place[0]] = 1
        self._note("build", place, None, tag)

    def destroy(self, place: Place, tag: str | None) -> None:
        """Destroy a wall.

        Raises:
            Refused: there is none.
        """
        if not self._is_wall(place):
            raise Refused(409, f"there is no wall on {_shown(place)}")
        self._rows[place[1]][place[0]] = 0
        self._note("destroy", place, None, tag)

    # Parts of it

    def _check(self, place: Place) -> None:
        x, y = place
        if not (0 <= x < self.width and 0 <= y < self.height):
            size = f"{self.width} x {self.height}"
            raise Refused(400, f"{_shown(place)} is off the map of {size} cells")

    def _is_wall(self, place: Place) -> bool:
        self._check(place)
        return bool(self._rows[place[1]][place[0]])

    def _place_of(self, player: int) -> Place:
        place = self._players.get(player)
        if place is None:
            raise Refused(404, f"there is no player {player}")
        return place

    def _places_from(self, part: float) -> Iterator[Place]:
        """Go once over the map, from so far in it."""
        size = self.width * self.height
        for number in range(int(part * size), int(part * size) + size):
            y, x = divmod(number % size, self.width)
            yield x, y

    def _note(
        self, kind: str, place: Place, player: int | None, tag: str | None
    ) -> None:
        self.log.append((kind, *place, player, tag))
        self._at_commit(EventLog.trim, self.log)


def _shown(place: Place) -> str:
    return f"{place[0]},{place[1]}"
