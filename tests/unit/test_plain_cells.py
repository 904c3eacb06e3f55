"""Reads and writes as plain data, and what has to be pickled instead."""

from __future__ import annotations

import datetime
import marshal
import types
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from tests.engine import bury_the_dead
from txloop import TCounter, TDeque, TDict, TList, TObject, TVar, on_commit, share
from txloop.executors.codec.packing import is_pickled
from txloop.executors.codec.plain_cells import (
    Known,
    outcome_of,
    pack_commits,
    plain_outcome,
    unpack_commits,
)
from txloop.executors.codec.plain_values import agree_on_kinds
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


class Post(TObject):
    title: str
    likes: int = 0


@dataclass
class Place:
    name: str


def outcome_from(function):
    found = run_attempt(Call(function), speculative=True)
    assert isinstance(found, Outcome)
    return found


def writes_of(outcome):
    writes: Any = outcome.writes
    return writes


def install(plain):
    """Install what is plain, as it comes by way of marshal."""
    writes: Any = outcome_of(marshal.loads(marshal.dumps(plain))).writes
    committed.install(writes)


def known(*containers, kinds=types.MappingProxyType({})):
    return Known(0, {container._tx_number for container in containers}, kinds)


def test_an_outcome_comes_back_as_it_was(prices, total):
    # GIVEN
    def trade():
        prices["a"] += 1
        prices["b", 2] = (1, ("two", None))
        del prices["gone"]
        total.value += 1.5

    outcome = outcome_from(trade)

    # WHEN
    plain = plain_outcome(outcome, known(prices, total))

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
    plain = plain_outcome(outcome, known(items))
    assert plain is not None
    install(plain)

    # THEN
    assert after == list(items)
    assert [*map(type, after)] == [*map(type, items)]


def test_what_is_counted_comes_back():
    hits = TCounter(1)
    plain = plain_outcome(outcome_from(lambda: hits.add(2)), known(hits))

    assert plain is not None
    install(plain)

    assert 3 == hits.value


@pytest.mark.parametrize(
    "change",
    [
        lambda prices, _: prices.update(a=frozenset({1})),
        lambda prices, _: prices.update(a=datetime.datetime.now(ZoneInfo("UTC"))),
        lambda prices, _: prices.update(a=TVar(1)),
        lambda prices, _: prices.update({"a": 1, Decimal(1): 1}),
        lambda prices, _: prices.update({Decimal(1): 1}),
        lambda prices, _: prices.clear(),
        lambda _, total: total.set(...),
        lambda prices, _: on_commit(prices.copy),
    ],
)
def test_what_marshal_does_not_know_is_no_plain_outcome(prices, total, change):
    outcome = outcome_from(lambda: change(prices, total))

    assert plain_outcome(outcome, known(prices, total)) is None


def test_a_write_to_a_container_that_is_not_known_elsewhere_is_none(prices, total):
    outcome = outcome_from(lambda: prices.update(a=2))

    assert plain_outcome(outcome, known(total)) is None


def test_a_write_to_what_has_died_is_left_out(prices):
    # GIVEN
    other = TVar(1)
    number = other._tx_number
    packed = pack_commits(
        [[(prices, "a", 2), (other, Key.VALUE, 2)]],
        Known(number + 1, (), {}),
    )
    del other
    bury_the_dead()

    # WHEN
    assert packed is not None
    (writes,) = unpack_commits(packed)

    # THEN
    assert committed.find(number) is None
    assert [(prices, "a", 2)] == writes


MOMENT = datetime.datetime(2026, 3, 1, 12, 30, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    "value",
    [
        MOMENT,
        MOMENT.replace(tzinfo=None),
        MOMENT.date(),
        MOMENT.timetz(),
        datetime.timedelta(seconds=1.5),
        Decimal("1.50"),
        UUID(int=7),
    ],
)
def test_moments_and_such_come_back(prices, value):
    plain = plain_outcome(outcome_from(lambda: prices.update(a=value)), known(prices))

    assert plain is not None
    install(plain)

    assert value == prices["a"]
    assert type(value) is type(prices["a"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: TDict(a=1, b=(1, None)),
        TDict,
        lambda: TDict({number: number for number in range(99)}),
        lambda: TList([1, 2]),
        lambda: TDeque([1, 2, 3], maxlen=2),
        lambda: TVar(Decimal(1)),
        lambda: Post("x", likes=2),
        lambda: share({"a": [1, {"b": None}]}),
    ],
)
def test_what_is_new_comes_to_be_on_the_other_side(make):
    # GIVEN
    rows: TList[Any] = TList()
    outcome = outcome_from(lambda: rows.append(make()))
    plain = plain_outcome(outcome, known(rows, kinds=agree_on_kinds()))
    (number,) = (
        new.values[0]._tx_number
        for cells, _, new in writes_of(outcome)
        if cells is rows
    )
    del outcome
    bury_the_dead()
    assert committed.find(number) is None

    # WHEN
    assert plain is not None
    install(plain)

    # THEN
    assert repr(make()) == repr(rows[0])
    assert number == rows[0]._tx_number


@pytest.mark.parametrize(
    "make",
    [
        lambda: share(defaultdict(list)),
        lambda: share(Place("x")),
        lambda: TDict(a=frozenset({1})),
        lambda: TDict({Decimal(1): 1}),
    ],
)
def test_what_else_is_new_is_pickled(make):
    rows: TList[Any] = TList()
    outcome = outcome_from(lambda: rows.append(make()))

    assert plain_outcome(outcome, known(rows, kinds=agree_on_kinds())) is None


def class_named(name):
    return types.new_class(
        "Late", (TObject,), {}, lambda n: n.update(__qualname__=name)
    )


@pytest.mark.parametrize("name", ["Late", "function.<locals>.Late"])
def test_a_class_that_is_newer_than_the_other_side_is_pickled(name):
    # GIVEN
    rows: TList[Any] = TList()
    older = class_named(name)
    there = known(rows, kinds=agree_on_kinds())
    newer = class_named(name)

    # WHEN
    outcomes = [
        outcome_from(lambda one=one: rows.append(one())) for one in (older, newer)
    ]
    found = [plain_outcome(one, there) is not None for one in outcomes]

    # THEN
    assert [name == "Late", False] == found


def test_what_the_other_side_has_dropped_is_pickled(prices):
    dropped = TVar(1)
    outcome = outcome_from(lambda: prices.update(a=dropped))
    dropped._tx_forgotten = True

    assert plain_outcome(outcome, known(prices, kinds=agree_on_kinds())) is None


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
