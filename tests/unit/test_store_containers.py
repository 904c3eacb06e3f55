"""How a store knows its containers: by their numbers, also as a replica."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.engine import bury_the_dead
from tests.scripts import run_script
from tests.unit.stores import Box, contents, versions
from txloop.errors import TxForgottenError
from txloop.stm import store as store_module
from txloop.stm.container import refer
from txloop.stm.store import committed
from txloop.stm.threads import NO_THREAD


class Follower:
    hears_births = True

    def __init__(self):
        self.commits = []
        self.deaths = []

    def installed(self, version, writes, direct):
        self.commits.append((version, list(writes)))

    def dropped(self, number):
        self.deaths.append(number)


# Containers and their numbers


def test_containers_are_found_by_their_numbers_while_they_live(store):
    # GIVEN
    first, second = Box(), Box()
    store.adopt(first)
    store.adopt(second)
    number = first._tx_number

    # WHEN
    del first
    bury_the_dead()

    # THEN
    assert [second] == store.containers()
    assert second is store.find(second._tx_number)
    assert store.find(number) is None
    assert [second._tx_number] == [*store._references], "one stays for each that dies"


def test_a_follower_hears_of_commits_and_deaths(store, box):
    # GIVEN
    follower = Follower()
    store.followers.append(follower)
    other = Box()
    store.adopt(other)
    number = other._tx_number

    # WHEN
    store.install([(box, "k", 1)])
    del other
    bury_the_dead()

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
    bury_the_dead()

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
    assert [] == list(committed.contents_at(container, committed.version))


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


def test_containers_made_by_several_threads_have_numbers_of_their_own(store):
    """Counting is not atomic without the GIL."""
    # GIVEN
    start = threading.Barrier(2)

    def make():
        start.wait()
        boxes = [Box() for _ in range(2000)]
        for one in boxes:
            store.adopt(one)
        return boxes

    # WHEN
    with ThreadPoolExecutor(2) as pool:
        made = [
            one
            for future in [pool.submit(make) for _ in range(2)]
            for one in future.result()
        ]

    # THEN
    assert 4000 == len({one._tx_number for one in made})
    assert 4000 == len(store.containers())


def test_containers_may_die_last(store, monkeypatch):
    """At the end of a program they do when modules have lost their globals already."""
    # GIVEN
    follower = Follower()
    troubles: list[object] = []
    store.followers.append(follower)
    mortal = Box()
    store.adopt(mortal)
    number = mortal._tx_number
    monkeypatch.setattr(sys, "unraisablehook", troubles.append)

    # WHEN
    for name in vars(store_module):
        if not name.startswith("__"):
            monkeypatch.setattr(store_module, name, None)
    del mortal
    bury_the_dead()
    monkeypatch.undo()

    # THEN
    assert [] == troubles
    assert [number] == follower.deaths
    assert store.find(number) is None


def test_a_program_with_many_containers_ends_in_silence(tmp_path):
    ended = run_script(tmp_path, MANY)

    assert (0, "", "") == (ended.exit_code, ended.output, ended.errors)


MANY = """
    import sys
    from txloop import TDict, TList, TVar
    values = [TVar(n) for n in range(1000)]
    nested = TDict({n: TList([n]) for n in range(1000)})
    class Holder: pass
    holder = Holder()
    holder.itself, holder.values = holder, [TDict(a=n) for n in range(1000)]
    sys.modules["holder"] = holder
"""


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
    assert {box._tx_number: box, 500: told} == store.kept
    assert 1000 == own._tx_number
    assert [] == store.followers
    assert NO_THREAD == store.owner
    assert [] == versions(box, "k")


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


def test_what_lives_though_it_was_forgotten_haunts_a_replica_until_it_dies(store):
    # GIVEN
    store.become_replica(1000)
    one = Box()
    store.adopt(one, 5)
    store.adopt(Box(), 6)

    # WHEN
    store.forget([5, 6])

    # THEN
    gc.collect()
    assert {5} == store.haunting
    del one
    gc.collect()
    assert set() == store.haunting


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
