"""The check of the game's answers holds them against the log, and the log itself."""

from __future__ import annotations

import pytest

from bench.astar.check import check
from tests.bench.game import problems

# The log


def test_an_answered_change_that_the_log_lacks_is_caught(game):
    game.build((3, 4))
    game.events.clear()

    assert ["build to (3, 4) [tag 0]: answered, but not in the log"] == problems(game)


def test_a_refused_change_that_the_log_has_is_caught(game):
    game.replace(game.build((3, 4)), status=409)

    assert any("refused (409), and yet: event 1" in line for line in problems(game))


def test_a_change_that_the_log_has_twice_is_caught(game):
    game.build((3, 4))
    game.events.append({**game.events[0], "version": 2})

    assert any("is in the log twice" in line for line in problems(game))


def test_an_event_that_nobody_asked_for_is_caught(game):
    game.build((3, 4))
    game.answers.clear()

    assert any("nobody asked for it" in line for line in problems(game))


@pytest.mark.parametrize("fields", [{"kind": "destroy"}, {"x": 4}, {"kind": "fly"}])
def test_another_change_than_was_asked_for_is_caught(game, fields):
    game.build((3, 4))
    game.events[0].update(fields)

    assert problems(game)


def test_a_gap_in_the_log_is_caught(game):
    game.build((3, 4))
    game.events[0]["version"] = 2

    assert any("comes after event 0" in line for line in problems(game))


def event(kind, cell, player=None):
    fields = {"kind": kind, "x": cell[0], "y": cell[1], "player": player, "tag": None}
    return {"version": 3, **fields}


@pytest.mark.parametrize(
    ("impossible", "message"),
    [
        (event("join", (1, 1), 9), "there is a wall"),
        (event("join", (0, 0), 9), "player 1 stands there"),
        (event("join", (3, 3), 1), "is there already"),
        (event("join", (4, 4)), "is there already"),
        (event("leave", (0, 0), 9), "no such player"),
        (event("move", (0, 0), 9), "no such player"),
        (event("move", (4, 4), 1), "no such step from (0, 0)"),
        (event("move", (1, 1), 1), "no such step from (0, 0)"),
        (event("move", (0, 1), 1), "player 2 stands there"),
        (event("build", (0, 0)), "player 1 stands there"),
        (event("build", (1, 1)), "there is a wall"),
        (event("build", (9, 9)), "the end of the map"),
        (event("destroy", (4, 4)), "there is no wall"),
        (event("destroy", (9, 9)), "there is no wall"),
    ],
)
def test_an_event_that_cannot_have_happened_is_caught(game, impossible, message):
    game.join((0, 0))
    game.join((0, 1))
    game.events.append(impossible)

    assert any(message in line for line in problems(game) if "event 3" in line)


def test_the_newest_map_has_to_be_what_the_log_leads_to(game):
    game.build((3, 4))
    game.walls[4][3] = 0
    game.look()

    assert any("'rows' is wrong for version 1" in line for line in problems(game))


# What is no history


@pytest.mark.parametrize("missing", ["version", "x", "player"])
def test_events_without_their_fields_are_refused(game, missing):
    game.build((3, 4))
    del game.events[0][missing]

    with pytest.raises(ValueError, match=f"an event without '{missing}'"):
        problems(game)


@pytest.mark.parametrize("fields", [{"rows": ["..", "."]}, {"width": 7}])
def test_a_first_map_that_is_none_is_refused(game, fields):
    with pytest.raises(ValueError, match="the rows of the map are not"):
        check([], [], {**game.initial_map, **fields})
