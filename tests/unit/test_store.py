"""The store: versions of cells, order of keys, what snapshots keep and what goes."""

from __future__ import annotations

import gc
import pickle
import threading

import pytest

from txloop.errors import TxForgottenError, TxThreadError
from txloop.store import Container, Store, committed, refer
from txloop.types import MISSING, Key


class Box(Container):
    __slots__ = ()


class Follower:
    def __init__(self):
        self.commits = []
        self.deaths = []

    def installed(self, version, writes):
        self.commits.append((version, list(writes)))

    def dropped(self, number):
        self.deaths.append(number)


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def box(store):
    container = Box()
    store.adopt(container)
    return container


def contents(store, box, version=None):
    return store.items_at(box, store.version if version is None else version)


def versions(box, key):
    """Return the versions that are still kept of a cell, newest first."""
    found = []
    entry = box._entries.get(key)
    while entry is not None:
        found.append(entry.version)
        entry = entry.older
    return found


# Containers and their numbers


def test_containers_are_found_by_their_numbers_while_they_live(store):
    # GIVEN
    first, second = Box(), Box()
    store.adopt(first)
    store.adopt(second)
    number = first._number

    # WHEN
    del first

    # THEN
    assert [second] == store.containers()
    assert second is store.find(second._number)
    assert store.find(number) is None


def test_a_follower_hears_of_commits_and_deaths(store, box):
    # GIVEN
    follower = Follower()
    store.followers.append(follower)
    other = Box()
    store.adopt(other)
    number = other._number

    # WHEN
    store.install([(box, "k", 1)])
    del other

    # THEN
    assert [(1, [(box, "k", 1)])] == follower.commits
    assert [number] == follower.deaths


def test_a_dead_container_does_not_take_its_successor_along(store):
    # GIVEN two containers of one number, as when one is referred to while it dies
    follower = Follower()
    store.followers.append(follower)
    old, new = Box(), Box()
    store.adopt(old, 7)
    reference = store._references[7]
    store.adopt(new, 7)

    # WHEN
    del old

    # THEN
    assert reference() is None
    assert new is store.find(7)
    assert [] == follower.deaths


def test_a_container_pickles_as_a_reference():
    # GIVEN
    container = Box()
    committed.adopt(container)

    # WHEN
    copy = pickle.loads(pickle.dumps(container))

    # THEN
    assert container is copy


def test_an_unknown_reference_makes_an_empty_container():
    # WHEN
    container = refer(Box, 1 << 100)

    # THEN
    assert isinstance(container, Box)
    assert container is refer(Box, 1 << 100)
    assert [] == committed.items_at(container, committed.version)


def test_a_forgotten_container_does_not_pickle(store):
    # GIVEN
    store.become_replica(100)
    container = Box()
    store.adopt(container, 5)

    # WHEN
    store.forget([5, 6])

    # THEN
    with pytest.raises(TxForgottenError, match="this Box was dropped"):
        pickle.dumps(container)


# A replica


def test_a_replica_keeps_what_there_is_and_what_it_is_told_of(store, box):
    # GIVEN
    follower = Follower()
    store.followers.append(follower)
    store.owner = threading.get_ident()
    store.open_snapshot()
    store.install([(box, "k", 1)])
    store.install([(box, "k", 2)])

    # WHEN
    store.become_replica(1000)
    told, own = Box(), Box()
    store.adopt(told, 500)
    store.adopt(own)

    # THEN
    assert {box._number: box, 500: told} == store.kept
    assert 1000 == own._number
    assert [] == store.followers
    assert store.owner is None
    assert [2] == versions(box, "k")


def test_what_a_replica_forgets_can_die(store):
    # GIVEN
    store.become_replica(1000)
    store.adopt(Box(), 5)
    assert store.find(5) is not None

    # WHEN
    store.forget([5])

    # THEN
    gc.collect()
    assert store.find(5) is None


def test_loading_replaces_what_a_replica_knew(store, box):
    # GIVEN
    store.install([(box, "old", 1), (box, "both", 1)])

    # WHEN
    store.load([(box, {"new": 3, "both": 2})], 50)

    # THEN
    assert 50 == store.version
    assert [("new", 3), ("both", 2)] == contents(store, box)
    assert 2 == store.size_at(box, 50)


def test_loading_nothing_sets_the_version(store):
    store.load([], 50)

    assert 50 == store.version


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
    assert MISSING is store.read_at(box, "k", 0)
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
    assert 2 == store.changed_at(box._number, "k", presence=False)
    assert 1 == store.changed_at(box._number, "k", presence=True)
    assert 4 == store.changed_at(box._number, "gone", presence=False)
    assert 4 == store.changed_at(box._number, "gone", presence=True)
    assert 0 == store.changed_at(box._number, "never", presence=True)
    assert 4 == store.changed_at(box._number, Key.KEYS, presence=False)


def test_nothing_changed_in_a_dead_container(store):
    assert 0 == store.changed_at(99, "k", presence=False)


def test_a_change_of_a_value_leaves_the_keys_alone(store, box):
    # GIVEN
    store.install([(box, "k", 1)])

    # WHEN
    store.install([(box, "k", 2), (box, "unknown", MISSING)])

    # THEN
    assert 1 == store.changed_at(box._number, Key.KEYS, presence=False)


# Writing


def test_only_the_owner_writes(store, box):
    # GIVEN
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
    assert 9 == store.install([(box, "k", 1)], 9)
    assert 9 == store.version


# What goes


def test_without_snapshots_nothing_old_is_kept(store, box):
    # WHEN
    for value in (1, 2, MISSING, 3, MISSING):
        store.install([(box, "k", value)])
    store.install([(box, "stays", 1)])
    store.install([(box, "stays", 2)])

    # THEN
    assert {"stays"} == box._entries.keys()
    assert [7] == versions(box, "stays")


def test_deleting_what_is_not_there_leaves_no_trace(store, box):
    # GIVEN
    store.open_snapshot()

    # WHEN
    store.install([(box, "k", MISSING)])

    # THEN
    assert {} == box._entries


def test_closing_the_last_snapshot_lets_old_values_go(store, box):
    # GIVEN
    store.install([(box, key, 0) for key in ("set", "deleted", "reborn")])
    snapshot = store.open_snapshot()
    assert snapshot == store.open_snapshot()
    store.install([(box, "set", 1), (box, "deleted", 1), (box, "new", 1)])
    store.install([(box, "set", 2), (box, "deleted", MISSING)])
    store.install([(box, "reborn", MISSING)])
    store.install([(box, "reborn", 4)])
    assert [3, 2, 1] == versions(box, "set")

    # WHEN
    store.close_snapshot(snapshot)
    assert [3, 2, 1] == versions(box, "set")
    store.close_snapshot(snapshot)

    # THEN
    assert [("set", 2), ("new", 1), ("reborn", 4)] == contents(store, box)
    assert {"set", "new", "reborn"} == box._entries.keys()
    assert [[3], [2], [5]] == [versions(box, key) for key in box._entries]
    assert not store._superseded


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
    assert [4, 3, 2, 1] == all_kept
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
