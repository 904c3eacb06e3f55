"""Where a function runs next, judged by what was measured."""

from __future__ import annotations

import os

import pytest

from tests.executors import ScriptedExecutor
from tests.logs import expect_log
from txloop.engine.heat import Heat
from txloop.engine.profile import Profile, Profiles
from txloop.engine.stats import LabelStats, Stats
from txloop.executors.crew import ProcessStats
from txloop.scan.finding import Finding, FindingKind
from txloop.stm.threads import gil_enabled

TRANSPORT = 1e-3


def measured(here=(), away=()):
    """Return a profile with these runs, those here after those in workers."""
    profile = Profile("label")
    for seconds, inline in [(one, False) for one in away] + [
        (one, True) for one in here
    ]:
        profile.attempts += 1
        profile.note_body(seconds, inline)
    return profile


def test_a_function_that_never_ran_is_sent_away():
    profile = Profile("label")

    assert not profile.decide_stay(TRANSPORT)
    assert profile.estimate() is None


def test_one_that_must_run_here_stays():
    assert Profile("label", "it says so").decide_stay(0.0)


def test_one_that_is_short_here_stays():
    profile = measured(here=[1e-4] * 3)

    assert [True] * 99 == [profile.decide_stay(TRANSPORT) for _ in range(99)]


def test_one_that_is_long_is_sent_away():
    profile = measured(away=[1.0] * 9, here=[1.0])

    assert [False] * 99 == [profile.decide_stay(TRANSPORT) for _ in range(99)]


@pytest.mark.parametrize(("seconds", "stays"), [(2e-3, True), (5e-3, False)])
def test_one_whose_calls_run_one_after_the_other_stays_if_it_is_not_long(
    seconds, stays
):
    profile = measured(away=[1.0] * 9, here=[seconds])
    assert not profile.decide_stay(TRANSPORT)

    profile.heat.lined_up = True

    assert stays == profile.decide_stay(TRANSPORT)


@pytest.mark.parametrize(
    ("transport", "stays"), [(0.001, False), (0.02, True), (1.0, False)]
)
def test_one_whose_calls_run_one_after_the_other_stays_where_sending_takes_longer(
    transport, stays
):
    profile = measured(away=[1.0] * 9, here=[0.01 if transport < 1 else 0.1] * 9)
    profile.heat.lined_up = True

    assert stays == profile.decide_stay(transport)


@pytest.mark.parametrize(
    ("seconds", "lined_up", "trials"),
    [(0.01, True, 3), (0.01, False, 0), (1.0, True, 0)],
)
def test_one_that_looks_long_from_afar_is_tried_here_where_no_two_run_at_once(
    seconds, lined_up, trials
):
    """What it reads is not noted here: that may have been most of its time."""
    # GIVEN
    profile = measured(away=[seconds] * 9)
    profile.heat.lined_up = lined_up

    # WHEN it is as long here
    tried = []
    for _ in range(1000):
        tried.append(stays := profile.decide_stay(TRANSPORT))
        profile.attempts += 1
        profile.note_body(seconds, stays)

    # THEN
    assert trials == sum(tried)


def test_one_that_is_back_in_line_soon_leaves_it_later():
    # GIVEN
    heat = Heat()

    def stay_in_line():
        for _ in range(20):
            heat.note_conflict((1, "cell"))
        calls = 0
        while heat.lined_up:
            heat.note_commit()
            calls += 1
        return calls

    # WHEN
    stays = [stay_in_line() for _ in range(4)]
    for _ in range(500):
        heat.note_commit()

    # THEN
    assert stays == sorted(stays)
    assert stays[3] > 4 * stays[0] > 0
    assert stays[0] == stay_in_line()


def test_one_that_looks_short_from_afar_is_tried_here_now_and_then():
    # GIVEN
    profile = measured(away=[2 * TRANSPORT])

    # WHEN it runs a hundred times, and is as long here
    tried = []
    for _ in range(100):
        tried.append(stays := profile.decide_stay(TRANSPORT))
        profile.attempts += 1
        profile.note_body(2 * TRANSPORT, stays)

    # THEN
    assert tried[0]
    assert 2 <= sum(tried) <= 10


def test_one_that_gets_long_is_sent_away_at_once():
    # GIVEN
    profile = measured(here=[1e-5] * 50)

    # WHEN
    profile.note_body(1.0, inline=True)

    # THEN
    assert not profile.decide_stay(TRANSPORT)


