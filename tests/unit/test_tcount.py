"""TCount: the numbers of `itertools.count`, drawn in transactions."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import pytest

from tests.comparing import RUNS
from txloop import TCount, TDict, plain

STARTS: list[tuple[Any, ...]] = [(), (5,), (1, 2), (3, -1), (0.5, 0.1), (True,), (2, 0)]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("given", STARTS)
def test_it_counts_and_prints_as_that_of_itertools(given, run):
    # GIVEN
    stock, shared = itertools.count(*given), run(TCount, *given)

    # WHEN
    expected = list(itertools.islice(stock, 5))
    found = run(lambda: list(itertools.islice(shared, 5)))

    # THEN
    assert list(map(repr, expected)) == list(map(repr, found))
    assert f"T{stock!r}".replace("Tc", "TC") == repr(shared)
    assert iter(shared) is shared


@pytest.mark.parametrize("given", [("a",), (1, None)])
def test_it_refuses_what_that_refuses(given):
    with pytest.raises(TypeError, match="number"):
        TCount(*given)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_goes_on_by_itself(copied):
    # GIVEN
    numbers = TCount(1, 2)
    next(numbers)

    # WHEN
    other = copied(numbers)
    drawn = [next(other), next(other), next(numbers)]

    # THEN
    assert [3, 5, 3] == drawn


def test_its_step_travels_with_it_and_its_value_is_the_next_number():
    # GIVEN
    kept = TDict(ids=TCount(10, 10))

    # WHEN
    same = pickle.loads(pickle.dumps(kept["ids"]))
    next(same)

    # THEN
    assert kept["ids"] is same
    assert {"ids": 20} == plain(kept)
    assert 30 == next(kept["ids"]) + 10
