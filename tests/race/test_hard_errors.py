"""What is worse than an exception: exits, recursion, no memory, a log that fails."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import signal
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from tests.engine import EXECUTORS, Tally, note, noted, on, running
from tests.logs import expect_log
from tests.race.losses import pids_of
from txloop import TDict, TVar, on_commit
from txloop.stm.threads import gil_enabled

MEGABYTE = 1 << 20


@pytest.fixture(params=EXECUTORS)
def engine(request):
    with running(request.param) as engine:
        yield engine


class Own(BaseException):
    """An exception of the program's that is no Exception."""


def unpicklable():
    error = ValueError("cannot travel")
    error.args = ("cannot travel", lambda: None, threading.Lock())
    return error


def recurse(depth=0):
    return recurse(depth + 1)


def raise_deep(depth):
    if depth:
        raise_deep(depth - 1)
    raise LookupError("from far below")


def chain(count):
    try:
        if count:
            chain(count - 1)
        raise KeyError(0)
    except KeyError as error:
        raise LookupError(count) from error


HARD = {
    "SystemExit": (SystemExit, lambda: exit_program(5)),
    "KeyboardInterrupt": (KeyboardInterrupt, lambda: interrupt()),
    "GeneratorExit": (GeneratorExit, lambda: leave_generator()),
    "CancelledError": (asyncio.CancelledError, lambda: cancel()),
    "BaseException": (Own, lambda: raise_own()),
    "RecursionError": (RecursionError, recurse),
    "MemoryError": (MemoryError, lambda: bytes(1 << 60)),
    "StopIteration": (StopIteration, lambda: next(iter(()))),
    "deep": (LookupError, lambda: raise_deep(900)),
    "chained": (LookupError, lambda: chain(200)),
    "unpicklable": (ValueError, lambda: raise_unpicklable()),
}


def exit_program(code):
    raise SystemExit(code)


def interrupt():
    raise KeyboardInterrupt


def leave_generator():
    raise GeneratorExit


def cancel():
    raise asyncio.CancelledError


def raise_own():
    raise Own("of its own kind")


def raise_unpicklable():
    raise unpicklable()


def write_and_fail(shared, tally, what):
    tally.mark()
    shared["n"] += 1
    on_commit(note, "effect")
    HARD[what][1]()


@pytest.mark.parametrize("what", HARD)
def test_whatever_a_body_raises_is_its_answer(engine, tmp_path, what):
    # GIVEN
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
    profile = engine.profile()

    # WHEN
    result = engine.submit(write_and_fail, shared, tally, what, profile=profile)
    engine.wait(result)

    # THEN the error is that one, nothing was written, and all goes on
    assert HARD[what][0] is type(result.error)
    assert (0, []) == (shared["n"], noted)
    assert 1 == len(set(tally.pids))
    assert 7 == engine.run(int, 7)


@on("processes")
@pytest.mark.parametrize("what", HARD)
def test_a_worker_survives_it(engine, tmp_path, what):
    # GIVEN
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
    before = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    result = engine.submit(write_and_fail, shared, tally, what)
    engine.wait(result)

    # THEN
    assert sorted(before) == sorted(pids_of(engine))
    assert set(tally.pids) <= set(before)
    cause = result.error.__cause__
    name = {"RecursionError": "recurse", "deep": "raise_deep"}.get(what, "write_and_")
    assert f'File "{__file__}"' in str(cause)
    assert name in str(cause)


EFFECTS_FAIL = [SystemExit, GeneratorExit, asyncio.CancelledError, RecursionError, Own]


def ask_for_effects(kind):
    on_commit(note, "before")
    on_commit(fail_with, kind)
    on_commit(note, "after")


def fail_with(kind):
    raise kind("on purpose")


@pytest.mark.parametrize("kind", EFFECTS_FAIL)
def test_whatever_an_effect_raises_the_others_run(engine, kind):
    # WHEN
    with expect_log(
        "txloop", r"^an effect failed: .*fail_with.*, asked for at File"
    ) as (records):
        engine.run(ask_for_effects, kind)

    # THEN
    assert ["before", "after"] == noted
    assert records[0].exc_info is not None
    assert kind is records[0].exc_info[0]
    assert f'"{__file__}", line ' in records[0].getMessage()


def test_ctrl_c_in_an_effect_ends_the_loop_and_loses_no_effect(engine):
    """It is Python that raises it, wherever the program happens to be."""
    # WHEN
    with pytest.raises(KeyboardInterrupt):
        engine.run(ask_for_effects, KeyboardInterrupt)
    engine.dispatcher.close()

    # THEN
    assert ["before", "after"] == noted


# Memory


