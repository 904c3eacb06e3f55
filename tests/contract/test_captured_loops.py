"""A loop that the program keeps in a variable: attempts must not use it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.engine import noted, on, running
from txloop import on_worker_start
from txloop.engine.events import Aborted
from txloop.executors.processes import worker

REASON = "it uses the running event loop"

captured: list[asyncio.AbstractEventLoop] = []
"""The engine's loop, as a program keeps its own."""


@pytest.fixture
def engine(request):
    with running(request.param) as engine:
        captured.append(engine.loop)
        yield engine
        captured.clear()


def note(what):
    noted.append(what)


def call_soon():
    captured[0].call_soon(note, "called")


def call_soon_threadsafe():
    captured[0].call_soon_threadsafe(note, "called")


def call_later():
    captured[0].call_later(0, note, "called")


def call_at():
    captured[0].call_at(0, note, "called")


async def note_in_task():
    note("called")


def create_task():
    coroutine = note_in_task()
    try:
        captured[0].create_task(coroutine)
    except BaseException:
        coroutine.close()  # or it is told that nothing has awaited it
        raise


def run_in_executor():
    captured[0].run_in_executor(None, note, "called")


USES = (call_soon_threadsafe, call_later, call_at, create_task, run_in_executor)


def run_twice(engine, use):
    """Run it twice, and the loop until what it has asked for is done; tell why."""
    profile = engine.profile("uses the loop")
    engine.run_in_turn(profile, use)
    engine.until(lambda: len(noted) >= 2)
    return profile.on_loop_because, [
        one.reason for one in engine.events if type(one) is Aborted
    ]


@on("processes", "threads")
@pytest.mark.parametrize("use", USES)
def test_what_is_asked_of_a_captured_loop_is_done_once(engine, use):
    why = run_twice(engine, use)

    assert ["called"] * 2 == noted
    assert (REASON, [REASON]) == why


@on("processes")
def test_a_plain_call_soon_is_not_lost_in_a_copy(engine):
    why = run_twice(engine, call_soon)

    assert ["called"] * 2 == noted
    assert (REASON, [REASON]) == why


@on("processes", "threads")
def test_a_timer_is_cancelled_once(engine):
    # GIVEN
    timers = [engine.loop.call_later(60, note, "late") for _ in range(2)]
    captured_timers.extend(timers)

    # WHEN
    try:
        for timer in timers:
            engine.run(cancel_timer)
            assert timer.cancelled()
    finally:
        captured_timers.clear()


captured_timers: list[asyncio.TimerHandle] = []


def cancel_timer():
    next(one for one in captured_timers if not one.cancelled()).cancel()


def stop():
    captured[0].stop()


@on("processes", "threads")
def test_a_captured_loop_is_stopped(engine):
    engine.run(stop)

    assert [REASON] == [one.reason for one in engine.events if type(one) is Aborted]


# Loops of the worker's own


own: list[asyncio.AbstractEventLoop] = []


def start_own_loop():
    own.append(asyncio.new_event_loop())
    threading.Thread(target=own[0].run_forever, daemon=True).start()


async def answer():
    return 42


def ask_own_loop():
    return asyncio.run_coroutine_threadsafe(answer(), own[0]).result(timeout=40)


def test_a_worker_uses_a_loop_that_its_hook_has_made(monkeypatch):
    # GIVEN
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(start_own_loop)

    # WHEN
    with running("processes") as engine:
        answers = [engine.run(ask_own_loop) for _ in range(3)]

        # THEN
        assert [42] * 3 == answers
        assert [] == [one for one in engine.events if type(one) is Aborted]
    assert [] == own
