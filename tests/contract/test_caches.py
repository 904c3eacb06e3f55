"""Caches on every executor: filled in transactions, evicted after them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tests.contract.overlaps import beside, conflicting
from tests.engine import note_on_commit, noted, on
from txloop import TCache, TDict, TList, TVar, TxConfigurationError, cached

CACHE: TCache[Any, Any] = TCache(maxsize=3)


@cached(CACHE)
def square(number):
    note_on_commit(number)
    return [number, number * number]


@pytest.fixture(autouse=True)
def _empty():
    CACHE.clear()


def ask(number):
    return list(square(number))


def test_it_is_computed_once_and_found_afterwards(engine):
    # WHEN
    found = [engine.run(ask, number) for number in (2, 3, 2, 2, 3)]

    # THEN
    assert [[2, 4], [3, 9], [2, 4], [2, 4], [3, 9]] == found
    assert [2, 3] == noted
    assert [2, 4] == square(2) == CACHE[(2,)]
    assert isinstance(square(2), TList)


def test_the_oldest_go_when_there_are_too_many(engine):
    # WHEN
    for number in range(5):
        engine.run(ask, number)
        assert len(CACHE) <= 3

    # THEN
    assert [(2,), (3,), (4,)] == list(CACHE)
    assert [0, 1, 2, 3, 4] == noted


def fill_two(cache):
    cache["x"] = 1
    cache["y"] = 2
    return len(cache)


def test_nothing_is_evicted_before_the_commit(engine):
    # GIVEN
    cache: TCache[str, int] = TCache(maxsize=1)

    # THEN
    assert 2 == engine.run(fill_two, cache)
    assert {"y": 2} == cache


class Clock:
    """Stands still until it is set; one for all, where nothing runs elsewhere."""

    now = 0.0


def clock():
    return Clock.now


@on("serial")
def test_what_is_too_old_is_not_there(engine, monkeypatch):
    # GIVEN
    monkeypatch.setattr(Clock, "now", 0.0)
    cache = TCache[str, int](maxsize=9, ttl=10, timer=clock)
    cache["a"] = 1
    Clock.now = 6.0
    cache["b"] = 2

    # WHEN
    Clock.now = 10.0

    # THEN
    assert ({"b": 2}, ["b"], 1, 2) == (cache.copy(), list(cache), len(cache), 2)
    assert ("a" in cache, cache.get("a", 5), "b" in cache) == (False, 5, True)
    with pytest.raises(KeyError):
        cache["a"]
    assert 2 == cache.currsize
    cache.expire()
    assert 1 == cache.currsize
    cache["a"] = 3
    assert [3, 2] == [cache.pop("a"), cache.setdefault("b", 7)]
    assert "TCache({'b': 2}, maxsize=9, ttl=10)" == repr(cache)


def full():
    cache: TCache[str, int] = TCache(maxsize=2)
    cache.update(a=1, b=2)
    return cache


COMMITS = {
    "evict a": lambda c: c.__setitem__("c", 3),
    "replace a": lambda c: c.__setitem__("a", 9),
    "delete a": lambda c: c.pop("a"),
    "clear": lambda c: c.clear(),
    "look": lambda c: c["b"],
}

CHANGES = {"replace a", "delete a", "clear"}

OPERATIONS = {
    "get a": (lambda c: c["a"], CHANGES),
    "a is there": (lambda c: "a" in c, CHANGES),
    "get b": (lambda c: c["b"], {"clear"}),
    "miss": (lambda c: c.get("z"), set()),
    "fill": (lambda c: c.__setitem__("a", 5), set()),
    "miss and fill": (lambda c: [c.get("z"), c.__setitem__("z", 1)], set()),
}


@on("scripted")
@pytest.mark.parametrize(("operation", "expected"), OPERATIONS.values(), ids=OPERATIONS)
def test_eviction_conflicts_with_nobody(engine, operation, expected):
    assert expected == conflicting(engine, full, operation, COMMITS)


@on("scripted")
def test_what_was_evicted_and_filled_again_has_changed(engine):
    def refill(cache):
        cache["c"] = 3  # which evicts "a" when it commits

    # GIVEN
    cache = full()

    # WHEN
    conflicts = beside(engine, cache, lambda c: c["b"], refill)

    # THEN
    assert 0 == conflicts
    assert {"b": 2, "c": 3} == cache
    assert 1 == beside(engine, cache, lambda c: c.get("a"), lambda c: c.update(a=5))


def test_its_rules_travel(engine):
    def rules(cache):
        return cache.maxsize, cache.ttl

    # GIVEN
    cache: TCache[str, int] = TCache(7, ttl=3600)
    engine.run(len, cache)

    # THEN
    assert (7, 3600) == engine.run(rules, cache)
    assert cache is pickle.loads(pickle.dumps(cache))
    assert (7, 3600) == rules(copy.copy(cache)) == rules(copy.deepcopy(cache))
    assert {"a": 1} == TCache.fromkeys(["a"], 1)


@on("serial")
def test_a_cache_can_be_given_keys_and_emptied(engine):
    # GIVEN
    seen = TVar(0)

    @cached(TDict(), key=lambda name, **_: name.lower())
    def look(name: str, loud: bool = False) -> str:
        seen.value += 1
        return name

    # WHEN
    found = [look("Ann"), look("ann"), look("ANN", loud=True)]

    # THEN
    assert (["Ann"] * 3, 1) == (found, seen.value)
    look.cache_clear()  # type: ignore[attr-defined] # as cachetools has it
    assert "bob" == look("bob")
    assert {"bob": "bob"} == look.cache  # type: ignore[attr-defined] # likewise


@on("serial")
def test_wrong_options_are_refused_with_advice(engine):
    with pytest.raises(TxConfigurationError, match="maxsize must be at least 1, got 0"):
        TCache(0)
    with pytest.raises(TxConfigurationError, match="ttl must be more than 0 s, got 0"):
        TCache(ttl=0)
    with pytest.raises(TxConfigurationError, match=r"must be a txloop\.TCache"):
        cached({})  # type: ignore[arg-type] # that is the point
