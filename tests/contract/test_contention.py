"""Functions that keep conflicting on one cell have their calls run one by one."""

from __future__ import annotations

import time

import pytest

from tests.engine import Result, bury_the_dead, on
from tests.logs import AT_BOUND, expect_log
from txloop import TDict, TObject, TVar
from txloop.engine.events import Conflicted
from txloop.engine.transaction import State
from txloop.stm.cell_names import cell_name
from txloop.stm.store import committed
from txloop.stm.types import Key

hot = TVar(0)
accounts = TDict({"ann": {"money": 1}})


def add(variable, amount=1):
    variable.set(variable.get() + amount)


def crowd(engine, profile, variable, count):
    """Submit calls that all read before any of them commits, as far as they may."""
    results = [engine.submit(add, variable, profile=profile) for _ in range(count)]
    engine.turn()
    while engine.scripted.waiting:
        begun = sorted(engine.scripted.waiting)
        for number in begun:
            engine.scripted.begin(number)
        for number in begun:
            engine.scripted.finish(number)
        engine.turn()
    engine.wait(*results)


@on("scripted")
def test_calls_that_keep_conflicting_run_one_after_another(engine):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    crowd(engine, profile, variable, 6)
    aborts = engine.aborts
    assert aborts >= 4

    # WHEN
    results = [engine.submit(add, variable, profile=profile) for _ in range(6)]
    engine.turn()

    # THEN
    for _ in results:
        (number,) = engine.scripted.waiting
        engine.scripted.begin(number)
        engine.scripted.finish(number)
    assert [None] * 6 == [result.error for result in results]
    assert (12, aborts) == (variable.get(), engine.aborts)


@on("scripted")
@pytest.mark.parametrize("leave", [True, False])
def test_what_stood_in_line_after_a_conflict_can_be_dropped(engine, leave):
    """Its snapshot was closed then, and must not be closed again."""
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    crowd(engine, profile, TVar(0), 2)  # from then on its attempts are late
    results = [engine.submit(add, variable, profile=profile) for _ in range(6)]
    engine.turn()
    begun = sorted(engine.scripted.waiting)
    for number in begun:
        engine.scripted.begin(number)
    for number in begun:
        engine.scripted.finish(number)
    still_open = engine.dispatcher.machine.open.values()
    line = [one for one in still_open if one.state is State.LINE]
    assert line

    # WHEN
    if leave:
        for transaction in line:
            engine.dispatcher.leave(transaction.number)
    engine.dispatcher.close()

    # THEN
    assert 0 < variable.get() < len(results)
    assert not committed._snapshots


@on("scripted")
def test_others_pass_by_the_line(engine):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    crowd(engine, profile, variable, 6)

    # WHEN
    engine.submit(add, variable, profile=profile)
    engine.submit(add, variable, profile=profile)
    engine.submit(add, TVar(0))
    in_order = engine.submit(add, variable, profile=profile, ordered=True)
    engine.turn()

    # THEN
    assert 3 == len(engine.scripted.waiting)  # all but the second one
    engine.scripted.run_all()
    assert in_order.done
    assert engine.dispatcher.pending == 0


@on("scripted")
def test_without_conflicts_the_line_is_given_up(engine):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    crowd(engine, profile, variable, 6)
    assert profile.heat.lined_up

    # WHEN
    for _ in range(100):
        engine.wait(engine.submit(add, variable, profile=profile))

    # THEN
    assert not profile.heat.lined_up
    engine.submit(add, variable, profile=profile)
    engine.submit(add, variable, profile=profile)
    engine.turn()
    assert 2 == len(engine.scripted.waiting)
    engine.scripted.run_all()


@on("scripted")
def test_what_no_longer_writes_there_needs_no_line(engine):
    """As one that makes an entry at first, and later adds to what is in it."""
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    crowd(engine, profile, variable, 6)
    assert profile.heat.lined_up

    # WHEN
    for _ in range(20):
        engine.wait(engine.submit(variable.get, profile=profile))

    # THEN
    assert not profile.heat.lined_up


@on("scripted")
def test_who_leaves_the_line_lets_the_next_one_go(engine):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    crowd(engine, profile, variable, 6)
    results = [engine.submit(add, variable, profile=profile) for _ in range(3)]
    engine.turn()
    (first,) = engine.scripted.waiting

    # WHEN
    with expect_log("txloop", "was made up"):
        engine.scripted.begin(first)
        engine.scripted.refuse(first, "was made up")

    # THEN
    assert results[0].done  # on this thread
    assert not engine.scripted.waiting  # nor do the others leave it any more
    engine.wait(*results)
    assert 9 == variable.get()


def wait_and_add(variable):
    number = variable.get()
    time.sleep(0.003)
    variable.set(number + 1)


@pytest.mark.slow
@on("processes", "threads")
def test_in_workers_most_conflicts_are_avoided(engine, tmp_path):
    # GIVEN workers that are all there: one alone would conflict with nobody
    profile, variable = engine.profile(), TVar(0)
    engine.ask_all_workers(int, tmp_path)

    def submit(count):
        return [
            engine.submit(wait_and_add, variable, profile=profile) for _ in range(count)
        ]

    results: list[Result] = []
    while not profile.heat.lined_up:
        results += submit(10)
        engine.wait(*results)
    aborts = engine.aborts

    # WHEN there are too few of them for the line to be given up
    results += submit(40)
    engine.wait(*results)

    # THEN only a trial on the loop thread, each twentieth call, could be in the way
    assert len(results) == variable.get()
    assert engine.aborts - aborts <= 4


@on("scripted")
def test_statistics_and_a_warning_name_the_cell(engine):
    # GIVEN
    profile = engine.profile("pay")

    # WHEN
    with expect_log("txloop", AT_BOUND) as records:
        for _ in range(2):
            result = engine.submit(add, hot, profile=profile)
            engine.turn()
            for _ in range(3):
                (number,) = engine.scripted.waiting
                engine.scripted.begin(number)
                hot.set(-1)
                engine.scripted.finish(number)
            engine.wait(result)

    # THEN
    assert "pay conflicted 3 times on hot" in records[0].getMessage()
    (label,) = engine.dispatcher.stats().labels
    assert ("pay", "hot") == (label.label, label.contended)
    assert label.aborts == sum(isinstance(one, Conflicted) for one in engine.events)


class Thing(TObject):
    size: int


class Shelf:
    def __init__(self):
        self.things = ({"only": Thing(1)},)


shelf = Shelf()


@pytest.mark.parametrize(
    ("container", "key", "name"),
    [
        (hot, Key.VALUE, "hot"),
        (accounts, "ann", "accounts['ann']"),
        (accounts, Key.KEYS, "the keys or length of accounts"),
        (accounts["ann"], "money", "accounts['ann']['money']"),
        (shelf.things[0]["only"], "size", "shelf.things[0]['only'].size"),
    ],
)
def test_cells_are_named_as_the_program_would(container, key, name):
    assert name == cell_name((container._tx_number, key))


class Odd:
    """As the metaclasses of some extension modules: this is no name."""

    __module__ = 5  # type: ignore[assignment] # as the docstring says


odd = Odd()


def test_a_container_without_a_name_has_a_number():
    variable = TVar(0)
    number = variable._tx_number

    assert f"TVar number {number}" == cell_name((number, Key.VALUE))
    del variable
    bury_the_dead()
    assert "a container that is gone" == cell_name((number, Key.VALUE))
