"""Calls that wait for a worker take turns by function, and by what they take."""

from __future__ import annotations

import pytest

from txloop.executors.book import FairQueue
from txloop.executors.protocol import Work
from txloop.stm.types import Call


def work(number, label, seconds=None):
    return Work(number, Call(print, label=label), estimate_seconds=seconds)


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
    assert [1, 3, 5, 2, 4, 6] == [*numbers, *taken(queue)]


def test_short_calls_do_not_wait_for_a_long_one_each(queue):
    # GIVEN
    queue.extend([work(number, "long", 0.1) for number in range(3)])
    queue.extend([work(number, "short", 0.001) for number in range(10, 160)])

    # THEN
    order = taken(queue)
    places = [order.index(number) for number in range(3)]
    assert [0, 101, 152] == places
    assert list(range(10, 160)) == [number for number in order if number >= 10]


def test_what_costs_nothing_leaves_time_for_others(queue):
    # GIVEN
    queue.extend([work(number, "free", 0.0) for number in range(10, 100)])
    queue.extend([work(number, "short", 0.001) for number in range(3)])

    # THEN
    order = taken(queue)
    assert order.index(2) < 20


def test_who_was_away_does_not_get_the_time_back(queue):
    # GIVEN
    queue.append(work(0, "away", 1.0))
    queue.append(work(1, "busy", 1.0))
    assert [0, 1] == taken(queue)
    queue.extend([work(number, "busy", 1.0) for number in range(2, 12)])
    numbers = [queue.pop().number for _ in range(5)]

    # WHEN
    queue.extend([work(number, "away", 1.0) for number in range(20, 23)])

    # THEN
    assert [2, 3, 4, 5, 6, 20, 7, 21, 8] == [*numbers, *taken(queue)][:9]


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
