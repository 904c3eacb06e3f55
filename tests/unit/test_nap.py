"""When a loop begins to sleep, and what may run meanwhile."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
import time
import weakref
from contextlib import contextmanager
from itertools import pairwise

import pytest

from txloop.executors.fronts.nap import Nap, is_alone


@pytest.fixture
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def never():
    """Fail if it is called."""
    raise AssertionError


def test_it_is_told_before_the_loop_sleeps_and_before_what_wakes_it(loop):
    # GIVEN
    seen: list[str] = []

    def before():
        seen.append("before")
        return 9.0

    nap = Nap.of(loop, before, never, lambda: seen.append("after"))
    assert nap is not None

    # WHEN
    async def main():
        seen.append("first")
        await asyncio.sleep(0)  # there is something to do: it does not sleep
        seen.append("second")
        await asyncio.sleep(0.01)
        seen.append("third")

    loop.run_until_complete(main())
    nap.end()
    loop.run_until_complete(asyncio.sleep(0.01))

    # THEN
    whole = ["first", "second", "before", "after", "third"]
    assert whole == [one for one, last in pairwise([*seen, ""]) if one != last]


def test_something_is_done_every_now_and_then_while_it_sleeps(loop):
    # GIVEN
    seen: list[str] = []
    pauses = [0.004, 0.003, 9.0]
    future = loop.create_future()

    def during():
        seen.append("during")
        if len(pauses) == 1:
            loop.call_soon(future.set_result, None)
        return pauses.pop(0)

    Nap.of(loop, lambda: 0.002, during, lambda: seen.append("after"))

    # WHEN
    loop.run_until_complete(future)

    # THEN
    assert ["during", "during", "during", "after"] == seen


def test_it_wakes_up_for_a_timer_of_the_loop(loop):
    Nap.of(loop, lambda: 0.002, lambda: 9.0, lambda: None)

    begin = time.monotonic()
    loop.run_until_complete(asyncio.sleep(0.01))

    assert 0.01 <= time.monotonic() - begin < 9


@pytest.mark.parametrize("gives_up", [True, False])
def test_it_wakes_up_for_what_is_done_meanwhile(loop, gives_up):
    # GIVEN
    done: list[float] = []
    future = loop.create_future()

    def during():
        if not gives_up:
            loop.call_soon(future.set_result, None)
            return 9.0
        loop.call_later(0, future.set_result, None)
        return 0.0

    Nap.of(loop, lambda: 0.002, during, lambda: done.append(time.monotonic()))
    loop.call_later(20, never)

    # WHEN
    begin = time.monotonic()
    loop.run_until_complete(future)

    # THEN
    assert done
    assert time.monotonic() - begin < 9


def test_what_does_not_want_it_is_not_told_of_the_end(loop):
    seen: list[str] = []
    Nap.of(loop, lambda: 0.0, never, lambda: seen.append("after"))

    loop.run_until_complete(asyncio.sleep(0.01))

    assert [] == seen


def test_it_is_told_of_the_end_if_the_loop_is_interrupted(loop):
    seen: list[str] = []

    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    Nap.of(loop, lambda: 9.0, never, lambda: seen.append("after"))
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(StopError):
            loop.run_until_complete(asyncio.sleep(20))
    finally:
        signal.signal(signal.SIGALRM, before)

    assert "after" in seen


def test_other_loops_are_left_as_they_are():
    assert Nap.of(object(), never, never, never) is None


@pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="PyPy counts no references"
)
def test_a_dropped_loop_is_no_cyclic_garbage():
    class Selector:
        def select(self, timeout=None):
            return []

    class Loop:
        def __init__(self):
            self._selector = Selector()

    loop = Loop()
    found = weakref.ref(loop._selector)
    nap = Nap(loop, never, never, never)
    gc.collect()
    gc.disable()
    try:
        del nap, loop
        assert found() is None
    finally:
        gc.enable()


@contextmanager
def handled(number, handler):
    """Handle a signal so."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def test_nothing_else_runs_in_a_process_with_one_thread():
    with handled(signal.SIGALRM, signal.SIG_DFL):  # which is pytest-timeout's
        assert is_alone()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT, signal.SIGRTMAX])
def test_a_handler_of_the_program_may_run_at_any_time(number):
    with (
        handled(signal.SIGALRM, signal.SIG_DFL),
        handled(number, lambda *_: None),
    ):
        assert not is_alone()


def test_handlers_of_asyncio_only_wake_the_loop():
    async def main():
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, print)
        return is_alone()

    with handled(signal.SIGALRM, signal.SIG_DFL):
        assert asyncio.run(main())


def test_another_thread_may_run_at_any_time():
    going = threading.Event()
    thread = threading.Thread(target=going.wait)
    thread.start()
    try:
        with handled(signal.SIGALRM, signal.SIG_DFL):
            assert not is_alone()
    finally:
        going.set()
        thread.join()
