"""Pictures of plain objects, and what differs from them."""

from __future__ import annotations

import collections
import functools
import io
import sys
import types

import pytest

from tests.reached import pictured, reach_from, reached, subject_of
from txloop.watch.pictures import Names, Namespace

CHANGES = {
    "a list grows": ([1], lambda one: one.append(2)),
    "an item of a list": ([[], []], lambda one: one.__setitem__(1, [])),
    "an equal atom of another type": ([1], lambda one: one.__setitem__(0, True)),
    "the order of a list": ([1, 2], lambda one: one.reverse()),
    "a value of a dict": ({"a": 1}, lambda one: one.update(a=2)),
    "the order of a dict": ({"a": 1, "b": 2}, lambda one: one.update(a=one.pop("a"))),
    "the order of an OrderedDict": (
        collections.OrderedDict(a=1, b=2),
        lambda one: one.move_to_end("a"),
    ),
    "a default that is made": (collections.defaultdict(list), lambda one: one["a"]),
    "a count": (collections.Counter("aa"), lambda one: one.update("a")),
    "a member of a set": ({1, 2}, lambda one: one.symmetric_difference_update({2, 3})),
    "a deque that turns": (collections.deque([1, 2]), lambda one: one.rotate()),
    "a byte": (bytearray(3), lambda one: one.__setitem__(1, 7)),
    "a byte of many": (bytearray(1 << 20), lambda one: one.__setitem__(0, 7)),
    "what is written": (io.StringIO("text"), lambda one: one.write("T")),
    "the position": (io.StringIO("text"), lambda one: one.read(1)),
    "what is closed": (io.BytesIO(b"text"), lambda one: one.close()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_picture_shows_a_change(change):
    # GIVEN
    thing, write = CHANGES[change]
    picture = pictured(thing)
    before = picture.difference(None)

    # WHEN
    write(thing)

    # THEN
    assert before is None
    assert picture.difference(None) is not None

    # WHEN
    picture.retake()

    # THEN
    assert picture.difference(None) is None


def test_an_equal_value_is_no_change():
    # GIVEN
    thing = {"a": 10**20, "b": "text"}
    picture = pictured(thing)

    # WHEN
    thing["a"], thing["b"] = int("1" + 20 * "0"), "".join(["te", "xt"])

    # THEN
    assert picture.difference(None) is None


def test_the_key_of_what_has_changed_is_told():
    # GIVEN
    thing = {"a": 1, "b": 2}
    picture = pictured(thing)

    # WHEN
    thing["b"] = 3

    # THEN
    assert "['b']" == picture.difference(None)


@pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="caches are plain functions there"
)
@pytest.mark.parametrize("most", [None, 128])
def test_a_cache_may_grow_but_not_by_what_can_be_changed(most):
    # GIVEN
    cached = functools.lru_cache(most)(lambda make: make())
    cached(list)
    picture = pictured(cached)

    # WHEN
    cached(int)
    cached(tuple)

    # THEN
    assert picture.difference(None) is None

    # WHEN
    cached(dict)

    # THEN
    assert "" == picture.difference(None)


@pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="caches are plain functions there"
)
@pytest.mark.parametrize("most", [None, 128])
def test_results_in_a_cache_are_reached(most):
    cached = functools.lru_cache(most)(lambda make: make())

    assert id(cached(list)) in reached(reach_from(cached))
    assert id(cached(dict)) in reached(reach_from(cached))


def test_of_attributes_only_those_that_are_wanted_count():
    # GIVEN
    thing = types.SimpleNamespace(used=1, unused=1)
    picture = Namespace(thing, "thing", lambda: vars(thing))
    names = Names(("used",), {"used", "later"})

    # WHEN
    thing.unused, thing.other = 2, 1

    # THEN
    assert picture.difference(names) is None
    assert ".unused" == picture.difference(None)

    # WHEN
    thing.later = 1

    # THEN
    assert ".later" == picture.difference(names)

    # WHEN
    thing.used = 2

    # THEN
    assert ".used" == picture.difference(names)


class Slotted:
    __slots__ = ("first", "second")

    first: int
    second: int


slotted = Slotted()


def use_slots():
    return slotted.first, slotted.second


def test_attributes_in_slots_are_seen():
    # GIVEN
    slotted.first = 1
    subject = subject_of(use_slots)
    before = subject.look_at_all()

    # WHEN
    slotted.second = 1
    change = subject.look_at_all()
    del slotted.first, slotted.second

    # THEN
    assert before is None
    assert change is not None
    assert change.name.endswith(".slotted.second")
