"""The story's game: each line that is fixed takes one cause of conflicts away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers.astar_game import Game
from handlers.astar_story import FIXES, StoryGame
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome
from txloop.stm.validation import decide

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH, HEIGHT = 100, 20

ALL = range(FIXES + 1)


def walls():
    return [
        [int((x * 7 + y * 5) % 11 == 0) for x in range(WIDTH)] for y in range(HEIGHT)
    ]


def attempt(function: Callable[..., object], *args: object) -> Outcome:
    """Run an attempt at what is committed now."""
    outcome = run_attempt(Call(function, args), speculative=True)
    assert isinstance(outcome, Outcome)
    assert outcome.error is None
    return outcome


def conflict(game: StoryGame, meanwhile: Callable[[], object]) -> bool:
    """Tell whether a search conflicts with what is committed while it runs."""
    snapshot = committed.open_snapshot()
    outcome = attempt(game.find_path, (1, 1), (8, 3))
    meanwhile()
    decision = decide(outcome, committed, ordered=False)
    committed.close_snapshot(snapshot)
    return decision is not None


@pytest.mark.parametrize("fixed", ALL)
def test_it_plays_the_same_game(fixed):
    # GIVEN
    game, plain = StoryGame(walls(), fixed), Game(walls())
    assert game.join("a") == plain.join("a")

    # WHEN
    steps = [game.move(1, (90, 15), None) for _ in range(15)]

    # THEN
    assert [plain.move(1, (90, 15), None) for _ in range(15)] == steps


@pytest.mark.parametrize("fixed", ALL)
def test_two_searches_conflict_until_all_lines_are_fixed(fixed):
    game = StoryGame(walls(), fixed)

    found = conflict(game, lambda: game.find_path((1, 1), (8, 3)))

    assert found == (fixed < 3)


@pytest.mark.parametrize("fixed", ALL)
def test_a_wall_far_away_matters_until_the_second_is(fixed):
    game = StoryGame(walls(), fixed)
    if fixed < 3:
        game.find_path((1, 1), (8, 3))  # so that there is something to conflict with

    found = conflict(game, lambda: game.build((91, 19), None))

    assert found == (fixed < 2)


@pytest.mark.parametrize("fixed", ALL)
def test_a_wall_in_the_way_always_matters(fixed):
    game = StoryGame(walls(), fixed)

    assert conflict(game, lambda: game.build((4, 2), None))


@pytest.mark.parametrize("fixed", ALL)
def test_only_the_newest_costs_are_kept(fixed):
    # GIVEN
    game = StoryGame(walls(), fixed)

    # WHEN
    for number in range(25):
        game.find_path((1, 1), (number + 2, 3))

    # THEN
    assert len(game._recent) == 10
