"""The grain of conflicts in a TSet: as in `tests.contract.test_conflicts`."""

from __future__ import annotations

import operator

import pytest

from tests.contract.overlaps import conflicting
from tests.engine import on
from txloop import TSet

pytestmark = on("scripted")

COMMITS = {
    "add a": lambda s: s.add("a"),  # which is there already
    "add x": lambda s: s.add("x"),
    "add y": lambda s: s.update("y"),
    "discard a": lambda s: s.discard("a"),
    "discard b": lambda s: s.remove("b"),
    "discard x": lambda s: s.discard("x"),  # which is not there
    "add and discard x": lambda s: [s.add("x"), s.discard("x")],
    "pop": lambda s: s.pop(),
    "clear": lambda s: s.clear(),
}

GONE_A = {"discard a", "pop", "clear"}
SIZE = GONE_A | {"add x", "add y", "discard b"}

OPERATIONS = {
    "a in": (lambda s: "a" in s, GONE_A),
    "x in": (lambda s: "x" in s, {"add x"}),
    "len": (len, SIZE),
    "bool": (bool, SIZE),
    "iterate": (list, SIZE),
    "copy": (lambda s: s.copy(), SIZE),
    "equal": (lambda s: s == {"a"}, SIZE),
    "subset": (lambda s: s <= {"a"}, SIZE),
    "superset of a": (lambda s: s >= {"a"}, GONE_A),
    "disjoint from x": (lambda s: s.isdisjoint("x"), {"add x"}),
    "and a": (lambda s: s & {"a"}, GONE_A),
    "intersection with x": (lambda s: s.intersection("x"), {"add x"}),
    "x minus it": (lambda s: {"x"} - s, {"add x"}),
    "minus x": (lambda s: s - {"x"}, SIZE),
    "or x": (lambda s: s | {"x"}, SIZE),
    "show": (repr, SIZE),
    "add a": (lambda s: s.add("a"), set()),
    "add x": (lambda s: s.add("x"), set()),
    "discard a": (lambda s: s.discard("a"), set()),
    "update": (lambda s: s.update("ax"), set()),
    "update in place": (lambda s: operator.ior(s, {"x"}), set()),
    "discard in place": (lambda s: operator.isub(s, {"a"}), set()),
    "keep a": (lambda s: operator.iand(s, {"a"}), SIZE),
    "add x and find it": (lambda s: [s.add("x"), "x" in s], set()),
    "add x and find a": (lambda s: [s.add("x"), "a" in s], GONE_A),
    "add x and len": (lambda s: [s.add("x"), len(s)], SIZE),
    "remove a": (lambda s: s.remove("a"), GONE_A),
    "pop": (lambda s: s.pop(), SIZE),
    "clear": (lambda s: s.clear(), set()),
    "clear and look": (lambda s: [s.clear(), s.add("x"), len(s), "a" in s], set()),
}


@pytest.mark.parametrize(("operation", "expected"), OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_conflicts_where_its_answer_may_change(
    engine, operation, expected
):
    def make():
        return TSet("ab")

    assert expected == conflicting(engine, make, operation, COMMITS)
