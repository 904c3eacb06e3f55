"""The search of the game: shortest, allowed, and the same every time."""

from __future__ import annotations

import heapq
import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handlers import astar_search
from handlers.astar_search import find_path


def walls_of(*rows):
    """Return the map that the rows show."""
    return [[int(cell == "#") for cell in row] for row in rows]


@st.composite
def searches(draw):
    """Return a map and two cells of it."""
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    # Three free cells to one wall; what shrinks loses its walls.
    cell = st.sampled_from([0, 0, 0, 1])
    row = st.lists(cell, min_size=width, max_size=width)
    walls = draw(st.lists(row, min_size=height, max_size=height))
    place = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    return walls, draw(place), draw(place)


@pytest.fixture(autouse=True, scope="module")
def _pieces_shorter_than_the_maps():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(astar_search, "_PIECE", 3)
        yield


def is_free(walls, place):
    x, y = place
    return 0 <= y < len(walls) and 0 <= x < len(walls[0]) and not walls[y][x]


def allowed(walls, here, there):
    """Tell whether one may step there: the rule, word by word."""
    (x, y), (other_x, other_y) = here, there
    return (
        max(abs(x - other_x), abs(y - other_y)) == 1
        and is_free(walls, there)
        and is_free(walls, (x, other_y))
        and is_free(walls, (other_x, y))
    )


def least_cost(walls, start, goal):
    """Return the cost of the shortest path by Dijkstra's algorithm, or None."""
    if not (is_free(walls, start) and is_free(walls, goal)):
        return None
    done = set()
    ahead = [(0.0, start)]
    while ahead:
        cost, here = heapq.heappop(ahead)
        if here == goal:
            return cost
        if here in done:
            continue
        done.add(here)
        for step in itertools.product((-1, 0, 1), repeat=2):
            there = here[0] + step[0], here[1] + step[1]
            if allowed(walls, here, there):
                heapq.heappush(ahead, (cost + math.hypot(*step), there))
    return None


@given(searches())
@example((walls_of(".#", "#."), (0, 0), (1, 1)))
@example((walls_of("..", "#."), (0, 0), (1, 1)))
@example((walls_of("#"), (0, 0), (0, 0)))
@example((walls_of("."), (0, 0), (0, 0)))
def test_it_costs_what_the_shortest_path_costs(search):
    path = find_path(*search)

    cost = least_cost(*search)
    assert (cost is None) == (path is None)
    if path is not None:
        assert cost == pytest.approx(path.cost, abs=1e-9)


@given(searches())
def test_each_step_is_allowed_and_counted(search):
    walls, start, goal = search
    path = find_path(walls, start, goal)

    if path is not None:
        steps = list(itertools.pairwise(path.places))
        straight = sum(math.dist(*step) == 1 for step in steps)
        assert (start, goal) == (path.places[0], path.places[-1])
        assert all(allowed(walls, here, there) for here, there in steps)
        assert (straight, len(steps) - straight) == (path.straight, path.diagonal)
        assert path.cost == straight + (len(steps) - straight) * math.sqrt(2)


@given(searches())
def test_it_is_the_same_over_tuples_and_a_second_time(search):
    walls, start, goal = search
    expected = find_path(walls, start, goal)

    assert expected == find_path(tuple(map(tuple, walls)), start, goal)
    assert expected == find_path(walls, start, goal)


def test_corners_are_not_cut():
    walls = walls_of("...", ".#.", "...")

    path = find_path(walls, (1, 0), (2, 1))

    assert path is not None
    assert path.places == ((1, 0), (2, 0), (2, 1))
    assert path.cost == 2


def test_a_straight_line_reads_only_what_is_around_it():
    read: set[tuple[int, int]] = set()

    class Row(list[int]):
        def __getitem__(self, index):
            if isinstance(index, slice):
                read.update((id(self), x) for x in range(*index.indices(len(self))))
            return super().__getitem__(index)

    walls = [Row([0] * 400) for _ in range(20)]

    find_path(walls, (150, 10), (170, 10))

    rows = {y for y in range(20) if any(row == id(walls[y]) for row, _ in read)}
    columns = {x for _, x in read}
    assert {9, 10, 11} == rows
    assert {*range(149, 172)} <= columns <= {*range(100, 220)}


def test_a_path_through_a_large_maze_is_exact():
    """Thousands of steps whose costs are summed up, and no rounding to be seen."""
    size = 301
    walls = [[0] * size for _ in range(size)]
    for y in range(1, size, 2):  # a meander
        walls[y] = [1] * size
        walls[y][0 if y % 4 == 3 else size - 1] = 0

    path = find_path(walls, (0, 0), (size - 1, size - 1))

    turns = (size - 1) // 2
    assert path is not None
    assert (path.diagonal, path.cost) == (0, (turns + 1) * (size - 1) + 2 * turns)
