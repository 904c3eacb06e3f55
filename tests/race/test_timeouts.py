"""Bodies that take too long: their worker is replaced, their caller gets an answer."""

from __future__ import annotations

import faulthandler
import os
import sys
import time

import pytest

from tests.engine import Gate, Tally, note, noted, running
from tests.logs import expect_log
from tests.race.lateness import Clock, wait_at
from tests.race.losses import pids_of, stop
from txloop import TDict, TxTimeoutError, TxWorkerError, on_commit
from txloop.executors.pool import Pool
from txloop.executors.processes.supervision import last_frames


@pytest.fixture
def late(monkeypatch, limits):
    """Let a test say when it is late, and wait for no clock."""
    limits.look_seconds = 0.01
    limits.stalled_looks = 10_000
    gate: list[bool] = []
    stock = Pool._time_out_if_late
    monkeypatch.setattr(
        Pool, "_time_out_if_late", lambda *args: stock(*args) if gate else None
    )
    return lambda: gate.append(True)


def never_end(shared, tally):
    on_commit(note, "effect")
    shared["n"] += 1
    tally.mark()
    while True:
        time.sleep(0.001)


TOO_LONG = r"^test exceeded its 0.01 s timeout; worker \d+ was killed and replaced"


def test_a_body_that_never_ends_is_ended(engine, tmp_path, late):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    result = engine.submit(never_end, shared, tally, timeout_seconds=0.01)
    engine.until(lambda: tally.count == 1)

    # WHEN
    with expect_log("txloop", TOO_LONG):
        late()
        engine.wait(result)
        engine.until(lambda: tally.pids[0] not in pids_of(engine))

    # THEN
    assert isinstance(result.error, TxTimeoutError)
    assert isinstance(result.error, TimeoutError)
    assert "test exceeded its 0.01 s timeout; it was ended" == str(result.error)
    assert (1, 0, []) == (tally.count, shared["n"], noted)
    assert 2 == len(set(engine.ask_all_workers(os.getpid, tmp_path)))


def test_the_log_says_where_it_was(engine, tmp_path, late, limits):
    # GIVEN
    limits.lingering_looks = sys.maxsize  # it gets all the time that it takes to say so
    tally = Tally(tmp_path / "tally")
    result = engine.submit(never_end, TDict(n=0), tally, timeout_seconds=0.01)
    engine.until(lambda: tally.count == 1)

    # WHEN
    with expect_log("txloop", TOO_LONG) as records:
        late()
        engine.wait(result)
        engine.until(lambda: bool(records))

    # THEN
    _, *frames = records[0].getMessage().splitlines()
    # Innermost first; on a slow machine it may not have come out of the mark yet.
    assert 1 <= len(frames) <= 2
    assert frames[-1].startswith(f'  File "{__file__}", line ')
    assert frames[-1].endswith(" in never_end")


def test_a_body_that_is_stopped_is_ended_too(engine, tmp_path, late, limits):
    """Though it cannot say where it was."""
    # GIVEN
    limits.amiss_looks = sys.maxsize
    tally = Tally(tmp_path / "tally")
    result = engine.submit(never_end, TDict(n=0), tally, timeout_seconds=0.01)
    engine.until(lambda: tally.count == 1)
    stop(tally.pids[0])

    # WHEN
    with expect_log("txloop", TOO_LONG + "$"):
        late()
        engine.wait(result)
        engine.until(lambda: tally.pids[0] not in pids_of(engine))

    # THEN
    assert isinstance(result.error, TxTimeoutError)


@pytest.mark.usefixtures("unhurried")
def test_calls_sent_ahead_behind_it_run_elsewhere(tmp_path, late, limits):
    # GIVEN
    with running("processes", 1, limits=limits) as engine:
        engine.ask_all_workers(int, tmp_path)
        tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
        short = engine.short("test")
        result = engine.submit(
            never_end, shared, tally, profile=short, timeout_seconds=0.01
        )
        behind = [engine.submit(add, shared, profile=short) for _ in range(5)]
        engine.until(lambda: tally.count == 1)
        (worker,) = engine.processes._workers
        assert 6 == len(worker.assigned)

        # WHEN
        with expect_log(
            "txloop",
            r"s timeout; worker \d+ was killed; its call runs again on another",
        ):
            late()
            engine.wait(result, *behind)

        # THEN
        assert isinstance(result.error, TxTimeoutError)
        assert {1, 2, 3, 4, 5} == {one.value for one in behind}
        assert 5 == shared["n"]


def add(shared):
    shared["n"] += 1
    return shared["n"]


def test_only_the_time_in_the_worker_counts(tmp_path, limits):
    # GIVEN a call that waits for its worker for longer than it may run
    clock, limits.look_seconds = Clock(), 60.0
    with running("processes", 1, limits=limits, clock=clock) as engine:
        gates = [Gate(tmp_path / f"gate{number}") for number in range(2)]
        starts = [Gate(tmp_path / f"start{number}") for number in range(2)]
        first = engine.submit(wait_at, starts[0], gates[0])
        second = engine.submit(wait_at, starts[1], gates[1], timeout_seconds=5)
        engine.until(lambda: starts[0].is_open)
        clock.seconds += 6
        gates[0].open()
        engine.until(lambda: starts[1].is_open)
        engine.wait(first)
        (worker,) = engine.processes._workers

        # WHEN
        clock.seconds += 4
        engine.processes._look()
        early = second.done
        clock.seconds += 1
        with expect_log("txloop", "^test exceeded its 5 s timeout"):
            engine.processes._look()
            engine.until(lambda: worker.lost)

        # THEN
        assert not early
        assert isinstance(second.error, TxTimeoutError)


