"""Workers: what they are, and what they inherit of the program."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import socket
import sys
import types
from typing import Any

import pytest

from tests.engine import Gate, running
from tests.logs import expect_log
from txloop import TDict, on_worker_start, plain
from txloop.executors.processes import executor as processes
from txloop.executors.processes import worker
from txloop.executors.protocol import NICENESS, available_cores, executor_named
from txloop.stm.store import committed


@pytest.fixture
def engine():
    with running("processes") as engine:
        yield engine


# What a worker is


def nice_level():
    return os.nice(0)


def test_workers_run_at_a_lower_priority(engine, tmp_path):
    expected = min(19, os.nice(0) + NICENESS)

    assert [expected] * 2 == engine.ask_all_workers(nice_level, tmp_path)


def test_workers_are_other_processes(engine, tmp_path):
    pids = engine.ask_all_workers(os.getpid, tmp_path)

    assert 3 == len({os.getpid(), *pids})
    assert sorted(pids) == sorted(one.pid for one in engine.processes._workers)


@pytest.fixture
def _impatient_sockets():
    """Let new sockets time out at once, as a program may have it."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(0.001)
    yield
    socket.setdefaulttimeout(before)


def forked_again(engine, tmp_path):
    """Return the workers that there are when some have died."""
    (first, *_) = engine.ask_all_workers(os.getpid, tmp_path)
    with expect_log("txloop", rf"worker {first} died"):
        os.kill(first, signal.SIGKILL)
        engine.until(lambda: first not in {one.pid for one in ready(engine)})
        engine.until(lambda: len(ready(engine)) == engine.workers)
    return {one.pid for one in ready(engine)}


def ready(engine):
    return [one for one in engine.processes._workers if one.ready]


@pytest.mark.usefixtures("_impatient_sockets")
def test_the_default_timeout_of_sockets_is_not_that_of_workers(tmp_path):
    with running("processes") as engine:
        # GIVEN workers that were forked with it
        before = forked_again(engine, tmp_path)

        # WHEN they have nothing to do, and then more to send than a socket takes
        engine.loop.run_until_complete(asyncio.sleep(0.02))
        large = engine.run(bytes, 10_000_000)
        after = set(engine.ask_all_workers(os.getpid, tmp_path))

        # THEN
        assert bytes(10_000_000) == large
        assert before == after


def test_a_default_timeout_that_comes_later_is_not_that_of_workers(engine, tmp_path):
    # GIVEN
    engine.ask_all_workers(os.getpid, tmp_path)
    socket.setdefaulttimeout(0.001)

    # WHEN
    try:
        before = forked_again(engine, tmp_path)
        engine.loop.run_until_complete(asyncio.sleep(0.02))
    finally:
        socket.setdefaulttimeout(None)

    # THEN
    assert before == set(engine.ask_all_workers(os.getpid, tmp_path))


def draw():
    return random.random()


def test_random_numbers_differ_between_workers(engine, tmp_path):
    # GIVEN
    state = random.getstate()
    known = random.Random(5).getstate()
    random.setstate(known)
    ours = random.random()
    random.setstate(known)

    # WHEN
    found = engine.ask_all_workers(draw, tmp_path)

    # THEN
    random.setstate(state)
    assert 3 == len({ours, *found})


def seeds():
    return list(SEEDS)


SEEDS: list[int] = []


def test_numpy_gets_another_seed_too(engine, tmp_path, monkeypatch):
    # GIVEN a stand-in for a module that not everybody has
    numpy: Any = types.ModuleType("numpy")
    numpy.random = types.SimpleNamespace(seed=lambda: SEEDS.append(os.getpid()))
    monkeypatch.setitem(sys.modules, "numpy", numpy)

    # WHEN
    found = engine.ask_all_workers(seeds, tmp_path)

    # THEN
    assert ([], 2) == (SEEDS, len({tuple(one) for one in found}))
    assert [1, 1] == [len(one) for one in found]


# Start hooks


STARTED: list[int] = []


@pytest.fixture
def hooks(monkeypatch):
    """Give the registry of start hooks, which is as it was afterwards."""
    hooks: list[object] = []
    monkeypatch.setattr(worker, "_start_hooks", hooks)
    return hooks


def starts():
    return list(STARTED)


def test_start_hooks_run_in_each_worker_and_only_there(engine, tmp_path, hooks):
    # GIVEN
    @on_worker_start
    def note_start():
        STARTED.append(os.getpid())

    # WHEN
    found = engine.ask_all_workers(starts, tmp_path)

    # THEN
    pids = [one.pid for one in engine.processes._workers]
    assert sorted([pid] for pid in pids) == sorted(found)
    assert [] == STARTED
    assert callable(note_start)


