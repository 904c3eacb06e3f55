"""The handover: who gets which call, who waits for whom, who is woken."""

from __future__ import annotations

import threading
import time

import pytest

from txloop.errors import BecomeInevitable
from txloop.executors.protocol import Work
from txloop.executors.threads.handover import Handover
from txloop.stm.attempt import Attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome


def work(number, estimate=1e-5, urgent=False, label="label"):
    return Work(number, Call(len, label=label), estimate, urgent)


def answer():
    return Outcome(committed.version)


@pytest.fixture
def handover():
    return Handover(2)


def take(handover, worker=1, done=None):
    """Take a call that is there, as a worker does."""
    found = handover.exchange(worker, done, None if done is None else answer())
    assert found is not None
    return found


def numbers(assignments):
    return [one.work.number for one in assignments]


def test_calls_are_taken_in_turn_and_urgent_ones_first(handover):
    # GIVEN
    handover.put([work(1), work(2), work(3, label="other"), work(4, urgent=True)])

    # WHEN
    taken = [take(handover) for _ in range(4)]

    # THEN
    assert [4, 1, 3, 2] == numbers(taken)
    assert taken == handover.running()


def test_answers_are_collected_once_and_ring_once(handover):
    # GIVEN
    rings = []
    handover.ring = lambda: rings.append(threading.get_ident())
    handover.put([work(1), work(2), work(3)])
    first = take(handover, 1)
    second = take(handover, 1, first)
    take(handover, 1, second)

    # WHEN
    collected = handover.collect()

    # THEN
    assert [1, 2] == numbers(one for one, _ in collected)
    assert [] == handover.collect()
    assert 1 == len(rings)


def test_it_rings_again_after_it_was_collected(handover):
    # GIVEN
    rings = []
    handover.ring = lambda: rings.append(1)
    handover.put([work(1), work(2), work(3)])
    first = take(handover)
    second = take(handover, 1, first)
    handover.collect()

    # WHEN
    take(handover, 1, second)

    # THEN
    assert [1, 1] == rings


def wait_for_call(handover, done=None):
    """Let another worker ask, which has to wait; return what it will get."""
    found = []

    def ask():
        found.append(handover.exchange(2, done, None if done is None else answer()))

    thread = threading.Thread(target=ask)
    before = handover._idle
    thread.start()
    while handover._idle == before and thread.is_alive():
        time.sleep(0.0005)
    return found, thread


def test_what_conflicts_waits_until_answers_are_settled(handover):
    """Or it would run at a version that is about to be replaced."""
    # GIVEN both workers have answered, and nothing was decided yet
    handover.put([work(1), work(2), work(3, estimate=None)])
    first, second = take(handover, 1), take(handover, 2)
    found, thread = wait_for_call(handover, second)
    others, other_thread = wait_for_call(handover, first)
    assert ([], []) == (found, others)

    # WHEN
    handover.collect()
    handover.settled(2)
    assert 2 == handover._idle
    handover.settled(1)

    # THEN one of them gets it
    while handover._idle == 2:
        time.sleep(0.0005)
    handover.put([work(4)])
    thread.join()
    other_thread.join()
    assert [3, 4] == sorted(numbers(found + others))


def test_a_new_call_wakes_one_worker(handover):
    # GIVEN
    found, thread = wait_for_call(handover)
    others, other_thread = wait_for_call(handover)
    assert 2 == handover._idle

    # WHEN
    handover.put([work(1)])
    idle = handover._idle
    while not (found or others):
        time.sleep(0.0005)

    # THEN
    assert 1 == idle
    assert [1] == numbers(handover.close())
    thread.join()
    other_thread.join()
    assert 1 == (found + others).count(None)


def test_what_was_withdrawn_is_not_taken(handover):
    # GIVEN
    handover.put([work(1), work(2)])

    # WHEN
    withdrawn = handover.withdraw(1)

    # THEN
    assert withdrawn
    assert 2 == take(handover).work.number
    assert not handover.withdraw(2)


def test_the_oldest_version_is_that_of_what_runs_or_waits(handover):
    # GIVEN
    assert handover.oldest() is None
    version = committed.version
    handover.put([work(1)])
    assert version == handover.oldest()
    running = take(handover)

    # WHEN
    committed.install([])
    handover.put([work(2)])

    # THEN
    assert version == handover.oldest()
    take(handover, 1, running)
    assert version == handover.oldest(), "that of the answer, until it is collected"
    handover.collect()
    assert version + 1 == handover.oldest()


def test_what_was_answered_cannot_be_condemned(handover):
    # GIVEN
    handover.put([work(1), work(2)])
    first = take(handover)
    take(handover, 1, first)

    # THEN
    assert not handover.condemn(first)
    assert [1] == numbers(one for one, _ in handover.collect())


def test_the_worker_of_a_condemned_call_leaves(handover):
    # GIVEN
    handover.put([work(1), work(2)])
    first = take(handover)

    # WHEN
    condemned = handover.condemn(first)

    # THEN
    assert condemned
    assert handover.exchange(1, first, answer()) is None
    assert [] == handover.collect()


@pytest.mark.parametrize("begun", [False, True])
def test_a_condemned_attempt_can_read_nothing_more(handover, begun):
    # GIVEN
    handover.put([work(1)])
    assignment, attempt = take(handover), Attempt(committed.version, True)
    if begun:
        handover.begin(assignment, attempt)

    # WHEN
    handover.condemn(assignment)
    if not begun:
        handover.begin(assignment, attempt)

    # THEN
    with pytest.raises(BecomeInevitable):
        attempt.values.add((1, "x"))
    with pytest.raises(BecomeInevitable):
        attempt.presences.add((1, "x"))


def test_closed_it_gives_up_what_runs_and_lets_workers_go(handover):
    # GIVEN
    handover.put([work(1), work(2), work(3)])
    first, second = take(handover, 1), take(handover, 2)

    # WHEN
    left = handover.close()

    # THEN
    assert [first, second] == left
    assert handover.exchange(1, first, answer()) is None
    assert handover.exchange(2, None, None) is None


def test_no_answer_is_left_behind_by_those_who_are_about_to_give_one(handover):
    # GIVEN a worker that answers as soon as another thread lets it
    handover.put([work(1)])
    first = take(handover)
    tries = []
    handover._lock = Door(
        handover._lock, lambda: tries.append(handover.exchange(1, first, answer()))
    )

    # WHEN
    left = handover.close()

    # THEN
    assert [None] == tries, "there is no next call either"
    assert [first] == left
    assert ([], None) == (handover.collect(), handover.oldest())


class Door:
    """A lock at whose first release something happens that waited for it."""

    def __init__(self, lock, when_free):
        self.lock = lock
        self.waiting = [when_free]

    def __enter__(self):
        return self.lock.__enter__()

    def __exit__(self, *error):
        self.lock.__exit__(*error)
        while self.waiting:
            self.waiting.pop()()