def test_one_stray_measurement_does_not_decide():
    # GIVEN
    profile = measured(here=[TRANSPORT / 2] * 50)

    # WHEN
    profile.note_body(5 * TRANSPORT, inline=True)

    # THEN
    assert profile.decide_stay(TRANSPORT)


def test_one_near_the_border_does_not_move_to_and_fro():
    # GIVEN
    near, far = 1.1 * TRANSPORT, 3 * TRANSPORT
    before, then, later = ([seconds] * 50 for seconds in (TRANSPORT / 2, near, far))
    profile = measured(here=before)
    assert not measured(away=then, here=[near]).short(TRANSPORT)

    # WHEN
    stays = []
    for seconds in (*then, *later):
        stays.append(profile.decide_stay(TRANSPORT))
        profile.note_body(seconds, inline=True)

    # THEN
    assert stays[:50] == [True] * 50
    assert not profile.decide_stay(TRANSPORT)
    assert not measured(away=then, here=[near]).short(TRANSPORT)


def test_the_first_run_counts_no_more_than_it_should():
    """It imports and compiles what later runs find done."""
    # GIVEN
    profile = measured(here=[1.0])
    assert not profile.decide_stay(TRANSPORT)

    # WHEN
    profile.note_body(1e-5, inline=True)

    # THEN
    assert profile.decide_stay(TRANSPORT)


def test_what_conflicts_often_does_not_wait_behind_others():
    # GIVEN
    profile = measured(away=[1e-3] * 20)
    before = profile.estimate()

    # WHEN
    profile.conflicts = 3

    # THEN
    assert 1e-3 == before
    assert profile.estimate() is None


# All of them


def finding():
    kind = FindingKind.WRITES_GLOBAL
    return Finding(kind, "COUNT", "file.py", 5, "get", "do something else")


@pytest.fixture
def executor():
    return ScriptedExecutor(4)


def test_figures_are_added_up(executor):
    # GIVEN
    profiles = Profiles(scanning=False)
    for label in ("one", "other"):
        profile = profiles.find(label, label, lambda: ())
        profile.commits, profile.errors, profile.conflicts = 5, 1, 2
        profile.attempts, profile.inline = 8, 4
    profiles.rounds, profiles.marked, profiles.unmarked = 3, 10, 20

    # WHEN
    stats = profiles.stats(executor, 99)

    # THEN
    labels = tuple(LabelStats(one, 5, 1, 2, 8, 4, 0.0, "") for one in ("one", "other"))
    expected = Stats(
        executor="scripted",
        workers=4,
        gil=gil_enabled(),
        rounds=3,
        marked=10,
        unmarked=20,
        commits=10,
        errors=2,
        aborts=4,
        attempts=16,
        inline=8,
        transport_seconds=0.0,
        version=99,
        labels=labels,
        processes=(ProcessStats("owner", 1, os.getpid(), "serves"),),
    )
    assert expected == stats
    assert 0.5 == stats.inline_share


def test_before_anything_ran_the_share_is_nothing(executor):
    assert 0.0 == Profiles(scanning=False).stats(executor, 0).inline_share


def test_a_function_is_looked_at_once():
    # GIVEN
    profiles, looks = Profiles(scanning=True), list[int]()

    def look():
        looks.append(1)
        return ()

    # WHEN
    first = profiles.find("key", "label", look)
    second = profiles.find("key", "another label", look)

    # THEN
    assert first is second
    assert ([1], None, "label") == (looks, first.on_loop_because, first.label)


@pytest.mark.parametrize("scanning", [True, False])
def test_what_the_scan_finds_keeps_a_function_here(scanning):
    # GIVEN
    profiles = Profiles(scanning)
    text = (
        r"^label runs on the loop thread: file.py:5: get\(\) assigns .*COUNT; do some"
    )

    # WHEN
    with expect_log("txloop", text, int(scanning)):
        profile = profiles.find("key", "label", lambda: (finding(),))

    # THEN
    assert scanning == profile.decide_stay(0.0)
    assert profile.on_loop_because == (finding().describe() if scanning else None)
    assert (profile.on_loop_because or "") == profile.stats().on_loop_because


def test_after_the_end_the_figures_stay_without_the_functions(executor):
    # GIVEN
    profiles = Profiles(scanning=False)
    profiles.find(finding, "label", lambda: ())

    # WHEN
    profiles.close()

    # THEN
    assert ["label"] == [one.label for one in profiles.stats(executor, 0).labels]
    assert finding not in profiles._profiles
