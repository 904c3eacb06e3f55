"""Where no worker can be made: the loop goes on with those it has, and recovers."""

from __future__ import annotations

import errno
import os
import resource
from contextlib import contextmanager, suppress

import pytest

from tests.engine import Gate
from tests.logs import expect_log
from tests.race.losses import AGAIN, add, is_full, kill, kill_all, pids_of
from txloop import TDict, on_worker_start
from txloop.executors.processes import worker

pytestmark = pytest.mark.usefixtures("impatient")


def test_a_fork_that_fails_is_tried_again(engine, tmp_path, monkeypatch):
    # GIVEN
    gate, stock_fork = Gate(tmp_path / "no more processes"), os.fork

    def fork():
        if gate.is_open:
            raise OSError(errno.EAGAIN, "no")
        return stock_fork()

    monkeypatch.setattr(os, "fork", fork)
    shared = TDict(n=0)
    engine.ask_all_workers(int, tmp_path)

    # WHEN
    with (
        expect_log(
            "txloop",
            r"^no worker can be forked \(Resource temporarily unavailable\); ",
        ),
        expect_log("txloop", r"^worker \d+ died; ", None),
        expect_log("txloop", AGAIN),
    ):
        gate.open()
        kill_all(engine)
        engine.until(lambda: engine.processes._crew.complained)
        engine.until(lambda: not pids_of(engine))
        here = engine.run(add, shared)
        gate.path.unlink()
        engine.until(lambda: is_full(engine))

    # THEN
    assert os.getpid() == here
    assert [1, 1] == engine.ask_all_workers(lambda: shared["n"], tmp_path)


@contextmanager
def no_descriptors():
    """Use up all descriptors of this process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_without_descriptors_the_loop_goes_on_and_recovers(engine, tmp_path):
    # GIVEN
    shared = TDict(n=0)
    first, second = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    with (
        expect_log("txloop", r"^no worker can be started \(.*Too many open files\)"),
        expect_log("txloop", r"^worker \d+ died; ", 2),
        expect_log("txloop", AGAIN),
    ):
        with no_descriptors():
            kill(first)
            engine.until(lambda: first not in pids_of(engine))
            with_one = engine.run(add, shared)
            kill(second)
            engine.until(lambda: second not in pids_of(engine))
            with_none = engine.run(add, shared)
        engine.until(lambda: is_full(engine))

    # THEN
    assert with_one == second
    assert with_none == os.getpid() or with_none not in (first, second)
    assert [2, 2] == engine.ask_all_workers(lambda: shared["n"], tmp_path)


def test_a_program_that_starts_without_descriptors_is_served_serially(engine, tmp_path):
    # GIVEN
    shared = TDict(n=0)

    # WHEN
    with (
        expect_log("txloop", r"^no worker can be started \(.*all runs on the loop"),
        expect_log("txloop", AGAIN),
    ):
        with no_descriptors():
            here = engine.run(add, shared)
        engine.until(lambda: is_full(engine))

    # THEN
    assert os.getpid() == here
    assert [1, 1] == engine.ask_all_workers(lambda: shared["n"], tmp_path)


# The worker's end may be seen before the spawner has told how it ended.
DIED_AT_THE_START = (
    r"^worker \d+ died; .*; (it exited with 1|how it ended is not known)"
)


def test_workers_that_die_at_their_start_are_tried_again(
    engine, tmp_path, monkeypatch, limits
):
    # GIVEN
    gate = Gate(tmp_path / "gate")
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(lambda: gate.is_open or os._exit(1))

    # WHEN
    with (
        expect_log("txloop", "^workers keep dying at their start; all runs on the"),
        expect_log("txloop", DIED_AT_THE_START, None) as deaths,
        expect_log("txloop", AGAIN),
    ):
        here = engine.run(os.getpid)
        gate.open()
        engine.until(lambda: is_full(engine))

    # THEN
    assert os.getpid() == here
    assert len(deaths) <= limits.stillborn + 1


def test_a_start_hook_that_exits_is_logged_like_others(engine, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(lambda: exit_program())

    # WHEN
    with expect_log("txloop", r"on_worker_start .* failed(.|\n)*SystemExit: 5", 2):
        engine.ask_all_workers(int, tmp_path)

    # THEN
    assert os.getpid() not in pids_of(engine)


def exit_program():
    raise SystemExit(5)
