"""Bodies that take too long in threads: they go on, and nobody sees what they do."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.engine import Gate, Meeting, Tally, note, noted, running
from tests.logs import expect_log
from tests.race.lateness import Clock, go_on, wait_at
from txloop import TDict, TList, TxTimeoutError, on_commit
from txloop.executors.pool import Pool
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled

EXECUTOR = "threads"


@pytest.fixture
def late(monkeypatch, limits):
    """Let a test say when calls are late, and wait for no clock."""
    limits.look_seconds = 0.01
    gate: list[bool] = []
    stock = Pool._time_out_if_late
    monkeypatch.setattr(
        Pool, "_time_out_if_late", lambda *args: stock(*args) if gate else None
    )
    return lambda: gate.append(True)


TOO_LONG = r"^test exceeded its 0.01 s timeout; a thread cannot be ended: it goes on"


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
    expected = "test exceeded its 0.01 s timeout; its thread goes on, without effect"
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


def test_waiting_for_a_worker_does_not_count(tmp_path, limits):
    # GIVEN a call that waits behind another one
    clock, limits.look_seconds = Clock(), 0.001
    with running("threads", 1, limits=limits, clock=clock) as engine:
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


def test_a_look_is_in_time_for_the_first_one_that_is_late(tmp_path):
    # GIVEN
    clock = Clock()
    with running("threads", 2, clock=clock) as engine:
        executor: Any = engine.executor
        gate, starts = Gate(tmp_path / "gate"), []
        for seconds in (None, 0.2, 0.15):
            starts.append(Gate(tmp_path / f"start{seconds}"))
            result = engine.submit(wait_at, starts[-1], gate, timeout_seconds=seconds)
        engine.until(lambda: all(start.is_open for start in starts[:2]))

        # WHEN
        at_first = executor._look_due - clock.seconds
        clock.seconds += 0.125
        executor._look()
        running_on = executor._look_due - clock.seconds

        # THEN
        clock.seconds -= 0.125
        gate.open()
        engine.wait(result)
        assert [0.2, 0.075] == pytest.approx([at_first, running_on])
