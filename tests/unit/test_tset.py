"""TSet without a loop; that it does what a set does is shown in `tests.model`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import MutableSet, Set
from typing import Any

import pytest

from tests.comparing import RUNS, attempted
from txloop import TSet, TVar, TxValueError
from txloop.stm.store import committed


class Tags(TSet[str]):
    pass


def test_it_is_a_set_in_the_order_in_which_elements_came():
    # GIVEN
    shared = TSet("cab")

    # WHEN
    shared.discard("a")
    shared.update("da")

    # THEN
    assert isinstance(shared, Set)
    assert isinstance(shared, MutableSet)
    assert list("cbda") == list(shared)
    assert "TSet({'c', 'b', 'd', 'a'})" == repr(shared)
    assert ("TSet()", "Tags({'x'})") == (repr(TSet()), repr(Tags(["x"])))


@pytest.mark.parametrize(
    ("other", "kind"), [({1}, set), (TSet([1]), set), (frozenset([1]), set)]
)
def test_operators_return_plain_sets(other, kind):
    shared = TSet([1, 2])

    found = [shared | other, shared & other, shared - other, shared ^ other]

    assert [{1, 2}, {1}, {2}, {2}] == found
    assert {kind} == set(map(type, found))


@pytest.mark.parametrize("run", RUNS)
def test_it_can_be_gone_through_while_it_changes(run):
    def rename(shared):
        for element in shared:
            shared.remove(element)
            shared.add(element + "!")

    # GIVEN
    shared = TSet("ab")

    # WHEN
    run(rename, shared)

    # THEN
    assert ["a!", "b!"] == list(shared)


def test_copies_are_containers_of_their_own_and_pickles_references():
    # GIVEN
    variable = TVar(1)
    shared = Tags(["x"])

    # WHEN
    shallow, deep = copy.copy(shared), copy.deepcopy(shared)
    shared.add("y")

    # THEN
    assert {"x"} == shallow
    assert {"x"} == deep
    assert (Tags, Tags) == (type(shallow), type(deep))
    assert shared is pickle.loads(pickle.dumps(shared))
    assert variable in TSet([variable])


def test_what_can_change_is_no_element():
    shared: TSet[Any] = TSet()

    with pytest.raises(TxValueError, match=r"^Exception Exception.* may be mutable"):
        shared.add(Exception())
    with pytest.raises(TypeError, match="unhashable type: 'TList'"):
        shared.add([])
    assert set() == shared


CHANGES = {
    "update": lambda shared: shared.update([1, 2], [[]]),
    "remove": lambda shared: shared.difference_update([0, []]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_that_fails_changes_nothing(change):
    # GIVEN
    shared: TSet[Any] = TSet([0])
    version = committed.version

    # WHEN
    with pytest.raises(TypeError):
        change(shared)

    # THEN
    assert {0} == shared
    assert version == committed.version


def test_many_elements_are_one_read_and_few_are_themselves():
    # GIVEN
    shared = TSet(range(100))

    def looking(others):
        return lambda: (shared & others, shared >= others, shared.isdisjoint(others))

    # WHEN
    few = attempted(looking({1, 200}))
    many = attempted(looking(set(range(50, 200))))

    # THEN
    assert ({1}, False, False) == few.value
    assert (set(range(50, 100)), False, False) == many.value
    assert [2, 0] == [len(few.presences), len(few.values)]
    assert [0, 1] == [len(many.presences), len(many.values)]
