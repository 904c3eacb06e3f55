"""Methods that code calls without naming them: the interpreter, libraries do."""

from __future__ import annotations

import bisect
import contextlib
import datetime
import json
import sys
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlencode

import pytest

from tests.reached import reached, subject_of

noted: list[object] = []


def note(thing: object) -> None:
    noted.append(thing)


class Row:
    """Notes down each call."""

    def keys(self):
        note("keys")
        return ["a"]

    def __getitem__(self, key):
        return 1

    def __len__(self):
        return 0

    def close(self):
        note("close")

    def insert(self, index, thing):
        note(thing)

    def items(self):
        note("items")
        return [("a", 1)]

    def read(self):
        note("read")
        return "{}"

    @property
    def title(self):
        note("title")
        return "a"

    def unused(self):
        return unused


class Zone(datetime.tzinfo):
    def utcoffset(self, moment):
        note(moment)
        return datetime.timedelta(0)

    def dst(self, moment):
        return None

    def tzname(self, moment):
        return "Z"


@runtime_checkable
class Titled(Protocol):
    title: str


row: Any = Row()  # it is like what it is given for, by its methods only
zone, unused = Zone(), [0]


def unpack():
    return {**row}


def unpack_for_a_call():
    return dict(**row)


def close():
    with contextlib.closing(row):
        pass


def insert():
    bisect.insort(row, 3)


def encode():
    return urlencode(row)


def load():
    return json.load(row)


def ask_for_the_protocol():
    return isinstance(row, Titled)


def show():
    return datetime.datetime(2026, 1, 1, tzinfo=zone).isoformat()


@pytest.mark.parametrize(
    "function",
    [
        *(unpack, unpack_for_a_call, close, insert, encode, load),
        show,
        *((ask_for_the_protocol,) if sys.version_info < (3, 12) else ()),
    ],
)
def test_what_is_called_so_is_followed(function):
    function()  # it does call it
    found = reached(subject_of(function).reach)

    assert noted
    assert id(noted) in found
    assert id(unused) not in found
    noted.clear()
