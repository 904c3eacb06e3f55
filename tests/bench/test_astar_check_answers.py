"""The check of the game's answers catches lies, false refusals and old reads."""

from __future__ import annotations

import json

import pytest

from tests.bench.game import INSIDE, ROWS, change, problems, refuse

# Lies in a body


@pytest.fixture
def played(game):
    game.join((0, 0))
    game.join((5, 5))
    game.build((3, 5))
    return game


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"width": 7}, "'width' is wrong for version 3"),
        ({"rows": ROWS}, "'rows' is wrong"),
        ({"players": {"1": [0, 0]}}, "'players' is wrong"),
        ({"players": {"1": [0, 0], "2": [5, 4]}}, "'players' is wrong"),
        ({"version": 2}, "'rows' is wrong for version 2"),
        ({"version": 99}, "version 99 is not in 0..3"),
        ({"version": "3"}, "has no version"),
        ({"version": True}, "has no version"),
    ],
)
def test_a_wrong_map_is_caught(played, fields, message):
    change(played, played.look(), **fields)

    assert any(message in line for line in problems(played))


PATH = [[0, 0], [1, 0], [2, 0]]


AROUND = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [5, 1], [5, 2]]


@pytest.mark.parametrize(
    ("goal", "fields", "message"),
    [
        ((2, 0), {"path": [[0, 0], [1, 0]], "cost": 1}, "does not lead from (0, 0)"),
        ((2, 0), {"path": PATH[1:], "cost": 1}, "does not lead from (0, 0)"),
        ((2, 0), {"path": [[0, 0], [2, 0]], "cost": 2}, "not allowed"),
        ((2, 0), {"path": [[0, 0], [1, -1], [2, 0]], "cost": 2.8284}, "not allowed"),
        ((2, 0), {"cost": 2.001}, "costs 2.0, not 2.001"),
        ((2, 0), {"cost": float("nan")}, "costs 2.0, not nan"),
        ((2, 0), {"cost": None}, "its cost None"),
        ((2, 0), {"path": None, "cost": None}, "no path from (0, 0), but there is one"),
        ((2, 0), {"path": None}, "no path, and yet a cost of 2"),
        ((2, 0), {"path": []}, "does not lead"),
        ((2, 0), {"path": [[0, 0], "1,0", [2, 0]]}, "'1,0' is no [x, y]"),
        ((2, 0), {"path": [[0, 0], [1, 0, 0], [2, 0]]}, "is no [x, y]"),
        (
            (2, 0),
            {"path": [[0, 0], [0, 0], *PATH[1:]], "cost": 2},
            "not allowed",
        ),
        (
            (1, 0),
            {"path": [*PATH, [1, 0]], "cost": 3},
            "costs 3.000000, a shorter 1.000000",
        ),
        (
            (4, 2),
            {"path": [*AROUND, [4, 2]], "cost": 8.0},
            "from (5, 2) to (4, 2), which is not allowed",
        ),
        (
            (0, 2),
            {"path": [[0, 0], [1, 1], [0, 2]], "cost": 2.8284271},
            "from (0, 0) to (1, 1), which is not allowed",
        ),
        (
            (5, 1),
            {"path": [*AROUND[:5], [5, 1]], "cost": 5.4142136},
            "from (4, 0) to (5, 1), which is not allowed",
        ),
    ],
)
def test_a_wrong_path_is_caught(played, goal, fields, message):
    change(played, played.path((0, 0), goal), **fields)

    assert any(message in line for line in problems(played))


def test_a_path_of_another_version_is_caught(played):
    """The wall was built at version 3; the path of version 4 leads through it."""
    before = json.loads(played.path((2, 5), (4, 5)).body)
    played.destroy((3, 5))
    played.path((2, 5), (4, 5))

    assert [] == problems(played)
    change(played, played.answers[-1], path=before["path"], cost=before["cost"])
    assert ["a shorter 2.000000" in line for line in problems(played)] == [True]


def test_a_path_where_there_is_none_is_caught(played):
    answer = played.path((0, 0), INSIDE)
    through = [[0, 0], [1, 1], [2, 2]]
    change(played, answer, path=through, cost=2.8284271247)

    assert any("not allowed" in line for line in problems(played))


def test_a_path_that_stays_in_a_wall_is_caught(played):
    change(played, played.path((1, 1), (1, 1)), path=[[1, 1]], cost=0)

    assert any("where a wall is" in line for line in problems(played))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"at": [0, 1]}, "player 1 at (0, 1) was answered, but the log has event 4"),
        ({"path": [[0, 0], [2, 0], [5, 0]], "cost": 5}, "not allowed"),
        ({"cost": 3}, "costs 5.0, not 3"),
        ({"path": None, "cost": None}, "no path from (0, 0), but there is one"),
    ],
)
def test_a_wrong_answer_to_a_move_is_caught(played, fields, message):
    change(played, played.move("1", (5, 0)), **fields)

    assert any(message in line for line in problems(played))


