"""The contents of a container at every open snapshot, whatever is committed meanwhile.

What the store keeps of old versions is compared to a list of all versions there were.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.unit.stores import Box, contents, versions
from txloop import TObject
from txloop.stm.container import Clear, Update
from txloop.stm.store import Store, committed
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Entry, row_of

STEPS = {"set": 3, "delete": 2, "many": 1, "clear": 1, "open": 2, "close": 3}
KEYS = [1, True, 1.0, "a", "b", "c", "d"]


@dataclass
class Model:
    """What the box held at each version, as plain dicts."""

    history: list[dict[Any, Any]] = field(default_factory=lambda: [{}])

    def commit(self, writes):
        state = dict(self.history[-1])
        for key, value in writes:
            if value is MISSING:
                state.pop(key, None)
            else:
                state[key] = value
        self.history.append(state)

    def changed(self, key, presence, snapshot):
        """Return the newest version after a snapshot that changed a key, or 0.

        A key that was deleted and inserted again has changed, though it is there.
        """
        return max(
            (
                version
                for version in range(snapshot + 1, len(self.history))
                if self._written(key, presence, version)
            ),
            default=0,
        )

    def _written(self, key, presence, version):
        before, after = self.history[version - 1], self.history[version]
        if presence:
            return (key in before) != (key in after)
        return before.get(key, MISSING) is not after.get(key, MISSING)


class Run:
    """A store, a box and a model that see the same commits."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.store, self.box, self.model = Store(), Box(), Model()
        self.store.adopt(self.box)
        self.snapshots: list[int] = []

    def step(self):
        (what,) = self.chance.choices([*STEPS], [*STEPS.values()])
        getattr(self, what)()
        self.check()

    def set(self):
        self._write([(self._key(), object())])

    def delete(self):
        self._write([(self._key(), MISSING)])

    def many(self):
        items: dict[Any, Any] = {self._key(): object() for _ in range(4)}
        self.store.install([(self.box, Key.ALL, Update(items))])
        self.model.commit(items.items())

    def clear(self):
        if self.chance.random() < 0.2:
            gone = list(self.model.history[-1])
            self.store.install([(self.box, Key.ALL, Clear())])
            self.model.commit([(key, MISSING) for key in gone])

    def open(self):
        self.snapshots.append(self.store.open_snapshot())

    def close(self):
        if self.snapshots:
            place = self.chance.randrange(len(self.snapshots))
            self.store.close_snapshot(self.snapshots.pop(place))

    def _key(self):
        return self.chance.choice(KEYS)

    def _write(self, writes):
        self.store.install([(self.box, *write) for write in writes])
        self.model.commit(writes)

    def check(self):
        for version in {*self.snapshots, self.store.version}:
            expected = self.model.history[version]
            found = dict(contents(self.store, self.box, version))
            assert repr(list(expected.items())) == repr(list(found.items()))
            assert len(expected) == self.store.size_at(self.box, version)
            for key in KEYS:
                value = self.store.read_at(self.box, key, version)
                assert expected.get(key, MISSING) is value
        for snapshot in self.snapshots:
            for key in KEYS:
                self._check_changes(key, snapshot)

    def _check_changes(self, key, snapshot):
        number = self.box._tx_number
        changed = self.model.changed(key, False, snapshot)
        assert changed == self.store.changed_since(number, key, False, snapshot)
        came_or_went = self.model.changed(key, True, snapshot)
        told = self.store.changed_since(number, key, True, snapshot)
        assert came_or_went == told


@pytest.mark.parametrize("seed", range(60))
def test_every_open_snapshot_shows_what_there_was(seed):
    run = Run(seed)
    for _ in range(120):
        run.step()

    # THEN nothing is kept when nobody can look at it any more
    while run.snapshots:
        run.close()
    run.check()
    assert not run.store._superseded
    for key, cell in run.box._tx_cells.items():
        assert type(cell) is not Entry or versions(run.box, key) != [], key
        assert type(cell) is not Entry or cell.older is MISSING


def test_what_no_snapshot_can_see_change_is_a_plain_dict(store, box):
    # WHEN
    store.install([(box, key, 0) for key in "abc"])
    store.install([(box, "b", 1), (box, "a", MISSING), (box, "a", 2)])
    store.install([(box, Key.ALL, Update({"c": 3, "d": 4}))])

    # THEN
    assert [("b", 1), ("c", 3), ("a", 2), ("d", 4)] == list(box._tx_cells.items())
    assert 4 == box._tx_size


def test_a_key_that_comes_back_leaves_no_trace_in_an_empty_container(store, box):
    # GIVEN
    store.install([(box, "a", 0), (box, "b", 0)])
    snapshot = store.open_snapshot()
    store.install([(box, "a", MISSING)])
    store.install([(box, "a", 1)])
    store.close_snapshot(snapshot)

    # WHEN
    store.install([(box, Key.ALL, Clear())])
    store.install([(box, "new", 1)])

    # THEN
    assert {"new": 1} == box._tx_cells


