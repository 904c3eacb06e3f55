"""Worker threads: races, bodies that take too long, ends, and threads that are refused.

What only a race can show needs the GIL to be off, or hasty turns; see `running`.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine import Gate, Meeting, Tally, note, noted, running
from tests.logs import allow_log, expect_log
from txloop import TDict, TList, TxClosedError, TxTimeoutError, on_commit, retry
from txloop.executors import thread_worker, threads
from txloop.executors.base import gil_enabled
from txloop.store import committed

if TYPE_CHECKING:
    from tests.engine import Engine

TOO_LONG = r"^test ran for more than 0.01 s; a thread cannot be ended: it goes on"


@pytest.fixture
def engine():
    with running("threads") as engine:
        yield engine


@pytest.fixture
def late(monkeypatch):
    """Let a test say when calls are late, and wait for no clock."""
    monkeypatch.setattr(threads, "LOOK_SECONDS", 0.01)
    gate: list[bool] = []
    look = threads.ThreadsExecutor._look

    def look_if_late(self):
        if gate:
            look(self)
        else:
            self._looking = False
            self._look_later()

    monkeypatch.setattr(threads.ThreadsExecutor, "_look", look_if_late)
    return lambda: gate.append(True)


def go_on(engine: Engine, *gates: Gate) -> None:
    """Open the gates, and wait until no thread is left that was given up."""
    for gate in gates:
        gate.open()
    current = set(engine.executor._threads.values())  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if isinstance(thread, thread_worker.WorkerThread) and thread not in current:
            thread.join()


# Timeouts


def take_long(shared, started, gate, tally):
    on_commit(note, "effect")
    shared["n"] += 1
    started.open()
    gate.wait()
    tally.mark("gate")
    shared["late"] = shared.get("other")
    tally.mark("read")


def test_a_body_that_takes_too_long_is_answered_and_left_alone(engine, tmp_path, late):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(
        take_long, shared, started, gate, tally, timeout_seconds=0.01
    )
    engine.until(lambda: started.is_open)

    # WHEN
    with expect_log("txloop", TOO_LONG) as records:
        late()
        engine.wait(result)

    # THEN
    assert isinstance(result.error, TxTimeoutError)
    expected = "test ran for more than 0.01 s; its thread goes on, without effect"
    assert expected == str(result.error)
    if gil_enabled():
        assert f'File "{__file__}", line ' in records[0].getMessage()
        assert " in take_long" in records[0].getMessage()
    go_on(engine, gate)
    assert [f"{os.getpid()} gate"] == tally.lines, "it ends when it reads again"
    assert {"n": 0} == shared
    assert [] == noted


def test_another_thread_takes_the_place(engine, tmp_path, late):
    # GIVEN
    gates = [Gate(tmp_path / f"gate{number}") for number in range(2)]
    results = [engine.submit(gate.wait, timeout_seconds=0.01) for gate in gates]

    # WHEN
    with expect_log("txloop", TOO_LONG, 2):
        late()
        engine.wait(*results)

    # THEN as many calls as before run at once
    meeting = Meeting(tmp_path / "meeting", 2)
    engine.wait(*[engine.submit(meeting.attend, number) for number in range(2)])
    go_on(engine, *gates)


def test_what_was_given_up_keeps_no_old_versions(engine, tmp_path, late):
    # GIVEN
    shared, gate = TDict(n=0), Gate(tmp_path / "gate")
    result = engine.submit(gate.wait, timeout_seconds=0.01)

    # WHEN
    with expect_log("txloop", TOO_LONG):
        late()
        engine.wait(result)
    shared["n"] = 1

    # THEN
    assert ({}, 0) == (committed._snapshots, len(committed._superseded))
    go_on(engine, gate)


def read_long_after(shared, how, started, gate, seen):
    started.open()
    gate.wait()
    try:
        seen.append(how(shared))
    except Exception as error:
        seen.append(error)


READS: dict[str, tuple[Any, Any]] = {
    "get": (lambda: TDict(a=1), lambda d: d["a"]),
    "in": (lambda: TDict(a=1), lambda d: "a" in d),
    "len": (lambda: TDict(a=1), len),
    "keys": (lambda: TDict(a=1), list),
    "items": (lambda: TDict(a=1), lambda d: d.copy()),
    "item": (lambda: TList([1]), lambda x: x[0]),
    "last": (lambda: TList([1]), lambda x: x[-1]),
    "beyond": (lambda: TList([1]), lambda x: x[5]),
    "list": (lambda: TList([1]), list),
    "slice": (lambda: TList([1]), lambda x: x[:1]),
    "bool": (lambda: TList([1]), bool),
    "length": (lambda: TList([1]), len),
}
SEEN: list[object] = []


@pytest.mark.parametrize(("make", "how"), READS.values(), ids=READS)
def test_what_was_given_up_sees_no_mixture(engine, tmp_path, late, make, how):
    """Its version is gone: it must not see what is left."""
    # GIVEN
    shared = make()
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    SEEN.clear()
    result = engine.submit(
        read_long_after, shared, how, started, gate, Seen(), timeout_seconds=0.01
    )
    engine.until(lambda: started.is_open)
    with expect_log("txloop", TOO_LONG):
        late()
        engine.wait(result)

    # WHEN
    shared.clear()
    go_on(engine, gate)

    # THEN
    assert [] == SEEN


class Seen:
    """Notes things down for the test: it is its module's, wherever it is."""

    def append(self, thing):
        SEEN.append(thing)


