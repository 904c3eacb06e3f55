"""Looking for a dict in a shared list or deque: as in a plain one."""

from __future__ import annotations

from collections import deque

import pytest

from tests.engine import running
from txloop import TDict, share
from txloop.stm.store import committed

ROWS = [
    {"n": 1},
    {"n": 2, "its": [1, {"a": 2}]},
    {},
    {"n": 2.0, "its": [1, {"a": 2}]},
    {"n": 1, "name": "x"},
    {"name": "x", "n": 1},
    {"n": float("nan")},
]

SOUGHT = [*ROWS, {"n": 2, "its": [1]}, {"n": 3}, {1: 2}, 7, None, [], {"n": 1}.items()]

WAYS = {
    "in": lambda rows, sought: sought in rows,
    "count": lambda rows, sought: rows.count(sought),
    "index": lambda rows, sought: rows.index(sought),
    "index from": lambda rows, sought: rows.index(sought, 1),
    "index between": lambda rows, sought: rows.index(sought, 1, 4),
    "remove": lambda rows, sought: rows.remove(sought),
}


def found(rows, way, sought):
    try:
        return WAYS[way](rows, sought), [*rows]
    except ValueError as error:
        return "ValueError", type(error)


@pytest.mark.parametrize("kind", [list, deque])
@pytest.mark.parametrize("way", WAYS)
def test_it_is_found_where_it_is_in_a_plain_one(way, kind):
    for number, sought in enumerate(SOUGHT):
        expected = found(kind(ROWS), way, sought)

        assert expected == found(share(kind(ROWS)), way, sought), sought
        shared = share(kind(ROWS))
        if number < len(ROWS):  # the very object, or its like
            row = shared[number]
            assert expected == found(share(kind(ROWS)), way, row)
            assert expected == found(shared, way, row)


@pytest.mark.parametrize("way", WAYS)
def test_it_is_found_among_others(way):
    rows = [*ROWS, 7, "text"]

    for sought in SOUGHT:
        assert found(list(rows), way, sought) == found(share(rows), way, sought)


def test_what_was_changed_and_is_kept_for_others_is_found():
    shared = share([{"n": one} for one in range(9)])
    snapshot = committed.open_snapshot()
    shared[5]["n"] = 77
    del shared[6]["n"]
    shared[6]["n"] = 6

    assert [5, 6] == [shared.index({"n": 77}), shared.index({"n": 6})]
    assert {"n": 5} not in shared
    committed.close_snapshot(snapshot)
    assert [5, 6] == [shared.index({"n": 77}), shared.index({"n": 6})]


def test_a_transaction_conflicts_with_changes_of_what_it_compared():
    with running("scripted") as engine:
        rows = share([{"n": one} for one in range(9)])
        place = engine.submit(rows.index, {"n": 5})
        engine.turn()
        rows[2]["n"] = 5
        engine.wait(place)

    assert 2 == place.value


def test_a_dict_with_more_methods_is_asked_itself():
    class Row(TDict[str, object]):
        def __eq__(self, other):
            return other == {"n": "any"}

        __hash__ = None

    rows = share([Row(n=one) for one in range(9)])

    assert 0 == rows.index({"n": "any"})
