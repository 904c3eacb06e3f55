"""Where the next call runs, by what is known of its function and of the workers."""

from __future__ import annotations

import pytest

from tests.executors import ScriptedExecutor
from txloop.engine import placement
from txloop.engine.placement import Placement
from txloop.engine.profile import MEDIUM_SECONDS, SHORT_SECONDS, Profile
from txloop.transaction.groups import PieceProfile

SHORT, MEDIUM, LONG = SHORT_SECONDS / 5, 2 * SHORT_SECONDS, 2 * MEDIUM_SECONDS


class Place:
    """A placement whose executor, attempts away and clock are the test's.

    Attributes:
        executor: Where calls would run.
        away: What is on its way there.
        waits: How often the loop thread has slept.
    """

    def __init__(self):
        self.executor = ScriptedExecutor()
        self.executor.transport_seconds = SHORT
        self.away: list[object] = []
        self.waits = 1
        self.placement = Placement(self.executor, self.away)

    def stays(self, profile, alone=True):
        return self.placement.decide_stay(profile, alone)

    def run_here(self, profile, waits=0):
        with self.placement.watching(profile):
            self.waits += waits


@pytest.fixture
def place(monkeypatch):
    place = Place()
    monkeypatch.setattr(placement, "voluntary_waits", lambda: place.waits)
    return place


def taking(seconds, profile=None):
    """Return the profile of a function that has run here, and takes as long."""
    profile = profile or Profile("label")
    for _ in range(3):
        profile.attempts += 1
        profile.note_body(seconds, inline=True)
    profile.next_trial = 50
    return profile


def test_what_is_short_stays_whatever_else_there_is(place):
    place.away.append("something")

    assert place.stays(taking(SHORT), alone=False)


def test_what_is_long_goes_away_even_alone(place):
    assert not place.stays(taking(LONG))


def test_what_is_of_medium_length_stays_when_it_is_alone(place):
    assert place.stays(taking(MEDIUM))


def test_pieces_run_where_their_group_says_however_long_they_take(place):
    away = taking(MEDIUM, PieceProfile("label", stays=False))
    here = taking(MEDIUM, PieceProfile("label", stays=True))

    assert (False, True) == (place.stays(away), place.stays(here))


def test_it_goes_away_with_others(place):
    assert not place.stays(taking(MEDIUM), alone=False)


@pytest.mark.parametrize(("writes", "stays"), [(1, False), (1000, True)])
def test_what_takes_longer_to_tell_than_to_do_stays(place, writes, stays):
    profile = taking(MEDIUM)
    for _ in range(20):
        profile.note_writing(writes)

    assert stays == place.stays(profile, alone=False)


def test_it_goes_away_while_something_runs_there(place):
    place.away.append("something")

    assert not place.stays(taking(MEDIUM))


def test_it_goes_away_if_it_had_to_wait_for_the_last_one(place):
    # GIVEN
    profile = taking(MEDIUM)

    # WHEN one has run here, and the loop has not slept since
    place.run_here(profile)
    had_to_wait = place.stays(profile)
    place.waits += 1

    # THEN
    assert (False, True) == (had_to_wait, place.stays(profile))


def test_one_that_blocks_goes_away_until_it_does_not(place):
    # GIVEN
    profile = taking(MEDIUM)

    # WHEN
    place.run_here(profile, waits=1)
    place.waits += 1
    blocking = [place.stays(profile) for _ in range(2)]
    profile.attempts += 100
    tried = place.stays(profile)
    place.run_here(profile)
    place.waits += 1

    # THEN it is tried now and then
    assert [False, False] == blocking
    assert tried
    assert place.stays(profile)


def test_where_workers_have_no_core_all_but_a_few_stay(place):
    # GIVEN
    place.executor.stretch = 10.0
    profile = taking(MEDIUM)

    # WHEN
    stays = [place.stays(profile, alone=False) for _ in range(100)]

    # THEN
    assert 95 == sum(stays)
    assert not place.stays(taking(LONG))


def test_where_sending_costs_nothing_all_goes_away(place):
    place.executor.transport_seconds = 0.0

    assert not place.stays(taking(MEDIUM))
