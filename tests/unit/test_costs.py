"""What a request costs all processes decides whether fronts are worth it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from txloop.engine.profile import Profile
from txloop.web.fronts.conditions import Pauses, costs_more, may_cost_more
from txloop.web.fronts.costs import Clocks, Cost
from txloop.web.fronts.request import On
from txloop.web.fronts.verbs import Verb

CORES = 2


def verb_that(writes: bool, here: float) -> Verb:
    anything: Any = None
    profile = Profile("GET Main")
    for _ in range(20):
        profile.note_writing(writes)
        profile.note_body(here, inline=True)
    return Verb(
        *(0, (0, "GET"), anything, profile, anything, anything, anything),
        *(On.HERE, On.HERE, Pauses(), 0, {}),
    )


def spend(verb: Verb, on: On, seconds: float, turns: int = 10, runs: int = 100) -> None:
    """Let turns pass in which each request costs so much."""
    verb.on = on
    for _ in range(turns):
        verb.note_cost(seconds * runs, runs)


@pytest.mark.parametrize(
    ("together", "on", "expected"),
    [
        (0.0019, On.HERE, False),
        (0.0021, On.HERE, True),
        (0.0019, On.OFF, True),  # near the limit it stays where it is
        (0.0017, On.OFF, False),
    ],
)
def test_two_cores_serve_what_costs_more_than_twice_as_much_later(
    together, on, expected
):
    assert expected == costs_more(0.001, together, CORES, on)


@pytest.mark.parametrize(
    ("writes", "here", "together", "expected"),
    [
        (True, 0.0002, 0.0005, True),
        (True, 0.0002, 0.0003, False),
        (True, 0.001, 0.0005, False),
        (False, 0.0002, 0.0005, False),
    ],
)
def test_a_trial_is_worth_it_only_where_it_may_turn_out_so(
    writes, here, together, expected
):
    verb = verb_that(writes, here)

    assert expected == may_cost_more(verb.profile, together, CORES)


def test_a_verb_that_seems_dear_is_tried_at_the_owner_and_then_it_is_known():
    # GIVEN one that seems so in fronts
    verb = verb_that(True, 0.0001)
    assert not verb.is_dearer(CORES)
    spend(verb, On.HERE, 0.0006)
    assert verb.is_dearer(CORES)

    # WHEN
    found = []
    for alone in (0.0002, 0.0005):
        spend(verb, On.OFF, alone, turns=100)
        found.append(verb.is_dearer(CORES))

    # THEN
    assert [True, False] == found


def test_one_that_conflicts_and_makes_containers_is_not_dear_if_it_costs_little():
    # GIVEN what would be dear by the estimate
    verb = verb_that(True, 0.0001)
    verb.dear = 1.0
    assert verb.is_dearer(CORES)

    # WHEN
    spend(verb, On.OFF, 0.0002)
    spend(verb, On.HERE, 0.0003)

    # THEN
    assert not verb.is_dearer(CORES)


def test_the_turn_in_which_it_moves_tells_nothing():
    verb = verb_that(True, 0.0001)
    spend(verb, On.HERE, 0.0003)

    spend(verb, On.OFF, 1.0, turns=1)
    spend(verb, On.HERE, 1.0, turns=1)
    spend(verb, On.AWAY, 1.0)

    assert verb.alone.seconds is None
    assert verb.together.seconds == pytest.approx(0.0003)


def test_a_turn_with_other_requests_tells_nothing():
    verb = verb_that(True, 0.0001)

    for _ in range(10):
        verb.note_cost(None, 100)

    assert verb.together.seconds is None


def test_what_it_cost_in_fronts_is_forgotten_when_it_was_off_for_long():
    verb = verb_that(True, 0.0001)
    spend(verb, On.HERE, 0.0006)

    found = set()
    for _ in range(400):
        verb.forget()
        found.add(verb.together.seconds is None)

    assert {True, False} == found
    assert verb.together.seconds is None


def test_a_cost_is_that_in_the_long_run():
    cost = Cost()

    for number in range(100):
        cost.add(0.1 if number % 20 else 1.0, 100)  # every 20th starts a process

    assert cost.seconds == pytest.approx(0.001, rel=0.3)


def test_few_requests_or_turns_tell_nothing():
    cost = Cost()

    for _ in range(100):
        cost.add(0.1, 10)
    cost.add(0.1, 100)

    assert cost.seconds is None


def test_the_clocks_of_other_processes_are_read():
    # GIVEN another process that computes
    code = "print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as one:
        try:
            assert one.stdout is not None
            one.stdout.readline()
            other, part_of_us = one.pid, 0
            clocks = Clocks()

            # WHEN
            first = clocks.spent([other, part_of_us])
            spent = 0.0
            while spent < 0.05:
                more = clocks.spent([other])
                assert more is not None
                spent += more
        finally:
            one.kill()

    # THEN others than before cannot be compared, nor one that has ended
    assert first is None
    assert clocks.spent([other]) is None
    assert clocks.spent([]) is None
    assert clocks.spent([]) is not None
