"""The grain of conflicts in a TList: as in `tests.contract.test_conflicts`.

The list holds ``a b c d``, each once, at the indices 0 to 3.
"""

from __future__ import annotations

import contextlib
import operator

import pytest

from tests.contract.overlaps import beside, conflicting, operate
from tests.engine import on
from txloop import TDict, TList, TVar

pytestmark = on("scripted")


def delete(where):
    return lambda x: operator.delitem(x, where)


def put(where, value):
    return lambda x: operator.setitem(x, where, value)


COMMITS = {
    "append": lambda x: x.append("e"),
    "extend by nothing": lambda x: x.extend([]),
    "set 0": put(0, "A"),
    "set 1": put(1, "B"),
    "set 0 to the same": lambda x: put(0, x[0])(x),
    "set last": put(-1, "D"),
    "set 1 and back": lambda x: [old := x[1], put(1, "B")(x), put(1, old)(x)],
    "insert at 0": lambda x: x.insert(0, "z"),
    "insert at 2": lambda x: x.insert(2, "z"),
    "delete 0": delete(0),
    "delete 2": delete(2),
    "pop": lambda x: x.pop(),
    "pop 0": lambda x: x.pop(0),
    "append and pop": lambda x: [x.append("e"), x.pop()],
    "swap 1 and 2": lambda x: put(slice(1, 3), ["c", "b"])(x),
    "replace 1 by two": put(slice(1, 2), ["x", "y"]),
    "delete nothing": delete(slice(2, 2)),
    "delete beyond the end": delete(slice(9, None)),
    "assign the same": lambda x: put(slice(None), list(x))(x),
    "reverse": lambda x: x.reverse(),
    "sort what is sorted": lambda x: x.sort(),
    "clear": lambda x: x.clear(),
}

NOTHING = {
    "extend by nothing",
    "delete nothing",
    "delete beyond the end",
    "sort what is sorted",
    "assign the same",
}
ANY = COMMITS.keys() - NOTHING
# One is back where it was: reading it finds no change, reading everything does.
BACK = {"set 0 to the same", "set 1 and back", "append and pop"}
# The item that stands there becomes another one:
FRONT = {"insert at 0", "delete 0", "pop 0", "clear", "reverse"}
AT_0 = {"set 0", *FRONT}
AT_1 = {"set 1", "swap 1 and 2", "replace 1 by two", *FRONT}
AT_2 = {"swap 1 and 2", "replace 1 by two", "insert at 2", "delete 2", *FRONT}
AT_3 = {"set last", "replace 1 by two", "insert at 2", "delete 2", "pop", *FRONT}
LONGER = {"append", "insert at 0", "insert at 2", "replace 1 by two"}
SHORTER = {"delete 0", "delete 2", "pop", "pop 0", "clear"}
LENGTH = LONGER | SHORTER

