"""A Tornado loop, or a PeriodicCallback, that the program keeps in a variable."""

from __future__ import annotations

import functools
import socket
from typing import TYPE_CHECKING

import pytest
from tornado.ioloop import IOLoop, PeriodicCallback

from tests.flags import until
from tests.serving import THREADS
from txloop import atomically, transactional

if TYPE_CHECKING:
    import asyncio

REASON = "it uses the running event loop"

AWAY = ("processes", *(["threads"] * THREADS))

captured: list[IOLoop] = []
periodics: list[PeriodicCallback] = []
timers: list[asyncio.TimerHandle] = []
pairs: list[socket.socket] = []
seen: list[object] = []


@pytest.fixture(params=AWAY)
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def _captured(loop):
    captured.append(loop)
    yield
    for one in pairs:
        one.close()
    for each in (captured, periodics, timers, pairs, seen):
        each.clear()


def see(what):
    seen.append(what)


def has_seen(number):
    return len(seen) >= number


async def see_in_coroutine():
    see("called")


@transactional(trust=True)
def add_callback():
    captured[0].add_callback(see, "called")


@transactional(trust=True)
def call_later():
    captured[0].call_later(0, see, "called")


@transactional(trust=True)
def add_timeout():
    captured[0].add_timeout(captured[0].time(), see, "called")


@transactional(trust=True)
def spawn_callback():
    captured[0].spawn_callback(see_in_coroutine)


@transactional(trust=True)
def run_in_executor():
    captured[0].run_in_executor(None, see, "called")


USES = (add_callback, call_later, add_timeout, spawn_callback, run_in_executor)


def why(loop):
    """Return why what was marked runs on the loop thread, and what it has cost."""
    (figures,) = loop.dispatcher.stats().labels
    return figures.on_loop_because, figures.attempts - figures.commits


@pytest.mark.parametrize("use", USES)
def test_what_is_asked_of_a_captured_loop_is_done_once(loop, use):
    async def main():
        for _ in range(3):
            before = len(seen)
            await atomically(use)
            await until(functools.partial(has_seen, before + 1))

    loop.run_sync(main)

    assert ["called"] * 3 == seen
    assert (REASON, 1) == why(loop)


@transactional(trust=True)
def cancel():
    captured[0].remove_timeout(timers[0])


def test_a_timeout_is_removed(loop):
    async def main():
        timers.append(loop.asyncio_loop.call_later(60, see, "late"))
        await atomically(cancel)
        return timers[0].cancelled()

    assert loop.run_sync(main)
    assert (REASON, 1) == why(loop)


@transactional(trust=True)
def watch_pair():
    captured[0].add_handler(pairs[0].fileno(), lambda *_: see("ready"), IOLoop.READ)


def test_a_descriptor_is_watched_once(loop):
    async def main():
        await atomically(watch_pair)
        pairs[1].send(b"x")
        await until(lambda: seen)
        loop.remove_handler(pairs[0].fileno())

    pairs.extend(socket.socketpair())
    loop.run_sync(main)

    assert "ready" == seen[0]
    assert (REASON, 1) == why(loop)


@transactional(trust=True)
def toggle():
    periodic = periodics[0]
    if periodic.is_running():
        periodic.stop()
    else:
        periodic.start()


@transactional(trust=True)
def stop_periodic():
    periodics[0].stop()


@transactional(trust=True)
def ask_periodic():
    return periodics[0].is_running()


def test_a_periodic_callback_is_toggled(loop):
    async def main():
        periodics.append(PeriodicCallback(lambda: None, 60_000))
        runs = []
        for _ in range(4):
            await atomically(toggle)
            runs.append(periodics[0].is_running())
        return runs

    assert [True, False] * 2 == loop.run_sync(main)
    assert (REASON, 1) == why(loop)


def test_a_periodic_callback_is_stopped(loop):
    async def main():
        periodics.append(PeriodicCallback(lambda: None, 60_000))
        periodics[0].start()
        await atomically(stop_periodic)
        return periodics[0].is_running()

    assert not loop.run_sync(main)
    assert (REASON, 1) == why(loop)


def test_whether_a_periodic_callback_runs_is_asked_where_it_runs(loop):
    async def main():
        periodics.append(PeriodicCallback(lambda: None, 60_000))
        answers = [await atomically(ask_periodic)]
        periodics[0].start()
        answers.append(await atomically(ask_periodic))
        periodics[0].stop()
        answers.append(await atomically(ask_periodic))
        return answers

    assert [False, True, False] == loop.run_sync(main)


@transactional(trust=True)
def stop():
    captured[0].stop()


def test_a_captured_loop_is_stopped(loop):
    async def main():
        await atomically(stop)

    loop.add_callback(main)
    loop.start()  # and it returns

    assert (REASON, 1) == why(loop)
