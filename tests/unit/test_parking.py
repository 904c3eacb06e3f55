"""A log is parked while nobody asks for what is in it, and loading afresh is quick."""

from __future__ import annotations

import threading

import pytest

from tests.deltas import delta_log
from tests.engine import bury_the_dead
from txloop import TDict, TList, TVar
from txloop.executors.codec.frames import dumped_within, loads
from txloop.executors.codec.plain_cells import unpack_commits
from txloop.executors.processes import parking
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.store import committed
from txloop.stm.types import Unsendable

UNASKED = 100


@pytest.fixture
def shared():
    return TDict(a=1)


@pytest.fixture
def log(shared):
    with delta_log() as log:
        yield log


def write(shared, times=UNASKED):
    for number in range(times):
        shared["b"] = number


def test_a_log_is_parked_when_no_replica_has_asked_for_a_number_of_commits(log, shared):
    # GIVEN
    write(shared, UNASKED - 1)
    assert not log.lags(log.forked_at, UNASKED)
    assert log.lags(log.forked_at, UNASKED - 1)

    # WHEN
    write(shared, 1)

    # THEN
    assert not log.lags(log.forked_at, UNASKED)
    assert log.parked
    write(shared)
    assert not log.lags(log.forked_at, UNASKED)


def test_what_a_replica_has_asked_for_is_not_unasked(log, shared):
    # GIVEN
    write(shared)
    log.since(log.forked_at)

    # WHEN
    write(shared, UNASKED - 1)

    # THEN
    assert log.lags(log.forked_at, UNASKED)
    assert not log.parked


def test_what_is_held_does_not_keep_a_log_from_that(log, shared):
    """It does not travel, so pickle refuses it: something else is told instead."""
    # GIVEN
    shared["lock"] = lock = threading.Lock()
    shared[lock] = "a key"
    shared["several"] = TList([lock, 1])

    # WHEN
    write(shared)
    is_told = log.lags(log.forked_at, UNASKED)
    contents, _ = loads(log.dump())

    # THEN
    assert not is_told
    [told] = [items for one, items in contents if one is shared]
    assert isinstance(told["lock"], Unsendable)
    assert "a key" in told.values()
    assert UNASKED - 1 == told["b"]


def test_a_replica_of_a_parked_log_is_loaded_and_told_from_then_on(log, shared):
    # GIVEN
    write(shared)
    assert not log.lags(log.forked_at, UNASKED)
    write(shared, 7)
    made = TDict(x=1)
    shared["made"] = made

    # WHEN
    missed = log.since(log.forked_at)
    contents, living = loads(log.dump())
    loaded_at = committed.version
    made["x"] = 2
    shared["b"] = "new"

    # THEN
    assert missed is None
    assert (shared, {"a": 1, "b": 6, "made": made}) in contents
    assert made._tx_number in living
    assert not log.parked
    told = [
        list(one) for delta in log.since(loaded_at) for one in unpack_commits(delta)
    ]
    assert [[(made, "x", 2)], [(shared, "b", "new")]] == told


def test_what_is_made_meanwhile_is_loaded_whatever_refers_to_it_then(log, shared):
    """Nothing is told of it when it is made, if all are loaded afresh."""
    # GIVEN
    write(shared)
    assert not log.lags(log.forked_at, UNASKED)
    before = committed.version

    # WHEN
    made = TDict(x=1)
    told = committed.version
    contents, living = loads(log.dump())
    loaded_at = committed.version
    shared["made"] = made
    later = TDict(y=1)

    # THEN what is made afterwards is told again
    assert before == told == loaded_at
    assert (made, {"x": 1}) in contents
    assert made._tx_number in living
    deltas = [
        list(one) for delta in log.since(loaded_at) for one in unpack_commits(delta)
    ]
    assert [(shared, "made", made)] == deltas[0]
    assert [later] == [container for container, _, _ in deltas[1]]


def test_a_copy_of_what_there_is_ends_it(log, shared):
    write(shared)
    log.lags(log.forked_at, UNASKED)

    version = log.mark()
    shared["b"] = "new"

    assert not log.parked
    assert 1 == len(log.since(version))


def test_deaths_are_not_told_meanwhile(log, shared):
    # GIVEN
    shared["dies"] = TDict()
    write(shared)
    assert not log.lags(log.forked_at, UNASKED)

    # WHEN
    del shared["dies"]
    bury_the_dead()

    # THEN
    assert [] == log.take_dropped()


