"""Looking for a dict in a shared list or deque: as in a plain one."""

from __future__ import annotations

import json
from collections import deque

import pytest

from tests.engine import running
from txloop import TDict, TObject, share
from txloop.cells.searching import place_of
from txloop.errors import BecomeInevitable
from txloop.stm.attempt import Attempt, make_current
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


@pytest.mark.parametrize("kind", ["serial", "processes", "threads"])
@pytest.mark.parametrize("way", WAYS)
def test_a_transaction_finds_it_as_in_a_plain_one(way, kind):
    """Also where it has changed some of them itself, or others have, meanwhile."""
    with running(kind) as engine:
        for number, sought in enumerate(SOUGHT):
            if sought is ROWS[-1]:
                continue  # a NaN that has travelled is another one
            plain, shared = changed(list(ROWS)), share(ROWS)

            def look(shared=shared, sought=sought):
                return shown(found(changed(shared), way, sought))

            expected = shown(found(plain, way, sought))
            assert expected == engine.run(look), (number, sought)


def shown(result):
    """Return what can be compared after it came from another process."""
    answer, rows = result
    return str(answer), json.dumps(rows) if isinstance(rows, list) else str(rows)


def changed(rows):
    rows.append({"n": 3})
    rows[0] = {"n": 1, "is": "new"}
    rows[2]["n"] = 2
    return rows


@pytest.mark.parametrize(("changed", "aborts"), [(2, 1), (3, 0)])
def test_what_comes_after_it_was_not_looked_at(changed, aborts):
    with running("scripted") as engine:
        rows = share([{"n": one} for one in range(9)])
        result, number = engine.send(lambda: rows.append(rows.index({"n": 2})))
        engine.scripted.begin(number)
        rows[changed]["other"] = 2
        engine.scripted.finish(number)

        engine.wait(result)
        assert aborts == engine.aborts


def test_a_cancelled_attempt_looks_at_nothing_more():
    rows = share([{"n": one} for one in range(9)])
    attempt = Attempt(committed.version, speculative=True)
    make_current(attempt)
    try:
        attempt.condemn()
        with pytest.raises(BecomeInevitable):
            place_of([*rows], {"n": 2})
    finally:
        make_current(None)


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


class Undecided(TObject, dataclass=False):
    def __eq__(self, other):
        raise ValueError("undecided")


@pytest.mark.parametrize("way", WAYS)
def test_what_comparing_raises_is_raised(way):
    undecided = Undecided()
    for rows in ([{"n": 2}, {"n": undecided}], share([{"n": 2}, {"n": undecided}])):
        with pytest.raises(ValueError, match="undecided"):
            WAYS[way](rows, {"n": 1})