def test_a_start_hook_that_fails_is_logged_and_the_worker_goes_on(
    engine, tmp_path, hooks
):
    # GIVEN
    on_worker_start(lambda: 1 / 0)
    on_worker_start(lambda: STARTED.append(1))

    # WHEN
    with expect_log("txloop", r"on_worker_start .* in worker \d+:\n", 2) as records:
        found = engine.ask_all_workers(starts, tmp_path)

    # THEN
    assert [[1], [1]] == found
    assert "ZeroDivisionError" in records[0].getMessage()
    assert f'File "{__file__}"' in records[0].getMessage()


def test_a_start_hook_that_takes_long_is_spoken_of_once(engine, tmp_path, hooks):
    # GIVEN
    gate = Gate(tmp_path / "gate")
    on_worker_start(gate.wait)
    result = engine.submit(os.getpid)
    engine.until(lambda: all_forked(engine.processes._workers))

    # WHEN
    limits = engine.processes.limits
    limits.look_seconds, limits.slow_start_seconds = 0.01, 0.05
    said = r"worker \d+ is not ready after 0.05 s: an on_worker_start function "
    with expect_log("txloop", said, 2) as records:
        engine.until(lambda: len(records) == 2)
        gate.open()
        engine.wait(result)

    # THEN
    assert result.value in [one.pid for one in engine.processes._workers]


def all_forked(workers):
    return len(workers) == 2 and all(one.pid for one in workers)


@pytest.mark.parametrize("stream", [None, "closed", "broken"])
def test_a_worker_needs_no_output(engine, tmp_path, hooks, stream):
    # GIVEN
    def spoil():
        if stream is None:
            sys.stdout = None  # as Python does without fd 1
        else:
            reader, writer = os.pipe()
            os.close(reader)
            sys.stdout = os.fdopen(writer, "w")
            if stream == "closed":
                sys.stdout.close()
            else:
                sys.stdout.write("into the void")

    on_worker_start(spoil)

    # THEN the same workers answer twice
    pids = engine.ask_all_workers(os.getpid, tmp_path)
    assert sorted(pids) == sorted(engine.ask_all_workers(os.getpid, tmp_path))


# Files and sockets


HELD: dict[str, Any] = {}


def use_held():
    """Use what was open in the program; tell what became of it."""
    numbers = {name: thing.fileno() for name, thing in HELD.items()}
    troubles = {}
    for name, use in {
        "file": lambda thing: os.read(thing.fileno(), 1),
        "socket": lambda thing: thing.send(b"x"),
        "listener": lambda thing: thing.accept(),
    }.items():
        try:
            use(HELD[name])
        except OSError as error:
            troubles[name] = error.errno
    with open(os.devnull) as new:
        reused = new.fileno() in numbers.values()
    return troubles, reused, os.read(0, 1)


def test_files_and_sockets_of_the_program_fail_loudly(engine, tmp_path):
    # GIVEN
    (tmp_path / "file").write_text("text")
    one, other = socket.socketpair()
    with (
        (tmp_path / "file").open() as file,
        one,
        other,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        HELD.update(file=file, socket=one, listener=listener)

        # WHEN
        found = engine.ask_all_workers(use_held, tmp_path)

        # THEN
        bad = dict.fromkeys(HELD, errno.EBADF)
        HELD.clear()
        assert [(bad, False, b"")] * 2 == found
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.recv(1)


def add_list(shared):
    shared["list"] = ["one"]


def test_what_workers_of_an_earlier_loop_have_made_stays_apart():
    """As where `asyncio.run` is called twice."""
    # GIVEN a list that a worker has made, of a loop that is closed
    first, second = TDict[str, Any](), TDict[str, Any]()
    with running("processes", 1) as engine:
        engine.run(add_list, first)

    # WHEN a worker of another loop makes one
    with running("processes", 1) as engine:
        engine.run(add_list, second)
        engine.run(add_list, second)

    # THEN
    assert first["list"] is not second["list"]
    assert (["one"], ["one"]) == (plain(first["list"]), plain(second["list"]))


# Start and end


def test_workers_can_be_forked_before_there_is_a_loop():
    # GIVEN
    shared = TDict(n=1)
    executor = executor_named("processes", 2)
    assert isinstance(executor, processes.ProcessesExecutor)
    executor.fork()
    executor.fork()

    # WHEN
    shared["n"] = 2

    # THEN
    assert 2 == len(executor._crew.workers)
    assert [executor._log] == committed.followers
    executor.close()
    executor.close()
    assert [] == committed.followers


def test_an_executor_knows_how_many_cores_there_are():
    executor = executor_named("processes")

    assert available_cores() == executor.workers
