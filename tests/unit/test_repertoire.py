"""What the owner makes of how long a verb takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from txloop.engine.profile import Profile
from txloop.executors.fronts.page import Page
from txloop.stm.types import Conflict
from txloop.web.fronts.conditions import (
    SHORT_SECONDS,
    Pauses,
    Traffic,
    is_dearer,
    limit_of,
)
from txloop.web.fronts.request import On
from txloop.web.fronts.verbs import Verb


def place(on: On, seconds: float) -> On:
    return On.HERE if seconds < limit_of(on) else On.AWAY


@pytest.mark.parametrize("first", [0.95, 1.05])
def test_a_verb_near_the_limit_stays_where_it_is(first):
    """Measurements go up and down by some tenths: it would move to and fro."""
    places = [place(On.OFF, first * SHORT_SECONDS)]

    for seconds in (1.1, 0.9, 1.2, 0.85, 1.0, 1.25, 0.8):
        places.append(place(places[-1], seconds * SHORT_SECONDS))

    assert 1 == len(set(places))


@pytest.mark.parametrize(
    ("first", "then", "last"), [(0.5, 1.5, On.AWAY), (1.5, 0.5, On.HERE)]
)
def test_a_verb_that_has_changed_moves(first, then, last):
    before = place(On.OFF, first * SHORT_SECONDS)

    after = place(before, then * SHORT_SECONDS)

    assert before is not after is last


def pause_of(pauses: Pauses) -> int:
    """Return for how many ticks a verb stays off that is switched off now."""
    pauses.begin()
    count = 0
    while pauses.left:
        pauses.tick(on=False)
        count += 1
    return count


def test_a_verb_that_is_switched_off_again_and_again_stays_off_for_longer():
    pauses = Pauses()

    found = [pause_of(pauses) for _ in range(8)]

    assert [10, 20, 40, 80, 160, 320, 600, 600] == found


@pytest.mark.parametrize(("ticks", "pause"), [(19, 20), (20, 10)])
def test_one_that_has_stayed_on_for_as_long_begins_anew(ticks, pause):
    # GIVEN one that has been off
    pauses = Pauses()
    pause_of(pauses)

    # WHEN
    for _ in range(ticks):
        pauses.tick(on=True)

    # THEN
    assert pause == pause_of(pauses)


@pytest.mark.parametrize(
    ("writes", "seconds", "cores", "dear", "expected"),
    [
        (True, 0.0001, 2, 1.0, True),
        (True, None, 2, 1.0, True),
        (True, 0.001, 2, 1.0, False),  # it takes more than what it costs to share it
        (True, 0.0001, 4, 1.0, False),
        (False, 0.0001, 2, 1.0, False),
        (True, 0.0001, 2, 0.0, False),
    ],
)
def test_two_cores_are_slower_with_what_is_short_and_keeps_others_busy(
    writes, seconds, cores, dear, expected
):
    profile = Profile("GET Main")
    for _ in range(20):
        profile.note_writing(not writes)
    for _ in range(20):
        profile.note_writing(writes)

    assert expected == is_dearer(profile, seconds, cores, dear)


@pytest.mark.parametrize(
    ("here", "away", "wasted", "commit", "cores", "expected"),
    [
        (0.001, 0.001, 0, 0.0, 2, False),
        (0.001, 0.003, 0, 0.0, 2, True),  # as what it reads is noted there
        (0.001, 0.003, 0, 0.0, 4, False),
        (0.001, 0.012, 0, 0.0, 4, True),
        (0.001, 0.001, 50, 0.0, 2, True),  # as it runs again and again
        (0.001, 0.001, 0, 0.001, 2, True),  # as all have to do the same
        (0.001, 0.001, 0, 0.0001, 2, False),
    ],
)
def test_many_cores_are_slower_where_it_takes_longer_in_attempts(
    here, away, wasted, commit, cores, expected
):
    profile = Profile("GET Main")
    for _ in range(20):
        profile.note_writing(True)
        profile.note_body(here, inline=True)
        profile.note_body(away, inline=False)
    for _ in range(wasted):
        profile.note_conflict(Conflict((1, "cell"), 1, 2))

    assert expected == is_dearer(profile, here, cores, 1.0, commit)
    assert not is_dearer(profile, here, cores, 0.0, commit)


@pytest.mark.parametrize(("writing", "expected"), [(0, False), (20, True)])
def test_runs_elsewhere_that_end_by_themselves_only_read_or_tell(writing, expected):
    profile = Profile("GET Main")
    for _ in range(20):
        profile.note_writing(True)
    counts = [0] * 5 + [20] + [0] * (len(profile.bodies.counts) - 6)

    profile.note_others(counts, 0.01, writing)

    assert expected == is_dearer(profile, 0.0001, 2, 1.0)
    assert 20 == profile.commits == profile.attempts


def test_what_is_dear_is_nearly_all_until_much_else_comes():
    traffic = Traffic()
    found = []

    for dear in (0, 50, 80, 95, 80, 60, 80):
        for _ in range(50):
            traffic.turn(100, dear)
        found.append(traffic.is_dear)

    assert [False, False, False, True, True, False, False] == found


def test_nothing_is_dear_where_nothing_comes():
    traffic = Traffic()

    traffic.turn(0, 0)

    assert not traffic.is_dear


def test_what_fronts_have_written_counts_whichever_of_them_it_was():
    # GIVEN a verb that two fronts run, which always writes
    anything: Any = None
    profile = Profile("GET Main")
    verb = Verb(
        *(0, (0, "GET"), anything, profile, anything, anything, anything),
        *(On.HERE, On.HERE, Pauses(), 0, {}),
    )
    page = Page()
    fronts: Any = [SimpleNamespace(place=one, slot=page.slot(one)) for one in (1, 2)]

    # WHEN
    for _ in range(20):
        for front in fronts:
            for _ in range(10):
                front.slot.count(0, 0.0001)
        verb.note_written(20, costly=0, seconds=0.0)
        verb.count(fronts)

    # THEN
    assert profile.writing > 0.99
    assert [400, 0] == [verb.runs_since(), verb.runs_since()]
