"""The grain of conflicts in deques and in the kinds of dicts: see `test_conflicts`."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from tests.contract.overlaps import conflicting
from tests.engine import on
from txloop import TCount, TCounterDict, TDefaultDict, TDeque, TOrderedDict

pytestmark = on("scripted")

DEQUE_COMMITS = {
    "append": lambda d: d.append(9),
    "appendleft": lambda d: d.appendleft(9),
    "popleft": lambda d: d.popleft(),
    "pop": lambda d: d.pop(),
    "rotate": lambda d: d.rotate(),
    "look": repr,
}

DEQUE_CHANGES = DEQUE_COMMITS.keys() - {"look"}

DEQUE_OPERATIONS = {
    "append": (lambda d: d.append(5), set()),
    "appendleft": (lambda d: d.appendleft(5), set()),
    "extend": (lambda d: d.extend([5, 6]), set()),
    "extendleft": (lambda d: d.extendleft([5, 6]), set()),
    "clear": (lambda d: d.clear(), set()),
    "popleft": (lambda d: d.popleft(), {"appendleft", "popleft", "rotate"}),
    "pop": (lambda d: d.pop(), DEQUE_CHANGES),
    "get the first": (lambda d: d[0], {"appendleft", "popleft", "rotate"}),
    "len": (len, DEQUE_CHANGES - {"rotate"}),
    "bool": (bool, set()),
    "iterate": (list, DEQUE_CHANGES),
    "rotate": (lambda d: d.rotate(2), DEQUE_CHANGES),
    "maxlen": (lambda d: d.maxlen, set()),
}


@pytest.mark.parametrize(
    ("operation", "expected"), DEQUE_OPERATIONS.values(), ids=DEQUE_OPERATIONS
)
def test_who_adds_to_a_deque_conflicts_with_nobody(engine, operation, expected):
    assert expected == conflicting(
        engine, lambda: TDeque([1, 2, 3]), operation, DEQUE_COMMITS
    )


@pytest.mark.parametrize("add", ["append", "appendleft", "extend", "extendleft"])
def test_nor_does_who_adds_to_one_with_a_greatest_length(engine, add):
    def operation(shared):
        getattr(shared, add)((7,))

    assert set() == conflicting(
        engine, lambda: TDeque([1, 2, 3], 3), operation, DEQUE_COMMITS
    )


DEFAULT_COMMITS: dict[str, Any] = {
    "make a": operator.itemgetter("a"),
    "make b": operator.itemgetter("b"),
    "set old": lambda d: d.__setitem__("old", 2),
    "set factory": lambda d: setattr(d, "default_factory", float),
    "look": repr,
}

DEFAULT_OPERATIONS = {
    "make a": (operator.itemgetter("a"), {"make a", "set factory"}),
    "get old": (operator.itemgetter("old"), {"set old"}),
    "get a": (lambda d: d.get("a"), {"make a"}),
    "in": (lambda d: "a" in d, {"make a"}),
    "set a": (lambda d: d.__setitem__("a", 1), set()),
    "factory": (lambda d: d.default_factory, {"set factory"}),
    "keys": (list, {"make a", "make b"}),
}


@pytest.mark.parametrize(
    ("operation", "expected"), DEFAULT_OPERATIONS.values(), ids=DEFAULT_OPERATIONS
)
def test_a_default_is_made_by_one(engine, operation, expected):
    assert expected == conflicting(
        engine, lambda: TDefaultDict(int, old=1), operation, DEFAULT_COMMITS
    )


ORDERED_COMMITS = {
    "move a": lambda d: d.move_to_end("a"),
    "move b": lambda d: d.move_to_end("b"),
    "look": repr,
}

ORDERED_OPERATIONS = {
    "move a": (lambda d: d.move_to_end("a"), {"move a"}),
    "get a": (lambda d: d["a"], {"move a"}),
    "keys": (list, {"move a", "move b"}),
    "first": (lambda d: next(iter(d)), {"move a", "move b"}),
    "move to the beginning": (
        lambda d: d.move_to_end("c", last=False),
        {"move a", "move b"},
    ),
    "in": (lambda d: "c" in d, set()),
}


@pytest.mark.parametrize(
    ("operation", "expected"), ORDERED_OPERATIONS.values(), ids=ORDERED_OPERATIONS
)
def test_moving_a_key_changes_the_order(engine, operation, expected):
    assert expected == conflicting(
        engine, lambda: TOrderedDict(a=1, b=2, c=3), operation, ORDERED_COMMITS
    )


COUNTS_COMMITS = {
    "count a": lambda c: c.update("a"),
    "count b": lambda c: c.update("b"),
    "look": repr,
}

COUNTS_OPERATIONS = {
    "count a": (lambda c: c.update("a"), {"count a"}),
    "count a by hand": (lambda c: c.__setitem__("a", c["a"] + 1), {"count a"}),
    "most common": (lambda c: c.most_common(1), {"count a", "count b"}),
    "set a": (lambda c: c.__setitem__("a", 0), set()),
}


@pytest.mark.parametrize(
    ("operation", "expected"), COUNTS_OPERATIONS.values(), ids=COUNTS_OPERATIONS
)
def test_who_counts_reads_what_it_counts(engine, operation, expected):
    assert expected == conflicting(
        engine, lambda: TCounterDict("ab"), operation, COUNTS_COMMITS
    )


COUNT_OPERATIONS = {
    "draw": (next, {"draw"}),
    "look": (repr, {"draw"}),
    "copy": (lambda c: c.copy(), {"draw"}),
    "pass it on": (iter, set()),
}


@pytest.mark.parametrize(
    ("operation", "expected"), COUNT_OPERATIONS.values(), ids=COUNT_OPERATIONS
)
def test_each_number_is_drawn_once(engine, operation, expected):
    commits = {"draw": lambda c: c.__next__(), "look": repr}

    assert expected == conflicting(engine, lambda: TCount(1), operation, commits)
