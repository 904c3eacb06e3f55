"""Pleas: granted, refused or given up, and only one of these."""

from __future__ import annotations

import threading

import pytest

from txloop.executors import plea as plea_module
from txloop.executors.plea import Plea
from txloop.executors.protocol import Work
from txloop.executors.threads.handover import Handover
from txloop.stm.attempt import Attempt
from txloop.stm.types import Call, Outcome


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


def test_none_is_heard_after_the_end(attempt):
    # GIVEN
    handover = Handover(1)
    handover.put([Work(1, Call(len))])
    assignment = handover.exchange(1, None, None)
    assert assignment is not None
    early, late = Plea(attempt, "early"), Plea(attempt, "late")
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(handover.plead(assignment, early))
    )
    rung = threading.Event()
    handover.ring = rung.set
    asking.start()
    assert rung.wait(10)

    # WHEN
    handover.close()
    asking.join(10)

    # THEN
    assert [False] == answers
    assert not handover.plead(assignment, late)
