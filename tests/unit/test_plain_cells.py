"""Reads and writes as plain data, and what has to be pickled instead."""

from __future__ import annotations

import gc
import marshal
from decimal import Decimal
from typing import Any

import pytest

from txloop import TCounter, TDict, TList, TVar, on_commit
from txloop.executors.codec.packing import is_pickled
from txloop.executors.codec.plain_cells import (
    outcome_of,
    pack_commits,
    plain_outcome,
    unpack_commits,
)
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Call, Key, Outcome


@pytest.fixture
def prices():
    return TDict({"a": 1, ("b", 2): 2, "gone": 3})


@pytest.fixture
def total():
    return TVar(0)


@pytest.fixture
def log(prices, total):
    log = DeltaLog(committed)
    yield log
    log.close()


def outcome_from(function):
    found = run_attempt(Call(function), speculative=True)
    assert isinstance(found, Outcome)
    return found


def install(plain):
    """Install what is plain, as it comes by way of marshal."""
    writes: Any = outcome_of(marshal.loads(marshal.dumps(plain))).writes
    committed.install(writes)


def numbers(*containers):
    return {container._tx_number for container in containers}


def test_an_outcome_comes_back_as_it_was(prices, total):
    # GIVEN
    def trade():
        prices["a"] += 1
        prices["b", 2] = (1, ("two", None))
        del prices["gone"]
        total.value += 1.5

    outcome = outcome_from(trade)

    # WHEN
    plain = plain_outcome(outcome, numbers(prices, total))

    # THEN it is also what marshal makes of it
    assert plain is not None
    assert outcome == outcome_of(marshal.loads(marshal.dumps(plain)))
    assert (total._tx_number, Key.VALUE) in outcome.values
    assert (prices, "gone", MISSING) in outcome.writes


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ([1, 2], lambda items: items.append(len(items)), [1, 2, 2]),
        ([1, 2, 3], lambda items: items.pop(0), [2, 3]),
        (
            [1, 2, 3],
            lambda items: items.__setitem__(1, ("x", None)),
            [1, ("x", None), 3],
        ),
        ([3, 1, 2], lambda items: items.sort(), [1, 2, 3]),
        ([1], lambda items: items.append(True), [1, True]),
    ],
)
def test_what_is_done_to_a_list_comes_back(before, change, after):
    # GIVEN
    items = TList(before)
    outcome = outcome_from(lambda: change(items) and None)

    # WHEN
    plain = plain_outcome(outcome, numbers(items))
    assert plain is not None
    install(plain)

    # THEN
    assert after == list(items)
    assert [*map(type, after)] == [*map(type, items)]


def test_what_is_counted_comes_back():
    hits = TCounter(1)
    plain = plain_outcome(outcome_from(lambda: hits.add(2)), numbers(hits))

    assert plain is not None
    install(plain)

    assert 3 == hits.value


@pytest.mark.parametrize(
    "change",
    [
        lambda prices, _: prices.update(a=Decimal(1)),
        lambda prices, _: prices.update(a=TVar(1)),
        lambda prices, _: prices.update({Decimal(1): 1}),
        lambda prices, _: prices.clear(),
        lambda _, total: total.set(...),
        lambda prices, _: on_commit(prices.copy),
    ],
)
def test_what_marshal_does_not_know_is_no_plain_outcome(prices, total, change):
    outcome = outcome_from(lambda: change(prices, total))

    assert plain_outcome(outcome, numbers(prices, total)) is None


def test_a_write_to_a_container_that_is_not_known_elsewhere_is_none(prices, total):
    outcome = outcome_from(lambda: prices.update(a=2))

    assert plain_outcome(outcome, numbers(total)) is None


def test_a_write_to_what_has_died_is_left_out(prices):
    # GIVEN
    other = TVar(1)
    number = other._tx_number
    packed = pack_commits([[(prices, "a", 2), (other, Key.VALUE, 2)]], number + 1, ())
    del other
    gc.collect()  # PyPy counts no references

    # WHEN
    assert packed is not None
    (writes,) = unpack_commits(packed)

    # THEN
    assert committed.find(number) is None
    assert [(prices, "a", 2)] == writes


def test_a_container_that_is_new_is_pickled_once(log, prices):
    # GIVEN
    made: TDict[str, int] = TDict()
    counter = TCounter()
    log.since(log.forked_at)  # of what was made

    # WHEN
    groups = []
    for write in (
        lambda: made.__setitem__("a", 1),
        lambda: made.__setitem__("a", 2),
        lambda: prices.__setitem__("a", 2),
        lambda: counter.add(1),
    ):
        version = committed.version
        write()
        groups += log.since(version)
    _, second, third, fourth = groups

    # THEN
    assert [True, False, False, False] == [is_pickled(one) for one in groups]
    assert [[(made, "a", 2)]] == unpack_commits(second)
    assert [[(prices, "a", 2)]] == unpack_commits(third)
    ((change,),) = unpack_commits(fourth)
    assert counter is change[0]


def test_one_that_has_died_is_pickled_again_if_its_number_comes_back(log):
    """Only who has seen it since knows that it lives."""
    # GIVEN
    made: TDict[str, int] = TDict()
    made["a"] = 1
    log.since(log.forked_at)

    # WHEN
    log.dropped(made._tx_number)
    log.take_dropped()
    made["a"] = 2

    # THEN
    assert is_pickled(log.since(committed.version - 1)[0])
