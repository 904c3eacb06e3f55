"""Short calls run on the loop thread, long ones go away: as measured, both ways."""

from __future__ import annotations

import threading
import time

import pytest

from tests.engine import Gate, on
from txloop import TVar, retry
from txloop.executors import pool


@pytest.fixture
def cheap(monkeypatch):
    """Let it cost little to send a call away, however slow the machine is."""
    monkeypatch.setattr(pool, "adjusted", lambda *_: 1e-4)


def whoami(gate):
    """Take next to no time while the gate is closed, and then long."""
    if gate.is_open:
        end = time.thread_time() + 0.03
        while time.thread_time() < end:
            pass
    return threading.get_native_id()


def runs(engine, profile, gate, count):
    """Run a function as often, one call after the other; tell which ran here."""
    here = []
    for _ in range(count):
        result = engine.submit(whoami, gate, profile=profile)
        engine.wait(result)
        here.append(result.value == threading.get_native_id())
    return here


@on("processes", "threads")
def test_a_short_function_comes_to_the_loop_thread(engine, tmp_path):
    # GIVEN
    profile = engine.profile()

    # WHEN
    here = runs(engine, profile, Gate(tmp_path / "gate"), 60)
    while not all(here[-10:]):  # after a stray measurement it takes some more
        here += runs(engine, profile, Gate(tmp_path / "gate"), 60)

    # THEN the first call goes away, the last ones do not
    assert not here[0]
    assert sum(here) == profile.inline


def take(box):
    if box.value is None:
        retry()
    box.value = None
    return threading.get_native_id()


@on("processes", "threads")
def test_a_short_one_comes_though_it_always_waits_first(engine):
    # GIVEN
    box: TVar[str | None] = TVar(None)
    profile, here = engine.profile(), list[bool]()

    # WHEN
    while len(here) < 60 or not any(here):
        result = engine.submit(take, box, profile=profile)
        engine.until(lambda: engine.dispatcher.busy == 0)
        box.value = "something"
        engine.wait(result)
        here.append(result.value == threading.get_native_id())

    # THEN
    assert profile.waits == len(here)


@on("processes", "threads")
def test_one_that_gets_long_goes_away_again(engine, tmp_path, cheap):
    # GIVEN one that runs here; a stray measurement may have kept it away for a while
    profile, gate = engine.profile(), Gate(tmp_path / "gate")
    while not all(runs(engine, profile, gate, 60)[-10:]):
        pass

    # WHEN
    gate.open()
    here = runs(engine, profile, gate, 30)

    # THEN
    assert here[0]
    assert sum(here) <= 10
    assert [False] * 10 == here[-10:]


@on("processes", "threads")
def test_a_long_function_never_comes(engine, tmp_path, cheap):
    # GIVEN
    gate = Gate(tmp_path / "gate")
    gate.open()

    # WHEN
    here = runs(engine, engine.profile(), gate, 30)

    # THEN
    assert not any(here)


@on("serial")
def test_where_there_is_nowhere_to_send_all_runs_here(engine, tmp_path):
    # GIVEN
    profile = engine.profile()

    # WHEN
    here = runs(engine, profile, Gate(tmp_path / "gate"), 5)

    # THEN
    assert [True] * 5 == here
    assert profile.attempts == 5


@on("scripted")
@pytest.mark.parametrize("ordered", [False, True])
def test_a_call_that_runs_here_waits_for_the_round(engine, ordered):
    # GIVEN
    profile = engine.profile()
    profile.on_loop_because = "the test says so"

    # WHEN
    result = engine.submit(int, 5, profile=profile, ordered=ordered)
    at_once = result.done
    engine.turn()

    # THEN
    assert not at_once
    assert 5 == result.value


@on("scripted")
def test_an_ordered_call_waits_even_if_it_is_short(engine):
    # GIVEN
    first, number = engine.send(int, ordered=True)
    profile = engine.profile()
    profile.on_loop_because = "the test says so"

    # WHEN
    result = engine.submit(int, 5, profile=profile, ordered=True)
    engine.turn()
    waited = result.done
    engine.scripted.begin(number)
    engine.scripted.finish(number)

    # THEN
    assert not waited
    assert (True, 5) == (first.done, result.value)
