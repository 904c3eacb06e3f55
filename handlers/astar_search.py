"""The shortest path over a map of walls: plain Python, no Tornado, no txloop.

The search takes lists and containers alike, so that the benchmark's competitors, which
must not import txloop, do exactly the same work.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Path", "Place", "Walls", "find_path"]

Place: TypeAlias = tuple[int, int]
"""A cell of the map: x from the left, y from the top."""

Walls: TypeAlias = Sequence[Sequence[int]]
"""Rows of equal length: 0 is free, 1 is a wall."""

# sqrt 2 to 33 binary places: sums of it and of ones are exact up to 2 ** 20, so that
# paths of the same cost compare equal, and the search need not look at them all. Two
# costs that differ do so by far more than what is rounded off here.
_DIAGONAL = round(math.sqrt(2) * 2**33) / 2**33
_PIECE = 32  # so many cells of a row are read at once

_TURN = _DIAGONAL - 1  # what one of the longer sides costs more with a diagonal


@dataclass(frozen=True, slots=True)
class Path:
    """A way from the first cell to the last.

    Attributes:
        places: All cells on it, both ends included.
        straight: How many of its steps are straight.
        diagonal: How many are diagonal.
    """

    places: tuple[Place, ...]
    straight: int
    diagonal: int

    @property
    def cost(self) -> float:
        """What it costs; equal for all shortest paths between two cells."""
        return self.straight + self.diagonal * math.sqrt(2)


def find_path(walls: Walls, start: Place, goal: Place) -> Path | None:
    """Return a shortest path, or None where there is none.

    A step leads to one of the 8 cells around. A straight one costs 1; a diagonal one
    sqrt 2, and both cells beside it must be free. Nothing starts or ends on a wall.

    This is A* with the octile distance as its heuristic. Of several shortest paths the
    same one is returned every time. The map is read in pieces of rows, each when the
    search first comes near it and never again: a transaction that searches depends on
    the region that it visited.

    Args:
        walls: The map.
        start: A cell of it.
        goal: A cell of it.
    """
    (start_x, start_y), (goal_x, goal_y) = start, goal
    if walls[start_y][start_x] or walls[goal_y][goal_x]:
        return None
    ground = _Ground(walls, len(walls[start_y]))
    width = ground.width
    first, last = start_y * width + start_x, goal_y * width + goal_x
    push, pop = heapq.heappush, heapq.heappop
    costs = {first: 0.0}
    came_from: dict[int, int] = {}
    # By the estimated cost of the whole path; of equals the nearest to the goal first.
    ahead = [(0.0, 0.0, first)]
    while ahead:
        whole, rest, here = pop(ahead)
        if here == last:
            return _path(came_from, first, last, width)
        so_far = costs[here]
        if so_far + rest < whole:
            continue  # it has been reached for less since
        for there, step in _steps(ground, here):
            cost = so_far + step
            known = costs.get(there)
            if known is None or cost < known:
                costs[there] = cost
                came_from[there] = here
                across, down = abs(goal_x - there % width), abs(goal_y - there // width)
                rest = across + _TURN * down if across > down else down + _TURN * across
                push(ahead, (cost + rest, rest, there))
    return None


class _Ground(dict[int, bytes]):
    """Pieces of rows, read on first use, each with the cell on either side of it.

    Pieces are numbered row by row, and so are cells: a number is quicker to store and
    to compare than a tuple, and gives the garbage collector nothing to look into. Rows
    are filled up with wall to `width` cells, a whole number of pieces; what lies
    outside the map is wall, too.
    """

    def __init__(self, walls: Walls, end: int) -> None:
        super().__init__()
        self._walls = walls
        self._end = end
        self.per_row = -(-end // _PIECE)
        self.width = self.per_row * _PIECE

    def __missing__(self, number: int) -> bytes:
        y, piece = divmod(number, self.per_row)
        cells = b""
        if 0 <= y < len(self._walls):
            before = piece * _PIECE - 1  # the cell that the first byte stands for
            stop = min(before + _PIECE + 2, self._end)
            cells = bytes(self._walls[y][max(before, 0) : stop])
            if before < 0:
                cells = b"\1" + cells
        self[number] = found = cells.ljust(_PIECE + 2, b"\1")
        return found


def _steps(ground: _Ground, here: int) -> list[tuple[int, float]]:
    """Return where one can go from a cell, and what each step costs."""
    number, at = divmod(here, _PIECE)
    above, row, below = (
        ground[number - ground.per_row],
        ground[number],
        ground[number + ground.per_row],
    )
    before, at, after = at, at + 1, at + 2
    up, down = here - ground.width, here + ground.width
    steps: list[tuple[int, float]] = []
    if not row[before]:
        steps.append((here - 1, 1.0))
        if not (above[at] or above[before]):
            steps.append((up - 1, _DIAGONAL))
        if not (below[at] or below[before]):
            steps.append((down - 1, _DIAGONAL))
    if not row[after]:
        steps.append((here + 1, 1.0))
        if not (above[at] or above[after]):
            steps.append((up + 1, _DIAGONAL))
        if not (below[at] or below[after]):
            steps.append((down + 1, _DIAGONAL))
    if not above[at]:
        steps.append((up, 1.0))
    if not below[at]:
        steps.append((down, 1.0))
    return steps


def _path(came_from: dict[int, int], first: int, last: int, width: int) -> Path:
    numbers = [last]
    while numbers[-1] != first:
        numbers.append(came_from[numbers[-1]])
    numbers.reverse()
    straight = sum(
        abs(after - before) in (1, width)
        for before, after in itertools.pairwise(numbers)
    )
    places = tuple((number % width, number // width) for number in numbers)
    return Path(places, straight, len(places) - 1 - straight)
