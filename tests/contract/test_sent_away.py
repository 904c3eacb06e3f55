"""``TXLOOP_FAULTS="away=1"``: every call goes away, and finds what no call has left."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.engine import running
from tests.logs import expect_log
from txloop import TVar, inevitable
from txloop.executors.faults import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engine import Engine

CALLS = 60  # more than a short function needs to come to the loop thread

left_behind: list[int] = []
shared = TVar(0)


@pytest.fixture(autouse=True)
def _clean() -> None:
    left_behind.clear()
    shared.set(0)


@contextmanager
def faulty(
    monkeypatch: pytest.MonkeyPatch, name: str, away: float = 1
) -> Iterator[Engine]:
    """Run an engine whose calls are sent away."""
    monkeypatch.setenv(VARIABLE, f"away={away},seed=5")
    with expect_log("txloop", "^faults happen on purpose"), running(name) as engine:
        yield engine


def leave_something(number: int) -> tuple[int, int, int]:
    """Write to shared state, and to a plain list; tell where, and how long that is."""
    left_behind.append(number)
    shared.value += 1
    return os.getpid(), threading.get_ident(), len(left_behind)


def submit(engine, number, profile):
    """Submit a call that is trusted with what it leaves behind."""
    return engine.submit(leave_something, number, profile=profile, watched=False)


def run_in_turn(engine):
    """Run one call after another; return where each was, and what it found."""
    profile, results = engine.profile(), []
    for number in range(CALLS):
        results.append(submit(engine, number, profile))
        engine.wait(results[-1])
    return told(results)


def told(results):
    return [result.value for result in results]


@pytest.mark.parametrize("name", ["processes", "threads"])
def test_short_calls_leave_the_loop_thread(monkeypatch, name):
    # GIVEN
    here = os.getpid(), threading.get_ident()

    # WHEN
    with faulty(monkeypatch, name) as engine:
        values = run_in_turn(engine)

    # THEN
    assert all(here != (pid, thread) for pid, thread, _ in values)
    assert shared.value == CALLS


def test_what_a_call_leaves_in_its_worker_no_other_one_finds(monkeypatch):
    # WHEN
    with faulty(monkeypatch, "processes") as engine:
        values = run_in_turn(engine)

        # THEN
        assert {1} == {length for _, _, length in values}
        assert engine.crew.spawned >= CALLS
        assert len(engine.processes._workers) == 2


def test_many_calls_at_once_wait_for_workers_of_their_own(monkeypatch):
    with faulty(monkeypatch, "processes") as engine:
        profile = engine.short()  # known to be short, so that it could be sent ahead

        # WHEN
        results = [submit(engine, number, profile) for number in range(CALLS)]
        engine.wait(*results)
        values = told(results)

    # THEN
    assert {1} == {length for _, _, length in values}
    assert shared.value == CALLS


@pytest.mark.parametrize("name", ["serial", "processes", "threads"])
def test_what_must_run_on_the_loop_thread_does(monkeypatch, name):
    # GIVEN
    here = os.getpid(), threading.get_ident()

    def ask() -> tuple[int, int]:
        inevitable()
        return os.getpid(), threading.get_ident()

    with faulty(monkeypatch, name) as engine:
        at_home = engine.profile()
        at_home.on_loop_because = "the test says so"

        # WHEN
        held = submit(engine, 1, at_home)
        asked = engine.submit(ask)
        engine.wait(held, asked)

    # THEN
    assert (*here, 1) == held.value
    assert here == asked.value


def test_on_the_serial_executor_nothing_changes(monkeypatch):
    with faulty(monkeypatch, "serial") as engine:
        values = run_in_turn(engine)

    assert list(range(1, CALLS + 1)) == [length for _, _, length in values]


def test_a_probability_sends_some_away(monkeypatch):
    with faulty(monkeypatch, "processes", away=0.5) as engine:
        # GIVEN a function that is known to be short
        profile = engine.profile()
        while not profile.short(engine.executor.transport_seconds):
            engine.wait(engine.submit(int, profile=profile))
        before = profile.attempts, profile.inline

        # WHEN
        for _ in range(CALLS):
            engine.wait(engine.submit(int, profile=profile))

        # THEN
        ran, here = profile.attempts - before[0], profile.inline - before[1]
        assert 0 < here < ran
        assert 2 < engine.crew.spawned < profile.attempts