OPERATIONS = {
    # One item
    "get 0": (lambda x: x[0], AT_0),
    "get 1": (lambda x: x[1], AT_1),
    "get 2": (lambda x: x[2], AT_2),
    "get 3": (lambda x: x[3], AT_3),
    "get last": (lambda x: x[-1], AT_3 | LENGTH),
    "get beyond the end": (lambda x: get_or_none(x, 4), LONGER),
    "get far beyond the end": (lambda x: get_or_none(x, 9), set()),
    "get far before the start": (lambda x: get_or_none(x, -9), LENGTH),
    "get twice": (lambda x: [x[1], x[1]], AT_1),
    # Length
    "len": (len, LENGTH),
    "bool": (bool, {"clear"}),
    # Everything
    "iterate": (list, ANY),
    "reversed": (lambda x: list(reversed(x)), ANY),
    "copy": (lambda x: x.copy(), ANY),
    "in": (lambda x: "a" in x, ANY),
    "index": (lambda x: x.index("a"), ANY),
    "count": (lambda x: x.count("a"), ANY),
    "equal": (lambda x: x == ["a"], ANY),
    "less": (lambda x: x < ["b"], ANY),
    "plus": (lambda x: operator.add(x, []), ANY),
    "show": (repr, ANY),
    # Slices
    "slice 0:2": (lambda x: x[0:2], AT_0 | AT_1),
    "slice :1": (lambda x: x[:1], AT_0),
    "slice 1:1": (lambda x: x[1:1], set()),
    "slice 3:5": (lambda x: x[3:5], AT_3 | LONGER),
    "slice 3:9": (lambda x: x[3:9], AT_3 | LONGER),
    "slices 0:1 and 1:2": (lambda x: [x[0:1], x[1:2]], AT_0 | AT_1),
    "slices 0:1 and 3:4": (lambda x: [x[3:4], x[0:1], x[1:1]], AT_0 | AT_1 | AT_3),
    "slice 1:": (lambda x: x[1:], ANY),
    "slice :-1": (lambda x: x[:-1], ANY),
    "slice ::2": (lambda x: x[::2], ANY),
    # Writes that depend on nothing, on a length, or on what is there
    "append": (lambda x: x.append("f"), set()),
    "append twice": (lambda x: [x.append("f"), x.append("g")], set()),
    "extend": (lambda x: x.extend("fg"), set()),
    "extend in place": (lambda x: operator.iadd(x, "fg"), set()),
    "set 0": (put(0, "X"), {"clear"}),
    "set 3": (put(3, "X"), SHORTER),
    "set last": (put(-1, "X"), LENGTH),
    "set beyond the end": (lambda x: set_or_none(x, 4), LONGER),
    "set 0 and get it": (lambda x: [put(0, "X")(x), x[0]], {"clear"}),
    "set 0 and get 1": (lambda x: [put(0, "X")(x), x[1]], AT_1 | {"clear"}),
    "add to 1": (lambda x: put(1, x[1] + "!")(x), AT_1),
    "delete 1": (delete(1), {"clear"}),
    "delete 3": (delete(3), SHORTER),
    "delete last": (delete(-1), LENGTH),
    "delete 1:3": (delete(slice(1, 3)), set()),
    "delete :-1": (delete(slice(None, -1)), LENGTH),
    "delete everything": (delete(slice(None)), set()),
    "assign 1:3": (put(slice(1, 3), "xyz"), set()),
    "assign 1:": (put(slice(1, None), "xyz"), set()),
    "assign ::2": (put(slice(None, None, 2), "xy"), LENGTH),
    "assign everything": (put(slice(None), "xyz"), set()),
    "insert at 0": (lambda x: x.insert(0, "X"), set()),
    "insert at 2": (lambda x: x.insert(2, "X"), set()),
    "insert far away": (lambda x: x.insert(99, "X"), set()),
    "insert at -1": (lambda x: x.insert(-1, "X"), LENGTH),
    "pop": (lambda x: x.pop(), AT_3 | LENGTH),
    "pop 0": (lambda x: x.pop(0), AT_0),
    "pop 1": (lambda x: x.pop(1), AT_1),
    "remove": (lambda x: x.remove("a"), ANY),
    "clear": (lambda x: x.clear(), set()),
    "reverse": (lambda x: x.reverse(), ANY),
    "sort": (lambda x: x.sort(), ANY),
    "repeat": (lambda x: operator.imul(x, 2), ANY),
    # What one has written oneself, one need not read
    "append and get it": (lambda x: [x.append("f"), x[-1]], LENGTH),
    "append and get 0": (lambda x: [x.append("f"), x[0]], AT_0),
    "append and len": (lambda x: [x.append("f"), len(x)], LENGTH),
    "append and set it": (lambda x: [x.append("f"), put(-1, "X")(x)], LENGTH),
    "append, set it and get it": (
        lambda x: [x.append("f"), put(-1, "X")(x), x[-1]],
        LENGTH,
    ),
    "append and pop": (lambda x: [x.append("f"), x.pop()], LENGTH),
    "clear and look": (lambda x: [x.clear(), x.append("f"), len(x), x[0]], set()),
    "assign and look": (lambda x: [put(slice(None), "xy")(x), list(x)], set()),
    "insert and look": (lambda x: [x.insert(0, "f"), list(x)], ANY),
    "nothing": (lambda x: None, set()),
}


def get_or_none(shared, index):
    try:
        return shared[index]
    except IndexError:
        return None


def set_or_none(shared, index):
    with contextlib.suppress(IndexError):
        shared[index] = "X"


