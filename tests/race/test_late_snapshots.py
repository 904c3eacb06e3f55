"""Attempts elsewhere that settle late what they read, beside commits of others."""

from __future__ import annotations

import os
import signal
import sys
import time
import types

import pytest

from tests.engine import Gate, bury_the_dead, on, running
from tests.logs import expect_log
from txloop import TDict, TVar
from txloop.engine.events import Conflicted
from txloop.executors.processes import feed
from txloop.stm.store import committed

EVERYWHERE = on("processes", "threads")

STEP_SECONDS = feed.WORTH_SECONDS * 2


@pytest.fixture
def engine(request, limits, monkeypatch):
    """The engine of these tests, which name its executor.

    Workers wait longer for commits than elsewhere: a loaded machine is slow.
    """
    monkeypatch.setattr(feed, "PATIENCE_SECONDS", 2.0)
    with running(request.param, limits=limits) as engine:
        yield engine


def wait_and_add(started, gate, variable, first=False):
    """Add 1 after some time, or look before it."""
    before = variable.get() if first else None
    started.open()
    gate.wait()
    time.sleep(STEP_SECONDS)
    number = variable.get()
    variable.set(number + 1)
    return before, number


def add(variable, number):
    variable.set(variable.get() + number)


def overtake(engine, profile, tmp_path, variable, first=False):
    """Commit while a call waits that adds 1; return what it gave, and the conflicts."""
    name = f"{committed.version}"
    started, gate = Gate(tmp_path / f"s{name}"), Gate(tmp_path / f"g{name}")
    engine.events.clear()
    result = engine.submit(
        wait_and_add, started, gate, variable, first, profile=profile
    )
    engine.until(lambda: started.is_open)
    engine.wait(engine.submit(add, variable, 10, profile=engine.profile("other")))
    gate.open()
    engine.wait(result)
    return result.value, sum(isinstance(one, Conflicted) for one in engine.events)


@EVERYWHERE
def test_after_a_conflict_what_comes_before_the_first_read_counts_no_more(
    engine, tmp_path
):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)

    # WHEN
    found = [overtake(engine, profile, tmp_path, variable) for _ in range(3)]

    # THEN
    assert [((None, 10), 1), ((None, 21), 0), ((None, 32), 0)] == found
    assert 33 == variable.get()
    assert not profile.heat.matters


@EVERYWHERE
def test_what_reads_first_and_waits_then_conflicts_as_ever(engine, tmp_path):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)

    # WHEN
    found = [overtake(engine, profile, tmp_path, variable, True) for _ in range(3)]

    # THEN
    assert [((10, 10), 1), ((21, 21), 1), ((32, 32), 1)] == found
    assert profile.heat.matters  # calls stand in line if that goes on


@EVERYWHERE
def test_now_and_then_it_is_tried_whether_conflicts_come_back(engine, tmp_path):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    overtake(engine, profile, tmp_path, variable)
    profile.late_calls = 21

    # WHEN
    found = [overtake(engine, profile, tmp_path, variable)[1] for _ in range(2)]

    # THEN
    assert [1, 0] == found
    assert profile.late_calls > 300


@on("processes")
def test_a_call_that_comes_meanwhile_runs_next(engine, tmp_path, limits):
    """It lies in the socket in front of the commits that the attempt has asked for."""
    # GIVEN
    limits.read_ahead_seconds = limits.overdue_seconds = 60.0
    profile, variable = engine.profile(), TVar(0)
    overtake(engine, profile, tmp_path, variable)
    gates = [Gate(tmp_path / f"gate {n}") for n in range(2)]
    starts = [Gate(tmp_path / f"start {n}") for n in range(2)]
    busy = [
        engine.submit(wait_and_add, starts[n], gates[n], variable, profile=profile)
        for n in range(2)
    ]
    engine.until(lambda: all(start.is_open for start in starts))

    # WHEN
    behind = [engine.submit(variable.get, profile=engine.short()) for _ in range(4)]
    engine.turn()
    assert {3} == {len(one.assigned) for one in engine.processes._workers}
    variable.set(100)
    engine.turn()
    for gate in gates:
        gate.open()
    engine.wait(*busy, *behind)

    # THEN
    assert 102 == variable.get()
    assert {100, 101} == {result.value[1] for result in busy}
    assert all(100 <= result.value <= 102 for result in behind)


@on("processes")
def test_a_loop_that_is_busy_is_not_waited_for(engine, tmp_path):
    """What it sends too late does no harm."""
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    overtake(engine, profile, tmp_path, variable)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    ended = Gate(tmp_path / "ended")
    result = engine.submit(
        add_and_tell, started, gate, ended, variable, profile=profile
    )
    engine.until(lambda: started.is_open)

    # WHEN
    gate.open()
    while not ended.is_open:  # and the loop does not turn
        time.sleep(0.001)
    engine.wait(result)

    # THEN
    assert 12 == variable.get()
    assert [0, 0] == [overtake(engine, profile, tmp_path, variable)[1] for _ in "ab"]


def add_and_tell(started, gate, ended, variable):
    wait_and_add(started, gate, variable)
    ended.open()


@on("processes")
def test_a_replica_that_cannot_follow_in_the_middle_is_used_no_more(
    engine, tmp_path, monkeypatch
):
    # GIVEN
    profile, variable = engine.profile(), TVar(0)
    other = TDict[str, object]()
    overtake(engine, profile, tmp_path, variable)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(wait_and_add, started, gate, variable, profile=profile)
    engine.until(lambda: started.is_open)

    # WHEN
    module = types.ModuleType("made_late")  # which workers, forked already, lack
    monkeypatch.setitem(sys.modules, "made_late", module)
    exec("import enum\nclass Late(enum.Enum):\n    ONE = 1\n", vars(module))
    other["late"] = module.Late.ONE
    engine.turn()
    with expect_log("txloop", r"a worker cannot load shared state"):
        gate.open()
        engine.wait(result)

    # THEN
    assert (None, 11) == result.value
    assert 12 == variable.get()


@on("processes")
def test_workers_may_die_while_they_ask(engine, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(feed, "PATIENCE_SECONDS", 60.0)  # workers are forked later
    profile, variable = engine.profile(), TVar(0)
    overtake(engine, profile, tmp_path, variable)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(wait_and_add, started, gate, variable, profile=profile)
    engine.until(lambda: started.is_open)
    (run,) = engine.executor.running()
    (pid,) = [one.pid for one in engine.processes._workers if one.place == run.worker]

    # WHEN
    gate.open()
    time.sleep(STEP_SECONDS * 2)  # it has asked, and the loop has not turned
    with expect_log("txloop", "its call runs again on another worker"):
        os.kill(pid, signal.SIGKILL)
        engine.wait(result)

    # THEN
    assert ((None, 11), 12) == (result.value, variable.get())
    bury_the_dead()


@EVERYWHERE
def test_traced_ones_are_late_too(engine, tmp_path):
    # GIVEN
    engine.dispatcher.trace(list[object]().append)
    profile, variable = engine.profile(), TVar(0)

    # WHEN
    found = [overtake(engine, profile, tmp_path, variable)[1] for _ in range(2)]

    # THEN
    assert [1, 0] == found
