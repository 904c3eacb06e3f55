"""The rules of the game and its event log, on plain lists and dicts."""

from __future__ import annotations

import pytest

from handlers.astar_errors import Refused
from handlers.astar_events import EventLog
from handlers.astar_game import Game, make_walls

FREE = ["....", "....", "...."]


def game_on(*rows):
    """Return a game on the map that the rows show."""
    return Game([[int(cell == "#") for cell in row] for row in rows])


def event(number):
    """Return an event that can be told from others."""
    return "build", number, 0, None, None


@pytest.fixture
def log():
    """Return a log that keeps 8 events."""
    return EventLog(list, dict, 8)


def filled(log, number):
    """Append events until there were so many."""
    for each in range(log.version + 1, number + 1):
        log.append(event(each))
        log.trim()


@pytest.mark.parametrize("number", range(1, 40))
def test_the_newest_events_can_be_had_and_no_older_ones(log, number):
    filled(log, number)

    oldest = max(0, number - 8)
    for since in range(oldest, number + 1):
        expected = [(each, event(each)) for each in range(since + 1, number + 1)]
        assert expected == log.since(since)
    for since in range(oldest):
        with pytest.raises(Refused, match=f"events up to {oldest} are gone") as raised:
            log.since(since)
        assert raised.value.status == 410
    assert number == log.version


def test_events_that_have_not_happened_cannot_be_had(log):
    filled(log, 3)

    with pytest.raises(Refused, match="only 3 events have happened, not 4") as raised:
        log.since(4)
    assert raised.value.status == 400


def test_a_log_does_not_grow_for_ever(log):
    sizes = set()
    for number in range(1, 100):
        filled(log, number)
        segments = log._state["segments"]
        sizes.add(sum(len(events) for _, events in segments))

    assert max(sizes) <= 8 + 2 * (8 // 4)


def test_the_same_seed_makes_the_same_map():
    assert make_walls(30, 20, 20, seed=3) == make_walls(30, 20, 20, seed=3)
    assert make_walls(30, 20, 20, seed=3) != make_walls(30, 20, 20, seed=4)


@pytest.mark.parametrize(("percent", "walls"), [(0, 0), (20, 120), (100, 600)])
def test_a_map_has_as_many_walls_as_asked_for(percent, walls):
    assert walls == sum(map(sum, make_walls(30, 20, percent, seed=1)))


def test_players_join_on_free_cells_until_the_map_is_full():
    game = game_on("#.#", "...")

    joined = [game.join(None) for _ in range(4)]
    with pytest.raises(Refused, match="the map is full") as raised:
        game.join(None)

    assert raised.value.status == 409
    assert [1, 2, 3, 4] == [player for player, _ in joined]
    assert {(1, 0), (0, 1), (1, 1), (2, 1)} == {place for _, place in joined}
    assert 4 == game.log.version


def test_players_are_spread_over_the_map():
    game = Game(make_walls(80, 50, 0, seed=0))

    places = [game.join(None)[1] for _ in range(16)]

    assert 16 == len({(x // 20, y // 4) for x, y in places})
    assert max(y for _, y in places) - min(y for _, y in places) > 40


def test_a_number_is_not_given_twice():
    game = game_on(*FREE)
    game.leave(game.join(None)[0], None)

    second, place = game.join("again")

    assert (2, {2: place}) == (second, game.players())
    kinds = [(each[0], each[3], each[4]) for _, each in game.log.since(0)]
    assert [("join", 1, None), ("leave", 1, None), ("join", 2, "again")] == kinds


def test_a_move_takes_the_first_step_of_the_path():
    game = game_on(*FREE)
    player, start = game.join(None)
    goal = (0, 0) if start != (0, 0) else (3, 2)

    steps = [start]
    while steps[-1] != goal:
        here, path = game.move(player, goal, "to")
        assert path.places[:2] == (steps[-1], here)
        assert path.places[-1] == goal
        assert {player: here} == game.players()
        steps.append(here)

    assert len(steps) - 1 == game.log.version - 1
    assert all(each[0] == "move" for _, each in game.log.since(1))


def test_who_is_there_already_stays_and_nothing_happens():
    game = game_on(*FREE)
    player, start = game.join(None)

    here, path = game.move(player, start, None)

    assert (start, (start,), 0) == (here, path.places, path.cost)
    assert 1 == game.log.version


def test_another_player_is_in_the_way_of_a_step_but_not_of_a_path():
    game = game_on("...")
    places = dict(game.join(None) for _ in range(2))
    left, right = sorted(places, key=places.__getitem__)
    while game.players() != {left: (0, 0), right: (1, 0)}:
        game.move(left, (0, 0), None)
        game.move(right, (1, 0), None)
    version = game.log.version

    with pytest.raises(Refused, match="another player stands on 1,0") as raised:
        game.move(left, (2, 0), None)

    assert raised.value.status == 409
    assert ((0, 0), (1, 0), (2, 0)) == game.find_path((0, 0), (2, 0)).places
    assert version == game.log.version
    assert {left: (0, 0), right: (1, 0)} == game.players()


def test_walls_come_and_go():
    game = game_on(*FREE)

    game.build((2, 1), "mine")
    assert ["....", "..#.", "...."] == game.rows()
    with pytest.raises(Refused, match="a wall on 2,1 already"):
        game.build((2, 1), None)
    game.destroy((2, 1), "ours")
    assert FREE == game.rows()
    with pytest.raises(Refused, match="no wall on 2,1"):
        game.destroy((2, 1), None)

    events = [each for _, each in game.log.since(0)]
    expected = [("build", 2, 1, None, "mine"), ("destroy", 2, 1, None, "ours")]
    assert expected == events


def test_no_wall_is_built_on_a_player():
    game = game_on("..")
    _, place = game.join(None)

    with pytest.raises(Refused, match="a player stands on"):
        game.build(place, None)

    assert [".."] == game.rows()