@pytest.mark.parametrize(("operation", "expected"), OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_conflicts_where_its_answer_may_change(
    engine, operation, expected
):
    def make():
        return TList("abcd")

    assert expected == conflicting(engine, make, operation, COMMITS)


WHOLE = {
    "get 0": (lambda x: x[0], ANY),
    "get beyond the end": (lambda x: get_or_none(x, 9), ANY),
    "len": (len, ANY),
    "bool": (bool, {"clear"}),
    "slice 0:1": (lambda x: x[0:1], ANY),
    "append": (lambda x: x.append("f"), set()),
    "set 0": (put(0, "X"), {"clear"}),
    "set 0 and get it": (lambda x: [put(0, "X")(x), x[0]], ANY),
    "insert at 0": (lambda x: x.insert(0, "X"), set()),
    "clear": (lambda x: x.clear(), set()),
}


@pytest.mark.parametrize(("operation", "expected"), WHOLE.values(), ids=WHOLE)
def test_reading_anything_of_a_whole_list_is_reading_everything(
    engine, operation, expected
):
    def make():
        return TList("abcd", whole=True)

    assert expected == conflicting(engine, make, operation, COMMITS)


CHANNEL = {
    "put and take of many": (["a", "b"], lambda x: x.append("c"), 0),
    "put and take of one": (["a"], lambda x: x.append("c"), 0),
    "put and take of none": ([], lambda x: x.append("c"), 1),
    "take and take": (["a", "b"], lambda x: x.pop(0), 1),
}


@pytest.mark.parametrize(("items", "commit", "expected"), CHANNEL.values(), ids=CHANNEL)
def test_the_two_ends_of_a_queue_conflict_only_where_they_meet(
    engine, items, commit, expected
):
    # GIVEN
    queue: TList[str] = TList(items)

    # THEN
    assert expected == beside(engine, queue, lambda x: x and x.pop(0), commit)


def test_blind_writes_come_in_the_order_of_their_commits(engine):
    # GIVEN
    shared = TList("ab")
    first, one = engine.send(operate, lambda x: x.append("c"), shared, TVar(0))
    second, other = engine.send(operate, lambda x: x.append("d"), shared, TVar(0))

    # WHEN
    for number in (one, other):
        engine.scripted.begin(number)
    for number in (other, one):
        engine.scripted.finish(number)
    engine.wait(first, second)

    # THEN
    assert ["a", "b", "d", "c"] == shared
    assert 0 == engine.aborts


def test_rows_of_a_grid_are_apart(engine):
    # GIVEN
    grid: TList[TList[int]] = TList([TList([0] * 3) for _ in range(3)])

    # THEN
    assert 0 == beside(engine, grid, lambda g: g[0][1], lambda g: put(1, 1)(g[1]))
    assert 0 == beside(engine, grid, lambda g: g[0][1], lambda g: put(2, 1)(g[0]))
    assert 1 == beside(engine, grid, lambda g: g[0][1], lambda g: put(1, 1)(g[0]))


def test_a_long_list_is_known_by_its_items_too(engine):
    # GIVEN
    shared = TDict(row=TList(range(2000)))

    # THEN
    def read(d):
        return [d["row"][index] for index in range(100, 110)]

    assert 0 == beside(engine, shared, read, lambda d: put(110, 0)(d["row"]))
    assert 0 == beside(engine, shared, read, lambda d: put(1999, 0)(d["row"]))
    assert 0 == beside(engine, shared, read, lambda d: d["row"].append(0))
    assert 1 == beside(engine, shared, read, lambda d: put(109, 0)(d["row"]))


READS = {
    "few items": (15, False, {"set 7"}),
    "items often": (16, False, {"set 7", "set 90", "append"}),
    "items of a whole list": (1, True, {"set 7", "set 90", "append"}),
}


@pytest.mark.parametrize(("count", "whole", "expected"), READS.values(), ids=READS)
def test_who_reads_many_items_counts_as_a_reader_of_all(engine, count, whole, expected):
    def make():
        return TList(range(100), whole=whole)

    def read(x):
        return [x[index] for index in range(7, 7 + count)]

    commits = {
        "set 7": put(7, -1),
        "set 90": put(90, -1),
        "append": lambda x: x.append(-1),
    }
    assert expected == conflicting(engine, make, read, commits)


def test_who_reads_some_items_of_a_long_list_does_not(engine):
    def make():
        return TList(range(2000))

    def read(x):
        return [x[index] for index in range(100)]

    commits = {"set 7": put(7, -1), "set 700": put(700, -1), "pop": lambda x: x.pop()}
    assert {"set 7"} == conflicting(engine, make, read, commits)
