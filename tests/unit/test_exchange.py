"""A worker thread and the loop thread: who gives what to whom, and only once."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.engine import Gate
from txloop.errors import BecomeInevitable
from txloop.executors.plea import Plea
from txloop.executors.protocol import Work
from txloop.executors.threads.executor import Exchange
from txloop.executors.threads.worker import WorkerThread
from txloop.executors.worker_protocol import Assignment, Run
from txloop.stm.attempt import Attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome


def make_loop() -> Any:
    """Return no loop: these attempts ask for none."""


class Bench:
    """A worker thread, and the loop thread's part of it."""

    def __init__(self):
        self.exchange = Exchange()
        self.rung = threading.Semaphore(0)
        self.exchange.ring = self.rung.release
        self.worker = WorkerThread(1, self.exchange, make_loop(), lambda: 7.0)

    def offer(self, number, function, *args, guarded=False):
        call = Call(function, args, watched=False, guarded=guarded)
        assignment = Assignment(Work(number, call), committed.version)
        assert self.worker.offer(assignment) is None
        self.worker.flush()
        return assignment

    def wait(self):
        """Wait until something was posted; return all that was."""
        assert self.rung.acquire(timeout=10)
        return [(number, what) for _, number, what in self.exchange.collect()]

    def wait_for(self, count):
        found: list[Any] = []
        while len(found) < count:
            found += self.wait()
        return found

    def close(self):
        self.worker.close()
        if self.worker.thread.ident is not None:
            self.worker.thread.join(10)


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.close()


def test_calls_run_in_their_order_without_the_loop_thread(bench):
    # GIVEN
    for number in (1, 2, 3):
        bench.offer(number, int, number)

    # WHEN
    bench.worker.start()

    # THEN
    found = bench.wait_for(3)
    assert [(1, 1), (2, 2), (3, 3)] == [(number, one.value) for number, one in found]
    assert bench.worker.running() is None


def test_it_rings_once_until_the_answers_are_collected(bench):
    # GIVEN
    rings, post = [], bench.exchange.post
    bench.exchange.ring = lambda: rings.append(threading.get_ident())
    for number in (1, 2):
        post(bench.worker, number, Outcome(0))

    # WHEN
    before = len(rings)
    collected = bench.exchange.collect()
    post(bench.worker, 3, Outcome(0))

    # THEN
    assert (1, 2, 2) == (before, len(collected), len(rings))
    assert 1 == len(bench.exchange.collect())
    assert [] == bench.exchange.collect()


def test_what_runs_is_known_with_its_time(bench, tmp_path):
    # GIVEN
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    assignment = bench.offer(1, open_and_wait, started, gate)
    bench.worker.start()

    # WHEN
    started.wait()

    # THEN
    assert (assignment, 7.0) == bench.worker.running()
    gate.open()
    bench.wait()


def open_and_wait(started, gate):
    started.open()
    gate.wait()


def test_what_was_taken_back_does_not_run_and_may_come_again(bench):
    # GIVEN
    for number in (1, 2, 3):
        bench.offer(number, int, number)

    # WHEN
    taken = [bench.worker.take_back(number) for number in (2, 2, 1)]
    bench.offer(1, int, 9)
    bench.worker.start()

    # THEN
    assert [True, False, True] == taken
    found = bench.wait_for(2)
    assert [(1, 9), (3, 3)] == sorted((number, one.value) for number, one in found)
    assert not bench.worker.take_back(3)


def test_the_version_is_the_one_that_was_published(bench):
    # GIVEN
    bench.exchange.version = version = committed.version
    bench.offer(1, int)
    committed.install([])

    # WHEN
    bench.worker.start()

    # THEN
    [(_, outcome)] = bench.wait()
    assert version == outcome.snapshot


def test_what_was_answered_cannot_be_cancelled(bench):
    # GIVEN
    assignment = bench.offer(1, int)
    bench.worker.start()
    bench.wait()

    # THEN
    assert bench.worker.cancel(assignment, "it is late") is None
    assert bench.worker.open


def test_one_that_is_cancelled_answers_no_more_and_leaves(bench, tmp_path):
    # GIVEN
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    assignment = bench.offer(1, open_and_wait, started, gate)
    bench.offer(2, int)
    bench.worker.start()
    started.wait()

    # WHEN
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("txloop.executors.threads.worker._log.warning", lambda *_: None)
        end = bench.worker.cancel(assignment, "it is late")
    gate.open()
    bench.worker.thread.join(10)

    # THEN
    assert "its thread goes on, without effect" == end
    assert (False, True) == (bench.worker.open, bench.worker.lost)
    assert [] == bench.exchange.collect()


@pytest.mark.parametrize("begun", [False, True])
def test_a_cancelled_attempt_can_read_nothing_more(bench, begun):
    # GIVEN
    attempt, call = Attempt(committed.version, True), Call(int)
    if begun:
        bench.worker._begin(call, [], attempt)

    # WHEN
    bench.worker.close()
    if not begun:
        bench.worker._begin(call, [], attempt)

    # THEN
    with pytest.raises(BecomeInevitable):
        attempt.values.add((1, "x"))
    with pytest.raises(BecomeInevitable):
        attempt.presences.add((1, "x"))


def test_a_closed_one_leaves_and_runs_nothing(bench):
    # GIVEN
    bench.offer(1, int)

    # WHEN
    bench.worker.close()
    bench.worker.start()
    bench.worker.thread.join(10)

    # THEN
    assert not bench.worker.thread.is_alive()
    assert [] == bench.exchange.collect()


def test_no_plea_is_heard_after_the_end(bench):
    # GIVEN
    attempt, answers = Attempt(committed.version, True), []
    bench.worker._now = Run(bench.offer(1, int), 0.0)
    asking = threading.Thread(
        target=lambda: answers.append(bench.worker._plead(attempt, "early"))
    )
    asking.start()
    [(number, plea)] = bench.wait()
    assert (1, Plea) == (number, type(plea))

    # WHEN
    bench.worker.close()
    asking.join(10)

    # THEN
    assert [False] == answers
    assert not bench.worker._plead(attempt, "late")


def test_no_answer_is_given_after_the_end(bench):
    """It would be left behind: nobody collects it."""
    # GIVEN
    bench.worker._now = Run(bench.offer(1, int), 0.0)

    # WHEN
    bench.worker.close()
    bench.worker._give(1, Outcome(committed.version))

    # THEN
    assert [] == bench.exchange.collect()
    assert bench.worker.running() is None
