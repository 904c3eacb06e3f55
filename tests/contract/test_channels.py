"""Channels: in at one end, out at the other, once; and those who wait at either."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading

import pytest

from tests.contract.waiting import until_waiting
from tests.engine import on, running
from txloop import Channel, TDict, TxConfigurationError, TxError, TxValueError, or_else
from txloop.engine.events import Woken


def drained(channel):
    """Return everything that is left in it."""
    left = []
    while channel:
        left.append(channel.get())
    return left


# Between transactions


def test_things_come_out_in_the_order_in_which_they_went_in(engine):
    # GIVEN
    channel = Channel[int]()

    # WHEN
    for number in range(5):
        engine.run(channel.put, number)

    # THEN
    assert list(range(5)) == [engine.run(channel.get) for _ in range(5)]
    assert (0, False) == (len(channel), bool(channel))


def test_who_takes_waits_until_something_is_put_in(engine):
    # GIVEN
    channel = Channel[str]()
    result = engine.submit(channel.get)
    until_waiting(engine, 1)

    # WHEN
    engine.run(channel.put, "thing")
    engine.wait(result)

    # THEN
    assert "thing" == result.value


def test_who_puts_waits_until_there_is_room(engine):
    # GIVEN
    channel = Channel[str](capacity=2)
    results = [engine.submit(channel.put, one) for one in "abcd"]
    until_waiting(engine, 2)
    assert 2 == len(channel)

    # WHEN
    taken = [engine.run(channel.get) for _ in range(4)]
    engine.wait(*results)

    # THEN
    assert sorted("abcd") == sorted(map(str, taken))
    assert 0 == len(channel)


def test_who_came_first_is_served_first(engine):
    # GIVEN
    channel = Channel[int]()
    results = []
    for number in range(6):
        results.append(engine.submit(channel.get))
        until_waiting(engine, number + 1)

    # WHEN
    for number in range(6):
        channel.put(number)
    engine.wait(*results)

    # THEN
    assert list(range(6)) == [result.value for result in results]


@on("serial", "rehearsal")
def test_each_of_many_is_woken_once(engine):
    # GIVEN
    channel, count = Channel[int](), 300
    results = [engine.submit(channel.get) for _ in range(count)]
    until_waiting(engine, count)

    # WHEN
    for number in range(count):
        channel.put(number)
        engine.turn()
    engine.wait(*results)

    # THEN
    assert list(range(count)) == [result.value for result in results]
    assert count == sum(isinstance(event, Woken) for event in engine.events)


@pytest.mark.parametrize(("capacity", "verb"), [(None, "get"), (1, "put")])
def test_the_timeout_of_either_end(engine, capacity, verb):
    # GIVEN
    channel = Channel[int](capacity)
    arguments = (0.001,) if verb == "get" else (1, 0.001)
    if capacity:
        channel.put(0)

    # THEN
    with pytest.raises(TimeoutError, match=r"the channel is (full|empty) after 0.001"):
        engine.run(getattr(channel, verb), *arguments)
    assert len(channel) == (capacity or 0)


def test_a_transaction_that_fails_takes_and_puts_nothing(engine):
    # GIVEN
    channel = Channel[str]()
    channel.put("thing")

    def body():
        channel.get()
        channel.put("other")
        raise LookupError

    # WHEN
    with pytest.raises(LookupError):
        engine.run(body)

    # THEN
    assert ["thing"] == drained(channel)


def test_one_of_two_channels(engine):
    # GIVEN
    urgent, ordinary = Channel[str](), Channel[str]()

    def either():
        return or_else(urgent.get, ordinary.get)

    results = [engine.submit(either) for _ in range(2)]
    until_waiting(engine, 2)

    # WHEN
    engine.run(ordinary.put, "ordinary")
    engine.run(urgent.put, "urgent")
    engine.wait(*results)

    # THEN
    assert {"ordinary", "urgent"} == {result.value for result in results}


def test_a_chain_of_channels(engine):
    # GIVEN
    first, second, third = (Channel[int](capacity=1) for _ in range(3))

    def move(source, target):
        target.put(source.get() + 1)

    count = 5
    results = [engine.submit(move, first, second) for _ in range(count)]
    results += [engine.submit(move, second, third) for _ in range(count)]

    # WHEN
    results += [engine.submit(first.put, 10 * number) for number in range(count)]
    taken = [engine.submit(third.get) for _ in range(count)]
    engine.wait(*results, *taken)

    # THEN
    expected = [10 * number + 2 for number in range(count)]
    assert expected == sorted(result.value for result in taken)


def test_several_at_once(engine):
    # GIVEN
    channel = Channel[int](capacity=3)
    for number in range(3):
        channel.put(number)

    def body():
        taken = [channel.get() for _ in range(3)]
        for number in taken:
            channel.put(number + 10)
        return taken, len(channel)

    # THEN
    assert ([0, 1, 2], 3) == engine.run(body)
    assert [10, 11, 12] == drained(channel)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_ten_thousand_wait_at_once():
    """In little memory, and woken one after another."""
    with running("serial") as engine:
        channel, count = Channel[int](), 10_000
        before = resident_bytes()
        results = [engine.submit(channel.get) for _ in range(count)]
        until_waiting(engine, count)
        grown = resident_bytes() - before
        for number in range(count):
            channel.put(number)
        engine.until(lambda: not engine.dispatcher.pending)

    assert grown < 100e6
    assert list(range(count)) == [result.value for result in results]
    assert count == sum(isinstance(event, Woken) for event in engine.events)


def resident_bytes():
    """Return the memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# Conflicts


