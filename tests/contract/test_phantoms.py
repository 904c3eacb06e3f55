"""No phantoms: what a transaction searched for in vain does not come beside it.

Two anomalies of Hermitage (github.com/ept/hermitage), PMP and G2, for each way in which
one can learn what is in a container.
"""

from __future__ import annotations

import operator

import pytest

from tests.contract.interleaving import OVERLAPPING, conflicts, during, together
from tests.engine import EXECUTORS, running
from txloop import TDict, TList, TSet


@pytest.fixture(params=EXECUTORS)
def engine(request):
    with running(request.param, workers=3) as engine:
        yield engine


@pytest.fixture
def rows():
    return TDict({1: 10, 2: 20})


def test_pmp_no_row_comes_into_what_was_searched(engine, tmp_path, rows):
    def search(pause):
        first = [key for key, value in rows.items() if value == 30]
        pause()
        return first, [key for key, value in rows.items() if value % 3 == 0]

    def insert():
        rows[3] = 30

    found = during(engine, tmp_path, search, [insert])

    assert ([], []) == found.value
    assert {1: 10, 2: 20, 3: 30} == rows
    assert conflicts(engine, 0)


def test_pmp_holds_for_what_is_written_after_the_search(engine, tmp_path, rows):
    def delete_twenties(pause):
        found = [key for key, value in rows.items() if value == 20]
        pause()
        for key in found:
            del rows[key]
        return found

    def add_ten():
        for key in rows:
            rows[key] += 10

    found = during(engine, tmp_path, delete_twenties, [add_ten])

    overlapping = engine.executor.name in OVERLAPPING
    assert ([1] if overlapping else [2]) == found.value
    assert ({2: 30} if overlapping else {1: 20}) == rows
    assert conflicts(engine, 1)


# Each inserts something unless there is something already.

SEARCHES = {
    "dict: items": (TDict, lambda d: [v for v in d.values() if v % 3 == 0]),
    "dict: len": (TDict, lambda d: len(d) - 2),
    "dict: keys": (TDict, lambda d: [key for key in d if key > 2]),
    "dict: in": (TDict, lambda d: 3 in d or 4 in d),
    "dict: get": (TDict, lambda d: d.get(3) or d.get(4)),
    "dict: equal": (TDict, lambda d: d != {1: 10, 2: 20}),
    "list: items": (TList, lambda x: [value for value in x if value % 3 == 0]),
    "list: len": (TList, lambda x: len(x) - 2),
    "list: index": (TList, lambda x: item(x, 2)),
    "list: bool": (TList, lambda x: bool(x[2:3])),
    "list: slice": (TList, lambda x: x[2:]),
    "list: short slice": (TList, lambda x: x[1:3][1:]),
    "list: last": (TList, lambda x: x[-1] % 3 == 0),
    "list: in": (TList, lambda x: 30 in x or 42 in x),
    "list: count": (TList, lambda x: x.count(30) + x.count(42)),
    "list: equal": (TList, lambda x: x != [10, 20]),
    "set: items": (TSet, lambda s: [value for value in s if value % 3 == 0]),
    "set: len": (TSet, lambda s: len(s) - 2),
    "set: in": (TSet, lambda s: 30 in s or 42 in s),
    "set: and": (TSet, lambda s: s & {30, 42}),
    "set: disjoint": (TSet, lambda s: not s.isdisjoint([30, 42])),
    "set: equal": (TSet, lambda s: s != {10, 20}),
}

START = {TDict: {1: 10, 2: 20}, TList: [10, 20], TSet: [10, 20]}
INSERTS = {
    TDict: lambda d, value: operator.setitem(d, 3 if value == 30 else 4, value),
    TList: lambda x, value: x.append(value),
    TSet: lambda s, value: s.add(value),
}


def item(shared, index):
    try:
        return shared[index]
    except IndexError:
        return None


@pytest.mark.parametrize(("kind", "search"), SEARCHES.values(), ids=SEARCHES)
def test_g2_what_was_searched_does_not_come_beside(engine, tmp_path, kind, search):
    # GIVEN
    shared = kind(START[kind])

    def insert_if_none(value):
        def body():
            found = search(shared)
            yield
            if not found:
                INSERTS[kind](shared, value)
            yield bool(found)

        return body

    # WHEN
    results = together(engine, tmp_path, insert_if_none(30), insert_if_none(42))

    # THEN
    assert [False, True] == sorted(result.value for result in results)
    assert 3 == len(shared)
    assert conflicts(engine, 1)


def test_what_was_taken_from_a_queue_is_not_taken_twice(engine, tmp_path):
    # GIVEN
    queue = TList(["a", "b", "c"])

    def take():
        found = queue.pop(0)
        yield
        yield found

    # WHEN
    results = together(engine, tmp_path, take, take)

    # THEN
    assert ["a", "b"] == sorted(result.value for result in results)
    assert ["c"] == queue
    assert conflicts(engine, 1)


def test_a_search_over_several_containers_is_of_one_moment(engine, tmp_path):
    # GIVEN
    grid = TList([TList([0] * 40) for _ in range(3)])
    total = TSet([0])

    def look(pause):
        rows = [sum(grid[0])]
        pause()
        rows += [sum(grid[1][index] for index in range(40)), sum(grid[2][5:35])]
        return rows, set(total)

    def fill():
        for row in grid:
            row[:] = [1] * 40
        total.add(40)

    # WHEN
    found = during(engine, tmp_path, look, [fill])

    # THEN
    assert ([0, 0, 0], {0}) == found.value
    assert [[1] * 40] * 3 == grid
    assert {0, 40} == total
    assert conflicts(engine, 0)
