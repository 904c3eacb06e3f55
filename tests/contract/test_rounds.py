"""With a barrier, a round begins when all of the one before have ended or wait."""

from __future__ import annotations

import pytest

from tests.contract.interleaving import OVERLAPPING
from tests.engine import EXECUTORS, running
from txloop import TVar, retry
from txloop.engine.events import Committed, Retried, RoundRun, Started


def add(variable, number):
    variable.value += number
    return variable.value


def overlaps(events):
    """Return how many rounds began while transactions of older ones were under way."""
    under_way: set[int] = set()
    found = 0
    for event in events:
        match event:
            case RoundRun():
                found += bool(under_way)
            case Started():
                under_way.add(event.transaction)
            case Committed() | Retried(waits=True):
                under_way.remove(event.transaction)
    return found


def three_rounds(engine):
    total, profile = TVar(0), engine.short()
    results = []
    for _ in range(3):
        results += [engine.submit(add, total, n, profile=profile) for n in (1, 10)]
        engine.turn()
    engine.wait(*results)
    return total.value


@pytest.mark.parametrize("name", EXECUTORS)
def test_rounds_follow_one_another(name):
    with running(name, barrier=True) as engine:
        assert three_rounds(engine) == 33

        assert overlaps(engine.events) == 0


@pytest.mark.parametrize("name", [one for one in OVERLAPPING if one in EXECUTORS])
def test_without_a_barrier_they_overlap(name):
    with running(name) as engine:
        assert three_rounds(engine) == 33

        assert overlaps(engine.events) > 0


def test_the_next_round_takes_all_that_came_meanwhile():
    with running("scripted", barrier=True) as engine:
        # GIVEN
        total = TVar(0)
        _, first = engine.send(add, total, 1)

        # WHEN
        others = []
        for number in (10, 100):
            others.append(engine.submit(add, total, number))
            engine.turn()

        # THEN
        assert list(engine.scripted.waiting) == [first]
        engine.scripted.begin(first)
        engine.scripted.finish(first)
        engine.turn()
        assert len(engine.scripted.waiting) == 2
        engine.wait(*others)
        assert total.value == 111


def wait_for_it(flag):
    if not flag.value:
        retry()
    return "seen"


def test_who_waits_for_a_change_holds_up_nobody():
    with running("scripted", barrier=True) as engine:
        # GIVEN
        flag = TVar(0)
        patient, first = engine.send(wait_for_it, flag)
        engine.scripted.begin(first)
        engine.scripted.finish(first)

        # WHEN
        other = engine.submit(add, flag, 1)
        engine.wait(other, patient)

        # THEN
        assert patient.value == "seen"


def test_who_leaves_is_not_waited_for():
    with running("scripted", barrier=True) as engine:
        # GIVEN one under way and one that has not begun, in the same round
        total = TVar(0)
        one = engine.submit(add, total, 1)
        leaving = engine.submit(add, total, 10)
        engine.turn()
        first, second = engine.scripted.waiting
        engine.scripted.begin(first)
        late, later = engine.submit(add, total, 100), engine.submit(add, total, 1000)
        engine.turn()

        # WHEN
        engine.dispatcher.leave(leaving.number)
        engine.dispatcher.leave(later.number)
        engine.scripted.finish(first)

        # THEN
        assert second not in engine.scripted.waiting
        engine.wait(one, late)
        assert total.value == 101
