"""Workers that are stopped, or do not answer as workers do: replaced all the same."""

from __future__ import annotations

import math
import os
import select
import signal
import socket
from typing import Any

import pytest

from tests.engine import Gate, Tally, note, noted
from tests.logs import expect_log
from tests.processes import state
from tests.race.losses import add_at_gate, pids_of, stop
from txloop import TDict, on_commit
from txloop.executors.codec.frames import dumps, frame, numbered
from txloop.executors.pool import Pool
from txloop.executors.processes import connection, supervision, worker
from txloop.stm.store import committed
from txloop.stm.types import Outcome

STOPPED = r"^worker \d+ died; .*; it was stopped by a signal$"

# The report of how it ended may come later than the looks.
FOUND_DEAD = (
    r"^worker \d+ died; its call runs again .*; "
    r"(it exited with 3|how it ended is not known)$"
)


@pytest.fixture
def quick(limits):
    """Look often: these tests wait for looks."""
    limits.look_seconds = 0.01


def test_the_call_of_a_stopped_worker_runs_again_on_another(engine, tmp_path, quick):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(add_at_gate, shared, tally, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    with expect_log("txloop", STOPPED):
        stop(tally.pids[0])
        gate.open()
        engine.wait(result)
        engine.until(lambda: tally.pids[0] not in pids_of(engine))

    # THEN
    assert [result.value] == tally.pids[1:]
    assert tally.pids[0] not in tally.pids[1:]
    assert (1, ["effect"]) == (shared["n"], noted)


def test_a_worker_that_is_stopped_while_idle_keeps_no_call(engine, tmp_path, quick):
    # GIVEN
    pids = engine.ask_all_workers(os.getpid, tmp_path)
    for pid in pids:
        stop(pid)

    # WHEN
    with expect_log("txloop", STOPPED, None) as records:
        results = [engine.submit(os.getpid) for _ in range(5)]
        engine.wait(*results)
        engine.until(lambda: len(records) == 2)

    # THEN
    assert set(pids).isdisjoint(result.value for result in results)
    assert set(pids).isdisjoint(pids_of(engine))


def test_a_worker_that_goes_on_at_once_is_left_alone(
    engine, tmp_path, monkeypatch, limits
):
    """As when the whole program is stopped in its terminal, and continued."""
    # GIVEN
    looks: list[str] = []
    stock_look = Pool._look

    def look(self):
        """Stop the worker for every second look."""
        if len(looks) < 6:
            (go_on if len(looks) % 2 else stop)(tally.pids[0])
        looks.append(state(tally.pids[0]))
        stock_look(self)

    def go_on(pid):
        os.kill(pid, signal.SIGCONT)
        while state(pid) == "T":
            select.select([], [], [], 0.001)

    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    limits.look_seconds = 0.01
    result = engine.submit(add_at_gate, shared, tally, started, gate)
    engine.until(lambda: started.is_open)
    monkeypatch.setattr(Pool, "_look", look)

    # WHEN
    engine.until(lambda: len(looks) > 7)
    gate.open()
    engine.wait(result)

    # THEN
    assert [True, False] * 3 == [one == "T" for one in looks[:6]]
    assert (1, [result.value]) == (tally.count, tally.pids)


def test_nobody_is_looked_at_while_nothing_runs(engine, tmp_path, quick):
    # GIVEN
    engine.ask_all_workers(int, tmp_path)

    # WHEN
    engine.until(lambda: engine.processes._look_due == math.inf)

    # THEN
    engine.turn()
    assert engine.processes._look_due == math.inf
    assert [] == [one for one in engine.loop._scheduled if not one.cancelled()]


def test_workers_that_are_busy_with_short_calls_are_not_looked_at(
    engine, tmp_path, monkeypatch, limits
):
    # GIVEN
    looked_at: list[int] = []

    def state_of(pid):
        looked_at.append(pid)
        return "R"

    limits.look_seconds = 60.0
    engine.ask_all_workers(int, tmp_path)
    monkeypatch.setattr(supervision, "state_of", state_of)
    gate = Gate(tmp_path / "gate")

    # WHEN
    engine.processes._look()
    result = engine.submit(gate.wait)
    engine.until(lambda: any(one.assigned for one in engine.processes._workers))
    (busy,) = [one for one in engine.processes._workers if one.assigned]
    engine.processes._look()
    limits.look_seconds = 0.0
    assert [] == looked_at
    engine.processes._look()
    limits.look_seconds = 60.0

    # THEN
    assert [busy.pid] == looked_at
    gate.open()
    engine.wait(result)


def test_a_dead_worker_whose_connection_stays_open_is_found(engine, tmp_path, quick):
    """As where it has forked a child of its own that goes on."""
    # GIVEN
    tally, gate = Tally(tmp_path / "tally"), Gate(tmp_path / "gate")
    child = Tally(tmp_path / "child")
    # Not watched: the tests' own `fork` notes what it has forked.
    result = engine.submit(fork_and_exit, tally, child, gate, watched=False)

    # WHEN
    with expect_log("txloop", FOUND_DEAD):
        engine.wait(result)
    engine.until(lambda: child.count == 1)

    # THEN
    assert ("second", 2, 1) == (result.value, tally.count, child.count)
    gate.open()


def fork_and_exit(tally, child, gate):
    tally.mark()
    if tally.count > 1:
        return "second"
    if os.fork() == 0:
        child.mark()
        gate.wait()
        os._exit(0)
    os._exit(3)


# Answers that are none


def let_lie(monkeypatch, tally, answer):
    """Let the worker that makes the first mark answer what `answer` says."""
    stock_serve: Any = worker._serve

    def serve(feed, reply, pack, base):
        def lie(data):
            for part in answer(data) if tally.pids == [os.getpid()] else [data]:
                reply(part)

        stock_serve(feed, lie, pack, base)

    monkeypatch.setattr(worker, "_serve", serve)


def mark_and_add(tally, shared):
    tally.mark()
    on_commit(note, "effect")
    shared["n"] += 1
    return os.getpid()


def answer_to(number, snapshot):
    return frame(numbered(number, dumps(Outcome(snapshot, "a lie"))))


LIES = {
    "no frame": lambda data: [b"no such thing as a frame"],
    "an absurd length": lambda data: [data[:4] + b"\xff" * 8 + b"endless"],
    "no number": lambda data: [frame(b"1234")],
    "a broken pickle": lambda data: [data[:20], b"\x80\x05garbage" * 99],
    "another number": lambda data: [answer_to(10**6, committed.version)],
    "a second greeting": lambda data: [frame(numbered(-1, dumps((1, []))))],
    "no answer": lambda data: [frame(data[12:20] + dumps("just a string"))],
    "another snapshot": lambda data: [answer_to(2, committed.version + 5)],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_worker_that_answers_garbage_is_replaced(engine, tmp_path, monkeypatch, lie):
    # GIVEN
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
    let_lie(monkeypatch, tally, LIES[lie])
    engine.run(int)

    # WHEN
    with expect_log("txloop", r"it did not answer as a worker does: "):
        result = engine.submit(mark_and_add, tally, shared)
        engine.wait(result)
        engine.until(lambda: tally.pids[0] not in pids_of(engine))

    # THEN
    assert [result.value] == tally.pids[1:]
    assert tally.pids[0] not in tally.pids[1:]
    assert (1, ["effect"]) == (shared["n"], noted)


def test_a_worker_that_answers_twice_is_replaced(engine, tmp_path, monkeypatch):
    """The first answer counts, if it arrives alone; nothing happens twice."""
    # GIVEN
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)
    let_lie(monkeypatch, tally, lambda data: [data, data])
    engine.run(int)

    # WHEN
    with expect_log("txloop", r"no call waits for the answer 2$"):
        engine.wait(engine.submit(mark_and_add, tally, shared))
        engine.until(lambda: tally.pids[0] not in pids_of(engine))

    # THEN
    assert (1, 1, ["effect"]) == (tally.count, shared["n"], noted)


def test_half_an_answer_is_given_up(engine, tmp_path, monkeypatch, quick, limits):
    # GIVEN
    limits.stalled_looks = 3
    tally, shared, gate = Tally(tmp_path / "t"), TDict(n=0), Gate(tmp_path / "gate")

    def half(data):
        yield data[: len(data) // 2]
        gate.wait()

    let_lie(monkeypatch, tally, half)
    engine.run(int)

    # WHEN
    with expect_log("txloop", r"it stopped in the middle of its answer$"):
        result = engine.submit(mark_and_add, tally, shared)
        engine.wait(result)

    # THEN
    assert [result.value] == tally.pids[1:]
    assert (1, ["effect"]) == (shared["n"], noted)


def test_endless_garbage_is_not_kept(engine, tmp_path, monkeypatch):
    # GIVEN
    tally, shared = Tally(tmp_path / "tally"), TDict(n=0)

    def flood(data):
        while True:
            yield bytes(1 << 20)

    kept: list[int] = []
    let_lie(monkeypatch, tally, flood)
    stock_death = connection.WorkerConnection.death

    def death(self):
        kept.append(len(self._words) + len(self._frames.rest))
        return stock_death(self)

    monkeypatch.setattr(connection.WorkerConnection, "death", death)
    engine.run(int)

    # WHEN
    with expect_log("txloop", r"no frame begins with b'\\x00\\x00"):
        engine.wait(engine.submit(mark_and_add, tally, shared))

    # THEN
    assert 2 == tally.count
    assert max(kept) <= connection._MOST_WORDS + connection._CHUNK_BYTES


def test_of_what_a_condemned_worker_says_only_so_much_is_kept():
    # GIVEN
    ours, theirs = socket.socketpair()
    with ours, theirs:
        one = connection.WorkerConnection(1, ours, None, 0)  # type: ignore[arg-type] # no log is needed
        one.condemn(None)

        # WHEN
        for _ in range(5):
            theirs.sendall(b"x" * 50_000)
            assert [] == one.receive()

        # THEN
        assert connection._MOST_WORDS == len(one.death().words)


def test_what_is_sent_may_be_looked_at_by_other_threads():
    """As `gc.get_objects` does, while one sends."""
    # GIVEN
    ours, theirs = socket.socketpair()
    seen = []

    class Seen:
        setblocking = ours.setblocking

        def send(self, chunk):
            seen.append(chunk)
            return ours.send(chunk)

    with ours, theirs:
        one = connection.WorkerConnection(1, Seen(), None, 0)  # type: ignore[arg-type] # no log is needed

        # WHEN
        one._put(None, [b"first"], [], [])
        one._put(None, [b"second"], [], [])

        # THEN
        received = theirs.recv(1000)
        assert (1, 1) == (received.count(b"first"), received.count(b"second"))
        assert 2 == len(seen)


def test_a_frame_of_the_greatest_length_is_awaited():
    # GIVEN
    ours, theirs = socket.socketpair()
    with ours, theirs:
        one = connection.WorkerConnection(1, ours, None, 0)  # type: ignore[arg-type] # no log is needed

        # WHEN
        theirs.sendall(frame(b"")[:4] + (1 << 32).to_bytes(8, "big") + b"begun")

        # THEN
        assert [] == one.receive()
        assert one.answering


def test_what_cannot_be_told_of_a_process_is_no_trouble(monkeypatch):
    """Where no descriptor is free, or there is no /proc."""

    # GIVEN
    def fail(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(supervision, "open", fail, raising=False)

    # THEN
    assert "?" == supervision.state_of(os.getpid())
    assert "" == supervision.state_of(2**22 + 1)