def test_a_step_that_is_not_the_paths_first_is_caught(played):
    answer = played.move("1", (5, 0))
    played.events[-1].update(x=0, y=1)
    change(played, answer, at=[0, 1])

    (wrong,) = problems(played)

    assert "the path's first step is (1, 0)" in wrong


@pytest.mark.parametrize("fields", [{"id": 7}, {"at": [0, 1]}])
def test_a_wrong_answer_to_a_join_is_caught(game, fields):
    change(game, game.join((0, 0)), **fields)

    assert any("was answered, but the log has event 1" in one for one in problems(game))


ARGUMENTS: dict[str, tuple[object, ...]] = {
    "look": (),
    "path": ((0, 0), (2, 0)),
    "join": ((4, 4),),
    "move": ("1", (2, 0)),
    "build": ((4, 4),),
    "destroy": ((1, 1),),
}
"""What each kind of request can ask for in the played game."""


@pytest.mark.parametrize("body", ["", "[]", "{", "{}"])
@pytest.mark.parametrize("act", ["look", "path", "join", "move"])
def test_what_is_no_answer_at_all_is_caught(played, act, body):
    answer = getattr(played, act)(*ARGUMENTS[act])
    played.replace(answer, body=body)

    assert problems(played)


@pytest.mark.parametrize("status", [200, 204, 400, 404, 409, 500])
@pytest.mark.parametrize("act", ["look", "path", "join", "move", "build", "destroy"])
def test_a_wrong_status_is_caught(played, act, status):
    answer = getattr(played, act)(*ARGUMENTS[act])
    if answer.status == status:
        played.replace(answer, status=201 if act != "join" else 202)
    else:
        played.replace(answer, status=status)

    assert problems(played)


# Refusals


@pytest.mark.parametrize(
    ("act", "arguments"),
    [
        ("move", ("1", (5, 0))),
        ("move", ("1", (0, 0))),
        ("build", ((4, 4),)),
        ("destroy", ((1, 1),)),
        ("join", ((4, 4),)),
    ],
)
@pytest.mark.parametrize("status", [409, 404])
def test_a_refusal_without_a_reason_is_caught(played, act, arguments, status):
    refuse(played, getattr(played, act)(*arguments), status)

    (wrong,) = problems(played)

    assert wrong.endswith(f"no event and no reason for a {status}")


@pytest.mark.parametrize(
    "fields",
    [
        {"at": [0, 1]},
        {"path": [[0, 0], [0, 1], [0, 0]], "cost": 2},
        {"path": None},
        {"cost": 1},
    ],
)
def test_a_player_who_stays_at_the_goal_has_a_path_of_one_cell(played, fields):
    change(played, played.move("1", (0, 0)), **fields)

    (wrong,) = problems(played)

    assert "no event and no reason for a 200" in wrong


def test_a_player_who_is_not_at_the_goal_may_not_stay(played):
    answer = played.move("1", (0, 0))
    change(played, answer, path=[[5, 5]], at=[5, 5])
    played.replace(played.answers[-1], cell=(5, 5))

    assert any("no event and no reason for a 200" in one for one in problems(played))


def test_a_refusal_whose_reason_had_gone_before_it_was_asked_for_is_caught(game):
    game.build((0, 0))
    game.destroy((0, 0))
    refuse(game, game.build((0, 0)))

    assert any("no event and no reason" in line for line in problems(game))


def test_a_refusal_whose_reason_came_after_its_answer_is_caught(game):
    refuse(game, game.build((0, 0)))
    game.walls[0][0] = 0
    game.build((0, 0))

    assert any("no event and no reason" in line for line in problems(game))


def test_a_player_beside_the_path_is_no_reason_to_refuse_the_step(game):
    game.join((0, 0))
    game.join((0, 1))
    refuse(game, game.move("1", (5, 0)))

    assert any("no event and no reason" in line for line in problems(game))


# Real time


@pytest.mark.parametrize("act", ["look", "path"])
def test_a_read_older_than_what_had_been_answered_is_caught(game, act):
    read = getattr(game, act)(*([(0, 0), (5, 0)] if act == "path" else []))
    game.build((3, 4))
    game.now += 1
    game.replace(read, sent=game.now, received=game.now + 0.5)

    (wrong,) = problems(game)

    assert "stands for version 0, after 1 had been answered" in wrong


def test_a_read_newer_than_what_was_asked_for_is_caught(game):
    game.build((3, 4))
    read = game.look()
    game.replace(read, sent=-2.0, received=-1.0)

    message = "stands for version 1, but 1 was asked for later"
    assert any(message in line for line in problems(game))


def test_changes_in_the_wrong_order_are_caught(game):
    first, second = game.build((3, 4)), game.build((0, 0))
    game.replace(first, sent=second.received + 1, received=second.received + 2)

    assert any("had been answered" in line for line in problems(game))