def limited(bytes_):
    """Run in a worker: it may have no more than so many bytes more than now."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + bytes_, hard))


def unlimited():
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def fill_memory(shared, tally):
    tally.mark()
    shared["n"] += 1
    limited(64 * MEGABYTE)
    try:
        return [bytes(MEGABYTE) for _ in range(10_000)]  # there may be free ones
    finally:
        unlimited()


reserving = pytest.mark.skipif(
    not gil_enabled(), reason="its allocator has reserved more than the limit allows"
)


@reserving
@on("processes")
def test_a_body_without_memory_gets_a_memory_error(engine, tmp_path):
    # GIVEN
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)

    # WHEN
    result = engine.submit(fill_memory, shared, tally)
    engine.wait(result)

    # THEN
    assert isinstance(result.error, MemoryError)
    assert (1, 0) == (tally.count, shared["n"])
    assert tally.pids[0] in pids_of(engine)
    assert "fill_memory" in str(result.error.__cause__)


def return_much(tally, shared):
    tally.mark()
    shared["n"] += 1
    value = bytes(100 * MEGABYTE)
    limited(20 * MEGABYTE)
    return value


@reserving
@on("processes")
def test_an_answer_without_memory_is_a_memory_error_too(engine, tmp_path):
    """It is not run on the loop thread, where there is hardly more."""
    # GIVEN
    tally, shared, profile = Tally(tmp_path / "tally"), TDict(n=0), engine.profile()

    # WHEN
    result = engine.submit(return_much, tally, shared, profile=profile)
    engine.wait(result)

    # THEN
    assert isinstance(result.error, MemoryError)
    assert (1, 0, None) == (tally.count, shared["n"], profile.on_loop_because)
    assert os.getpid() not in tally.pids


def limit_first(tally):
    tally.mark()
    if tally.count == 1:
        limited(20 * MEGABYTE)


@reserving
@pytest.mark.slow
def test_a_worker_that_cannot_take_its_call_is_replaced(tmp_path):
    # GIVEN a worker that has hardly any memory left
    with running("processes", 1) as engine:
        tally = Tally(tmp_path / "tally")
        engine.run(limit_first, tally)

        # WHEN
        with expect_log("txloop", r"^worker \d+ died; its call runs again on another"):
            size = engine.run(len, bytes(100 * MEGABYTE))

        # THEN
        assert 100 * MEGABYTE == size
        assert tally.pids[0] not in pids_of(engine)


@reserving
@pytest.mark.slow
def test_a_worker_that_cannot_follow_is_replaced(tmp_path):
    # GIVEN a worker that has no room for what the others have written
    with running("processes", 1) as engine:
        tally, shared = Tally(tmp_path / "tally"), TDict[str, bytes]()
        profile = engine.profile()
        engine.run(limit_first, tally)

        # WHEN
        with expect_log("txloop", r"^worker \d+ died; its call runs again on another"):
            shared["much"] = bytes(100 * MEGABYTE)
            result = engine.submit(measure, shared, profile=profile)
            engine.wait(result)

        # THEN
        assert 100 * MEGABYTE == result.value
        assert profile.on_loop_because is None


def measure(shared):
    return len(shared["much"])


@dataclass(frozen=True)
class Heavy:
    """What a worker has no memory for, the first time."""

    tally: Tally

    def __reduce__(self):
        return load_heavy, (self.tally,)


def load_heavy(tally):
    tally.mark()
    if tally.count == 1:
        raise MemoryError("no room for it")
    return Heavy(tally)


def test_a_worker_that_cannot_load_what_others_wrote_is_replaced(tmp_path):
    """Or it would send all calls to the loop thread, for ever."""
    # GIVEN
    with running("processes", 1) as engine:
        tally, variable = Tally(tmp_path / "tally"), TVar[Any](None)
        profile = engine.profile()
        engine.run(int)

        # WHEN
        with expect_log("txloop", r"^worker \d+ died; its call runs again on another"):
            variable.set(Heavy(tally))
            result = engine.submit(os.getpid, profile=profile)
            engine.wait(result)

        # THEN
        assert [result.value] == tally.pids[1:]
        assert profile.on_loop_because is None


# A log that fails


class Full(logging.Handler):
    """A handler whose disk is full, and that does not keep that to itself."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def emit(self, record):
        self.count += 1
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def full():
    handler = Full()
    logging.getLogger("txloop").addHandler(handler)
    yield handler
    logging.getLogger("txloop").removeHandler(handler)


@on("processes")
def test_a_worker_is_replaced_though_the_log_fails(engine, tmp_path, full):
    # GIVEN
    tally = Tally(tmp_path / "tally")

    # WHEN
    result = engine.submit(leave_first, tally)
    engine.wait(result)

    # THEN
    assert ("second", 2) == (result.value, tally.count)
    assert full.count == 1


def leave_first(tally):
    tally.mark()
    if tally.count == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return "second"


def log_and_note(shared):
    logging.getLogger("txloop.program").error("from the body")
    shared["n"] += 1
    on_commit(fail_with, ValueError)
    on_commit(note, "effect")


def test_effects_run_and_answers_come_though_the_log_fails(engine, full):
    # GIVEN
    shared = TDict(n=0)

    # WHEN
    engine.run(log_and_note, shared)

    # THEN
    assert (1, ["effect"]) == (shared["n"], noted)
    assert full.count >= 2  # the body's record; that it failed; that the effect did
