"""The process that forks workers dies or is stopped: another one takes its place."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import warnings

import pytest

from tests.engine import Tally, running
from tests.logs import expect_log
from tests.processes import state
from tests.race.losses import (
    AGAIN,
    add,
    is_full,
    kill,
    kill_all,
    kill_spawner,
    pids_of,
    stop,
)
from txloop import TDict
from txloop.executors.processes import crew, spawner
from txloop.executors.processes.spawner import Spawner

pytestmark = pytest.mark.usefixtures("impatient")
NOT_REPLACED = r"^worker \d+ died; it was not replaced; "


def test_workers_go_on_without_a_spawner(engine, tmp_path, monkeypatch):
    # GIVEN a program that has threads
    monkeypatch.setattr(crew, "threads_besides", lambda: ["pool-1", "pool-2"])
    shared = TDict(n=0)
    pids = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    kill_spawner(engine)

    # THEN
    assert sorted(pids) == sorted(engine.ask_all_workers(os.getpid, tmp_path))
    assert engine.run(add, shared) in pids
    assert 1 == shared["n"]


@pytest.mark.parametrize(("name", "warned"), [("asyncio_0", 0), ("mine", 1)])
def test_python_warns_of_threads_that_are_not_only_resolvers(monkeypatch, name, warned):
    # GIVEN a fork that warns, as that of Python 3.12 and later
    monkeypatch.setattr(
        os, "fork", lambda: warnings.warn("fork", DeprecationWarning, 2) or 7
    )
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name=name)
    thread.start()

    # WHEN
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spawner._fork()
    end.set()
    thread.join()

    # THEN
    assert warned == len(caught)


@pytest.fixture
def _timeout():
    before = socket.getdefaulttimeout()
    yield
    socket.setdefaulttimeout(before)


@pytest.mark.usefixtures("_timeout")
def test_workers_wait_whatever_the_timeout_of_new_sockets_is(engine, tmp_path):
    # GIVEN a spawner that was there before
    engine.ask_all_workers(int, tmp_path)
    socket.setdefaulttimeout(60)

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; it was replaced", 2):
        kill_all(engine)
        engine.until(lambda: is_full(engine))
        first = engine.ask_all_workers(os.getpid, tmp_path)
        again = engine.ask_all_workers(os.getpid, tmp_path)

    # THEN
    assert sorted(first) == sorted(again)


def test_where_forking_is_not_safe_the_last_worker_is_followed_by_the_loop_thread(
    engine, tmp_path, monkeypatch
):
    # GIVEN a program that has threads
    threads = ["pool-1", "pool-2"]
    monkeypatch.setattr(crew, "threads_besides", lambda: threads)
    shared = TDict(n=0)
    first, second = engine.ask_all_workers(os.getpid, tmp_path)
    kill_spawner(engine)

    # WHEN
    with (
        expect_log(
            "txloop",
            r"^no worker can be started \(the process that forks workers has died, and "
            r"this one cannot be forked safely while it has other threads: pool-1, "
            r"pool-2\); 1 are left$",
        ),
        expect_log("txloop", NOT_REPLACED, None) as deaths,
    ):
        kill(first)
        engine.until(lambda: first not in pids_of(engine))
        with_one = engine.run(add, shared)
        kill(second)
        engine.until(lambda: not pids_of(engine))
        with_none = [engine.run(add, shared) for _ in range(3)]

    # THEN
    assert 1 <= len(deaths) <= 2
    assert (second, [os.getpid()] * 3) == (with_one, with_none)
    assert 4 == shared["n"]

    # AND when the threads have ended
    with (
        expect_log("txloop", "^the process that forks workers has died; starting"),
        expect_log("txloop", AGAIN),
    ):
        threads.clear()
        engine.until(lambda: is_full(engine))
    assert [4, 4] == engine.ask_all_workers(lambda: shared["n"], tmp_path)


def test_threads_that_nobody_can_count_are_not_safe(engine, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(crew, "threads_besides", lambda: None)
    engine.ask_all_workers(int, tmp_path)
    kill_spawner(engine)

    # WHEN
    with (
        expect_log("txloop", "while it has other threads: which ones is unknown"),
        expect_log("txloop", NOT_REPLACED, None),
    ):
        kill_all(engine)

    # THEN
    assert os.getpid() == engine.run(os.getpid)


def test_a_spawner_that_is_stopped_is_replaced(engine, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(crew, "threads_besides", list)
    engine.ask_all_workers(int, tmp_path)
    spawner = engine.crew.spawner
    stop(spawner.pid)

    # WHEN a worker dies in the middle of a call
    with (
        expect_log("txloop", r"^worker \d+ died; its call runs again on another"),
        expect_log("txloop", "^the process that forks workers has died; starting"),
    ):
        tally = Tally(tmp_path / "tally")
        result = engine.submit(leave_first, tally)
        engine.wait(result)
        engine.until(lambda: engine.crew.spawner is not spawner)
        engine.until(lambda: is_full(engine))

    # THEN
    assert ("second", 2) == (result.value, tally.count)
    assert state(spawner.pid) == ""


def leave_first(tally):
    tally.mark()
    if tally.count == 1:
        os._exit(3)
    return "second"


def test_a_spawner_that_dies_at_once_is_not_forked_at_once_again(
    engine, tmp_path, monkeypatch, limits
):
    # GIVEN
    forks: list[int] = []
    stock_init = Spawner.__init__

    def init(self, run_worker):
        stock_init(self, run_worker)
        forks.append(self.pid)
        if len(forks) < 4:
            kill(self.pid)

    monkeypatch.setattr(crew, "threads_besides", list)
    monkeypatch.setattr(Spawner, "__init__", init)
    limits.first_pause_seconds = limits.longest_pause_seconds = 0.05

    # WHEN
    with (
        expect_log("txloop", "^the process that forks workers dies before it forks"),
        expect_log("txloop", "^the process that forks workers has died; sta", 3),
        expect_log("txloop", AGAIN),
    ):
        here = engine.run(os.getpid)
        engine.until(lambda: is_full(engine))

    # THEN
    assert (4, os.getpid()) == (len(forks), here)
    assert os.getpid() not in engine.ask_all_workers(os.getpid, tmp_path)


def test_orphans_end_with_the_loop(tmp_path, monkeypatch, limits):
    # GIVEN workers that are busy for ever, and whose spawner was killed
    tally = Tally(tmp_path / "tally")
    with running("processes", limits=limits) as engine:
        for _ in range(2):
            engine.submit(loop_for_ever, tally)
        engine.until(lambda: tally.count == 2)
        kill_spawner(engine)

        # WHEN
        engine.dispatcher.close()

        # THEN
        while {state(pid) for pid in tally.pids} - {"", "Z"}:
            pass


def loop_for_ever(tally):
    tally.mark()
    while True:
        pass


def test_a_stopped_worker_is_ended_with_the_loop_though_its_spawner_has_died(
    tmp_path, limits
):
    # GIVEN workers of which one is stopped, and a loop that has not noticed
    with running("processes", limits=limits) as engine:
        engine.ask_all_workers(int, tmp_path)
        first = pids_of(engine)[0]
        stop(first)
        spawner = engine.crew.spawner
        assert spawner is not None
        kill(spawner.pid)

    # WHEN it is closed, THEN nobody is left
    while state(first) not in ("", "Z"):
        select.select([], [], [], 0.001)


# What new workers inherit


def exceptions_around():
    """Return what is handled where this runs, and what a new exception begins with."""
    try:
        raise KeyError("new")
    except KeyError as error:
        before = error.__context__
    return repr(sys.exc_info()[1]), repr(before)


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_forked_anew_handles_no_exception(
    engine, tmp_path, monkeypatch, at_once
):
    """Whether the end of the spawner is seen first, or that of a worker."""
    # GIVEN
    monkeypatch.setattr(crew, "threads_besides", list)
    old = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    with (
        expect_log("txloop", "^the process that forks workers has died; starting"),
        expect_log("txloop", r"^worker \d+ died; it was (not )?replaced; ", None),
    ):
        if at_once:
            kill_spawner(engine)
        else:
            os.kill(engine.crew.spawner.pid, signal.SIGKILL)
        kill_all(engine)
        engine.until(lambda: is_full(engine) and not set(old) & set(pids_of(engine)))

    # THEN
    assert [("None", "None")] * 2 == engine.ask_all_workers(exceptions_around, tmp_path)
