"""Times in buckets: where they are counted, and what they say of the slow ones."""

from __future__ import annotations

import pytest

from txloop import Distribution
from txloop.stm.measuring import BOUNDS, Histogram


def counted(*seconds: float) -> Distribution:
    times = Histogram()
    for one in seconds:
        times.add(one)
    return Distribution(tuple(times.counts), times.seconds)


@pytest.mark.parametrize(
    ("seconds", "place"),
    [(0.0, 0), (BOUNDS[0], 0), (0.0001001, 1), (10.0, len(BOUNDS) - 1), (11, -1)],
)
def test_a_bound_belongs_to_what_is_below_it(seconds, place):
    counts = counted(seconds).counts

    assert 1 == counts[place]
    assert 1 == sum(counts)


def test_a_quantile_lies_in_the_bucket_where_it_is():
    times = counted(*[0.002] * 98, 0.2, 0.2)

    assert 0.001 < times.quantile(0.5) <= 0.0025
    assert 0.1 < times.quantile(0.99) <= 0.25


def test_quantiles_do_not_fall():
    times = counted(0.0002, 0.003, 0.003, 0.07, 0.4, 2.0)
    found = [times.quantile(share / 100) for share in range(101)]

    assert sorted(found) == found


def test_what_is_longer_than_all_bounds_counts_as_the_last_bound():
    assert BOUNDS[-1] == counted(1000.0).quantile(0.5)


def test_of_nothing_there_is_none():
    assert 0.0 == Distribution().quantile(0.5)


def test_what_came_later_is_the_difference():
    earlier, later = counted(0.002), counted(0.002, 0.2, 7.0)

    assert counted(0.2, 7.0).counts == (later - earlier).counts
    assert later.counts == ((later - earlier) + earlier).counts
    assert pytest.approx(7.2) == (later - earlier).seconds