@pytest.mark.parametrize("kind", ["long", "of many", "not to be pickled"])
def test_what_would_take_long_to_load_is_told_as_ever(kind, log, shared, monkeypatch):
    # GIVEN
    match kind:
        case "long":
            shared["long"] = "x" * (1 << 18)
        case "of many":
            monkeypatch.setattr(parking, "_MOST_CONTAINERS", 0)
        case _:
            shared["lambda"] = lambda: 1

    # WHEN
    write(shared)

    # THEN
    assert log.lags(log.forked_at, UNASKED)
    assert not log.parked


def test_where_more_is_kept_than_a_replica_is_loaded_with_it_is_not_told(
    log, shared, monkeypatch
):
    # GIVEN
    monkeypatch.setattr(parking, "_MOST_CONTAINERS", 0)
    rows = shared["rows"] = TList[int]()

    # WHEN
    for number in range(UNASKED):
        rows[:] = range(number, number + 500)

    # THEN
    assert not log.lags(log.forked_at, UNASKED)
    assert log.parked
    contents, _ = loads(log.dump())
    assert rows in [container for container, _ in contents]


@pytest.mark.parametrize(
    ("idle", "size", "parked"),
    [(True, 1 << 19, True), (False, 1 << 19, False), (True, 1 << 22, False)],
    ids=["idle", "asked", "too long"],
)
def test_where_much_that_was_told_was_of_no_use_nothing_is(
    log, shared, idle, size, parked
):
    """What replicas were told since one was last asked counts for what is to come."""
    # GIVEN what takes long to load
    shared["long"] = "x" * size
    rows = shared["rows"] = TList[int]()

    # WHEN
    for number in range(10):
        write(shared)
        rows[:] = range(number, number + 4_000)
        if log.lags(log.forked_at, UNASKED):
            log.since(log.forked_at, idle)

    # THEN
    assert parked == log.parked


def test_a_log_that_was_parked_so_goes_on_only_when_there_is_much_more(
    log, shared, monkeypatch
):
    # GIVEN
    monkeypatch.setattr(parking, "_LOOK_AGAIN_COMMITS", 10)
    monkeypatch.setattr(parking, "_MOST_CONTAINERS", 0)
    rows = shared["rows"] = TList[int]()
    for number in range(UNASKED):
        rows[:] = range(number, number + 400)
    assert not log.lags(log.forked_at, UNASKED)

    # WHEN
    write(shared)
    before = log.parked
    kept = [TDict[str, int]() for _ in range(4 * committed.container_count)]
    write(shared)

    # THEN
    assert kept
    assert (True, False) == (before, log.parked)


def test_containers_that_live_only_in_the_log_do_not_count(log, shared, monkeypatch):
    # GIVEN
    monkeypatch.setattr(parking, "_MOST_CONTAINERS", committed.container_count + 10)

    # WHEN
    for number in range(UNASKED):
        shared["board"] = [[number]]

    # THEN
    assert not log.lags(log.forked_at, UNASKED)
    assert log.parked


def test_it_is_looked_at_again_after_a_while(log, shared, monkeypatch):
    # GIVEN
    monkeypatch.setattr(parking, "_LOOK_AGAIN_COMMITS", 200)
    shared["long"] = "x" * (1 << 18)
    write(shared)
    assert log.lags(log.forked_at, UNASKED)

    # WHEN it is no longer, but that is not known yet
    shared["long"] = "x"
    log.since(log.forked_at)
    write(shared)

    # THEN
    assert log.lags(log.forked_at, UNASKED)
    write(shared)
    assert not log.lags(log.forked_at, UNASKED)


def test_a_parked_log_goes_on_when_loading_would_take_long(shared, monkeypatch):
    # GIVEN
    monkeypatch.setattr(parking, "_LOOK_AGAIN_COMMITS", 10)
    lags = []
    log = DeltaLog(committed, on_lag=lambda: lags.append(committed.version))
    write(shared)
    assert not log.lags(log.forked_at, UNASKED)

    # WHEN
    shared["long"] = "x" * (1 << 18)
    write(shared, 8)
    before = log.parked
    write(shared, 1)

    # THEN it is sent to all, and what comes after that
    assert (True, False) == (before, log.parked)
    assert [committed.version] == lags
    assert log.lags(log.forked_at, UNASKED)
    assert log.since(log.forked_at) is None
    assert [] == log.since(committed.version)
    log.close()


def test_a_replica_that_misses_only_what_a_parked_log_has_kept_needs_nothing(log):
    value = TVar(0)
    for number in range(UNASKED):
        value.set(number)
    log.lags(log.forked_at, UNASKED)

    assert [] == log.since(committed.version)


def test_a_pickle_is_measured_without_being_kept():
    assert dumped_within("x" * 1000, 1100)
    assert not dumped_within("x" * 1000, 900)
    assert not dumped_within([lambda: 1], 10_000)
