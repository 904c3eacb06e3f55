"""The checker's own search, against the game's: they share nothing but the rules."""

from __future__ import annotations

import random

import pytest

from bench.astar.distances import DIAGONAL, FAR, STRAIGHT, Distances, Grid
from handlers.astar_search import find_path

SIZE = 12


@pytest.fixture
def grid():
    return Grid(SIZE, SIZE)


@pytest.fixture
def distances(grid):
    return Distances(grid)


def cost_of(walls, start, goal):
    path = find_path(walls, start, goal)
    if path is None:
        return FAR
    return path.straight * STRAIGHT + path.diagonal * DIAGONAL


def test_a_step_costs_what_the_rules_say(grid, distances):
    distances.build((2, 1))

    assert grid.step_cost((0, 0), (0, 1)) == STRAIGHT
    assert grid.step_cost((0, 0), (1, 1)) == DIAGONAL


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        ((1, 1), (2, 1), "into a wall"),
        ((2, 1), (1, 1), "out of a wall"),
        ((1, 1), (2, 0), "around a corner"),
        ((3, 1), (2, 2), "around a corner, from the right"),
        ((0, 0), (-1, 0), "off the map"),
        ((SIZE - 1, 0), (SIZE, 0), "off the map, to the right"),
        ((0, 0), (0, 0), "nowhere"),
        ((5, 5), (7, 5), "too far"),
    ],
)
def test_a_step_that_is_not_allowed_has_no_cost(grid, distances, start, end, why):
    distances.build((2, 1))

    assert grid.step_cost(start, end) is None, why


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_the_game_finds_while_walls_come_and_go(distances, seed):
    """Few goals, so that what is kept of each is old when it is asked for again."""
    chance = random.Random(seed)
    cells = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    walls = [[0] * SIZE for _ in range(SIZE)]
    goals = chance.sample(cells, 4)
    unreachable = 0
    for _ in range(400):
        x, y = chance.choice(cells)
        if walls[y][x] == 0 and chance.random() < 0.4:
            distances.build((x, y))
            walls[y][x] = 1
        elif walls[y][x] == 1:
            distances.destroy((x, y))
            walls[y][x] = 0
        start, goal = chance.choice(cells), chance.choice(goals)
        expected = cost_of(walls, start, goal)

        assert expected == distances.between(start, goal)
        assert distances.at_least(start, goal) <= expected
        unreachable += expected == FAR
    assert 10 < unreachable < 390


def test_distances_that_guide_badly_are_made_anew(grid, distances, monkeypatch):
    """A long wall after the first question: the search has to look at many cells."""
    monkeypatch.setattr("bench.astar.distances._MANY_STEPS", 5)
    start, goal = (0, 0), (0, 5)
    assert distances.between(start, goal) == 5 * STRAIGHT
    for x in range(SIZE - 1):
        distances.build((x, 3))

    far = distances.between(start, goal)
    again = distances.at_least(start, goal)

    assert far == again > 20 * STRAIGHT


def test_only_so_many_goals_are_kept(distances, monkeypatch):
    monkeypatch.setattr("bench.astar.distances._KEPT_GOALS", 3)

    for x in range(10):
        assert distances.between((0, 0), (x, 0)) == x * STRAIGHT

    assert len(distances._fields) == 3
