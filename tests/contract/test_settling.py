"""What may leave the loop thread once workers have been forked anew."""

from __future__ import annotations

import os
import threading

import pytest

from tests.engine import on
from tests.logs import expect_log
from txloop.executors.processes import crew
from txloop.watch import limits
from txloop.watch.limits import CALM_RUNS, MOST_ROUNDS

HELD = "^test runs on the loop thread: "

cache: dict[str, int] = {}


@pytest.fixture(autouse=True)
def _clean():
    cache.clear()


def remember(key):
    known = key in cache
    if not known:
        cache[key] = len(key)
    return os.getpid(), known


@pytest.fixture
def soon(engine, monkeypatch):
    """Let what has settled leave at once, whatever threads libraries have."""
    monkeypatch.setattr("txloop.engine.holds.RENEW_SECONDS", 0.0)
    monkeypatch.setattr("txloop.engine.holds.RENEW_SHARE", float("inf"))
    engine.dispatcher.holds._renew_seconds = 0.0
    monkeypatch.setattr(crew, "threads_besides", list)


def settle(engine, profile):
    """Run calls until enough in a row have changed nothing."""
    return engine.run_in_turn(profile, remember, "tea", times=1 + CALM_RUNS)


@on("processes")
def test_what_fills_a_cache_leaves_again_when_it_is_filled(engine, soon):
    # GIVEN
    profile = engine.short("test")
    with expect_log("txloop", HELD):
        held = settle(engine, profile)
    spawned = engine.processes._crew.spawned

    # WHEN
    engine.until(lambda: profile.on_loop_because is None)
    ((pid, filled),) = engine.run_in_turn(profile, remember, "tea", times=1)

    # THEN
    assert [(os.getpid(), False), *[(os.getpid(), True)] * CALM_RUNS] == held
    assert pid != os.getpid()
    assert filled
    assert spawned + 2 == engine.processes._crew.spawned


@on("processes")
def test_what_is_held_again_and_again_stays(engine, soon):
    # GIVEN
    profile = engine.short("test")
    for _ in range(MOST_ROUNDS - 1):
        cache.clear()
        engine.dispatcher.holds.note()
        with expect_log("txloop", HELD):
            settle(engine, profile)
        engine.until(lambda: profile.on_loop_because is None)

    # WHEN
    cache.clear()
    engine.dispatcher.holds.note()
    with expect_log("txloop", HELD):
        settle(engine, profile)
    settle(engine, profile)

    # THEN
    assert profile.on_loop_because is not None
    assert [] == engine.dispatcher.holds._settled


@on("processes")
def test_with_another_thread_workers_are_not_forked_anew(engine, soon, monkeypatch):
    # GIVEN
    monkeypatch.undo()
    monkeypatch.setattr("txloop.engine.holds.RENEW_SHARE", float("inf"))
    profile, end = engine.short("test"), threading.Event()
    thread = threading.Thread(target=end.wait)
    with expect_log("txloop", HELD):
        settle(engine, profile)
    spawned = engine.processes._crew.spawned
    thread.start()

    # WHEN
    try:
        engine.until(lambda: not engine.dispatcher.holds._settled)
    finally:
        end.set()
        thread.join()

    # THEN
    assert profile.on_loop_because is not None
    assert spawned == engine.processes._crew.spawned


# What was not looked at when workers were forked


class Shelf:
    def __init__(self, *rows):
        self.rows = list(rows)


shelf = Shelf([Shelf(1)])


def look_deep():
    return shelf.rows[0][0].rows[0], os.getpid()


@on("processes")
def test_what_was_not_looked_at_in_time_runs_here_until_workers_are_forked_anew(
    engine, soon, monkeypatch
):
    # GIVEN a program that is too large to be looked at as a whole
    monkeypatch.setattr(limits, "MOST_PICTURED", 3)
    engine.run(int)
    profile = engine.short("test")

    # WHEN something changes before a function is first called that reads it
    shelf.rows[0][0].rows[0] += 1
    engine.dispatcher.holds.note()
    ((value, pid),) = engine.run_in_turn(profile, look_deep, times=1)

    # THEN
    assert (2, os.getpid()) == (value, pid)

    # WHEN
    engine.until(lambda: profile.on_loop_because is None)
    ((value, pid),) = engine.run_in_turn(profile, look_deep, times=1)

    # THEN
    assert value == 2
    assert pid != os.getpid()
