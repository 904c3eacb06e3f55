"""The check of the game's answers is silent about right ones, whatever their order."""

from __future__ import annotations

import json
import random

import pytest

from bench.astar.check import check
from bench.connection import NO_ANSWER
from tests.bench.game import INSIDE, ROWS, Game, problems, refuse


def test_a_played_game_is_right(game):
    game.join((0, 0))
    game.join((5, 5))
    game.look()
    game.move("1", (5, 5))
    game.move("1", (1, 0))
    game.move("1", INSIDE)
    game.move("1", (1, 0))
    game.build((3, 5))
    game.build((3, 5))
    game.build((5, 5))
    game.destroy((2, 1))
    game.destroy((2, 1))
    game.path((0, 0), INSIDE)
    game.path((1, 1), INSIDE)
    game.path((4, 4), (4, 4))
    game.leave("1")
    game.leave("1")
    game.move("1", (2, 2))
    game.look()

    assert [] == problems(game)
    statuses = [answer.status for answer in game.answers]
    expected = [201, 201, 200, 200, 200, 409, 200, 200, 409, 409, 200, 409, 200, 200]
    assert [*expected, 200, 204, 404, 404, 200] == statuses


def test_a_full_map_may_refuse_a_player():
    game = Game(["..#"])
    game.join((0, 0))
    game.join((1, 0))
    game.join(None)

    assert [] == problems(game)


@pytest.mark.parametrize("place", [(1, 0), (1, 1)])
def test_a_player_on_the_first_step_of_any_shortest_path_may_refuse_it(place):
    """There are two to (2, 1), and which of them the server planned nobody knows."""
    game = Game(["...", "..."])
    game.join((0, 0))
    game.join(place)
    refuse(game, game.move("1", (2, 1)))

    assert [] == problems(game)


def test_requests_without_an_answer_may_have_happened_or_not(game):
    game.replace(game.build((0, 0)), status=NO_ANSWER, body="")
    game.replace(game.build((0, 0)), status=NO_ANSWER, body="")
    game.replace(game.look(), status=NO_ANSWER, body="")

    assert [] == problems(game)


def test_a_refusal_may_have_its_reason_at_any_time_while_it_was_asked_for(game):
    game.overlap(
        game.destroy((2, 1)),
        game.destroy((2, 1)),
        game.build((2, 1)),
    )

    assert [] == problems(game)


def test_the_log_may_begin_before_the_map_that_the_check_begins_with(game):
    game.join((0, 0))
    game.build((4, 4))
    later = game.look()
    game.move("1", (5, 5))

    events, answers = game.events, game.answers[3:]

    assert [] == check(events, answers, json.loads(later.body))


@pytest.mark.parametrize("seed", range(8))
def test_random_games_are_right_in_whatever_order_their_answers_came(seed):
    """What happens at one moment may be asked for earlier and be answered later."""
    chance = random.Random(seed)
    cells = [(x, y) for x in range(6) for y in range(6)]
    game = Game(ROWS)
    for at in ((0, 0), (0, 5), (5, 0), (5, 5)):
        game.join(at)
    players = list(game.players)
    for _ in range(150):
        act = chance.choice(["move", "move", "move", "build", "destroy", "path", "map"])
        if act == "move":
            game.move(chance.choice(players), chance.choice(cells))
        elif act == "map":
            game.look()
        elif act == "path":
            game.path(chance.choice(cells), chance.choice(cells))
        else:
            getattr(game, act)(chance.choice(cells))
    for answer in list(game.answers[4:]):
        sent = answer.sent - 9 * chance.random()
        game.replace(answer, sent=sent, received=answer.received + 9 * chance.random())
    chance.shuffle(game.answers)

    assert [] == problems(game)
