"""What replicas are told: commits, each pickled once, or the whole of what changed."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.deltas import delta_log
from tests.engine import bury_the_dead
from tests.homebound import Homebound
from txloop import TCounter, TDict, TVar
from txloop.executors.codec import frames
from txloop.executors.codec.frames import loads
from txloop.executors.codec.packing import is_pickled
from txloop.executors.codec.plain_cells import unpack_commits
from txloop.executors.processes import replication
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.container import Update
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key, Unsendable


@pytest.fixture
def shared():
    return TDict(a=1)


@pytest.fixture
def log(shared):
    with delta_log() as log:
        yield log


def told(log, version):
    """Return what a replica at `version` is told."""
    found = log.since(version)
    if found is None:
        return None
    return [list(one) for delta in found for one in unpack_commits(delta)]


def test_a_replica_is_told_of_the_commits_since_its_version(log, shared):
    # GIVEN
    forked_at = committed.version

    # WHEN
    shared["b"] = 2
    del shared["a"]

    # THEN
    both = [[(shared, "b", 2)], [(shared, "a", MISSING)]]
    assert both[1:] == told(log, forked_at + 1)
    assert both == told(log, forked_at)
    assert [] == told(log, committed.version)


def test_what_nobody_has_asked_for_yet_is_one_group(log, shared):
    # GIVEN
    shared["b"] = 2
    shared["c"] = 3
    told(log, log.forked_at)
    asked_at = committed.version
    shared["d"] = 4
    shared["e"] = 5

    # WHEN
    groups = log.since(log.forked_at)

    # THEN no replica has but a part of one
    assert 2 == len(groups)
    assert groups[1:] == log.since(asked_at)
    assert log.since(asked_at + 1) is None


def test_a_replica_amid_a_group_is_not_told_of_it_whatever_was_trimmed(log, shared):
    # GIVEN a group of commits, amid which a replica has been forked
    forked_at = committed.version
    for number in range(3):
        shared["b"] = number
    log.dump()

    # WHEN
    log.trim(forked_at + 1)

    # THEN it would repeat the first commit, which it has
    assert log.since(forked_at + 1) is None
    log.trim(forked_at + 3)
    shared["b"] = 4
    assert [[(shared, "b", 4)]] == told(log, forked_at + 3)


def test_of_a_variable_only_the_last_value_of_a_group_is_told(log, shared):
    # GIVEN
    hits, total = TVar(0), TCounter()
    start = committed.version

    # WHEN
    for number in range(3):
        hits.value = number
        shared["b"] = number
        total.add(1)

    # THEN the order of keys, and what is added, depends on all of them
    known = [one for one in told(log, start) if one]
    written = [(container, new) for one in known for container, _, new in one]
    assert [(hits, 2)] == [one for one in written if one[0] is hits]
    assert [(shared, 0), (shared, 1), (shared, 2)] == [
        one for one in written if one[0] is shared
    ]
    assert 3 == len([one for one in written if one[0] is total])


def test_a_replica_that_gets_a_dump_begins_a_group(log, shared):
    shared["b"] = 2
    log.dump()
    dumped_at = committed.version
    shared["c"] = 3

    assert 2 == len(log.since(log.forked_at))
    assert [[(shared, "c", 3)]] == told(log, dumped_at)


def test_a_copy_of_what_there_is_begins_a_group(log, shared):
    shared["b"] = 2
    copied_at = log.mark()
    shared["c"] = 3

    assert committed.version - 1 == copied_at
    assert 2 == len(log.since(log.forked_at))
    assert [[(shared, "c", 3)]] == told(log, copied_at)


def test_what_a_replica_does_not_know_is_pickled_though_others_ask_first(log):
    # GIVEN two commits about a container that no replica knows
    forked_at = committed.version
    new: TDict[str, int] = TDict()
    new["a"] = 1
    dumped_at = committed.version
    new["b"] = 2

    # WHEN a replica asks that has got a dump in between
    log.since(dumped_at)

    # THEN
    first, second = log.since(forked_at)
    assert is_pickled(first)
    assert not is_pickled(second)
    assert [((new, "a", 1),)] == loads(first)


def test_commits_that_are_trimmed_are_not_told(log, shared):
    forked_at = committed.version
    for number in range(5):
        shared["b"] = number
        told(log, forked_at)
        if number == 2:
            log.trim(forked_at + 2)

    assert log.since(forked_at) is None
    assert [[(shared, "b", n)] for n in (2, 3, 4)] == told(log, forked_at + 2)


def test_a_commit_is_pickled_once(log, shared):
    # GIVEN
    shared["b"] = 2

    # WHEN
    first = log.since(log.forked_at)

    # THEN
    second = log.since(log.forked_at)
    assert 1 == len(first)
    assert first[0] is second[0]


def test_what_all_replicas_know_goes(log, shared):
    # GIVEN
    for number in range(3):
        shared["b"] = number
    start = log.forked_at

    # WHEN
    log.trim(start + 2)
    log.trim(start + 1)

    # THEN
    assert told(log, start + 1) is None
    assert [[(shared, "b", 2)]] == told(log, start + 2)
    log.trim(start + 99)
    assert [] == told(log, committed.version)


def test_the_log_stays_short_whoever_lags(log, shared, monkeypatch):
    # GIVEN
    monkeypatch.setattr(replication, "_LONGEST_LOG", 3)

    # WHEN
    for number in range(5):
        shared["b"] = number

    # THEN
    assert told(log, log.forked_at + 1) is None
    assert [[[(shared, "b", number)] for number in (2, 3, 4)]] == [
        told(log, log.forked_at + 2)
    ]


def test_a_dump_holds_what_has_changed_and_names_what_lives(log, shared):
    # GIVEN
    untouched = TDict[str, int]()
    committed.replay([(untouched, "x", 1)], log.forked_at)
    empty = TDict[str, int]()

    # WHEN
    shared["b"] = 2
    variable = TVar("v")
    dead = TDict()._tx_number
    bury_the_dead()
    contents, living = loads(log.dump())

    # THEN
    found = [(shared, {"a": 1, "b": 2}), (variable, {Key.VALUE: "v"})]
    assert found == contents
    assert {shared._tx_number, variable._tx_number, empty._tx_number} <= set(living)
    assert dead not in living


def test_a_value_that_does_not_pickle_is_replaced_by_the_reason(log, shared):
    # WHEN
    shared.update(b=2, bad=Homebound(), a=1)
    del shared["b"]

    # THEN
    reason = Unsendable("cannot pickle '_thread.lock' object")
    assert [
        [(shared, "b", 2), (shared, "bad", reason), (shared, "a", 1)],
        [(shared, "b", MISSING)],
    ] == told(log, log.forked_at)
    contents, _ = loads(log.dump())
    assert [(shared, {"a": 1, "bad": reason})] == contents


def test_what_a_container_holds_is_replaced_before_all_is_pickled(
    log, shared, monkeypatch
):
    # GIVEN
    pickled = []

    def dumps(thing):
        pickled.append(thing)
        return frames.dumps(thing)

    monkeypatch.setattr(replication, "dumps", dumps)
    version, held = committed.version, threading.Lock()

    # WHEN
    shared["a"] = held
    shared.update(b=held, c=[1])
    shared[held] = 2

    # THEN
    writes = [write for commit in told(log, version) for write in commit]
    values = [
        each
        for _, _, value in writes
        for each in (value.items.values() if isinstance(value, Update) else [value])
    ]
    assert 2 == sum(isinstance(one, Unsendable) for one in values)
    assert 1 == sum(isinstance(key, Unsendable) for _, key, _ in writes)
    assert 1 == len(pickled)


def test_what_goes_by_value_asks_nothing_of_what_goes_by_name(log, shared, monkeypatch):
    """By value, a class of the main module would take along what it has."""
    keeper = type("Keeper", (), {"lock": Homebound(), "__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Keeper", keeper, raising=False)
    start = committed.version
    shared["keeper"] = keeper
    shared.update({"both": keeper, "double": lambda x: 2 * x})

    _, key, named = told(log, start)[0][0]
    ((_, changed),) = loads(log.dump())[0]

    assert ("keeper", keeper) == (key, named)
    assert keeper is changed["both"]
    assert 6 == changed["double"](3)


def test_a_key_that_does_not_pickle_is_replaced_wherever_it_is_set(log, shared):
    # GIVEN
    homebound = Homebound()

    # WHEN
    committed.install([(shared, Key.ALL, Update({homebound: 1}))])
    committed.install([(shared, homebound, MISSING)])

    # THEN
    (((_, key, one),), ((_, gone, missing),)) = told(log, log.forked_at)
    assert isinstance(key, Unsendable)
    assert (key, 1, MISSING) == (gone, one, missing)


def test_a_deletion_beside_a_value_that_does_not_pickle_stays_one(log, shared):
    # WHEN
    committed.install([(shared, "bad", Homebound()), (shared, "a", MISSING)])

    # THEN
    ((_, deleted),) = told(log, log.forked_at)
    assert (shared, "a", MISSING) == deleted


def test_dead_containers_are_told_once(log):
    # GIVEN
    first, second = TDict[str, int](), TVar(0)
    numbers = [first._tx_number, second._tx_number]

    # WHEN
    del first
    del second
    bury_the_dead()
    # The log itself refers to what it has not pickled yet.
    early = log.take_dropped()
    log.since(log.forked_at)
    bury_the_dead()

    # THEN
    assert [numbers[0]] == early
    assert [numbers[1]] == log.take_dropped()
    assert [] == log.take_dropped()


def test_a_closed_log_hears_nothing(shared):
    # GIVEN
    log = DeltaLog(committed)
    log.close()

    # WHEN
    shared["b"] = 2

    # THEN
    assert [] == log.since(log.forked_at)