def test_a_timer_wakes_in_time_for_the_first_one_that_is_late(tmp_path):
    # GIVEN
    clock = Clock()
    with running("processes", 3, clock=clock) as engine:
        engine.ask_all_workers(int, tmp_path)
        gate = Gate(tmp_path / "gate")
        results = [
            engine.submit(gate.wait, timeout_seconds=seconds)
            for seconds in (None, 0.2, 0.125)
        ]
        engine.until(lambda: all(one.assigned for one in engine.processes._workers))

        # WHEN
        until = engine.processes._look_due - clock.seconds
        engine.processes._look()
        again = engine.processes._look_due - clock.seconds

        # THEN
        assert (0.125, 0.125) == (until, again)
        gate.open()
        engine.wait(*results)


def test_an_answer_on_its_way_is_awaited(engine, tmp_path, late):
    # GIVEN a worker that has run its call, and whose answer has arrived in part
    engine.ask_all_workers(int, tmp_path)
    result = engine.submit(give_much, timeout_seconds=0.0001)
    workers = engine.processes._workers
    engine.until(lambda: any(one.answering for one in workers) or result.done)

    # WHEN
    late()
    engine.wait(result)

    # THEN
    assert 20_000_000 == len(result.value)


def give_much():
    return bytes(20_000_000)


def test_a_timeout_is_not_taken_for_a_short_body(engine, tmp_path, late):
    """Or the next call would be tried on the loop thread, for ever."""
    # GIVEN
    tally, profile = Tally(tmp_path / "tally"), engine.profile()

    # WHEN
    with expect_log("txloop", TOO_LONG, 2) as records:
        late()
        for _ in range(2):
            result = engine.submit(
                never_end, TDict(n=0), tally, profile=profile, timeout_seconds=0.01
            )
            engine.wait(result)
        engine.until(lambda: len(records) == 2)

    # THEN
    assert os.getpid() not in tally.pids
    assert profile.body.seconds is not None
    assert profile.body.seconds >= 0.01


@pytest.mark.parametrize("name", ["serial", "processes"])
def test_on_the_loop_thread_a_timeout_can_only_be_logged_once(name):
    with running(name) as engine:
        # GIVEN
        profile = engine.profile()
        profile.on_loop_because = "it is a test"

        # WHEN
        with expect_log("txloop", r"^test ran for [\d.]+ s on the loop thread, where"):
            results = [
                engine.submit(sleep, 0.01, profile=profile, timeout_seconds=0.005)
                for _ in range(3)
            ]
            engine.wait(*results)

        # THEN
        assert ["slept"] * 3 == [one.value for one in results]


def sleep(seconds):
    time.sleep(seconds)
    return "slept"


# Where a worker was when it ended


@pytest.fixture
def own_faults():
    """Let workers tell of their crashes, not pytest."""
    enabled = faulthandler.is_enabled()
    faulthandler.disable()
    yield
    if enabled:
        faulthandler.enable()


def crash(tally):
    tally.mark()
    faulthandler._sigsegv()  # type: ignore[attr-defined] # it is there


def test_a_crash_is_told_with_its_place(engine, tmp_path, own_faults, limits):
    # GIVEN
    limits.look_seconds = 60.0  # its end tells more than a look
    tally = Tally(tmp_path / "tally")

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; .* SIGSEGV, at\n  File", 3):
        result = engine.submit(crash, tally)
        engine.wait(result)

    # THEN
    assert isinstance(result.error, TxWorkerError)
    first, *_ = str(result.error).split("; worker ")
    assert first.startswith(
        "3 workers died while they ran test; it is not run again: "
        f"worker {tally.pids[0]}: killed by SIGSEGV, at\n"
        f'  File "{__file__}", line '
    )
    assert first.endswith(" in crash")


def test_a_deadly_call_is_never_tried_on_the_loop_thread(engine, tmp_path):
    # GIVEN
    tally, profile = Tally(tmp_path / "tally"), engine.profile()

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; ", 6):
        for _ in range(2):
            result = engine.submit(leave, tally, profile=profile)
            engine.wait(result)
            assert isinstance(result.error, TxWorkerError)

    # THEN
    assert os.getpid() not in tally.pids
    assert 6 == len(set(tally.pids))


def leave(tally):
    tally.mark()
    os._exit(7)


def test_frames_of_ours_and_too_many_are_not_shown():
    # GIVEN
    deep = [f'  File "/app/deep.py", line {number} in deep' for number in range(30)]
    ours = '  File "/lib/txloop/stm/run.py", line 1 in run_attempt'
    under = '  File "/app/main.py", line 1 in <module>'

    # WHEN
    words = "\n".join(["Stack (most recent call first):", *deep, ours, under])

    # THEN
    assert [*deep[:20], "  ..."] == last_frames(words.encode()).splitlines()
    assert deep[0] == last_frames("\n".join([deep[0], ours, under]).encode())
    assert "" == last_frames(b"\xff\x00 no stack at all")
