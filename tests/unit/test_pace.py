from __future__ import annotations

import pytest

from txloop.stm.measuring import Delay, Pace


def stretch_of(*calls):
    pace = Pace()
    for lost, busy in calls:
        pace.note(lost, busy)
    return pace.stretch


def test_before_the_first_call_there_is_nothing_to_tell():
    assert 1.0 == stretch_of()


def test_a_call_with_a_core_of_its_own_takes_as_long_as_it_computes():
    assert 1.0 == stretch_of((0.0, 0.001))


def test_one_that_waits_for_a_core_takes_longer():
    assert pytest.approx(3.0) == stretch_of(*[(0.002, 0.001)] * 9)


def test_one_long_stop_does_not_decide():
    assert stretch_of(*[(0.0, 0.001)] * 50, (60.0, 0.001)) < 4.0


def test_what_was_sent_long_ago_and_computed_nothing_was_kept_waiting(monkeypatch):
    # GIVEN
    now = iter([10.0, 13.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    monkeypatch.setattr("time.thread_time", lambda: 0.5)
    monkeypatch.setattr("txloop.stm.measuring.voluntary_waits", lambda: 1)

    # WHEN it was free at 10, got a call that was sent at 12, and has done it at 13
    delay = Delay()
    delay.begin()

    # THEN
    assert 1.0 == delay.end(12.0)


def test_one_that_slept_by_itself_has_lost_nothing(monkeypatch):
    # GIVEN
    waits = iter([1, 2])
    monkeypatch.setattr("txloop.stm.measuring.voluntary_waits", lambda: next(waits))
    delay = Delay()

    # WHEN
    delay.begin()

    # THEN
    assert 0.0 == delay.end(0.0)
