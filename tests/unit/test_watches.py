"""Who is woken by which change: the index of waiting transactions, on its own."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from txloop import TDict, TList
from txloop.engine.wake_index import Watches
from txloop.stm.container import same_stamp
from txloop.stm.store import committed
from txloop.stm.types import Key, Retry


@contextmanager
def watching():
    """Give an empty index; afterwards nobody may follow the store."""
    followers = list(committed.followers)
    told = list[int]()
    watches = Watches(committed, lambda: told.append(len(told)))
    try:
        yield watches, told
    finally:
        watches.clear()
        assert followers == committed.followers


def reading(*values, presences=()):
    return Retry(committed.version, frozenset(values), frozenset(presences))


def one(_):
    return 1


def test_it_follows_the_store_only_while_somebody_waits():
    # GIVEN
    shared = TDict(a=1)
    with watching() as (watches, told):
        # WHEN
        shared["a"] = 2
        watches.enter(1, reading((shared._tx_number, "a")))
        shared["a"] = 3
        woken = watches.wake(one)
        shared["a"] = 4

        # THEN
        assert ([1], [0]) == (woken, told)
        assert watches not in committed.followers


def test_nothing_is_left_of_those_who_have_gone():
    # GIVEN
    shared = TDict(a=1, b=2)
    with watching() as (watches, _):
        for number in range(5):
            cells = [(shared._tx_number, key) for key in ("a", "b", Key.KEYS)]
            watches.enter(number, reading(*cells, presences=cells[:1]))

        # WHEN
        shared["a"] = 3
        woken = [watches.wake(one)[0]]
        for number in range(1, 5):
            watches.leave(number)
        watches.ended(0)

        # THEN
        assert [0] == woken
        assert ({}, {}, {}, {}) == (
            watches._watches,
            watches._places,
            watches._suspects,
            watches._awake,
        )


def test_those_who_would_see_the_same_again_are_passed_over():
    # GIVEN many who wait for an empty list, and one for something else in it
    items = TList[int]()
    with watching() as (watches, _):
        for number in range(1000):
            watches.enter(number, reading(presences=[(items._tx_number, 0)]))
        items.append(1)
        assert [0] == watches.wake(one)
        items.pop()

        # WHEN
        watches.ended(0)

        # THEN
        assert [] == watches.wake(one)
        items.append(2)
        assert [1] == watches.wake(one)


def test_who_saw_an_older_state_goes_first():
    # GIVEN
    shared = TDict(n=0)
    cell = (shared._tx_number, "n")
    with watching() as (watches, _):
        watches.enter(1, reading(cell))
        watches.enter(2, reading(cell))
        shared["n"] = 1
        assert [1] == watches.wake(one)

        # WHEN the first waits again, and it changes once more
        watches.ended(1)
        watches.enter(1, reading(cell))
        shared["n"] = 2

        # THEN
        assert [2] == watches.wake(one)
        watches.ended(2)
        assert [1] == watches.wake(one)


KEYS = ("a", "b")

# Few cells, so that many wait for the same one: a container's index and a key.
CELLS = [(index, key, False) for index in (0, 1) for key in (*KEYS, Key.KEYS, Key.ALL)]
CELLS += [(index, key, True) for index in (0, 1) for key in KEYS]

cells = st.one_of(
    st.sampled_from(CELLS).map(lambda cell: [cell]),
    st.lists(st.sampled_from(CELLS), max_size=3, unique=True),
)


class WatchesMachine(RuleBasedStateMachine):
    """Whatever happens, nobody sleeps who would see something new, unless others run.

    The model keeps for each sleeper the stamps that it took, and compares them all.
    """

    def __init__(self):
        super().__init__()
        self.shared = TDict(a=0)
        self.items = TList([1, 2])
        self.watches = Watches(committed, self.told)
        self.asleep: dict[int, list[tuple[Place, object]]] = {}
        self.awake: dict[int, list[Place]] = {}
        self.limit = 1
        self.number = 0

    def told(self):
        assert self.watches.changed

    @initialize(limit=st.integers(1, 2))
    def choose_limit(self, limit):
        self.limit = limit

    def place(self, cell):
        index, key, presence = cell
        if index == 0:
            return self.shared._tx_number, key, presence
        return self.items._tx_number, KEYS.index(key) if key in KEYS else key, presence

    def changed(self, number):
        return any(
            not same_stamp(stamp, committed.stamp(*place))
            for place, stamp in self.asleep[number]
        )

    @rule(cells=cells, count=st.integers(1, 3))
    def arrive(self, cells, count):
        for _ in range(count):
            self.number += 1
            self.wait(self.number, cells)

    def wait(self, number, cells):
        places = [self.place(cell) for cell in cells]
        values = [
            (container, key) for container, key, presence in places if not presence
        ]
        presences = [
            (container, key) for container, key, presence in places if presence
        ]
        self.watches.enter(number, reading(*values, presences=presences))
        self.asleep[number] = [(place, committed.stamp(*place)) for place in places]

    @rule(key=st.sampled_from(KEYS), value=st.integers(0, 3))
    def put(self, key, value):
        self.shared[key] = value

    @rule(key=st.sampled_from(KEYS))
    def delete(self, key):
        self.shared.pop(key, None)

    @rule(value=st.integers(0, 2))
    def append(self, value):
        self.items.append(value)

    @precondition(lambda self: self.items)
    @rule()
    def take(self):
        self.items.pop(0)

    @rule()
    def wake(self):
        fresh = {number for number in self.asleep if self.changed(number)}
        woken = self.watches.wake(lambda _: self.limit)
        assert sorted(woken) == woken
        assert set(woken) <= fresh, "woken by nothing"
        assert woken or not fresh or self.awake, "somebody was forgotten"
        for number in woken:
            self.awake[number] = [place for place, _ in self.asleep.pop(number)]
        self.check_limit()

    def check_limit(self):
        """Of those who wait for one cell only, no more are awake than asked for."""
        alone = [places[0] for places in self.awake.values() if len(places) == 1]
        assert all(alone.count(place) <= self.limit for place in alone)

    @precondition(lambda self: self.awake)
    @rule(data=st.data(), again=st.booleans(), cells=cells)
    def end(self, data, again, cells):
        number = data.draw(st.sampled_from(sorted(self.awake)))
        del self.awake[number]
        self.watches.ended(number)
        if again:
            self.wait(number, cells)

    @precondition(lambda self: self.asleep)
    @rule(data=st.data())
    def leave(self, data):
        number = data.draw(st.sampled_from(sorted(self.asleep)))
        del self.asleep[number]
        self.watches.leave(number)

    @invariant()
    def all_are_there(self):
        assert len(self.asleep) == len(self.watches)

    def teardown(self):
        try:
            for number in self.awake:
                self.watches.ended(number)
            self.wake_all()
        finally:
            self.watches.clear()
        assert {} == self.watches._watches
        assert self.watches not in committed.followers

    def wake_all(self):
        while any(self.changed(number) for number in self.asleep):
            woken = self.watches.wake(lambda _: self.limit)
            assert woken, "somebody was forgotten"
            for number in woken:
                del self.asleep[number]
                self.watches.ended(number)
        for number in self.asleep:
            self.watches.leave(number)
        assert {} == self.watches._watches


Place = tuple[int, object, bool]

WatchesMachine.TestCase.settings = settings(stateful_step_count=25)
TestWatches = pytest.mark.slow(WatchesMachine.TestCase)
