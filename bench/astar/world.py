"""The map as it must have been: built from a snapshot, moved on by the event log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from bench.astar.distances import Distances, Grid

if TYPE_CHECKING:
    from bench.astar.record import Cell

Json = Mapping[str, object]
"""An object as `json.loads` returns it."""

_WALL, _FREE = "#", "."


@dataclass(frozen=True, slots=True)
class Event:
    """One committed change."""

    version: int
    kind: str
    cell: Cell
    player: str | None
    tag: str | None

    @classmethod
    def from_json(cls, fields: Json) -> Event:
        """Return the event that the server's log tells of.

        Raises:
            ValueError: a field is missing, or is of another type.
        """
        try:
            version, x, y = (int_of(fields[name]) for name in ("version", "x", "y"))
            player, tag = fields["player"], fields["tag"]
        except KeyError as error:
            raise ValueError(f"an event without {error}: {dict(fields)}") from None
        return cls(
            version=version,
            kind=str(fields["kind"]),
            cell=(x, y),
            player=None if player is None else str(player),
            tag=None if tag is None else str(tag),
        )

    def __str__(self) -> str:
        """Return the event in a few words, for a report."""
        who = f" by player {self.player}" if self.player else ""
        tag = f" [{self.tag}]" if self.tag else ""
        return f"event {self.version}, {self.kind} at {self.cell}{who}{tag}"


class World:
    """One version of the map after another; owned by one replay."""

    def __init__(self, snapshot: Json) -> None:
        """Begin with what `GET /map` answered.

        Raises:
            ValueError: that is no map.
        """
        try:
            self.version = int_of(snapshot["version"])
            width, height = (int_of(snapshot[name]) for name in ("width", "height"))
            rows = cast("list[str]", snapshot["rows"])
            players = cast("Mapping[str, object]", snapshot["players"])
        except KeyError as error:
            raise ValueError(f"a map without {error}") from None
        if [len(row) for row in rows] != [width] * height:
            raise ValueError(f"the rows of the map are not {width} x {height}")
        self.grid = Grid(width, height)
        self.distances = Distances(self.grid)
        self.players = {player: cell_of(at) for player, at in players.items()}
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                if letter == _WALL:
                    self.grid.free[self.grid.index((x, y))] = 0

    def snapshot(self) -> Json:
        """Return what `GET /map` has to answer."""
        grid = self.grid
        rows = []
        for y in range(grid.height):
            first = grid.index((0, y))
            cells = grid.free[first : first + grid.width]
            rows.append("".join(_FREE if free else _WALL for free in cells))
        return {
            "version": self.version,
            "width": grid.width,
            "height": grid.height,
            "rows": rows,
            "players": {player: list(at) for player, at in self.players.items()},
        }

    def standing_on(self, cell: Cell) -> str | None:
        """Return the player who stands there, if there is one."""
        return next((who for who, at in self.players.items() if at == cell), None)

    def apply(self, event: Event) -> str | None:
        """Go on to the next version; return what is wrong with the event, or None."""
        wrong = self._judge(event)
        self.version += 1
        player = event.player or ""
        if event.kind in ("join", "move"):
            self.players[player] = event.cell
        elif event.kind == "leave":
            self.players.pop(player, None)
        elif not wrong:
            if event.kind == "build":
                self.distances.build(event.cell)
            else:
                self.distances.destroy(event.cell)
        return wrong

    def _judge(self, event: Event) -> str | None:
        if event.version != self.version + 1:
            return f"comes after event {self.version}"
        judge = {
            "join": self._judge_join,
            "leave": self._judge_leave,
            "move": self._judge_move,
            "build": self._judge_build,
            "destroy": self._judge_destroy,
        }.get(event.kind)
        return judge(event) if judge else "is of no known kind"

    def _judge_join(self, event: Event) -> str | None:
        if event.player in (None, *self.players):
            return "the player is there already"
        return self._judge_place(event)

    def _judge_leave(self, event: Event) -> str | None:
        return None if event.player in self.players else "there is no such player"

    def _judge_move(self, event: Event) -> str | None:
        at = self.players.get(event.player or "")
        if at is None:
            return "there is no such player"
        if event.cell == at:
            return None
        if self.grid.step_cost(at, event.cell) is None:
            return f"there is no such step from {at}"
        return self._judge_place(event)

    def _judge_build(self, event: Event) -> str | None:
        return self._judge_place(event)

    def _judge_destroy(self, event: Event) -> str | None:
        x, y = event.cell
        on_map = 0 <= x < self.grid.width and 0 <= y < self.grid.height
        wall = on_map and not self.grid.is_free(event.cell)
        return None if wall else "there is no wall"

    def _judge_place(self, event: Event) -> str | None:
        if not self.grid.is_free(event.cell):
            return "there is a wall, or the end of the map"
        other = self.standing_on(event.cell)
        return f"player {other} stands there" if other else None


def int_of(value: object) -> int:
    """Return a whole number as what it is.

    Raises:
        ValueError: it is something else; a bool too.
    """
    if type(value) is not int:
        raise ValueError(f"{value!r} is no whole number")
    return value


def cell_of(value: object) -> Cell:
    """Return the cell that `[x, y]` names.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{value!r} is no [x, y]")
    return int_of(value[0]), int_of(value[1])
