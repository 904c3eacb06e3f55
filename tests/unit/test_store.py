"""The store: versions of cells, order of keys, and what has changed."""

from __future__ import annotations

import threading

import txloop.stm.store
from tests.unit.stores import contents
from txloop.errors import TxThreadError
from txloop.stm.container import same_stamp
from txloop.stm.types import MISSING, Key

# Reading


def test_a_snapshot_reads_the_value_of_its_version(store, box):
    # GIVEN
    store.install([(box, "k", "one")])
    before = store.open_snapshot()

    # WHEN
    store.install([(box, "k", "two")])
    between = store.open_snapshot()
    store.install([(box, "k", MISSING)])

    # THEN
    assert "one" == store.read_at(box, "k", before)
    assert "two" == store.read_at(box, "k", between)
    assert MISSING is store.read_at(box, "k", store.version)
    assert MISSING is store.read_at(box, "unknown", before)


def test_keys_are_in_the_order_of_their_insertion_at_every_version(store, box):
    # GIVEN
    store.install([(box, key, 0) for key in "abc"])
    first = store.open_snapshot()

    # WHEN a comes back, b changes, d is new
    store.install([(box, "a", MISSING)])
    second = store.open_snapshot()
    store.install([(box, "a", 1), (box, "b", 1), (box, "d", 1)])
    third = store.open_snapshot()
    store.install([(box, "e", 2)])

    # THEN
    assert [("a", 0), ("b", 0), ("c", 0)] == contents(store, box, first)
    assert [("b", 0), ("c", 0)] == contents(store, box, second)
    assert [("b", 1), ("c", 0), ("a", 1), ("d", 1)] == contents(store, box, third)
    assert ["b", "c", "a", "d", "e"] == [key for key, _ in contents(store, box)]
    assert [3, 2, 4, 5] == [
        store.size_at(box, version) for version in (first, second, third, store.version)
    ]


def test_a_key_deleted_and_set_in_one_commit_goes_to_the_end(store, box):
    # GIVEN
    store.install([(box, "a", 0), (box, "b", 0)])

    # WHEN
    store.install([(box, "c", 0), (box, "a", MISSING), (box, "a", 1)])

    # THEN
    assert [("b", 0), ("c", 0), ("a", 1)] == contents(store, box)
    assert 3 == store.size_at(box, store.version)


# What changed


def test_a_cell_changed_when_it_was_written_last(store, box):
    # GIVEN
    store.open_snapshot()
    store.install([(box, "k", 1)])
    store.install([(box, "k", 2)])
    store.install([(box, "gone", 1)])
    store.install([(box, "gone", MISSING)])

    # THEN
    assert 2 == store.changed_since(box._tx_number, "k", False, 0)
    assert 1 == store.changed_since(box._tx_number, "k", True, 0)
    assert 4 == store.changed_since(box._tx_number, "gone", False, 0)
    assert 4 == store.changed_since(box._tx_number, "gone", True, 0)
    assert 0 == store.changed_since(box._tx_number, "never", True, 0)
    assert 4 == store.changed_since(box._tx_number, Key.KEYS, False, 0)
    assert 4 == store.changed_since(box._tx_number, Key.ALL, False, 0)
    assert 0 == store.changed_since(box._tx_number, "k", False, 2)


def test_a_stamp_differs_once_its_cell_has_changed(store, box):
    # GIVEN
    value, other = (1, 2), (3, 4)
    store.install([(box, "k", value)])
    cells = [
        ("k", False),
        ("k", True),
        ("l", True),
        (Key.KEYS, False),
        (Key.ALL, False),
    ]

    def changed(stamps):
        pairs = zip(cells, stamps, strict=True)
        return [
            not same_stamp(stamp, store.stamp(box._tx_number, *cell))
            for cell, stamp in pairs
        ]

    # WHEN
    first = [store.stamp(box._tx_number, *cell) for cell in cells]
    store.install([(box, "k", other)])

    # THEN
    assert [True, False, False, False, True] == changed(first)

    # WHEN
    second = [store.stamp(box._tx_number, *cell) for cell in cells]
    store.install([(box, "l", 1)])

    # THEN
    assert [False, False, True, True, True] == changed(second)
    assert store.stamp(99, "k", False) is None


def test_nothing_changed_in_a_dead_container(store):
    assert 0 == store.changed_since(99, "k", False, 0)


def test_a_change_of_a_value_leaves_the_keys_alone(store, box):
    # GIVEN
    store.install([(box, "k", 1)])

    # WHEN
    store.install([(box, "k", 2), (box, "unknown", MISSING)])

    # THEN
    assert 1 == store.changed_since(box._tx_number, Key.KEYS, False, 0)


# Writing


def test_only_the_owner_writes(store, box, monkeypatch):
    # GIVEN
    monkeypatch.setattr(txloop.stm.store, "recheck", lambda _: None)
    store.owner = threading.get_ident()
    refused = []

    def write():
        try:
            store.install([(box, "k", 1)])
        except TxThreadError as error:
            refused.append(str(error))

    # WHEN
    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    store.install([(box, "mine", 1)])

    # THEN
    assert ["IOLoop.add_callback"] == [
        text.partition("by ")[2].partition("by ")[2] for text in refused
    ]
    assert [("mine", 1)] == contents(store, box)


def test_versions_count_the_commits(store, box):
    assert 1 == store.install([(box, "k", 1)])
    assert 2 == store.install([])
    assert 9 == store.replay([(box, "k", 1)], 9)
    assert 9 == store.version
