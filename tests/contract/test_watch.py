"""Changes of plain objects are seen, and nothing of them is lost."""

from __future__ import annotations

import collections
import functools
import os
import threading
from typing import Any

import pytest

from tests.engine import Tally, on
from tests.logs import expect_log
from txloop import TVar, on_worker_start
from txloop.executors.processes import worker
from txloop.watch import limits

AWAY = ("processes", "threads")

HELD = "^test runs on the loop thread: "

CALLS = 30

ledger: list[int] = []
counts = {"calls": 0}
prices = {"tea": 1}


@pytest.fixture(autouse=True)
def _clean():
    ledger.clear()
    counts["calls"] = 0
    prices["tea"] = 1


def known(engine, label="test"):
    """Return the record of a function that is always sent away, unless it is held."""
    return engine.short(label)


# What a function is given, or has around it


def append(rows):
    rows.append(len(rows))


def append_inside(tables):
    for _, rows in enumerate(tables):
        rows.append(len(rows))


class Job:
    def __init__(self):
        self.done = []

    def run(self):
        self.done.append(len(self.done))

    def run_by_vars(self):
        vars(self)["done"] = [*self.done, len(self.done)]

    def __call__(self):
        self.done.append(len(self.done))


def an_argument():
    rows: list[int] = []
    return append, (rows,), lambda: rows


def inside_an_argument():
    rows: list[int] = []
    return append_inside, ([rows],), lambda: rows


def run_all(jobs):
    for job in jobs:
        job.run()


def a_key_of_an_argument():
    job = Job()
    return run_all, ({job: 1},), lambda: job.done


def the_object_of_a_method():
    job = Job()
    return job.run, (), lambda: job.done


def the_attributes_of_an_object():
    job = Job()
    return job.run_by_vars, (), lambda: job.done


def a_callable_object():
    job = Job()
    return job, (), lambda: job.done


def an_argument_of_a_partial():
    rows: list[int] = []
    return functools.partial(append, rows), (), lambda: rows


def a_variable_around_it():
    rows: list[int] = []
    return lambda: rows.append(len(rows)), (), lambda: rows


def a_default():
    rows: list[int] = []

    def function(rows=rows):
        rows.append(len(rows))

    return function, (), lambda: rows


def a_keyword_default():
    rows: list[int] = []

    def function(*, rows=rows):
        rows.append(len(rows))

    return function, (), lambda: rows


def an_attribute_of_the_function():
    def function():
        itself: Any = function
        itself.rows.append(len(itself.rows))

    rows: list[int] = []
    vars(function)["rows"] = rows
    return function, (), lambda: rows


class Slotted:
    __slots__ = ("rows",)

    def __init__(self):
        self.rows = ()


def lengthen(slotted):
    slotted.rows = (*slotted.rows, len(slotted.rows))


def an_attribute_in_a_slot():
    slotted = Slotted()
    return lengthen, (slotted,), lambda: [*slotted.rows]


def a_buffer():
    rows = bytearray()
    return append, (rows,), lambda: [*rows]


def a_deque():
    rows: collections.deque[int] = collections.deque()
    return append, (rows,), lambda: [*rows]


def keep(rows=ledger):
    rows.append(len(rows))


def a_default_of_a_named_function():
    return keep, (), lambda: ledger


GIVEN = [
    an_argument,
    inside_an_argument,
    a_key_of_an_argument,
    the_object_of_a_method,
    the_attributes_of_an_object,
    a_callable_object,
    an_argument_of_a_partial,
    a_variable_around_it,
    a_default,
    a_keyword_default,
    an_attribute_of_the_function,
    an_attribute_in_a_slot,
    a_buffer,
    a_deque,
    a_default_of_a_named_function,
]


@on("serial", *AWAY)
@pytest.mark.parametrize("given", GIVEN)
def test_what_a_function_changes_is_changed(engine, given):
    # GIVEN
    function, args, look = given()
    profile = engine.profile()
    serial = engine.executor.name == "serial"

    # WHEN
    with expect_log("txloop", HELD, 0 if serial else 1):
        engine.run_in_turn(profile, function, *args)

    # THEN
    assert [0, 1] == look()
    assert serial == (profile.on_loop_because is None)


def read(rows):
    return sum(rows), len(ledger), os.getpid(), threading.get_ident()


@on(*AWAY)
def test_what_changes_nothing_stays_in_parallel(engine):
    # GIVEN
    profile = known(engine)

    # WHEN
    values = engine.run_in_turn(profile, read, [1, 2], times=CALLS)

    # THEN
    assert {(3, 0)} == {value[:2] for value in values}
    assert (os.getpid(), threading.get_ident()) not in {value[2:] for value in values}
    assert profile.on_loop_because is None


# What modules have


def enter(number):
    counts["calls"] = counts["calls"] + 1
    ledger.append(number)
    return os.getpid()


