"""Which of the transactions that wait are woken, and in which order."""

from __future__ import annotations

from tests.contract.waiting import (
    await_open,
    kinds,
    put,
    take,
    take_and_note,
    until_waiting,
    waiting,
)
from tests.engine import note, noted, on
from txloop import TDict, TVar, on_commit, retry
from txloop.engine.events import Committed, Retried, Woken


def test_they_are_woken_in_the_order_in_which_they_came(engine):
    # GIVEN
    stock = TDict[str, str]()
    results = [engine.submit(take_and_note, stock, name) for name in range(7)]
    until_waiting(engine, 7)

    # WHEN
    for key in "abcdefg":
        engine.run(put, stock, key)
    engine.wait(*results)

    # THEN
    woken = [number for _, number in kinds(engine, Woken)]
    assert sorted(set(woken)) == list(dict.fromkeys(woken))
    assert {} == stock
    assert set("abcdefg") == {result.value for result in results}


@on("serial", "rehearsal")
def test_as_many_are_woken_as_can_do_something(engine):
    # GIVEN
    stock, count = TDict[int, str](), 50
    for name in range(count):
        engine.submit(take_and_note, stock, name)
    until_waiting(engine, count)

    # WHEN
    for number in range(count):
        engine.run(put, stock, number, "thing")

    # THEN each was woken once, and got something
    engine.until(lambda: not engine.dispatcher.pending)
    assert list(range(count)) == noted
    assert count == len(kinds(engine, Woken))


@on("serial", "rehearsal")
def test_all_that_see_what_they_wait_for_are_woken_one_after_another(engine):
    # GIVEN
    open_ = TVar(False)
    results = [engine.submit(await_open, open_) for _ in range(20)]
    until_waiting(engine, 20)

    # WHEN
    open_.value = True
    engine.wait(*results)

    # THEN
    numbers = [number for _, number in kinds(engine, Retried)]
    both = [(kind, number) for number in numbers for kind in ("Woken", "Committed")]
    assert both == kinds(engine, Woken, Committed)


@on("scripted")
def test_of_those_who_take_one_runs_at_a_time(engine):
    # GIVEN
    stock = TDict[str, str]()
    results = [engine.submit(take, stock) for _ in range(10)]
    until_waiting(engine, 10)

    # WHEN
    stock["key"] = "thing"
    engine.turn()
    engine.turn()

    # THEN
    assert 1 == len(engine.scripted.waiting)
    engine.scripted.run_all()
    engine.turn()
    assert [True] + [False] * 9 == [result.done for result in results]
    assert 9 == waiting(engine)


@on("scripted")
def test_of_those_who_only_look_as_many_run_as_there_are_workers(engine):
    # GIVEN
    open_ = TVar(False)
    results = [engine.submit(await_open, open_) for _ in range(10)]
    until_waiting(engine, 10)
    open_.value = True
    engine.turn()
    engine.turn()
    at_once = []

    # WHEN
    while engine.scripted.waiting:
        at_once.append(len(engine.scripted.waiting))
        engine.scripted.run_all()
        engine.turn()

    # THEN
    assert [1, 2, 2, 2, 2, 1] == at_once
    assert all(result.done for result in results)


@on("scripted")
def test_one_that_lost_keeps_its_place(engine):
    # GIVEN two that wait, and a thing that somebody else takes
    stock = TDict[str, str]()
    first, second = (engine.submit(take, stock) for _ in range(2))
    until_waiting(engine, 2)
    stock["key"] = "lost"
    engine.turn()
    engine.turn()
    del stock["key"]
    engine.scripted.run_all()
    engine.turn()
    assert 2 == waiting(engine)

    # WHEN
    stock["key"] = "won"
    engine.turn()
    engine.turn()
    engine.scripted.run_all()

    # THEN
    assert (True, False) == (first.done, second.done)
    assert "won" == first.value


def test_one_that_is_woken_in_vain_does_not_keep_others_from_running(engine):
    # GIVEN
    shared = TDict(n=0)

    def body(least):
        if shared["n"] < least:
            retry()
        return least

    results = [engine.submit(body, least) for least in (9, 1, 9, 1)]
    until_waiting(engine, 4)

    # WHEN
    shared["n"] = 1
    engine.wait(results[1], results[3])

    # THEN
    until_waiting(engine, 2)
    assert [False, True, False, True] == [result.done for result in results]


# Calls that are ordered


def test_one_in_order_lets_the_next_ones_wake_it(engine):
    # GIVEN
    stock = TDict[str, str]()

    # WHEN
    results = [
        engine.submit(take_and_note, stock, "taker", ordered=True),
        engine.submit(put_and_note, stock, "a", ordered=True),
        engine.submit(put_and_note, stock, "b", ordered=True),
    ]
    engine.wait(*results)

    # THEN it took its old place again: before those that came after it
    assert ["a", "taker", "b"] == noted
    assert "a" == results[0].value


def put_and_note(stock, key):
    on_commit(note, key)
    put(stock, key)


@on("scripted")
def test_one_in_order_whose_turn_has_not_come_does_not_wait(engine):
    """In a serial run it would have found what those before it did."""
    # GIVEN
    stock = TDict[str, str]()
    first, earlier = engine.send(put_and_note, stock, "a", ordered=True)
    second, number = engine.send(take_and_note, stock, "taker", ordered=True)

    # WHEN
    engine.scripted.begin(number)
    engine.scripted.finish(number)
    assert 0 == waiting(engine)
    engine.scripted.begin(earlier)
    engine.scripted.finish(earlier)
    engine.scripted.run_all()

    # THEN
    assert (True, "a") == (first.done, second.value)
    assert [] == kinds(engine, Woken)
