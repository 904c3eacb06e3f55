"""Calls that wait for a worker take turns by function."""

from __future__ import annotations

import pytest

from txloop.executors.base import Work
from txloop.executors.fair_queue import FairQueue
from txloop.types import Call


def work(number, label):
    return Work(number, Call(print, label=label))


def taken(queue):
    numbers = []
    while queue:
        expected = queue.peek()
        assert expected is queue.pop()
        numbers.append(expected.number)
    return numbers


@pytest.fixture
def queue():
    return FairQueue()


def test_calls_of_one_function_keep_their_order(queue):
    queue.extend([work(1, "a"), work(2, "a"), work(3, "a")])

    assert [1, 2, 3] == taken(queue)


def test_a_flood_of_one_function_does_not_keep_others_waiting(queue):
    # GIVEN
    for number in range(100):
        queue.append(work(number, "flood"))

    # WHEN
    queue.append(work(100, "b"))
    queue.append(work(101, "b"))
    queue.append(work(102, "c"))

    # THEN
    assert [0, 100, 102, 1, 101, 2, 3] == taken(queue)[:7]


def test_a_function_cannot_get_ahead_by_coming_one_by_one(queue):
    # GIVEN
    queue.extend([work(1, "a"), work(2, "a"), work(3, "b"), work(4, "b")])

    # WHEN
    numbers = [queue.pop().number]
    queue.append(work(5, "c"))
    numbers += [queue.pop().number, queue.pop().number]
    queue.append(work(6, "b"))

    # THEN
    assert [1, 3, 2, 5, 4, 6] == [*numbers, *taken(queue)]


def test_what_comes_back_goes_first(queue):
    # GIVEN
    queue.extend([work(1, "a"), work(2, "b")])

    # WHEN
    queue.push_first([work(3, "a"), work(4, "a")])
    queue.push_first([work(5, "b")])

    # THEN
    assert (5, {1, 2, 3, 4, 5}) == (len(queue), {one.number for one in queue})
    assert [5, 3, 4, 1, 2] == taken(queue)


def test_it_can_be_cleared(queue):
    queue.extend([work(1, "a")])
    queue.push_first([work(2, "a")])

    queue.clear()

    assert ([], 0, False) == (taken(queue), len(queue), bool(queue))


def test_a_call_can_be_taken_out_wherever_it_is(queue):
    # GIVEN
    queue.extend([work(1, "a"), work(2, "a"), work(3, "b")])
    queue.push_first([work(4, "c")])

    # THEN
    assert [True, True, True, False, False] == [
        queue.remove(number) for number in (2, 3, 4, 4, 9)
    ]
    assert [1] == taken(queue)
    assert not queue.remove(1)