@on("serial", *AWAY)
def test_of_many_calls_at_once_none_loses_what_it_changes(engine):
    # GIVEN
    profile = known(engine)
    serial = engine.executor.name == "serial"

    # WHEN
    with expect_log("txloop", HELD, 0 if serial else 1):
        results = [
            engine.submit(enter, number, profile=profile) for number in range(CALLS)
        ]
        engine.wait(*results)

    # THEN
    assert list(range(CALLS)) == sorted(ledger)
    assert {"calls": CALLS} == counts


def begin_and_end(tally, number):
    tally.mark(number)
    tally.mark(number)


@on("threads")
def test_the_first_run_is_made_alone(engine, tmp_path):
    # GIVEN
    tally, profile = Tally(tmp_path / "tally"), known(engine)

    # WHEN
    results = [
        engine.submit(begin_and_end, tally, number, profile=profile)
        for number in range(CALLS)
    ]
    engine.wait(*results)

    # THEN
    first, second, *rest = [line.split()[1] for line in tally.lines]
    assert first == second
    assert sorted(rest) == sorted([*map(str, range(1, CALLS))] * 2)
    assert profile.on_loop_because is None


@on(*AWAY)
def test_what_is_trusted_is_left_alone(engine):
    # GIVEN
    profile = known(engine)

    # WHEN
    for number in range(3):
        engine.wait(engine.submit(enter, number, profile=profile, watched=False))

    # THEN
    assert profile.on_loop_because is None
    copies = engine.executor.name == "processes"
    assert ([] if copies else [0, 1, 2]) == ledger


# Caches of `functools`


def load():
    return [0.5, 2.0]


weights = functools.cache(load)


def predict():
    return sum(weights())


@on(*AWAY)
@pytest.mark.parametrize("size", [None, 8])
@pytest.mark.parametrize("each", [True, False])
def test_a_cache_that_each_worker_fills_is_no_state(engine, monkeypatch, each, size):
    # GIVEN
    monkeypatch.setitem(globals(), "weights", functools.lru_cache(size)(load))
    monkeypatch.setattr(worker, "_start_hooks", [])
    if each:
        on_worker_start(weights)
    profile = known(engine)

    # WHEN it is filled here, too, as by a call that stays
    with expect_log("txloop", HELD, 0 if each else 1):
        if engine.executor.name == "processes":
            engine.run_in_turn(profile, predict)
            weights()
        values = engine.run_in_turn(profile, predict)

    # THEN
    assert {2.5} == set(values)


# Workers whose copy is spoilt

total = TVar(0)


def count():
    total.value += 1


@on("processes")
def test_a_spoilt_worker_is_replaced_and_its_calls_run_elsewhere(engine):
    # GIVEN
    total.set(0)
    innocent, guilty = known(engine, "innocent"), known(engine)
    engine.run_in_turn(innocent, count)
    spawned = engine.processes._crew.spawned

    # WHEN they are sent together, so that some wait behind the one that spoils
    with expect_log("txloop", HELD):
        results = [engine.submit(enter, 1, profile=guilty)]
        results += [engine.submit(count, profile=innocent) for _ in range(CALLS)]
        engine.wait(*results)

    # THEN
    assert [1] == ledger
    assert 2 + CALLS == total.get()
    assert spawned + 1 == engine.processes._crew.spawned
    assert 2 == len(engine.processes._workers)
    assert {} == engine.processes._deaths
    assert innocent.on_loop_because is None


# What workers do not know of


def price():
    return prices["tea"], os.getpid()


@on("processes")
def test_what_was_changed_before_a_first_call_is_known_to_it(engine, monkeypatch):
    # GIVEN all that there is was looked at, whatever other tests have imported
    monkeypatch.setattr(limits, "MOST_PICTURED", 1_000_000)
    monkeypatch.setattr(limits, "MOST_THINGS", 1_000_000)
    engine.run(int)
    prices["tea"] = 2
    profile = known(engine)

    # WHEN
    with expect_log("txloop", f"{HELD}since workers were forked, .*prices"):
        values = engine.run_in_turn(profile, price)

    # THEN
    assert [(2, os.getpid())] * 2 == values
    assert 2 == profile.inline == profile.attempts


@on("processes")
def test_what_was_changed_between_two_calls_is_known_to_the_second(engine):
    # GIVEN
    profile = known(engine)
    ((before, away),) = engine.run_in_turn(profile, price, times=1)

    # WHEN
    prices["tea"] = 2
    engine.dispatcher.holds.note()
    with expect_log("txloop", f"{HELD}since workers were forked, .*prices"):
        values = engine.run_in_turn(profile, price)

    # THEN
    assert before == 1
    assert away != os.getpid()
    assert [(2, os.getpid())] * 2 == values
