"""Memory stays bounded: no old versions, no tombstones, no containers that died."""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

import pytest

from tests.engine import Gate, bury_the_dead, on
from tests.logs import expect_log
from txloop import TDict, TVar, TxForgottenError
from txloop.executors.processes import connection, replication
from txloop.stm.store import committed
from txloop.stm.types import MISSING
from txloop.stm.versions import Entry


def churn(shared, number):
    """Change, insert and delete keys, and replace a container by another."""
    shared["count"] += 1
    shared[number] = {"made": number}
    shared.pop(number - 3, None)
    return shared.get("never")


def chains(container):
    """Return how many entries are kept that are no newest ones, and tombstones."""
    cells = list(container._tx_cells.values())
    old = sum(type(one) is Entry and one.older is not MISSING for one in cells)
    return old, len(cells) - len(container)


def test_many_commits_leave_no_old_versions_and_no_tombstones(engine):
    # GIVEN
    shared: TDict[Any, Any] = TDict(count=0)

    # WHEN
    for start in range(0, 60, 4):
        results = [engine.submit(churn, shared, start + n) for n in range(4)]
        engine.wait(*results)

    # THEN
    assert 60 == shared["count"]
    assert (0, 0) == chains(shared)
    assert not committed._superseded


@on("scripted")
def test_versions_go_when_the_slow_reader_ends(engine):
    # GIVEN
    shared: TDict[Any, Any] = TDict(count=0)
    slow, number = engine.send(churn, shared, 99)
    engine.scripted.begin(number)

    # WHEN
    for value in range(5):
        shared["count"] = value
        shared["gone"] = value
        del shared["gone"]
    during = chains(shared)
    engine.scripted.finish(number)

    # THEN
    assert during[0] > 0
    engine.wait(slow)
    assert (0, 0) == chains(shared)


def kept_numbers():
    gc.collect()
    assert committed.kept is not None
    return set(committed.kept)


def make_rubbish(number):
    return TDict(a=TVar(number))


@on("processes")
@pytest.mark.parametrize("workers_lag", [False, True])
def test_containers_that_died_vanish_everywhere(
    engine, tmp_path, monkeypatch, workers_lag
):
    # GIVEN containers from before the fork, from a worker and from the loop
    if workers_lag:
        monkeypatch.setattr(replication, "_LONGEST_LOG", 2)
    shared: TDict[str, Any] = TDict(early={"x": 1}, stays={"y": 1})
    stays = shared["stays"]
    engine.ask_all_workers(int, tmp_path)
    shared["loop"] = {"x": 1}
    engine.run(store_rubbish, shared)
    numbers = {shared[key]._tx_number for key in ("early", "loop", "worker")}
    dead = [weakref.ref(shared[key]) for key in ("early", "loop", "worker")]
    before = engine.ask_all_workers(kept_numbers, tmp_path)

    # WHEN
    for key in ("early", "loop", "worker"):
        del shared[key]
    gc.collect()
    for _ in range(3):
        bury_the_dead()
        # The last commit that a worker has not seen still refers to them.
        after = engine.ask_all_workers(kept_numbers, tmp_path)

    # THEN
    assert [None] * 3 == [one() for one in dead]
    assert numbers.isdisjoint(one._tx_number for one in committed.containers())
    for kept in before:
        assert numbers <= kept
    for kept in after:
        assert numbers.isdisjoint(kept)
        assert {shared._tx_number, stays._tx_number} <= kept


def store_rubbish(shared):
    shared["worker"] = {"x": 1}


@on("processes")
def test_results_that_nobody_keeps_vanish_everywhere(engine, tmp_path):
    # GIVEN
    engine.ask_all_workers(int, tmp_path)

    # WHEN
    numbers = {engine.run(make_rubbish, n)._tx_number for n in range(5)}
    for _ in range(3):
        bury_the_dead()
        after = engine.ask_all_workers(kept_numbers, tmp_path)

    # THEN
    assert 5 == len(numbers)
    assert [True, True] == [numbers.isdisjoint(kept) for kept in after]


