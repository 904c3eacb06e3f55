"""Workers that die, at any moment: nothing is lost and nothing happens twice."""

from __future__ import annotations

import os
import select
import time
from typing import Any

import pytest

from tests.engine import Gate, Tally, bury_the_dead, note, noted
from tests.logs import expect_log
from tests.processes import state
from tests.race.losses import add_at_gate, kill
from txloop import TDict, TxWorkerError, on_commit, on_worker_start
from txloop.executors.processes import worker
from txloop.stm.store import committed

AGAIN = r"^worker \d+ died; its call runs again on another worker \(test\); "
REPLACED = r"^worker \d+ died; it was replaced; "


def test_a_call_whose_worker_is_killed_runs_again_on_another(engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(add_at_gate, shared, tally, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    with expect_log("txloop", AGAIN):
        kill(tally.pids[0])
        gate.open()
        engine.wait(result)

    # THEN
    assert [result.value] == tally.pids[1:]
    assert result.value != tally.pids[0]
    assert {"n": 1} == shared
    assert ["effect"] == noted


def exit_first(shared, tally):
    tally.mark()
    on_commit(note, "effect")
    shared["n"] += 1
    if tally.count == 1:
        os._exit(7)
    return shared["n"]


def test_a_call_that_ends_its_process_runs_again_on_another(engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")

    # WHEN
    with expect_log("txloop", AGAIN):
        value = engine.run(exit_first, shared, tally)

    # THEN
    assert (1, 2, 2) == (value, tally.count, len(set(tally.pids)))
    assert ["effect"] == noted


def leave_or_answer(tally, leaving):
    tally.mark()
    if leaving:
        os._exit(7)
    return "fine"


def test_a_call_that_kills_three_workers_is_given_up(engine, tmp_path, limits):
    # GIVEN
    deadly, harmless = Tally(tmp_path / "deadly"), Tally(tmp_path / "harmless")

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; ", limits.most_deaths) as records:
        result = engine.submit(leave_or_answer, deadly, True)
        others = [engine.submit(leave_or_answer, harmless, False) for _ in range(9)]
        engine.wait(result, *others)

    # THEN
    assert isinstance(result.error, TxWorkerError)
    story = "; ".join(f"worker {pid}: it exited with 7" for pid in deadly.pids)
    expected = f"3 workers died while they ran test; it is not run again: {story}"
    assert expected == str(result.error)
    assert 3 == deadly.count == len(set(deadly.pids))
    told = ["its call runs again" in record.getMessage() for record in records]
    assert [True, True, False] == told
    assert ["fine"] * 9 == [other.value for other in others]
    assert 9 == harmless.count


@pytest.mark.usefixtures("unhurried")
def test_calls_sent_ahead_to_a_worker_that_dies_run_elsewhere(engine, tmp_path):
    # GIVEN calls known to be short, all sent ahead in one round
    engine.ask_all_workers(int, tmp_path)
    deadly, harmless = Tally(tmp_path / "deadly"), Tally(tmp_path / "harmless")
    shared = TDict(n=0)
    first = engine.submit(exit_first, shared, deadly, profile=engine.short("test"))

    # WHEN
    with expect_log("txloop", AGAIN):
        others = [
            engine.submit(leave_or_answer, harmless, False, profile=engine.short())
            for _ in range(9)
        ]
        engine.wait(first, *others)

    # THEN
    assert ["fine"] * 9 == [other.value for other in others]
    assert {"n": 1} == shared
    assert 2 == deadly.count


def give_much(tally):
    tally.mark()
    return bytes(20_000_000)


def test_an_answer_that_was_cut_off_does_not_count(engine, tmp_path):
    # GIVEN a worker in the middle of sending a long answer
    tally = Tally(tmp_path / "tally")
    result = engine.submit(give_much, tally)
    engine.until(lambda: any(one.assigned for one in engine.processes._workers))
    (busy,) = [one for one in engine.processes._workers if one.assigned]
    select.select([busy._connection], [], [])

    # WHEN
    with expect_log("txloop", AGAIN):
        kill(busy.pid)
        engine.wait(result)

    # THEN
    assert 20_000_000 == len(result.value)
    assert 2 == tally.count


def test_an_answer_that_was_sent_before_the_death_counts(engine, tmp_path):
    # GIVEN a worker that has answered and died before the loop reads the answer
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
    engine.ask_all_workers(int, tmp_path)
    result = engine.submit(add_and_mark, shared, tally)
    engine.turn()
    (busy,) = [one for one in engine.processes._workers if one.assigned]
    select.select([busy._connection], [], [])

    # WHEN
    with expect_log("txloop", REPLACED):
        kill(busy.pid)
        while state(busy.pid) not in ("", "Z"):
            select.select([], [], [], 0.001)
        engine.until(lambda: busy not in engine.processes._workers)

    # THEN
    assert result.done
    assert (1, 1, ["effect"]) == (tally.count, shared["n"], noted)


def add_and_mark(shared, tally):
    tally.mark()
    on_commit(note, "effect")
    shared["n"] += 1


# Replacements


def test_an_idle_worker_that_dies_is_replaced(engine, tmp_path):
    # GIVEN
    (first, second) = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    with expect_log("txloop", REPLACED):
        kill(first)
        engine.until(
            lambda: first not in [one.pid for one in engine.processes._workers]
        )

    # THEN
    pids = engine.ask_all_workers(os.getpid, tmp_path)
    assert first not in pids
    assert second in pids


def contents(shared):
    return dict(shared.items()), list(shared)


def kept_numbers():
    assert committed.kept is not None
    return set(committed.kept)


@pytest.mark.parametrize("commits", [0, 3, 30])
def test_a_new_worker_gets_the_whole_store(engine, tmp_path, monkeypatch, commits):
    # GIVEN a store that has changed since the fork, and dead containers
    monkeypatch.setattr("txloop.executors.processes.replication._LONGEST_LOG", 10)
    shared, early = TDict[str, Any](n=0), TDict(x=1)
    number = early._tx_number
    pids = engine.ask_all_workers(os.getpid, tmp_path)
    del early
    bury_the_dead()
    for value in range(commits):
        shared["n"] = value
        shared[f"key{value}"] = {"deep": value}
        shared.pop(f"key{value - 2}", None)
    engine.ask_all_workers(int, tmp_path)
    last: Any = shared.get(f"key{commits - 1}")

    # WHEN
    with expect_log("txloop", REPLACED, 2):
        for pid in pids:
            kill(pid)
        engine.until(
            lambda: all(one.pid not in pids for one in engine.processes._workers)
        )

    # THEN
    expected = contents(shared)
    found = engine.ask_all_workers(lambda: contents(shared), tmp_path)
    assert [expected] * 2 == found
    for kept in engine.ask_all_workers(kept_numbers, tmp_path):
        assert shared._tx_number in kept
        assert number not in kept
        assert commits == 0 or last._tx_number in kept


def spawner_of(engine):
    spawner = engine.processes._crew.spawner
    assert spawner is not None
    return spawner


def test_a_spawner_that_dies_is_replaced_when_a_worker_is_needed(engine, tmp_path):
    # GIVEN
    shared = TDict(n=0)
    first, second = engine.ask_all_workers(os.getpid, tmp_path)
    spawner = spawner_of(engine).pid
    shared["n"] = 1

    # WHEN
    kill(spawner)
    while state(spawner) != "Z":
        time.sleep(0.001)
    shared["n"] = 2
    with (
        expect_log("txloop", REPLACED),
        expect_log("txloop", "^the process that forks workers has died; starting"),
    ):
        kill(first)
        engine.until(
            lambda: first not in [one.pid for one in engine.processes._workers]
        )
    shared["n"] = 3

    # THEN the worker that is left knows what was committed, and so does the new one
    assert spawner != spawner_of(engine).pid
    assert [3, 3] == engine.ask_all_workers(lambda: shared["n"], tmp_path)
    assert second in engine.ask_all_workers(os.getpid, tmp_path)


def test_without_workers_all_runs_on_the_loop_thread(engine, monkeypatch, limits):
    # GIVEN
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(lambda: os._exit(1))
    shared = TDict(n=0)

    # WHEN
    with (
        expect_log("txloop", r"^worker \d+ died; ", None) as deaths,
        expect_log(
            "txloop", "^workers keep dying at their start; all runs on the loop"
        ),
    ):
        results = [engine.submit(add, shared) for _ in range(5)]
        engine.wait(*results)
        later = engine.run(add, shared)

    # THEN
    assert [1, 2, 3, 4, 5] == sorted(result.value for result in results)
    assert limits.stillborn <= len(deaths) <= limits.stillborn + 1
    assert 6 == later
    assert 6 == engine.dispatcher.stats().inline


def add(shared):
    shared["n"] += 1
    return shared["n"]


# Storms


def add_and_tell(shared, name):
    shared["n"] += 1
    shared[name] = shared["n"]
    on_commit(note, name)
    return os.getpid()


@pytest.mark.slow
def test_in_a_storm_of_conflicts_and_deaths_everything_happens_once(
    engine, tmp_path, limits
):
    # GIVEN
    limits.most_deaths = 1000  # here no call is given up
    count, victims = 120, set[int]()
    shared: TDict[Any, int] = TDict(n=0)
    engine.ask_all_workers(int, tmp_path)

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; ", None) as records:
        results = [
            engine.submit(add_and_tell, shared, name, profile=engine.short())
            for name in range(count)
        ]
        for limit in range(10, count, 10):
            engine.until(lambda limit=limit: len(noted) >= limit)
            alive = {one.pid for one in engine.processes._workers} - victims - {0}
            if alive and len(victims) < 5:
                victims.add(max(alive))
                kill(max(alive))
        engine.wait(*results)
        engine.until(lambda: len(records) == len(victims))

    # THEN
    assert set(range(count)) == set(noted)
    assert count == len(noted)
    assert count == shared["n"]
    assert noted == sorted(range(count), key=lambda name: shared[name])
    assert engine.aborts > 0
    assert 5 == len(victims)
