"""Transactions that nobody wants any more, as when a client has left."""

from __future__ import annotations

import pytest

from tests.contract.waiting import await_key, kinds, take, take_and_count, until_waiting
from tests.engine import on
from txloop import TDict, TVar
from txloop.engine.events import Committed, Dropped, Retried
from txloop.engine.machine import MOST_CONFLICTS


def test_one_that_nobody_wants_any_more_is_dropped(engine):
    # GIVEN
    stock = TDict[str, str]()
    left = engine.submit(take, stock)
    stays = engine.submit(take, stock)
    until_waiting(engine, 2)
    number = min(number for _, number in kinds(engine, Retried))

    # WHEN
    engine.dispatcher.leave(number)
    stock["a"] = "thing"
    engine.wait(stays)

    # THEN
    assert ("thing", 0) == (stays.value, len(stock))
    assert [("Dropped", number)] == kinds(engine, Dropped)
    assert (False, 0) == (left.done, engine.dispatcher.pending)


@on("scripted")
@pytest.mark.parametrize("state", ["in the round", "sent", "running", "next"])
def test_one_that_has_waited_is_dropped_wherever_it_is(engine, state):
    # GIVEN
    stock, log = TDict[str, str](), TVar(0)
    result = engine.submit(take_and_count, stock, log)
    until_waiting(engine, 1)
    stock["a"] = "thing"
    engine.turn()
    if state != "in the round":
        engine.turn()
        (number,) = engine.scripted.waiting
        if state != "sent":
            engine.scripted.begin(number)
        if state == "next":
            for _ in range(MOST_CONFLICTS - 1):
                log.value += 10
                engine.scripted.finish(number)
                (number,) = engine.scripted.waiting
                engine.scripted.begin(number)
            log.value += 10
            engine.scripted.finish(number)

    # WHEN
    engine.dispatcher.leave(1)
    engine.turn()
    engine.scripted.run_all()

    # THEN
    assert not result.done
    assert {"a": "thing"} == stock
    assert 0 == engine.dispatcher.pending
    assert "still here" == engine.run(lambda: "still here")


@on("scripted")
@pytest.mark.parametrize("unwanted", [1, 2])
def test_one_that_is_held_back_or_holds_others_back_is_dropped(engine, unwanted):
    # GIVEN an inevitable transaction, and one that waits for it; both have waited
    shared = TDict(n=0)

    def body(key):
        await_key(shared, key)
        shared["n"] += 1

    first, second = (engine.submit(body, key) for key in "ab")
    until_waiting(engine, 2)
    shared.update(a=1, b=1)
    engine.turn()
    engine.turn()
    number, other = sorted(engine.scripted.waiting)
    for _ in range(MOST_CONFLICTS):
        engine.scripted.begin(number)
        shared["n"] += 10
        engine.scripted.finish(number)
        number = max(engine.scripted.waiting)
    engine.scripted.begin(other)
    engine.scripted.finish(other)
    assert [] == kinds(engine, Committed)

    # WHEN
    engine.dispatcher.leave(unwanted)
    engine.scripted.run_all()
    engine.turn()

    # THEN
    assert (unwanted == 2, unwanted == 1) == (first.done, second.done)
    assert 31 == shared["n"]
    assert 0 == engine.dispatcher.pending


@on("scripted")
def test_one_that_has_begun_commits_though_nobody_wants_it(engine):
    # GIVEN
    stock = TDict(a="thing")
    result, number = engine.send(take, stock)
    engine.scripted.begin(number)

    # WHEN
    engine.dispatcher.leave(1)
    engine.dispatcher.leave(99)
    engine.scripted.finish(number)

    # THEN
    assert (True, 0) == (result.done, len(stock))


@on("scripted")
@pytest.mark.parametrize("turned", [False, True])
def test_one_that_has_not_begun_is_dropped(engine, turned):
    # GIVEN
    stock = TDict(a="thing")
    result = engine.submit(take, stock)
    if turned:
        engine.turn()

    # WHEN
    engine.dispatcher.leave(1)
    engine.turn()

    # THEN
    assert (False, 1) == (result.done, len(stock))
    assert (0, {}) == (engine.dispatcher.pending, engine.scripted.waiting)


def test_one_that_nobody_wants_does_not_begin_to_wait(engine):
    # GIVEN
    stock = TDict[str, str]()
    result = engine.submit(take, stock)

    # WHEN
    engine.dispatcher.leave(1)
    engine.until(lambda: not engine.dispatcher.pending)

    # THEN
    assert not result.done
    assert [("Dropped", 1)] == kinds(engine, Dropped)


@on("scripted")
def test_nor_does_it_run_again_for_what_has_come_meanwhile(engine):
    # GIVEN
    stock = TDict[str, str]()
    result, number = engine.send(take, stock)
    engine.scripted.begin(number)
    stock["a"] = "thing"

    # WHEN
    engine.dispatcher.leave(1)
    engine.scripted.finish(number)
    engine.scripted.run_all()

    # THEN
    assert not result.done
    assert {"a": "thing"} == stock
    assert [("Dropped", 1)] == kinds(engine, Dropped)
    assert 0 == engine.dispatcher.pending
