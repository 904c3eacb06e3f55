"""Worker threads: races, their end, and threads that are refused.

What only a race can show needs the GIL to be off, or hasty turns; see `running`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

import pytest

from tests.engine import Gate, Tally
from tests.logs import expect_log
from tests.race.lateness import go_on, wait_at
from txloop import TDict, TList, TxClosedError, retry
from txloop.executors.protocol import NICENESS
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled

EXECUTOR = "threads"


def nice_level():
    return os.nice(0)


@pytest.mark.skipif(
    sys.platform != "linux", reason="threads have no priority of theirs"
)
def test_threads_that_compete_with_the_loop_stand_behind_it(engine, tmp_path):
    before = os.nice(0)
    expected = before if gil_enabled() else min(19, before + NICENESS)

    assert [expected] * 2 == engine.ask_all_workers(nice_level, tmp_path)
    assert before == os.nice(0)


# The end


def test_the_end_does_not_wait_for_ever(engine, tmp_path, limits):
    # GIVEN
    limits.grace_seconds = 0.001
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(wait_at, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    with expect_log("txloop", "^a thread cannot be ended: .* calls went on of test;"):
        engine.dispatcher.close()

    # THEN
    assert isinstance(result.error, TxClosedError)
    assert committed.readers
    go_on(engine, gate)
    assert set() == committed.readers


def test_the_end_waits_for_what_takes_a_moment(engine, tmp_path, limits):
    # GIVEN
    limits.grace_seconds = 15.0
    started, tally = Gate(tmp_path / "started"), Tally(tmp_path / "tally")
    engine.submit(take_a_moment, started, tally)
    engine.until(lambda: started.is_open)

    # WHEN
    engine.dispatcher.close()

    # THEN
    assert 1 == tally.count
    assert set() == committed.readers


def take_a_moment(started, tally):
    started.open()
    time.sleep(0.02)
    tally.mark()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_copy_is_closed_at_once(engine):
    # GIVEN
    engine.run(int)

    # WHEN
    pid = os.fork()
    if pid == 0:
        engine.executor.close()
        os._exit(7)

    # THEN
    assert 7 == os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert 1 == engine.run(int, "1")


# Threads that are refused


def test_without_threads_all_runs_on_the_loop_thread(engine, monkeypatch):
    # GIVEN
    def refuse(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)

        # WHEN
        pattern = r"^no worker can be started \(can't start new thread\); all runs on "
        with expect_log("txloop", pattern):
            found = [engine.run(threading.get_native_id) for _ in range(2)]

    # THEN
    assert [threading.get_native_id()] * 2 == found
    assert set() == committed.readers
    assert threading.get_native_id() != engine.run(threading.get_native_id)


# Arguments


def spoil(items, shared, started, gate):
    """Change what it was given, and wait, so that a conflict runs it again."""
    items.append(shared["n"])
    shared["n"] += 1
    started.open()
    gate.wait()
    return items


def test_each_run_has_arguments_of_its_own(engine, tmp_path):
    # GIVEN
    items: list[int] = [7]
    shared = TDict(n=0)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(spoil, items, shared, started, gate, watched=False)
    engine.until(lambda: started.is_open)

    # WHEN
    shared["n"] = 5
    gate.open()
    engine.wait(result)

    # THEN
    assert ([7, 5], 1) == (result.value, engine.aborts)
    assert [7] == items


# Races


def take_and_give(accounts, source, target, amount):
    """Move money, and look at everything twice."""
    before = sum(accounts.values())
    if accounts[source] < amount:
        source, target = target, source
    accounts[source] -= amount
    accounts[target] += amount
    accounts.pop("none", None)
    accounts[f"note{amount}"] = 0
    del accounts[f"note{amount}"]
    assert len(accounts) == len(list(accounts))
    return before, sum(accounts.values()), len(accounts)


@pytest.mark.slow
def test_threads_race_while_the_loop_thread_writes_too(engine):
    # GIVEN
    accounts: TDict[Any, int] = TDict(dict.fromkeys(range(20), 100))
    short = engine.short()

    # WHEN keys come and go in the middle of everything
    results = []
    for number in range(300):
        results.append(
            engine.submit(
                take_and_give,
                accounts,
                number % 20,
                number * 7 % 20,
                number % 9,
                profile=short,
                watched=False,  # the test itself is reached from there
            )
        )
        if number % 10 == 0:
            value = accounts.pop(number % 20)
            accounts["moved"] = value
            accounts[number % 20] = accounts.pop("moved")
            engine.turn()
    engine.wait(*results)

    # THEN
    assert {None} == {result.error for result in results}
    found: list[Any] = [result.value for result in results]
    assert [before for before, *_ in found] == [after for _, after, _ in found]
    assert {20, 21} >= {size for *_, size in found} - {19}
    assert 2000 == sum(accounts.values())
    assert set(range(20)) == set(accounts)


def wait_and_take(queue):
    if not queue:
        retry()
    return queue.pop(0)


def test_threads_wait_for_what_others_put(engine):
    # GIVEN
    queue = TList[int]()
    takers = [engine.submit(wait_and_take, queue) for _ in range(20)]
    engine.turn()

    # WHEN
    givers = [engine.submit(queue.append, number) for number in range(20)]
    engine.wait(*takers, *givers)

    # THEN
    assert list(range(20)) == sorted(taker.value for taker in takers)


def test_the_figures_tell_of_the_lock(engine):
    # WHEN
    engine.run(int)

    # THEN
    stats = engine.dispatcher.stats()
    assert ("threads", 2, gil_enabled()) == (stats.executor, stats.workers, stats.gil)
