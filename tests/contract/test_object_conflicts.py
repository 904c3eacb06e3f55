"""The grain of conflicts in TObject and TCounter: see `test_conflicts`."""

from __future__ import annotations

import copy
import operator

import pytest

from tests.contract.overlaps import conflicting
from tests.engine import on
from txloop import TCounter, TNamespace, TObject, plain

pytestmark = on("scripted")


def put(name, value):
    return lambda shared: setattr(shared, name, value)


class Point(TObject):
    x: int
    y: int

    @property
    def total(self) -> int:
        return self.x + self.y


POINT_COMMITS = {
    "set x": put("x", 10),
    "set y": put("y", 20),
    "add to x": lambda p: put("x", p.x + 1)(p),
    "delete y": lambda p: delattr(p, "y"),
    "look": repr,
}

X = {"set x", "add to x"}
Y = {"set y", "delete y"}

POINT_OPERATIONS = {
    "get x": (lambda p: p.x, X),
    "get y": (lambda p: p.y, Y),
    "get total": (lambda p: p.total, X | Y),
    "equal": (lambda p: p == Point(1, 5), X | Y),
    "equal at once": (lambda p: p == Point(5, 2), X),  # y is not looked at
    "equal to itself": (lambda p: p == p, set()),
    "copy": (lambda p: [copy.copy(p), None][1], X | Y),
    "plain": (plain, X | Y),
    "show": (repr, X | Y),
    "has y": (lambda p: hasattr(p, "y"), Y),
    "set x": (put("x", 5), set()),
    "set x and get it": (lambda p: [put("x", 5)(p), p.x], set()),
    "set x and get y": (lambda p: [put("x", 5)(p), p.y], Y),
    "add to y": (lambda p: setattr(p, "y", p.y + 1), Y),
    "delete y": (lambda p: delattr(p, "y"), Y),
}


@pytest.mark.parametrize(
    ("operation", "expected"), POINT_OPERATIONS.values(), ids=POINT_OPERATIONS
)
def test_attributes_are_on_their_own(engine, operation, expected):
    def make():
        return Point(1, 2)

    assert expected == conflicting(engine, make, operation, POINT_COMMITS)


class Open(TNamespace):
    def __init__(self, **given: int) -> None:
        vars(self).update(given)


OPEN_COMMITS = {
    "set x": put("x", 10),
    "set y": put("y", 20),
    "set new": put("new", 1),
    "delete y": lambda p: delattr(p, "y"),
    "look": lambda p: [*vars(p)],
}

OPEN_OPERATIONS = {
    "get x": (lambda p: p.x, {"set x"}),
    "has new": (lambda p: hasattr(p, "new"), {"set new"}),
    "set new": (put("new", 5), set()),
    "set new and get it": (lambda p: [put("new", 5)(p), p.new], set()),
    "set new and get y": (lambda p: [put("new", 5)(p), p.y], Y),
    "set many": (lambda p: p.__dict__.update(x=1, z=2), {*OPEN_COMMITS} - {"look"}),
    "delete y": (lambda p: delattr(p, "y"), Y),
    "show": (lambda p: dict(vars(p)), {*OPEN_COMMITS} - {"look"}),
}


@pytest.mark.parametrize(
    ("operation", "expected"), OPEN_OPERATIONS.values(), ids=OPEN_OPERATIONS
)
def test_attributes_of_any_name_are_on_their_own(engine, operation, expected):
    def make():
        return Open(x=1, y=2)

    assert expected == conflicting(engine, make, operation, OPEN_COMMITS)


COUNTER_COMMITS = {
    "add": lambda c: c.add(),
    "add in place": lambda c: operator.iadd(c, 5),
    "subtract in place": lambda c: operator.isub(c, 5),
    "set": put("value", 9),
    "look": lambda c: c.value,
}

CHANGES = COUNTER_COMMITS.keys() - {"look"}

COUNTER_OPERATIONS = {
    "get": (lambda c: c.value, CHANGES),
    "compare": (lambda c: c > 3, CHANGES),
    "bool": (bool, CHANGES),
    "show": (repr, CHANGES),
    "add": (lambda c: c.add(), set()),
    "add twice": (lambda c: [c.add(), c.add(2)], set()),
    "add in place": (lambda c: operator.iadd(c, 1), set()),
    "add and get": (lambda c: [c.add(), c.value], CHANGES),
    "get and add": (lambda c: [c.value, c.add()], CHANGES),
    "set": (put("value", 7), set()),
    "set and get": (lambda c: [put("value", 7)(c), c.value], set()),
    "set, add and get": (lambda c: [put("value", 7)(c), c.add(), c.value], set()),
    "add through the value": (lambda c: setattr(c, "value", c.value + 1), CHANGES),
}


@pytest.mark.parametrize(
    ("operation", "expected"), COUNTER_OPERATIONS.values(), ids=COUNTER_OPERATIONS
)
def test_who_only_counts_conflicts_with_nobody(engine, operation, expected):
    assert expected == conflicting(engine, TCounter, operation, COUNTER_COMMITS)


def add_to(counter, amount):
    counter.add(amount)


def test_what_is_added_side_by_side_adds_up(engine):
    # GIVEN
    counter = TCounter(1)
    sent = [engine.send(add_to, counter, amount) for amount in (10, 100, 1000)]

    # WHEN
    for _, number in sent:
        engine.scripted.begin(number)
    for _, number in reversed(sent):
        engine.scripted.finish(number)
    engine.wait(*[result for result, _ in sent])

    # THEN
    assert 1111 == counter.value
    assert 0 == engine.aborts
