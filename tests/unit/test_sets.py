"""Methods of `set` as functions, for sets that are shared."""

from __future__ import annotations

import pytest

import txloop
from tests.comparing import RUNS
from txloop.cells import sets

GIVEN: list[tuple[object, ...]] = [
    (),
    ({1, 2},),
    ({1, 2}, {2, 3}),
    ({1, 2}, {2, 3}, {2}),
    ({1, 2}, [2, 9]),
    ({1, 2}, "ab"),
    ({1}, {1: 2}),
    ({1}, 5),
    ([1], {1}),
    ({1, 2, 9}, {9, 1}),
]


def shared(given):
    kinds = (set, list, dict)
    return [txloop.share(one) if isinstance(one, kinds) else one for one in given]


def result(function, given):
    try:
        found = function(*given)
    except TypeError:
        return TypeError
    return type(found), found


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("name", sets.__all__)
def test_methods_of_set_take_shared_sets_as_plain_ones(name, given, run):
    found = run(lambda: result(getattr(sets, name), shared(given)))

    assert result(getattr(set, name), given) == found


class Odd(txloop.TSet[int]):
    """As `set` does, the functions ask no method of its own."""

    def __iter__(self):
        return iter(())

    def copy(self):
        return set()


def test_methods_that_a_set_has_itself_are_not_asked():
    result = sets.union({1}, Odd([2]))

    assert type(result) is set
    assert {1, 2} == result