HOARD: list[TDict[str, int]] = []


def hoard(shared):
    HOARD.append(shared["new"])


def use_hoard(use):
    return use(HOARD[0])


USES = {
    "get": lambda shared: shared.get("x"),
    "in": lambda shared: "x" in shared,
    "len": len,
    "iterate": list,
    "set": lambda shared: shared.update(x=5),
}


@on("processes")
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_a_worker_kept_of_the_dead_is_not_used(engine, tmp_path, use):
    """A stale replica of a container that died would be a stale read."""
    # GIVEN workers that keep a container which nothing else refers to
    hoard_in_all_workers(engine, tmp_path)

    # WHEN
    result = engine.submit(use_hoard, use)
    engine.wait(result)

    # THEN
    assert isinstance(result.error, TxForgottenError)


@on("processes")
def test_what_a_worker_kept_of_the_dead_does_not_come_back(engine, tmp_path):
    # GIVEN
    hoard_in_all_workers(engine, tmp_path)

    # WHEN
    with expect_log("txloop", "its result does not pickle .this TDict was dropped"):
        result = engine.submit(use_hoard, lambda shared: shared)
        engine.wait(result)

    # THEN the loop's process, where it ran, has none
    assert isinstance(result.error, IndexError)


def hoard_in_all_workers(engine, folder):
    shared: TDict[str, Any] = TDict()
    engine.ask_all_workers(int, folder)
    shared["new"] = {"x": 1}
    engine.ask_all_workers(functools.partial(hoard, shared), folder)
    del shared["new"]
    for _ in range(3):
        bury_the_dead()
        # The last commit that a worker has not seen still refers to it.
        engine.ask_all_workers(int, folder)


@on("processes")
def test_a_worker_that_lags_far_behind_is_told_in_between(
    engine, tmp_path, monkeypatch
):
    """An idle worker keeps neither the log long nor its replica full of the dead."""
    # GIVEN
    monkeypatch.setattr(connection, "LAG_COMMITS", 5)
    shared = TDict(n=0)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    busy = engine.submit(wait_at, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    for number in range(20):
        shared["n"] = number
        engine.run(int)

    # THEN
    versions = sorted(one.version for one in engine.processes._workers)
    assert versions[0] < versions[1] == committed.version
    gate.open()
    engine.wait(busy)
    for number in range(5):
        shared["n"] = number
    engine.run(int)
    assert all(committed.version - one.version < 5 for one in engine.processes._workers)
    log = engine.processes._log
    assert log is not None
    assert len(log._commits) < 5
    assert [4, 4] == engine.ask_all_workers(lambda: shared["n"], tmp_path)


@on("processes")
def test_idle_workers_are_told_while_nothing_is_sent_away(engine, monkeypatch):
    # GIVEN
    for module in (connection, replication):
        monkeypatch.setattr(module, "LAG_COMMITS", 5)
    shared = TDict(n=0)
    engine.run(int)

    # WHEN only unmarked code writes
    for number in range(22):
        shared["n"] = number

    # THEN
    workers = engine.processes._workers
    engine.until(lambda: all(committed.version - one.version < 5 for one in workers))


@on("processes")
def test_workers_that_nobody_needs_are_told_nothing_and_then_all(engine, tmp_path):
    # GIVEN
    shared: TDict[str, Any] = TDict(n=0)
    engine.run(int)

    # WHEN only unmarked code writes
    for number in range(replication.LAG_COMMITS):
        shared["n"] = {"is": number}
    engine.until(lambda: engine.processes._log.parked)
    shared["n"]["is"] = "last"
    sent = [one.version for one in engine.processes._workers]

    # THEN
    assert max(sent) <= committed.version - replication.LAG_COMMITS
    assert ["last"] * 2 == engine.ask_all_workers(lambda: shared["n"]["is"], tmp_path)
    shared["n"]["is"] = "new"
    assert ["new"] * 2 == engine.ask_all_workers(lambda: shared["n"]["is"], tmp_path)


def wait_at(started, gate):
    started.open()
    gate.wait()
