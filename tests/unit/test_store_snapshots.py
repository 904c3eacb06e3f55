"""What a store keeps for open snapshots, and what goes."""

from __future__ import annotations

from typing import Any

from tests.unit.stores import contents, versions
from txloop.stm.types import MISSING


def test_without_snapshots_nothing_old_is_kept(store, box):
    # WHEN
    for value in (1, 2, MISSING, 3, MISSING):
        store.install([(box, "k", value)])
    store.install([(box, "stays", 1)])
    store.install([(box, "stays", 2)])

    # THEN
    assert {"stays"} == box._tx_cells.keys()
    assert [] == versions(box, "stays")


def test_deleting_what_is_not_there_leaves_no_trace(store, box):
    # GIVEN
    store.open_snapshot()

    # WHEN
    store.install([(box, "k", MISSING)])

    # THEN
    assert {} == box._tx_cells


def test_closing_the_last_snapshot_lets_old_values_go(store, box):
    # GIVEN
    store.install([(box, key, 0) for key in ("set", "deleted", "reborn")])
    snapshot = store.open_snapshot()
    assert snapshot == store.open_snapshot()
    store.install([(box, "set", 1), (box, "deleted", 1), (box, "new", 1)])
    store.install([(box, "set", 2), (box, "deleted", MISSING)])
    store.install([(box, "reborn", MISSING)])
    store.install([(box, "reborn", 4)])
    assert [3, 2, 0] == versions(box, "set")

    # WHEN
    store.close_snapshot(snapshot)
    assert [3, 2, 0] == versions(box, "set")
    store.close_snapshot(snapshot)

    # THEN
    assert [("set", 2), ("new", 1), ("reborn", 4)] == contents(store, box)
    assert {"set", "new", "reborn"} == box._tx_cells.keys()
    # Only what came back keeps its place.
    assert [[], [], [5]] == [versions(box, key) for key, _ in contents(store, box)]
    assert not store._superseded


def test_a_key_that_comes_back_is_the_one_that_was_inserted_last(store, box):
    """Two that are equal need not look the same, in a page or in JSON."""
    # GIVEN
    store.install([(box, True, 0)])
    before = store.open_snapshot()

    # WHEN
    store.install([(box, 1, 1)])  # is there already: the key stays
    stays = store.open_snapshot()
    store.install([(box, 1, MISSING)])
    store.install([(box, 1, 2)])
    store.install([(box, True, 3)])

    # THEN
    assert ["[(True, 0)]", "[(True, 1)]", "[(1, 3)]"] == [
        repr(contents(store, box, version)) for version in (before, stays, None)
    ]
    store.close_snapshot(before)
    store.close_snapshot(stays)
    assert "[(1, 3)]" == repr(contents(store, box))


class Lasting(dict[Any, Any]):
    """A dict that notes down what is deleted from it."""

    def __init__(self, items):
        super().__init__(items)
        self.deleted: list[object] = []

    def __delitem__(self, key):
        self.deleted.append(key)
        super().__delitem__(key)


def test_a_key_that_comes_back_is_never_missing_for_older_readers(store, box):
    """Other threads may read at that very moment."""
    # GIVEN
    store.install([(box, key, 0) for key in ("before", "k", "after")])
    snapshot = store.open_snapshot()
    box._tx_cells = entries = Lasting(box._tx_cells)

    # WHEN
    store.install([(box, "k", MISSING)])
    store.install([(box, "k", 1)])

    # THEN
    assert [] == entries.deleted
    assert [("before", 0), ("k", 0), ("after", 0)] == contents(store, box, snapshot)
    assert [("before", 0), ("after", 0), ("k", 1)] == contents(store, box)
    store.close_snapshot(snapshot)
    assert [("before", 0), ("after", 0), ("k", 1)] == contents(store, box)


def test_the_size_is_that_of_the_version_whatever_is_committed_meanwhile(store, box):
    # GIVEN
    store.install([(box, "k", 1)])
    snapshot = store.open_snapshot()
    sizes = []

    # WHEN the owner is in the middle of a commit
    class Watched(dict[Any, Any]):
        def __setitem__(self, key, value):
            sizes.append(store.size_at(box, snapshot))
            super().__setitem__(key, value)
            sizes.append(store.size_at(box, snapshot))

    box._tx_cells = Watched(box._tx_cells)
    store.install([(box, "new", 1), (box, "k", MISSING), (box, "newer", 1)])

    # THEN
    assert [1] * 6 == sizes
    store.close_snapshot(snapshot)


def test_a_snapshot_can_be_opened_at_an_older_version_that_is_open(store, box):
    # GIVEN
    store.install([(box, "k", 1)])
    first = store.open_snapshot()
    store.install([(box, "k", 2)])
    newest = store.open_snapshot()

    # WHEN
    assert first == store.open_snapshot(first)
    store.close_snapshot(first)
    store.install([(box, "k", 3)])
    store.close_snapshot(newest)

    # THEN
    assert 1 == store.read_at(box, "k", first)
    store.close_snapshot(first)
    assert [] == versions(box, "k")


def test_values_go_as_far_as_the_oldest_snapshot_allows(store, box):
    # GIVEN
    store.install([(box, "k", 1)])
    oldest = store.open_snapshot()
    store.install([(box, "k", 2)])
    middle = store.open_snapshot()
    store.install([(box, "k", MISSING)])
    newest = store.open_snapshot()
    store.install([(box, "k", 4)])

    # WHEN
    store.close_snapshot(middle)
    all_kept = versions(box, "k")
    store.close_snapshot(oldest)

    # THEN
    assert [4, 3, 2, 0] == all_kept
    assert [4, 3] == versions(box, "k")
    assert MISSING is store.read_at(box, "k", newest)


def test_old_values_of_what_was_loaded_afresh_are_gone_already(store, box):
    # GIVEN
    store.install([(box, "k", 1)])
    oldest = store.open_snapshot()
    store.install([(box, "k", 2)])
    store.open_snapshot()
    store.load([(box, {"k": 9})], 9)

    # WHEN
    store.close_snapshot(oldest)

    # THEN
    assert [9] == versions(box, "k")