def span_twice(shared, started, gate):
    first = shared[0:3]
    started.open()
    gate.wait()
    SEEN.append((first, shared[1:2]))


def test_nor_does_one_that_has_read_the_same_before(engine, tmp_path, late):
    # GIVEN
    shared, SEEN[:] = TList([1, 2, 3, *range(100)]), []
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(span_twice, shared, started, gate, timeout_seconds=0.01)
    engine.until(lambda: started.is_open)
    with expect_log("txloop", TOO_LONG):
        late()
        engine.wait(result)

    # WHEN
    shared.clear()
    go_on(engine, gate)

    # THEN
    assert [] == SEEN


def test_a_late_answer_is_no_answer(engine, tmp_path, late):
    # GIVEN
    gate, profile = Gate(tmp_path / "gate"), engine.profile("test")
    result = engine.submit(gate.wait, profile=profile, timeout_seconds=0.01)
    with expect_log("txloop", TOO_LONG):
        late()
        engine.wait(result)

    # WHEN
    go_on(engine, gate)
    engine.run(int)

    # THEN
    assert (1, 1, 1) == (profile.attempts, profile.commits, profile.errors)


def test_waiting_for_a_worker_does_not_count(tmp_path, monkeypatch):
    # GIVEN a call that waits behind another one
    clock = Clock()
    monkeypatch.setattr(threads, "time", clock)
    monkeypatch.setattr("txloop.executors.handover.time", clock)
    monkeypatch.setattr(threads, "LOOK_SECONDS", 0.001)
    with running("threads", 1) as engine:
        gates = [Gate(tmp_path / f"gate{number}") for number in range(2)]
        starts = [Gate(tmp_path / f"start{number}") for number in range(2)]
        first = engine.submit(wait_at, starts[0], gates[0])
        second = engine.submit(wait_at, starts[1], gates[1], timeout_seconds=5)
        engine.until(lambda: starts[0].is_open)

        # WHEN
        clock.seconds += 6
        gates[0].open()
        engine.until(lambda: starts[1].is_open)
        clock.seconds += 4
        gates[1].open()

        # THEN
        engine.wait(first, second)
        assert ["late"] * 2 == [first.value, second.value]


class Clock:
    """Stands in for the time of the executor, which passes as the test says."""

    thread_time = staticmethod(time.thread_time)

    def __init__(self):
        self.seconds = 1000.0

    def monotonic(self):
        return self.seconds


def wait_at(started, gate):
    started.open()
    gate.wait()
    return "late"


def test_a_look_is_in_time_for_the_first_one_that_is_late(tmp_path, monkeypatch):
    # GIVEN
    clock = Clock()
    monkeypatch.setattr(threads, "time", clock)
    monkeypatch.setattr("txloop.executors.handover.time", clock)
    with running("threads", 2) as engine:
        executor: Any = engine.executor
        gate, starts = Gate(tmp_path / "gate"), []
        for seconds in (None, 0.2, 0.15):
            starts.append(Gate(tmp_path / f"start{seconds}"))
            result = engine.submit(wait_at, starts[-1], gate, timeout_seconds=seconds)
        engine.until(lambda: all(start.is_open for start in starts[:2]))

        # WHEN
        with_one_waiting = executor._seconds_until_look()
        clock.seconds += 0.125
        running_on = executor._seconds_until_look()
        clock.seconds += 1
        overdue = executor._seconds_until_look()

        # THEN
        clock.seconds -= 1.125
        gate.open()
        engine.wait(result)
        expected = [0.15, 0.075, 0.001]
        assert expected == pytest.approx([with_one_waiting, running_on, overdue])


# The end


def test_the_end_does_not_wait_for_ever(engine, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(threads, "GRACE_SECONDS", 0.001)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(wait_at, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    with expect_log("txloop", "^a thread cannot be ended: .* calls went on of test;"):
        engine.dispatcher.close()

    # THEN
    assert isinstance(result.error, TxClosedError)
    assert 1 == len(committed.readers)
    go_on(engine, gate)
    assert set() == committed.readers


def test_the_end_waits_for_what_takes_a_moment(engine, tmp_path):
    # GIVEN
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
    result = engine.submit(spoil, items, shared, started, gate)
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
            )
        )
        if number % 10 == 0:
            value = accounts.pop(number % 20)
            accounts["moved"] = value
            accounts[number % 20] = accounts.pop("moved")
            engine.turn()
    with allow_log("txloop", "was in vain"):
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
