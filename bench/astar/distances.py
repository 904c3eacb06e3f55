"""How far it is to a goal: our own search, to check the game's.

The game searches from the start, with the octile distance to guide it. Here all
distances to a goal are computed backwards, by Dijkstra's algorithm, and kept: players
have few goals. Walls that are built later make them lower bounds, which still guide a
search on the map as it is; a wall that is destroyed is worked in.

Costs are whole numbers, so that equal costs are equal: with fewer than 2,000 steps of
each sort no two sums are closer than 1e-4, and rounding adds less than 1e-5.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.astar.record import Cell

STRAIGHT = 10**9
DIAGONAL = math.isqrt(2 * 10**18)
FAR = 2**62
"""The distance of what cannot be reached."""

_KEPT_GOALS = 64
_MANY_STEPS = 400  # of a search that kept distances guide: then they are too old


class Grid:
    """Which cells are free; owned by one replay. A border of walls is around them."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.stride = width + 2
        self.free = bytearray(self.stride * (height + 2))
        self.steps = tuple(
            (dy * self.stride + dx, dx, dy * self.stride)
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if dx or dy
        )
        for y in range(height):
            first = self.index((0, y))
            self.free[first : first + width] = bytes([1]) * width

    def index(self, cell: Cell) -> int:
        """Return the position of a cell in `free`."""
        return (cell[1] + 1) * self.stride + cell[0] + 1

    def cell(self, index: int) -> Cell:
        """Return the cell at a position in `free`."""
        y, x = divmod(index, self.stride)
        return x - 1, y - 1

    def is_free(self, cell: Cell) -> bool:
        """Tell whether the cell is on the map and has no wall."""
        x, y = cell
        on_map = 0 <= x < self.width and 0 <= y < self.height
        return on_map and bool(self.free[self.index(cell)])

    def step_cost(self, start: Cell, end: Cell) -> int | None:
        """Return what the step costs, or None where it is not allowed."""
        (x, y), (to_x, to_y) = start, end
        if not (self.is_free(start) and self.is_free(end)):
            return None
        if max(abs(to_x - x), abs(to_y - y)) != 1:
            return None
        if x == to_x or y == to_y:
            return STRAIGHT
        return DIAGONAL if self.is_free((x, to_y)) and self.is_free((to_x, y)) else None

    def neighbours(self, index: int, free: bytearray) -> Iterator[tuple[int, int]]:
        """Yield where a step from there may lead, and its cost, by the map `free`."""
        for step, dx, dy in self.steps:
            if not free[index + step]:
                continue
            if not (dx and dy):
                yield index + step, STRAIGHT
            elif free[index + dx] and free[index + dy]:
                yield index + step, DIAGONAL


class _Field:
    """The distances to one goal on the map without the walls that were built later."""

    def __init__(self, grid: Grid, goal: int) -> None:
        self._grid = grid
        self._free = grid.free[:]
        self.distances = array("q", [FAR]) * len(self._free)
        self.distances[goal] = 0
        self.exact = True
        self._spread([(0, goal)])

    def open(self, index: int) -> None:
        """Take a wall away."""
        self._free[index] = 1
        grid, distances = self._grid, self.distances
        changed = []
        for near in (index, *(index + step for step, _, _ in grid.steps)):
            if not self._free[near]:
                continue
            ways = grid.neighbours(near, self._free)
            shortest = min((distances[end] + cost for end, cost in ways), default=FAR)
            if shortest < distances[near]:
                distances[near] = shortest
                changed.append((shortest, near))
        self._spread(changed)

    def _spread(self, changed: list[tuple[int, int]]) -> None:
        neighbours, free, distances = self._grid.neighbours, self._free, self.distances
        heapq.heapify(changed)
        while changed:
            distance, index = heapq.heappop(changed)
            if distance > distances[index]:
                continue
            for end, cost in neighbours(index, free):
                if distance + cost < distances[end]:
                    distances[end] = distance + cost
                    heapq.heappush(changed, (distance + cost, end))


class Distances:
    """Exact distances on a map that changes; owned by one replay."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._fields: OrderedDict[int, _Field] = OrderedDict()

    def build(self, cell: Cell) -> None:
        """Put a wall on the map."""
        self._grid.free[self._grid.index(cell)] = 0
        for field in self._fields.values():
            field.exact = False

    def destroy(self, cell: Cell) -> None:
        """Take a wall from the map."""
        index = self._grid.index(cell)
        self._grid.free[index] = 1
        for field in self._fields.values():
            field.open(index)

    def at_least(self, start: Cell, goal: Cell) -> int:
        """Return a lower bound of the distance, which costs little."""
        return self._field(self._grid.index(goal)).distances[self._grid.index(start)]

    def between(self, start: Cell, goal: Cell) -> int:
        """Return the cost of the shortest path, `FAR` where there is none."""
        grid = self._grid
        if not (grid.is_free(start) and grid.is_free(goal)):
            return FAR
        field = self._field(grid.index(goal))
        bound = field.distances[grid.index(start)]
        if field.exact or bound == FAR:
            return bound
        found, steps = self._search(grid.index(start), grid.index(goal), field)
        if steps > _MANY_STEPS:
            del self._fields[grid.index(goal)]
        return found

    def _field(self, goal: int) -> _Field:
        field = self._fields.get(goal)
        if field is None:
            field = self._fields[goal] = _Field(self._grid, goal)
            if len(self._fields) > _KEPT_GOALS:
                self._fields.popitem(last=False)
        self._fields.move_to_end(goal)
        return field

    def _search(self, start: int, goal: int, field: _Field) -> tuple[int, int]:
        """Return the distance and how many cells had to be looked at."""
        neighbours, free = self._grid.neighbours, self._grid.free
        bounds, costs = field.distances, {start: 0}
        done: set[int] = set()
        # Of equal sums the one that came farthest: on an unchanged map straight there.
        waiting = [(bounds[start], 0, start)]
        while waiting:
            _, cost, index = heapq.heappop(waiting)
            if index == goal:
                return -cost, len(done)
            if index in done:
                continue
            done.add(index)
            for end, step_cost in neighbours(index, free):
                new = step_cost - cost
                if new < costs.get(end, FAR):
                    costs[end] = new
                    heapq.heappush(waiting, (new + bounds[end], -new, end))
        return FAR, len(done)
