"""Commits that go on: what a verb writes one by one, and followers are told of once."""

from __future__ import annotations

import pytest

from tests.deltas import delta_log
from txloop import TDict, TList
from txloop.executors.codec.plain_cells import unpack_commits
from txloop.stm.store import committed


class Follower:
    hears_births = False

    def __init__(self, grows):
        self.grows = grows
        self.commits = []

    def installed(self, version, writes, direct):
        self.commits.append((version, writes))

    def dropped(self, number):
        pass


@pytest.fixture
def joined():
    committed.join()
    yield
    committed.part(for_good=True)


@pytest.fixture
def log():
    with delta_log() as log:
        yield log


def follow(grows):
    follower = Follower(grows)
    committed.follow(follower)
    return follower


def told(log, version):
    """Return what a replica at `version` is told: the writes of each commit."""
    packed = log.since(version)
    assert packed is not None
    return [list(one) for delta in packed for one in unpack_commits(delta)]


def test_what_is_written_joins_the_newest_commit(joined):
    # GIVEN
    shared, items = TDict(a=1), TList([1, 2])
    follower, before = follow(grows=True), committed.version

    # WHEN
    try:
        shared["a"] = 2
        shared["b"] = 3
        items.append(4)
        shared.update(c=5)
    finally:
        committed.followers.remove(follower)

    # THEN
    ((version, writes),) = follower.commits
    assert before + 1 == version == committed.version
    assert [shared, shared, items, shared] == [container for container, *_ in writes]
    assert {"a": 2, "b": 3, "c": 5} == shared.copy()
    assert [1, 2, 4] == items.copy()
    assert 3 == committed.joined


def test_a_follower_that_looks_at_once_is_told_of_each_commit(joined):
    # GIVEN
    shared: TDict[object, int] = TDict()
    followers = [follow(grows=True), follow(grows=False)]
    before = committed.version

    # WHEN
    try:
        shared["a"] = 1
        shared["b"] = 2
    finally:
        for follower in followers:
            committed.followers.remove(follower)

    # THEN
    for follower in followers:
        assert [before + 1, before + 2] == [version for version, _ in follower.commits]


def test_a_follower_that_comes_amid_is_told_of_what_comes_after(joined, log):
    # GIVEN
    shared: TDict[object, int] = TDict()
    shared["a"] = 1
    follower = follow(grows=False)

    # WHEN
    try:
        shared["b"] = 2
    finally:
        committed.followers.remove(follower)

    # THEN
    assert [(committed.version, ((shared, "b", 2),))] == follower.commits


def test_a_snapshot_shows_nothing_that_is_written_after_it_was_opened(joined, log):
    # GIVEN
    shared, items = TDict(a=1), TList([1])
    shared["a"] = 2

    # WHEN
    snapshot = committed.open_snapshot()
    try:
        shared["a"] = 3
        shared["b"] = 4
        items[0] = 5
        items[0] = 6

        # THEN
        assert {"a": 2} == committed.contents_at(shared, snapshot)
        assert 1 == items._tx_changed_since(0, False, snapshot) - snapshot
    finally:
        committed.close_snapshot(snapshot)
    assert {"a": 3, "b": 4} == shared.copy()
    assert [6] == items.copy()
    assert not committed._superseded


def test_a_replica_is_told_of_all_of_a_commit(joined, log):
    # GIVEN
    shared: TDict[str, object] = TDict(a=1)
    items, before = TList([1, 2, 3]), log.mark()

    # WHEN
    shared["a"] = 2
    shared["a"] = 3
    items[0] = 4
    items[2] = 5
    made = TDict(x=1)
    shared["made"] = made
    made["x"] = 2

    # THEN
    (writes,) = told(log, before)
    assert [(shared, "a", 2), (shared, "a", 3)] == writes[:2]
    (put,) = (write[2] for write in writes if write[0] is items)
    assert {0: 4, 2: 5} == put.items
    assert [made, shared, made] == [container for container, *_ in writes[-3:]]


def test_what_is_packed_already_is_joined_by_nothing(joined, log):
    # GIVEN
    shared: TDict[str, int] = TDict()
    items = TList([1, 2])
    before = log.mark()
    items[0] = 3
    first = told(log, before)

    # WHEN
    items[1] = 4
    shared["a"] = 5

    # THEN
    both = told(log, before)
    assert first == both[:1]
    assert 2 == len(both)
    assert {1: 4} == both[1][0][2].items


def test_a_long_commit_is_cut(joined, log):
    # GIVEN
    shared: TDict[int, int] = TDict()
    before = log.mark()

    # WHEN
    for number in range(1000):
        shared[number] = number

    # THEN
    commits = told(log, before)
    assert committed.version == before + len(commits)
    assert 1000 == sum(map(len, commits))
    assert max(map(len, commits)) < 100


def test_the_order_of_keys_is_that_of_their_writes(joined, log):
    # GIVEN
    shared = TDict.fromkeys("abc")

    # WHEN a snapshot keeps what is deleted, so that keys come back out of order
    snapshot = committed.open_snapshot()
    try:
        for key in "bca":
            del shared[key]
        for key in "cdab":
            shared[key] = key

        # THEN
        assert [*"abc"] == committed.keys_at(shared, snapshot)
        assert [*"cdab"] == [*shared]
    finally:
        committed.close_snapshot(snapshot)
    assert [*"cdab"] == [*shared]
