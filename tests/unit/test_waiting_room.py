"""The waiting room: its timers, and what it tells the transactions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from txloop import TVar
from txloop.engine.profile import Profile
from txloop.engine.transaction import Transaction
from txloop.engine.waiting import WaitingRoom
from txloop.stm.store import committed
from txloop.stm.types import Call, Key, Retry

DAY_SECONDS = 24 * 3600


@dataclass
class FakeTimer:
    """A timer that rings when the test says so."""

    seconds: float
    callback: Any
    arguments: tuple[Any, ...]
    cancelled: bool = False

    def cancel(self):
        self.cancelled = True

    def ring(self):
        assert not self.cancelled
        self.callback(*self.arguments)


class FakeLoop:
    """Keeps what it is asked to call."""

    def __init__(self):
        self.soon: list[Any] = []
        self.timers: list[FakeTimer] = []
        self.closed = False

    def call_soon(self, callback, *arguments, context=None):
        if self.closed:
            raise RuntimeError("Event loop is closed")
        self.soon.append(callback)

    def call_later(self, delay, callback, *arguments):
        self.timers.append(FakeTimer(delay, callback, arguments))
        return self.timers[-1]


@pytest.fixture
def loop():
    return FakeLoop()


@pytest.fixture
def late():
    return list[Transaction]()


@pytest.fixture
def room(loop, late):
    followers = list(committed.followers)
    room = WaitingRoom(committed, loop, lambda: late.append(None), late.append)
    yield room
    room.clear()
    assert followers == committed.followers


def transaction(number=1):
    return Transaction(number, Call(print), Profile("label"), lambda *_: None)


def reading(variable, timeout_seconds=None):
    cell = (variable._tx_number, Key.VALUE)
    return Retry(committed.version, frozenset({cell}), frozenset(), timeout_seconds)


def test_without_a_timeout_there_is_no_timer(room, loop):
    room.enter(transaction(), reading(TVar(0)))

    assert (1, 1, []) == (len(room), room.patient, loop.timers)


def test_when_its_timer_rings_it_has_waited_long_enough(room, loop, late):
    """Whatever the clocks say: or it would wait again."""
    # GIVEN
    one = transaction()
    room.enter(one, reading(TVar(0), 100.0))

    # WHEN
    loop.timers[0].ring()

    # THEN
    assert ([one], 0) == (late, len(room))
    assert 100.0 == one.waited_seconds
    assert 0 < loop.timers[0].seconds <= 100


def test_a_wake_up_stops_the_timer(room, loop):
    # GIVEN
    variable, one = TVar(0), transaction()
    room.enter(one, reading(variable, 100.0))

    # WHEN
    variable.value = 1
    woken = room.wake(lambda _: 1)

    # THEN
    assert ([one], True) == (woken, loop.timers[0].cancelled)
    assert 0 <= one.waited_seconds < 60


def test_the_second_wait_ends_when_the_first_would_have(room, loop):
    # GIVEN
    variable, one = TVar(0), transaction()
    room.enter(one, reading(variable, 100.0))
    assert one.waiting_since is not None
    one.waiting_since -= 40
    variable.value = 1
    room.wake(lambda _: 1)

    # WHEN
    room.ended(one)
    room.enter(one, reading(variable, 100.0))

    # THEN
    waited, waits = one.waited_seconds, loop.timers[1].seconds
    assert 40 <= waited
    assert 0 < waits <= 100 - waited


def test_a_timer_runs_for_a_day_at_most(room, loop, late):
    """Event loops do not take any number of seconds."""
    # GIVEN
    one = transaction()
    room.enter(one, reading(TVar(0), 2.5 * DAY_SECONDS))

    # WHEN
    for number in range(3):
        assert ([], 1) == (late, len(room))
        assert one.waiting_since is not None
        one.waiting_since -= loop.timers[number].seconds
        loop.timers[number].ring()

    # THEN
    assert ([one], 3) == (late, len(loop.timers))
    assert [DAY_SECONDS, DAY_SECONDS] == [one.seconds for one in loop.timers[:2]]
    assert loop.timers[2].seconds <= DAY_SECONDS / 2


def test_at_the_end_all_timeouts_pass_at_once(room, loop, late):
    # GIVEN
    impatient, patient, newcomer = map(transaction, range(3))
    room.enter(impatient, reading(TVar(0), 100.0))
    room.enter(patient, reading(TVar(0)))

    # WHEN
    room.hurry()
    room.enter(newcomer, reading(TVar(0), 100.0))
    assert (3, 1) == (len(room), room.patient)
    for timer in loop.timers[1:]:
        assert 0.0 == timer.seconds
        timer.ring()

    # THEN
    assert [impatient, newcomer] == late
    assert [math.inf] * 2 == [one.waited_seconds for one in late]
    assert loop.timers[0].cancelled


def test_changes_are_looked_at_once_per_iteration(room, loop, late):
    # GIVEN
    variable = TVar(0)
    room.enter(transaction(), reading(variable))

    # WHEN
    variable.value = 1
    variable.value = 2
    (look,) = loop.soon
    look()
    variable.value = 3

    # THEN
    assert [None] == late
    assert 2 == len(loop.soon)


def test_on_a_closed_loop_nobody_waits(room, loop):
    # GIVEN
    variable = TVar(0)
    room.enter(transaction(), reading(variable, 100.0))

    # WHEN
    loop.closed = True
    variable.value = 1

    # THEN
    assert (0, False) == (len(room), room.changed)
    assert loop.timers[0].cancelled