def test_many_cells_are_one_write_to_followers(store, box):
    # GIVEN
    told = []

    class Follower:
        hears_births = True

        def installed(self, version, writes, direct):
            told.append((version, writes))

        def dropped(self, number):
            pass

    store.followers.append(Follower())
    many = Update({"a": 1, "b": 2})

    # WHEN
    store.install([(box, Key.ALL, many)])

    # THEN
    assert [(1, [(box, Key.ALL, many)])] == told


def test_a_row_acts_as_a_dict():
    # GIVEN
    row = row_of(["x", "y"])(row_of(["x", "y"]).empty)

    # WHEN
    row["y"] = 1
    row["x"] = 2
    del row["y"]

    # THEN
    assert {"x": 2} == row.copy()
    assert (2, MISSING, None) == (
        row.get("x", None),
        row.get("y", None),
        row.get("z", None),
    )
    row.clear()
    assert {} == row.copy()


class Racing(dict[Any, Any]):
    """Cells of which a thread makes a copy, while the owner does something else."""

    before: Any = None
    after: Any = None

    def copy(self) -> Any:
        if self.before is not None:
            self.before()
        copied = dict(self)
        if self.after is not None:
            self.after()
        return copied


def test_a_commit_just_before_the_copy_is_not_seen_at_an_older_snapshot(store, box):
    # GIVEN
    store.install([(box, "a", 1)])
    snapshot = store.open_snapshot()
    cells = box._tx_cells = Racing(box._tx_cells)

    # WHEN
    cells.before = lambda: store.install([(box, "a", 2), (box, "b", 2)])

    # THEN
    assert {"a": 1} == store.contents_at(box, snapshot)


def test_values_that_are_settled_just_after_the_copy_are_shown_as_values(store, box):
    """A thread that runs no attempt reads the newest values."""
    # GIVEN
    store.install([(box, "a", 1)])
    snapshot = store.open_snapshot()
    store.install([(box, "a", 2)])
    cells = box._tx_cells = Racing(box._tx_cells)

    # WHEN
    cells.after = lambda: store.close_snapshot(snapshot)

    # THEN
    assert {"a": 2} == store.contents_at(box, store.version)


def test_what_has_not_changed_since_the_oldest_snapshot_is_copied_as_it_is(store):
    """Also while others change, and while a snapshot is open that reads these."""
    # GIVEN
    still, busy = Box(), Box()
    for one in (still, busy):
        store.adopt(one)
        store.install([(one, "a", 1)])
    snapshot = store.open_snapshot()
    store.install([(busy, "a", 2)])

    # THEN
    copied = still._tx_cells.copy()
    box_of_it = still._tx_cells = Racing(still._tx_cells)
    box_of_it.copy = lambda: copied  # type: ignore[method-assign]
    assert copied is store.contents_at(still, snapshot)
    assert copied is store.contents_at(still, store.version)
    assert {"a": 1} == store.contents_at(busy, snapshot)


@pytest.mark.parametrize("keep", [False, True])
def test_an_update_and_a_clear_of_many_are_commits_like_others(store, box, keep):
    # GIVEN
    store.install([(box, key, 0) for key in "abc"])
    snapshot = store.open_snapshot() if keep else None

    # WHEN
    store.install([(box, Key.ALL, Update({"b": 1, "d": 1})), (box, "a", MISSING)])
    updated = contents(store, box)
    store.install([(box, Key.ALL, Clear()), (box, "c", 2)])

    # THEN
    assert [("b", 1), ("c", 0), ("d", 1)] == updated
    assert [("c", 2)] == contents(store, box)
    assert 1 == store.size_at(box, store.version)
    if snapshot is not None:
        assert [(key, 0) for key in "abc"] == contents(store, box, snapshot)
        assert 3 == store.size_at(box, snapshot)
        changes = [store.changed_since(box._tx_number, key, False, 1) for key in "abcd"]
        assert [2, 3, 3, 3] == changes  # a was gone when all went
        store.close_snapshot(snapshot)
    assert [("c", 2)] == contents(store, box)


def test_clearing_what_is_empty_is_no_change(store, box):
    # GIVEN
    store.install([(box, "a", 0)])
    store.install([(box, "a", MISSING)])

    # WHEN
    store.install([(box, Key.ALL, Clear())])

    # THEN
    assert (2, 2) == (box._tx_changed, box._tx_resized)


class Pair(TObject):
    a: int
    b: int


def test_the_cells_of_an_object_are_written_at_once_only_where_there_are_none():
    # GIVEN one that a replica has just heard of
    pair = Pair.__new__(Pair)
    committed.adopt(pair)

    def install(items):
        committed.install([(pair, Key.ALL, Update(items))])
        return pair._tx_size, pair._tx_resized == committed.version, vars(pair)

    # THEN
    assert (2, True, {"a": 1, "b": 2}) == install({"a": 1, "b": 2})
    assert (2, False, {"a": 3, "b": 2}) == install({"a": 3})

    # WHEN a snapshot still reads what was there
    snapshot = committed.open_snapshot()
    del pair.a, pair.b
    last = committed.open_snapshot()
    committed.close_snapshot(snapshot)

    # THEN
    assert (1, True, {"b": 4}) == install({"b": 4})
    assert {} == committed.contents_at(pair, last)
    committed.close_snapshot(last)
    assert {"b": 4} == committed.contents_at(pair, committed.version)
