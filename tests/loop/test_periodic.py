"""Marked callbacks of a `PeriodicCallback`: each tick is a transaction."""

from __future__ import annotations

import asyncio
import functools
import os

import pytest
from tornado.ioloop import PeriodicCallback

from tests.flags import Flag, until
from tests.logs import expect_log
from tests.serving import loop_of
from txloop import TVar, transactional
from txloop.stm.attempt import current

started, go = Flag(), Flag()

order: TVar[tuple[object, ...]] = TVar(())
plain: list[object] = []


@pytest.fixture(autouse=True)
def _clean():
    order.set(())
    plain.clear()
    started.clear()
    go.clear()


async def ticks(count):
    """Wait until a timer of one millisecond has run so many times."""
    ran = []
    periodic = PeriodicCallback(lambda: ran.append(1), 1)
    periodic.start()
    await until(lambda: len(ran) >= count)
    periodic.stop()


def stats(loop):
    return loop.dispatcher.stats()


@transactional
def note(what):
    """Write that it ran, after those who ran before."""
    order.set((*order.get(), what))


@transactional
def note_place():
    """Write where it runs."""
    note(os.getpid())


# The flags are meant to be shared, which the scan cannot know.
@transactional(trust=True)
def hold_up():
    started.set()
    go.wait()
    note("held up")


@transactional
def fail():
    note("before the error")
    raise ValueError("a callback fails")


@transactional
async def coroutine():
    await asyncio.sleep(0)
    plain.append(current())


def test_a_periodic_callback_is_a_transaction(loop, kind):
    async def start():
        periodic = PeriodicCallback(note_place, 1)
        periodic.start()
        await until(order.get)
        periodic.stop()

    loop.run_sync(start)

    assert (order.get()[0] != os.getpid()) == (kind == "processes")


def test_a_periodic_callback_runs_until_it_is_stopped(loop):
    async def main():
        periodic = PeriodicCallback(functools.partial(note, "tick"), 1)
        periodic.start()
        await until(lambda: len(order.get()) >= 3)
        assert periodic.is_running()
        periodic.stop()
        assert not periodic.is_running()
        await until(lambda: loop.dispatcher.pending == 0)
        count = len(order.get())
        await ticks(5)
        return count

    count = loop.run_sync(main)

    assert count == len(order.get())
    assert count == stats(loop).commits


def test_a_periodic_callback_does_not_overtake_itself():
    async def main():
        periodic = PeriodicCallback(hold_up, 1)
        periodic.start()
        await until(started.is_set)
        await ticks(5)
        begun = stats(loop).attempts
        periodic.stop()
        go.set()
        await until(order.get)
        return begun

    loop = loop_of("processes")
    begun = loop.run_sync(main)
    loop.close()

    assert 1 == begun
    assert ("held up",) == order.get()


def test_a_periodic_callback_goes_on_after_an_error(loop):
    async def main():
        periodic = PeriodicCallback(fail, 1)
        periodic.start()
        await until(lambda: stats(loop).errors >= 2)
        periodic.stop()

    with expect_log(
        "tornado.application", "Exception in callback <function fail", None
    ):
        loop.run_sync(main)


def test_the_end_of_the_loop_is_no_error_of_a_periodic_callback(loop):
    async def main():
        periodic = PeriodicCallback(note_place, 1)
        periodic.start()
        loop.dispatcher.close()
        await ticks(5)
        periodic.stop()

    loop.run_sync(main)

    assert 0 == stats(loop).commits


def test_a_periodic_coroutine_function_runs_as_in_stock_tornado(loop):
    async def main():
        periodic = PeriodicCallback(coroutine, 1)
        periodic.start()
        await until(lambda: len(plain) > 1)
        periodic.stop()

    loop.run_sync(main)

    assert 0 == stats(loop).marked
