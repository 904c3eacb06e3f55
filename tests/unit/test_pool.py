"""The pool alone, with workers, a loop and a clock that do as the test says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.race.lateness import Clock
from txloop.errors import TxTimeoutError, TxWorkerError
from txloop.executors.pool import Pool
from txloop.executors.protocol import Work
from txloop.executors.worker_protocol import Limits, Run
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome, Refusal


def work(number, estimate=0.001, *, label="label", timeout=None, **more):
    call = Call(len, label=label, timeout_seconds=timeout)
    return Work(number, call, estimate, **more)


class Desk:
    """A worker that runs nothing: the test answers for it."""

    lost = False
    needs_look = False

    def __init__(self, place, clock, may_repeat):
        self.place = place
        self.assigned = {}
        self.may_repeat = may_repeat
        self.open = True
        self.refusal = None
        self.gives_back = False
        self.ending = "it was ended"
        self.cancelled = []
        self.clock = clock
        self.since = clock()

    def running(self):
        first = next(iter(self.assigned.values()), None)
        return None if first is None else Run(first, self.since)

    def offer(self, assignment):
        if not self.assigned:
            self.since = self.clock()
        return self.refusal

    def flush(self):
        pass

    def take_back(self, number):
        return self.gives_back

    def cancel(self, assignment, reason):
        self.cancelled.append(reason)
        return self.ending

    def look(self):
        pass

    def close(self):
        pass


class Timers:
    """A loop of which only the timers are asked for."""

    def __init__(self):
        self.later = []

    def call_later(self, delay, callback, *args):
        self.later.append((delay, callback, args))

    def run(self):
        """Let all timers that there are run out."""
        later, self.later = self.later, []
        for _, callback, args in later:
            callback(*args)


class Stage:
    """A pool with two desks, and what it has delivered."""

    def __init__(self, may_repeat):
        self.clock, self.timers = Clock(), Timers()
        self.told: list[Any] = []
        self.pool: Pool[Any] = Pool(2, Limits(), self.clock)
        self.desks = [Desk(n, self.clock, may_repeat) for n in (1, 2)]
        self.pool._workers.extend(self.desks)
        loop: Any = self.timers
        self.pool.start(loop, lambda *told: self.told.append(told))

    def at(self, desk):
        return list(self.desks[desk].assigned)

    def answer(self, desk, answer=None):
        """Answer the call that a worker runs."""
        number, assignment = next(iter(self.desks[desk].assigned.items()))
        answer = answer or Outcome(assignment.snapshot)
        self.desks[desk].since = self.clock()
        self.pool.settle(self.desks[desk], number, answer, 0.0)
        self.pool.feed()

    @property
    def numbers(self):
        return [number for number, _ in self.told]

    def forget(self):
        """Close the snapshots of what was delivered, as the engine does."""
        for _, answer in self.told:
            if not isinstance(answer, Refusal):
                committed.close_snapshot(answer.snapshot)
        self.told.clear()


@pytest.fixture(params=[True, False], ids=["copies", "shares"])
def stage(request):
    stage = Stage(request.param)
    yield stage
    stage.forget()
    stage.pool.close()
    assert {} == committed._snapshots, "snapshots stayed open"


def test_each_worker_gets_one_and_short_ones_are_sent_ahead(stage):
    stage.pool.run([work(number, 0.002) for number in range(1, 8)])

    assert ([1, 3], [2, 4]) == (stage.at(0), stage.at(1))


def test_what_nothing_is_known_of_waits_for_a_free_worker(stage):
    # GIVEN
    stage.pool.run([work(number, None) for number in range(1, 5)])
    assert ([1], [2]) == (stage.at(0), stage.at(1))

    # WHEN
    stage.answer(1)

    # THEN
    assert ([1], [3]) == (stage.at(0), stage.at(1))
    assert [2] == stage.numbers


def test_urgent_ones_come_first_and_functions_take_turns(stage):
    # GIVEN
    stage.pool.run([work(1, None), work(2, None)])

    # WHEN
    stage.pool.run(
        [
            *(work(number, None, label="many") for number in (3, 4)),
            work(5, None, label="one"),
            work(6, None, urgent=True),
        ]
    )
    for desk in (0, 1, 0, 1):
        stage.answer(desk)

    # THEN
    order = [1, 2, 6, 3]
    assert (order, [5], [4]) == (stage.numbers, stage.at(0), stage.at(1))


def test_what_waits_behind_a_long_call_goes_to_a_free_worker(stage):
    # GIVEN
    stage.pool.run([work(1), work(2), work(3), work(4)])
    assert ([1, 3], [2, 4]) == (stage.at(0), stage.at(1))
    stage.desks[0].gives_back = not stage.desks[0].may_repeat

    # WHEN
    stage.clock.seconds += 1
    stage.answer(1)
    stage.answer(1)
    stage.timers.run()

    # THEN one that has copies of everything may run it twice, and answers it twice
    assert [3] == stage.at(1)
    assert ([1, 3] if stage.desks[0].may_repeat else [1]) == stage.at(0)
    stage.answer(1)
    stage.answer(0)
    if stage.at(0):
        stage.answer(0)
    assert [2, 4, 3, 1] == stage.numbers


def test_what_a_thread_has_begun_is_left_to_it():
    # GIVEN
    stage = Stage(may_repeat=False)
    stage.pool.run([work(1), work(2), work(3)])

    # WHEN
    stage.clock.seconds += 1
    stage.answer(1)
    stage.timers.run()

    # THEN
    assert ([1, 3], []) == (stage.at(0), stage.at(1))
    stage.forget()
    stage.pool.close()


def test_what_has_not_begun_can_be_withdrawn(stage):
    # GIVEN
    stage.pool.run([work(1, None), work(2, None), work(3, None)])

    # WHEN
    withdrawn = [stage.pool.withdraw(number) for number in (3, 3, 1)]
    stage.desks[0].gives_back = True

    # THEN
    assert [True, False, False] == withdrawn
    assert stage.pool.withdraw(1)
    assert ([], [2]) == (stage.at(0), stage.at(1))


def test_medium_calls_are_given_back_and_no_others(stage):
    # GIVEN
    stage.pool.run([work(1, None), work(2, None)])

    # WHEN
    stage.pool.run([work(3, None, medium=True), work(4, None)])

    # THEN
    assert (3, None) == (stage.pool.take_back(), stage.pool.take_back())


def test_the_last_core_is_not_given_medium_calls(stage):
    stage.pool._most_for_medium = 1

    stage.pool.run([work(number, None, medium=True) for number in (1, 2)])

    assert ([1], []) == (stage.at(0), stage.at(1))


def test_a_call_that_cannot_travel_is_refused_when_all_others_are_on_their_way(stage):
    # GIVEN
    refusal = stage.desks[0].refusal = Refusal("it does not pickle")
    sent = []
    stage.pool._deliver = lambda *told: sent.append((told, stage.at(1)))

    # WHEN
    stage.pool.run([work(1, None)])
    stage.desks[0].open = False
    stage.pool.run([work(2, None)])

    # THEN
    assert [((1, refusal), [])] == sent
    assert [2] == stage.at(1)


def test_without_workers_calls_are_refused(stage):
    stage.pool._workers.clear()

    stage.pool.run([work(1)])

    [(number, refusal)] = stage.told
    assert (1, "there are no workers") == (number, refusal.reason)


# Snapshots


def test_a_snapshot_is_open_until_the_answer_is_there(stage):
    # GIVEN
    version = committed.version
    stage.pool.run([work(1), work(2)])
    committed.install([])

    # WHEN
    stage.answer(0)

    # THEN the answer's own is the engine's to close
    assert {version: 2} == committed._snapshots
    stage.forget()
    assert {version: 1} == committed._snapshots


def test_an_attempt_may_read_a_newer_version_than_that_of_its_assignment(stage):
    # GIVEN
    stage.pool.run([work(1)])
    newer = committed.install([])

    # WHEN
    stage.answer(0, Outcome(newer))

    # THEN
    assert {newer: 1} == committed._snapshots


def test_a_refusal_keeps_no_snapshot(stage):
    stage.pool.run([work(1)])

    stage.answer(0, Refusal("it uses the loop"))

    assert {} == committed._snapshots


# Timeouts and deaths


def test_a_call_that_takes_too_long_is_answered_and_cancelled(stage):
    # GIVEN
    stage.pool.run([work(1, timeout=5.0)])

    # WHEN
    stage.clock.seconds += 5
    stage.pool._look()

    # THEN
    [(number, outcome)] = stage.told
    assert 1 == number
    assert isinstance(outcome.error, TxTimeoutError)
    assert "label exceeded its 5 s timeout; it was ended" == str(outcome.error)
    assert ["label exceeded its 5 s timeout"] == stage.desks[0].cancelled
    stage.pool._look()
    assert 1 == len(stage.desks[0].cancelled), "once"


def test_one_whose_answer_is_on_its_way_is_not_late(stage):
    # GIVEN
    stage.pool.run([work(1, timeout=5.0)])
    stage.desks[0].ending = None

    # WHEN
    stage.clock.seconds += 5
    stage.pool._look()

    # THEN
    assert [] == stage.told
    stage.answer(0)
    assert [1] == stage.numbers


def test_of_a_worker_that_is_lost_by_a_timeout_the_rest_runs_elsewhere(stage):
    # GIVEN
    stage.pool.run([work(1, timeout=5.0), work(2), work(3), work(4)])

    # WHEN
    stage.desks[0].lost, stage.desks[0].open = True, False
    stage.clock.seconds += 5
    stage.pool._look()
    for _ in range(3):
        stage.answer(1)

    # THEN
    assert [] == stage.at(0)
    assert [1, 2, 4, 3] == stage.numbers


def test_a_look_is_planned_for_the_first_timeout_even_if_a_later_one_was(stage):
    # GIVEN
    stage.desks[0].needs_look = True
    stage.pool.run([work(1, timeout=60.0)])
    planned = [delay for delay, *_ in stage.timers.later]

    # WHEN
    stage.pool.run([work(2, timeout=0.1), work(3, timeout=0.0), work(4, timeout=0.2)])

    # THEN
    planned = [delay for delay, callback, _ in stage.timers.later]
    assert [0.25, 0.1, 0.001] == [one for one in planned if one != 0.005]


def test_the_one_look_that_is_left_plans_the_next(stage):
    # GIVEN
    stage.pool.run([work(1, timeout=60.0), work(2, timeout=0.1)])
    assert 2 == len(stage.timers.later)

    # WHEN
    stage.timers.run()

    # THEN
    assert [0.1] == [delay for delay, *_ in stage.timers.later]
    stage.answer(0)
    stage.answer(1)
    stage.timers.run()
    assert ([], math.inf) == (stage.timers.later, stage.pool._look_due)


def die(stage, desk):
    """Let a worker die, and another one take its place."""
    dead = stage.desks[desk]
    stage.pool._workers.remove(dead)
    stage.desks[desk] = Desk(dead.place, stage.clock, dead.may_repeat)
    stage.pool._workers.append(stage.desks[desk])
    again = stage.pool.lose(dead, f"worker {dead.place}: it fell")
    stage.pool.feed()
    return [one.number for one in again]


def test_what_a_dead_worker_has_left_runs_again(stage):
    # GIVEN
    stage.pool.run([work(number) for number in (1, 2, 3, 4)])

    # WHEN
    again = die(stage, 0)

    # THEN
    assert [1, 3] == again
    assert ([1, 3], [2, 4]) == (stage.at(0), stage.at(1))


def test_a_call_that_has_ended_too_many_workers_is_given_up(stage):
    # GIVEN
    stage.desks[1].open = False
    stage.pool.run([work(1), work(2)])

    # WHEN
    deaths = [die(stage, 0) for _ in range(3)]

    # THEN the other one is not to blame, and what is given up runs nowhere
    assert [[1, 2], [1, 2], [2]] == deaths
    [(number, outcome)] = stage.told
    assert 1 == number
    assert isinstance(outcome.error, TxWorkerError)
    assert str(outcome.error) == (
        "3 workers died while they ran label; it is not run again: "
        + "; ".join(["worker 1: it fell"] * 3)
    )
    assert outcome.body_seconds >= 1
    assert [2] == stage.at(0)


def test_closed_it_delivers_nothing_and_keeps_nothing(stage):
    # GIVEN
    stage.pool.run([work(number) for number in range(1, 9)])
    desk = stage.desks[0]

    # WHEN
    stage.pool.close()

    # THEN
    assert ([], {}, {}) == (stage.told, desk.assigned, committed._snapshots)
    stage.timers.run()
    assert [] == stage.told
