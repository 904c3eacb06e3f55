"""Waiting that ends by itself: after its timeout, or with the loop."""

from __future__ import annotations

import math
import threading

import pytest

from tests.contract.waiting import await_for, await_open, kinds, until_waiting, waiting
from tests.engine import on
from txloop import TDict, TVar, TxClosedError, TxConfigurationError, retry
from txloop.engine import waiting as waiting_room
from txloop.engine.events import Woken

# Timeouts


@pytest.mark.parametrize("timeout", [0, 0.0, 1e-6, 0.002])
def test_after_the_timeout_retry_returns(engine, timeout):
    # GIVEN
    open_ = TVar(False)

    # WHEN
    value = engine.run(await_for, open_, timeout)

    # THEN
    assert "timed out" == value
    assert bool(timeout) == bool(kinds(engine, Woken))
    assert [] == [
        one for one in engine.events if isinstance(one, Woken) and not one.timed_out
    ]


def test_a_change_before_the_timeout(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_for, open_, 1000)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert result.value is True


class Clock:
    """Stands in for the module `time`."""

    seconds = 1e6

    def monotonic(self):
        return self.seconds


def test_the_timeout_counts_from_when_it_first_waited(engine, monkeypatch):
    # GIVEN
    clock, tries = Clock(), TDict(n=0)
    monkeypatch.setattr(waiting_room, "time", clock)
    result = engine.submit(wait_in_vain, tries, 1000)
    until_waiting(engine, 1)

    # WHEN it is woken after a while, and waits again
    clock.seconds += 600
    tries["n"] += 1
    engine.until(lambda: kinds(engine, Woken))
    until_waiting(engine, 1)

    # THEN
    (waiting_one,) = engine.dispatcher.room._inside.values()
    assert 390 < waiting_one.timer.when() - engine.loop.time() <= 400
    engine.dispatcher.stop_waiting()
    engine.wait(result)
    assert ("timed out", 1) == (result.value, tries["n"])


def wait_in_vain(tries, seconds):
    if tries["n"] >= 0:
        retry(timeout=seconds)
    return "timed out"


def test_a_timeout_without_having_read_anything(engine):
    def body():
        retry(timeout=0.001)
        return "later"

    assert "later" == engine.run(body)


def test_an_endless_timeout_is_none(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_for, open_, math.inf)
    until_waiting(engine, 1)

    # WHEN
    engine.dispatcher.stop_waiting()
    engine.turn()
    assert not result.done
    open_.value = True
    engine.wait(result)

    # THEN
    assert result.value is True


def test_a_timeout_of_years_is_possible(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_for, open_, 1e9)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert result.value is True


@pytest.mark.parametrize("timeout", [-1, math.nan, True, "1", (1,), 1j])
def test_a_bad_timeout(engine, timeout):
    with pytest.raises(TxConfigurationError, match="timeout must be a number of sec"):
        engine.run(retry, timeout)
    with pytest.raises(TxConfigurationError, match="timeout must be a number of sec"):
        retry(timeout)


@on("processes", "threads")
def test_a_waiting_time_travels(engine):
    # GIVEN
    variable = TVar(False)

    # WHEN
    result = engine.submit(wait_and_tell, variable, profile=engine.short())
    engine.wait(result)

    # THEN
    assert threading.get_native_id() != result.value


def wait_and_tell(variable):
    if not variable.value:
        retry(timeout=0.001)
    return threading.get_native_id()


# The end of the loop


@pytest.mark.parametrize("timeout", [None, 1000])
def test_closing_answers_those_that_wait(engine, timeout):
    # GIVEN
    open_ = TVar(False)
    results = [engine.submit(await_for, open_, timeout) for _ in range(3)]
    until_waiting(engine, 3)

    # WHEN
    engine.dispatcher.close()
    open_.value = True
    engine.turn()

    # THEN
    assert [TxClosedError] * 3 == [type(result.error) for result in results]
    assert 0 == engine.dispatcher.pending == waiting(engine)


@on("scripted")
def test_closing_while_a_woken_one_runs(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)
    open_.value = True
    engine.turn()
    engine.turn()
    (number,) = engine.scripted.waiting
    engine.scripted.begin(number)

    # WHEN
    engine.dispatcher.close()

    # THEN
    assert isinstance(result.error, TxClosedError)


def test_nobody_waits_longer_than_it_must_at_the_end(engine):
    # GIVEN
    open_ = TVar(False)
    impatient = engine.submit(await_for, open_, 1000)
    patient = engine.submit(await_open, open_)
    until_waiting(engine, 2)

    # WHEN
    engine.dispatcher.stop_waiting()
    late = engine.submit(await_for, open_, 1000)
    engine.wait(impatient, late)

    # THEN
    assert ["timed out"] * 2 == [impatient.value, late.value]
    assert (False, 0) == (patient.done, engine.dispatcher.busy)
