"""Which worker gets a call, and what becomes of calls behind a long one."""

from __future__ import annotations

import time

import pytest

from tests.engine import Gate, Meeting, Tally, running
from tests.race.lateness import Clock
from txloop import TDict


@pytest.fixture
def engine(clock):
    with running("processes", clock=clock) as engine:
        yield engine


def wait_at(started, gate):
    started.open()
    gate.wait()
    return "long"


def note_run(tally, name):
    tally.mark(name)
    return name


def test_calls_run_at_the_same_time(engine, tmp_path):
    meeting = Meeting(tmp_path / "meeting", 2)

    results = [engine.submit(meeting.attend, number) for number in range(2)]

    engine.wait(*results)


def test_no_call_waits_behind_a_long_one_while_a_worker_is_free(engine, tmp_path):
    # GIVEN
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    long = engine.submit(wait_at, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    results = [engine.submit(int, number) for number in range(9)]
    engine.wait(*results)

    # THEN
    assert list(range(9)) == [result.value for result in results]
    assert not long.done
    gate.open()
    engine.wait(long)


@pytest.fixture
def clock():
    return Clock()


def send_short_calls(engine, tally):
    """Send twenty calls that are known to be short, in one round."""
    names = [f"short{number}" for number in range(20)]
    results = [
        engine.submit(note_run, tally, name, profile=engine.short()) for name in names
    ]
    engine.turn()
    return results


def send_misjudged(engine, gate):
    """Send a call that is known to be short, and blocks."""
    started = Gate(gate.path.with_name(f"started{time.monotonic_ns()}"))
    return engine.submit(wait_at, started, gate, profile=engine.short())


def test_short_calls_are_sent_ahead(engine, tmp_path, clock):
    """So that a worker has the next one at hand when it has answered."""
    # GIVEN
    engine.ask_all_workers(int, tmp_path)

    # WHEN
    results = send_short_calls(engine, Tally(tmp_path / "tally"))

    # THEN
    ahead = [len(one.assigned) for one in engine.processes._workers]
    assert [10, 10] == ahead
    engine.wait(*results)


@pytest.mark.parametrize("workers", [2, 3])
def test_calls_sent_behind_one_that_turned_out_long_are_taken_back(
    tmp_path, clock, workers
):
    # GIVEN all workers but one are blocked by calls that should have been short
    with running("processes", workers, clock=clock) as engine:
        engine.ask_all_workers(int, tmp_path)
        gate = Gate(tmp_path / "gate")
        long = [send_misjudged(engine, gate) for _ in range(workers - 1)]
        short = send_short_calls(engine, Tally(tmp_path / "tally"))
        ahead = [len(one.assigned) for one in engine.processes._workers]
        assert min(ahead) > 1

        # WHEN
        clock.seconds += 1
        engine.wait(*short)

        # THEN
        assert [False] * len(long) == [result.done for result in long]
        gate.open()
        engine.wait(*long)


def test_what_was_taken_back_runs_once_elsewhere(engine, tmp_path, clock):
    # GIVEN calls that wait behind a long one, and were answered by another worker
    engine.ask_all_workers(int, tmp_path)
    gate, tally = Gate(tmp_path / "gate"), Tally(tmp_path / "tally")
    long = send_misjudged(engine, gate)
    short = send_short_calls(engine, tally)
    clock.seconds += 1
    engine.wait(*short)
    assert [0, 11] == sorted(len(one.assigned) for one in engine.processes._workers)

    # WHEN
    for _ in range(5):
        engine.processes._move_overdue()
        engine.run(int)

    # THEN
    assert 20 == tally.count
    gate.open()
    engine.wait(long)


def test_a_call_is_overdue_as_from_its_own_start(tmp_path, clock):
    # GIVEN three calls at one worker
    with running("processes", 1, clock=clock) as engine:
        engine.ask_all_workers(int, tmp_path)
        gates = [Gate(tmp_path / f"gate{number}") for number in range(3)]
        calls = [send_misjudged(engine, gate) for gate in gates]
        engine.turn()
        (worker,) = engine.processes._workers
        last = list(worker.assigned)[-1]

        # WHEN
        clock.seconds += 1
        gates[0].open()
        engine.wait(calls[0])
        early = engine.processes._book.overdue(worker, 0.5)
        clock.seconds += 1
        late = engine.processes._book.overdue(worker, 0.5)

        # THEN
        assert [] == early
        assert [last] == [work.number for work in late]
        for gate in gates:
            gate.open()
        engine.wait(*calls)


def test_no_call_is_sent_behind_one_that_is_overdue(engine, tmp_path, clock):
    # GIVEN
    engine.ask_all_workers(int, tmp_path)
    gate = Gate(tmp_path / "gate")
    long = send_misjudged(engine, gate)
    engine.turn()

    # WHEN
    clock.seconds += 1
    short = send_short_calls(engine, Tally(tmp_path / "tally"))

    # THEN
    assert [1, 20] == sorted(len(one.assigned) for one in engine.processes._workers)
    engine.wait(*short)
    gate.open()
    engine.wait(long)


def test_of_two_copies_only_one_answer_counts(engine, tmp_path, clock):
    # GIVEN calls that were taken back, whose first copies wait still
    engine.ask_all_workers(int, tmp_path)
    gate, shared = Gate(tmp_path / "gate"), TDict(n=0)
    told = listen(engine)
    long = send_misjudged(engine, gate)
    short = [engine.submit(add, shared, profile=engine.short()) for _ in range(9)]
    engine.turn()
    clock.seconds += 1
    engine.wait(*short)

    # WHEN
    gate.open()
    engine.until(lambda: not any(one.assigned for one in engine.processes._workers))

    # THEN
    engine.wait(long)
    assert 9 == shared["n"]
    assert len(told) == len(set(told)) >= 10


def listen(engine):
    """Return the list of the attempts whose answers the executor will deliver."""
    told, deliver = [], engine.processes._deliver

    def listening(number, answer):
        told.append(number)
        deliver(number, answer)

    engine.processes._deliver = listening
    return told


def add(shared):
    shared["n"] += 1


def test_what_runs_elsewhere_already_is_not_taken_back_once_more(tmp_path, clock):
    # GIVEN a call that waits behind a long one, and runs at another worker by now
    with running("processes", 4, clock=clock) as engine:
        engine.ask_all_workers(int, tmp_path)
        gates = [Gate(tmp_path / f"gate{number}") for number in range(4)]
        tally, gate = Tally(tmp_path / "tally"), Gate(tmp_path / "gate")
        long = [send_misjudged(engine, gate) for gate in gates]
        copied = engine.submit(mark_and_wait, tally, gate, profile=engine.short())
        engine.turn()
        clock.seconds += 1
        gates[3].open()
        engine.until(lambda: tally.count == 1)

        # WHEN one more worker becomes free
        gates[2].open()
        engine.wait(long[2])
        for _ in range(5):
            engine.processes._move_overdue()
            engine.run(int)

        # THEN
        assert 1 == tally.count
        for one in (gate, *gates):
            one.open()
        engine.wait(copied, *long)


def mark_and_wait(tally, gate):
    tally.mark()
    gate.wait()
