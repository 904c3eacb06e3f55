"""A* as one writes it first: it looks every cell up where it stands, `grid[y][x]`.

The game's own search reads each row once; the difference is what containers cost those
who do not.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Grid = Sequence[Sequence[int]]
    Cell = tuple[int, int]

_DIAGONAL = math.sqrt(2)
_STEPS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]


def find_path_cell_by_cell(grid: Grid, start: Cell, goal: Cell) -> float | None:
    """Return the cost of a shortest path, or None where there is none."""
    costs = {start: 0.0}
    done = set()
    ahead = [(_octile(start, goal), start)]
    while ahead:
        _, here = heapq.heappop(ahead)
        if here == goal:
            return costs[here]
        if here in done:
            continue
        done.add(here)
        for there, step in _neighbours(grid, here):
            cost = costs[here] + step
            if cost < costs.get(there, math.inf):
                costs[there] = cost
                heapq.heappush(ahead, (cost + _octile(there, goal), there))
    return None


def _neighbours(grid: Grid, cell: Cell) -> Iterator[tuple[Cell, float]]:
    width, height = len(grid[0]), len(grid)
    x, y = cell
    for dx, dy in _STEPS:
        to_x, to_y = x + dx, y + dy
        if not (0 <= to_x < width and 0 <= to_y < height) or grid[to_y][to_x]:
            continue
        if not (dx and dy):
            yield (to_x, to_y), 1.0
        elif not (grid[y][to_x] or grid[to_y][x]):
            yield (to_x, to_y), _DIAGONAL


def _octile(cell: Cell, goal: Cell) -> float:
    across, down = abs(cell[0] - goal[0]), abs(cell[1] - goal[1])
    return max(across, down) + (_DIAGONAL - 1) * min(across, down)
