"""The time of an answer is what Tornado says it is, though not asked each time."""

from __future__ import annotations

import datetime
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tornado import httputil

from txloop.web import dates

SECOND = 1_700_000_000
NEXT_YEARS = 1e10


def stock(timestamp):
    return formatdate(timestamp, usegmt=True)


@given(st.lists(st.floats(-NEXT_YEARS, NEXT_YEARS), min_size=1))
def test_a_time_is_formatted_as_ever(timestamps):
    for timestamp in timestamps:
        assert stock(timestamp) == httputil.format_timestamp(timestamp)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9989, 0.9991, 0.9999999, 1.0, 1.5])
@pytest.mark.parametrize("before", [0.0, 0.5, 0.9999999])
def test_parts_of_a_second_are_rounded_as_ever(before, part):
    httputil.format_timestamp(SECOND + before)

    assert stock(SECOND + part) == httputil.format_timestamp(SECOND + part)


@pytest.mark.parametrize(
    "timestamp",
    [
        SECOND,
        time.gmtime(SECOND),
        tuple(time.gmtime(SECOND)),
        datetime.datetime.fromtimestamp(SECOND, datetime.UTC),
    ],
)
def test_other_kinds_of_time_are_formatted_as_ever(timestamp):
    assert stock(SECOND) == httputil.format_timestamp(timestamp)


@pytest.mark.parametrize("timestamp", ["now", None, float("nan"), float("inf")])
def test_what_is_no_time_is_refused_as_ever(timestamp):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        httputil.format_timestamp(timestamp)


def test_a_second_is_formatted_once(monkeypatch):
    # GIVEN
    asked = []

    def format_timestamp(timestamp):
        asked.append(timestamp)
        return stock(timestamp)

    monkeypatch.setattr(dates, "_stock_format_timestamp", format_timestamp)
    monkeypatch.setattr(dates, "_last", (-1, ""))

    # WHEN
    for number in range(200):
        httputil.format_timestamp(SECOND + number / 100)

    # THEN
    assert [SECOND, SECOND + 1] == asked
