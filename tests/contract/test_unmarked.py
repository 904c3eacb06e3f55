"""Unmarked code on the loop thread, other threads, and transactions beside them."""

from __future__ import annotations

import threading

import pytest

from tests.engine import Gate, Tally, on
from txloop import TDict, TVar, TxThreadError
from txloop.engine.events import Conflicted, Started
from txloop.engine.machine import MOST_CONFLICTS


def add(shared, tally, started, gate):
    tally.mark()
    seen = shared["n"]
    started.open()
    gate.wait()
    shared["n"] = seen + 1
    return seen


@on("processes", "threads")
def test_a_direct_write_conflicts_with_an_attempt_in_flight(engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(add, shared, tally, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    shared["n"] = 10
    gate.open()
    engine.wait(result)

    # THEN
    assert 10 == result.value
    assert {"n": 11} == shared
    assert (2, 1) == (tally.count, engine.aborts)


@on("scripted")
def test_a_conflict_is_told_with_what_and_when(engine, tmp_path):
    # GIVEN
    variable = TVar(0)
    result, number = engine.send(increment, variable)
    snapshot = engine.scripted.begin(number).snapshot

    # WHEN
    variable.value = 10
    engine.scripted.finish(number)
    engine.wait(result)

    # THEN
    (told,) = [event for event in engine.events if isinstance(event, Conflicted)]
    assert (1, "test") == (told.transaction, told.label)
    assert variable._tx_number == told.conflict.cell[0]
    assert (snapshot, snapshot + 1) == (told.conflict.snapshot, told.conflict.version)
    starts = [event for event in engine.events if isinstance(event, Started)]
    assert [1, 2] == [event.attempt for event in starts]


def increment(variable):
    variable.value += 1
    return variable.value


@on("scripted")
def test_under_constant_fire_a_transaction_runs_on_the_loop_thread_at_last(engine):
    # GIVEN
    variable = TVar(0)
    result, number = engine.send(increment, variable)

    # WHEN unmarked code interferes with every attempt
    attempts = 0
    while not result.done:
        engine.scripted.begin(number)
        variable.value += 100
        engine.scripted.finish(number)
        attempts += 1
        number = max(engine.scripted.waiting, default=0)

    # THEN
    assert MOST_CONFLICTS + 1 == attempts == engine.aborts
    assert attempts * 100 + 1 == result.value == variable.value
    assert 1 == engine.dispatcher.stats().inline


@on("scripted")
def test_while_one_is_inevitable_the_others_wait_with_their_commits(engine):
    # GIVEN a transaction that has become inevitable, and another one
    variable = TVar(0)
    unlucky, number = engine.send(increment, variable)
    number = engine.make_inevitable(number, variable)
    engine.scripted.begin(number)
    other, later = engine.send(increment, variable)
    engine.scripted.begin(later)

    # WHEN
    engine.scripted.finish(later)
    waited = other.done
    engine.scripted.finish(number)

    # THEN
    assert not waited
    assert unlucky.done
    engine.wait(other)
    assert [301, 302] == [unlucky.value, other.value]
    assert MOST_CONFLICTS + 1 == engine.aborts


@on("scripted")
def test_several_become_inevitable_one_after_the_other(engine):
    # GIVEN
    variable = TVar(0)
    sent = [engine.send(increment, variable) for _ in range(3)]
    numbers = [number for _, number in sent]

    # WHEN every round of attempts conflicts
    for _ in range(MOST_CONFLICTS):
        for number in numbers:
            engine.scripted.begin(number)
        variable.value += 100
        for number in numbers:
            engine.scripted.finish(number)
        numbers = sorted(engine.scripted.waiting)

    # THEN
    assert 1 == len(numbers)
    results = [result for result, _ in sent]
    engine.wait(*results)
    assert [301, 302, 303] == sorted(result.value for result in results)
    assert 3 * MOST_CONFLICTS == engine.aborts


# Threads


def in_thread(function, *args):
    """Run a function in another thread; return what it returned or raised."""
    answers = []

    def body():
        try:
            answers.append(function(*args))
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return answers[0]


@pytest.mark.parametrize("change", [TVar.set, TDict.__setitem__])
def test_other_threads_may_read_and_not_write(engine, change):
    # GIVEN
    variable, shared = TVar(1), TDict(k=1)
    engine.run(variable.get)
    arguments = (variable, 2) if change is TVar.set else (shared, "k", 2)

    # WHEN
    refusal = in_thread(change, *arguments)

    # THEN
    assert isinstance(refusal, TxThreadError)
    assert "IOLoop.add_callback" in str(refusal)
    assert (1, {"k": 1}) == in_thread(lambda: (variable.value, dict(shared)))


def test_before_the_first_transaction_and_after_the_end_any_thread_writes(engine):
    # GIVEN
    variable = TVar(0)

    # WHEN
    before = in_thread(variable.set, 1)
    engine.run(variable.get)
    engine.dispatcher.close()
    after = in_thread(variable.set, 2)

    # THEN
    assert (None, None, 2) == (before, after, variable.value)