@on("scripted")
@pytest.mark.parametrize("capacity", [None, 16, 2000])
@pytest.mark.parametrize("count", [1, 5])
def test_who_puts_and_who_takes_do_not_conflict(engine, capacity, count):
    # GIVEN
    channel = Channel[int](capacity)
    for number in range(count):
        channel.put(number)
    results = []
    for function, *arguments in [(channel.put, 5), (channel.get,), (channel.put, 6)]:
        result, number = engine.send(function, *arguments)
        engine.scripted.begin(number)
        results.append(result)

    # WHEN
    for number in sorted(engine.scripted.begun, reverse=True):
        engine.scripted.finish(number)

    # THEN
    assert all(result.done for result in results)
    assert 0 == engine.aborts
    assert 0 == results[1].value
    assert {5, 6} == set(drained(channel)[-2:])


@on("scripted")
def test_the_last_room_is_given_once(engine):
    # GIVEN
    channel = Channel[int](capacity=2)
    channel.put(0)
    for number in (1, 2):
        engine.scripted.begin(engine.send(channel.put, number)[1])

    # WHEN
    engine.scripted.run_all()

    # THEN
    assert 2 == len(channel)
    assert 1 == engine.dispatcher.stats().waiting


@on("scripted")
def test_a_thing_is_given_once(engine):
    # GIVEN
    channel = Channel[int]()
    channel.put(1)
    results = []
    for _ in range(2):
        result, number = engine.send(channel.get)
        engine.scripted.begin(number)
        results.append(result)

    # WHEN
    engine.scripted.run_all()

    # THEN
    assert [True, False] == sorted((result.done for result in results), reverse=True)
    assert 1 == engine.dispatcher.stats().waiting


# Without transactions


def test_unmarked_code_uses_it_directly():
    # GIVEN
    channel = Channel[str](capacity=1)

    # WHEN
    channel.put("thing")

    # THEN
    with pytest.raises(TxError, match=r"is full, and only a .*atomically\(channel.put"):
        channel.put("other")
    assert "thing" == channel.get()
    with pytest.raises(TxError, match=r"is empty, and only .*atomically\(channel.get"):
        channel.get()


@pytest.mark.parametrize("capacity", [0, -1, 1.5, True, "1"])
def test_a_bad_capacity(capacity):
    with pytest.raises(TxConfigurationError, match="capacity must be a number from 1"):
        Channel[int](capacity)


def test_a_mutable_thing_is_refused():
    with pytest.raises(TxValueError, match="store bytes"):
        Channel[bytearray]().put(bytearray())


def test_it_is_the_same_one_wherever_it_is():
    # GIVEN
    channel, other = Channel[int](), Channel[int]()
    shared = TDict(jobs=channel)

    # THEN
    assert channel == shared["jobs"] == pickle.loads(pickle.dumps(channel))
    assert {channel: 1} == {pickle.loads(pickle.dumps(channel)): 1}
    assert channel != other
    assert channel != "channel"
    assert "Channel(capacity=None)" == repr(channel)


@on("processes", "threads")
def test_workers_use_the_same_one(engine):
    # GIVEN
    channel = Channel[int]()
    shared = TDict(jobs=channel)

    # WHEN
    result = engine.submit(put_pid, shared, profile=engine.short())
    engine.wait(result)

    # THEN
    assert threading.get_native_id() != channel.get()


def put_pid(shared):
    shared["jobs"].put(threading.get_native_id())


# Under the names of asyncio.Queue


def take_now(channel):
    return channel.get_nowait(), channel.qsize(), channel.empty(), channel.full()


def test_it_has_the_names_of_a_queue_for_what_does_not_wait(engine):
    # GIVEN
    channel = Channel[int](capacity=2)
    engine.run(channel.put_nowait, 1)
    channel.put_nowait(2)

    # WHEN
    full = engine.submit(channel.put_nowait, 3)
    engine.wait(full)
    found = [engine.run(take_now, channel) for _ in range(2)]
    empty = engine.submit(take_now, channel)
    engine.wait(empty)

    # THEN
    assert [(1, 1, False, False), (2, 0, True, False)] == found
    assert asyncio.QueueFull is type(full.error)
    assert asyncio.QueueEmpty is type(empty.error)
    assert (2, 0) == (channel.maxsize, Channel[int]().maxsize)
