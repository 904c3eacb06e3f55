"""What is worked out once for many requests is what Tornado makes of each."""

from __future__ import annotations

import datetime
import time
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tornado import httputil
from tornado.http1connection import HTTP1Connection

from txloop.web import repeated

SECOND = 1_700_000_000
NEXT_YEARS = 1e10

SERVER: Any = SimpleNamespace(is_client=False, stream=SimpleNamespace())
CLIENT: Any = SimpleNamespace(is_client=True)


def stock_time(timestamp):
    return formatdate(timestamp, usegmt=True)


@given(st.lists(st.floats(-NEXT_YEARS, NEXT_YEARS), min_size=1))
def test_a_time_is_formatted_as_ever(timestamps):
    for timestamp in timestamps:
        assert stock_time(timestamp) == httputil.format_timestamp(timestamp)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9989, 0.9991, 0.9999999, 1.0, 1.5])
@pytest.mark.parametrize("before", [0.0, 0.5, 0.9999999])
def test_parts_of_a_second_are_rounded_as_ever(before, part):
    httputil.format_timestamp(SECOND + before)

    assert stock_time(SECOND + part) == httputil.format_timestamp(SECOND + part)


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
    assert stock_time(SECOND) == httputil.format_timestamp(timestamp)


@pytest.mark.parametrize("timestamp", ["now", None, float("nan"), float("inf")])
def test_what_is_no_time_is_refused_as_ever(timestamp):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        httputil.format_timestamp(timestamp)


def test_a_second_is_formatted_once(monkeypatch):
    # GIVEN
    asked = []

    def format_timestamp(timestamp):
        asked.append(timestamp)
        return stock_time(timestamp)

    monkeypatch.setattr(repeated, "_stock_format_timestamp", format_timestamp)
    monkeypatch.setattr(repeated, "_last", (-1, ""))

    # WHEN
    for number in range(200):
        httputil.format_timestamp(SECOND + number / 100)

    # THEN
    assert [SECOND, SECOND + 1] == asked


def stock_parsed(data):
    """Return what Tornado makes of a header block, or the error."""
    return _outcome(repeated._stock_parse_headers, SERVER, data)


def parsed(data, connection=SERVER):
    return _outcome(HTTP1Connection._parse_headers, connection, data)


def _outcome(parse, connection, data):
    try:
        line, headers = parse(connection, data)
    except httputil.HTTPInputError as error:
        return str(error)
    return line, list(headers.get_all()), dict(headers)


@pytest.fixture
def asked(monkeypatch):
    """Return the header blocks that Tornado is asked to parse from now on."""
    asked = []
    stock = repeated._stock_parse_headers

    def parse(connection, data):
        asked.append(data)
        return stock(connection, data)

    monkeypatch.setattr(repeated, "_stock_parse_headers", parse)
    monkeypatch.setattr(repeated, "_parsed", {})
    return asked


FIELDS = st.sampled_from(
    [
        *("Host: a", "host:b", "Accept: */*", "X: 1", "X: 2", "Cookie: a=b; c=d", "E:"),
        *("Empty: ", "Umlaut: \xfc", "no colon", " folded", "Bad name: 1", "N: \x00"),
    ]
)
LINES = st.sampled_from(
    ["GET / HTTP/1.1", "POST /x HTTP/1.0", "GET  /\xe4 HTTP/1.1", "", " ", "g", "\r"]
)
BREAKS = st.sampled_from(["\r\n", "\n"])


@given(st.lists(st.tuples(LINES, BREAKS, st.lists(FIELDS), BREAKS), max_size=6))
@example([("GET /1 HTTP/1.1", "\r\n", ["X: 1", "X: 2"], "\r\n")] * 2)
def test_header_blocks_are_parsed_as_ever_in_any_order(requests):
    for line, ending, fields, last in requests * 2:
        text = ending.join([line, *fields, ""]) + last

        assert stock_parsed(text.encode("latin1")) == parsed(text.encode("latin1"))


def test_headers_that_come_again_are_not_parsed_again(asked):
    # GIVEN
    parsed(b"GET /1 HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n")

    # WHEN
    again = parsed(b"POST /2 HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n")

    # THEN
    fields = [("Host", "a"), ("X", "1"), ("X", "2")]
    assert ("POST /2 HTTP/1.1", fields, {"Host": "a", "X": "1,2"}) == again
    assert 1 == len(asked)


def test_what_a_handler_does_to_its_headers_is_its_own_affair(asked):
    # GIVEN
    data = b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n"
    for _ in range(2):
        _, headers = HTTP1Connection._parse_headers(SERVER, data)

        # WHEN
        headers.add("X", "2")
        headers["Y"] = "3"
        del headers["Host"]

    # THEN
    assert stock_parsed(data) == parsed(data)


def test_only_so_many_are_remembered_and_none_that_is_long(asked):
    for number in range(3 * repeated._MOST_BLOCKS):
        parsed(b"GET / HTTP/1.1\r\nHost: %d\r\n\r\n" % number)
        assert len(repeated._parsed) <= repeated._MOST_BLOCKS

    long = b"GET / HTTP/1.1\r\nCookie: %s\r\n\r\n" % (b"x" * repeated._MOST_BYTES)
    parsed(long)
    parsed(long)

    assert [long, long] == asked[-2:]


def test_answers_that_a_client_of_the_program_gets_are_not_remembered(asked):
    parsed(b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\n", CLIENT)

    assert {} == repeated._parsed
