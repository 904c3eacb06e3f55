"""Pleas: granted, refused or given up, and only one of these."""

from __future__ import annotations

import pytest

from txloop.executors import plea as plea_module
from txloop.executors.plea import Plea
from txloop.stm.attempt import Attempt
from txloop.stm.types import Outcome


@pytest.fixture
def attempt():
    one = Attempt(0, speculative=True)
    one.files = {"read"}
    return one


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(plea_module, "PATIENCE_SECONDS", 0.001)


def test_one_that_is_granted_is_on_the_loop_thread_with_the_newest_version(attempt):
    # GIVEN
    plea = Plea(attempt, "it acts")
    outcome = Outcome(7)
    plea.answer(outcome)  # it will be there

    # WHEN
    answer = plea.grant(7)

    # THEN
    assert (True, True) == (plea.wait(), plea.granted)
    assert (outcome, frozenset({"read"})) == (answer, plea.files)
    assert (7, False, None) == (attempt.snapshot, attempt.speculative, attempt.files)


def test_one_that_is_refused_changes_nothing(attempt):
    plea = Plea(attempt, "it acts")

    plea.refuse()

    assert (False, None) == (plea.wait(), plea.grant(7))
    assert (0, True) == (attempt.snapshot, attempt.speculative)


def test_one_that_has_given_up_is_not_granted(attempt, impatient):
    plea = Plea(attempt, "it acts")

    assert (False, None) == (plea.wait(), plea.grant(7))
