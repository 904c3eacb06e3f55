"""What has become of workers is counted, and what they do now is told."""

from __future__ import annotations

import errno
import os
import time

import pytest

from tests.engine import Gate, Tally
from tests.logs import expect_log
from tests.race.losses import add_at_gate, is_full, kill, kill_all, pids_of
from txloop import TDict
from txloop.executors.pool import Pool

pytestmark = pytest.mark.usefixtures("impatient")


def sleep_long(tally):
    tally.mark()
    time.sleep(60)


def counted(engine):
    stats = engine.dispatcher.stats()
    return stats.worker_deaths, stats.timeouts, stats.fork_failures


def test_a_worker_that_dies_is_counted_and_so_is_the_next_one(engine, tmp_path):
    # GIVEN
    first, _ = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; it was replaced"):
        kill(first)
        engine.until(lambda: first not in pids_of(engine) and is_full(engine))

    # THEN
    assert (1, 0, 0) == counted(engine)
    assert 1 == engine.dispatcher.stats().restarts


def test_a_worker_that_is_ended_has_not_died(engine, tmp_path, monkeypatch):
    # GIVEN it is late as soon as it has begun, and not before
    tally, late = Tally(tmp_path / "tally"), Pool._time_out_if_late
    monkeypatch.setattr(
        Pool, "_time_out_if_late", lambda *args: tally.count and late(*args)
    )

    # WHEN
    with expect_log("txloop", r"; worker \d+ was killed"):
        result = engine.submit(sleep_long, tally, timeout_seconds=0.01)
        engine.wait(result)
        engine.until(lambda: engine.dispatcher.stats().restarts == 1)

    # THEN
    assert (0, 1, 0) == counted(engine)


def test_a_fork_that_fails_is_counted(engine, tmp_path, monkeypatch):
    # GIVEN
    gate, stock_fork = Gate(tmp_path / "no more processes"), os.fork

    def fork():
        if gate.is_open:
            raise OSError(errno.EAGAIN, "no")
        return stock_fork()

    monkeypatch.setattr(os, "fork", fork)
    engine.ask_all_workers(int, tmp_path)

    # WHEN
    with (
        expect_log("txloop", r"^no worker can be forked ", None),
        expect_log("txloop", r"^worker \d+ died; ", None),
    ):
        gate.open()
        kill_all(engine)
        engine.until(lambda: engine.dispatcher.stats().fork_failures >= 1)

    # THEN
    assert engine.dispatcher.stats().fork_failures >= 1


def test_processes_are_told_with_what_they_run_and_their_memory(engine, tmp_path):
    # GIVEN one that runs something
    engine.ask_all_workers(int, tmp_path)
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(add_at_gate, shared, tally, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    processes = engine.dispatcher.stats().processes
    memory = [one.memory_bytes for one in processes]
    gate.open()
    engine.wait(result)

    # THEN
    owner, *workers = processes
    assert ("owner", os.getpid(), "serves") == (owner.name, owner.pid, owner.state)
    assert {"worker 1", "worker 2"} == {one.name for one in workers}
    assert pids_of(engine) == [one.pid for one in workers]
    (busy,) = [one for one in workers if one.pid == tally.pids[0]]
    assert ("runs", "test") == (busy.state, busy.label)
    assert busy.seconds > 0
    assert {"idle", "runs"} == {one.state for one in workers}
    assert all(one > 1 << 20 for one in memory)
