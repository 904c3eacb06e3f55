"""What is plain data, and what only looks like it."""

from __future__ import annotations

import enum
import marshal

import pytest

from txloop.executors.codec.plain_forms import (
    Form,
    form_named,
    form_of,
    is_plain,
    register_form,
)


class Text(str):
    __slots__ = ()


class Number(enum.IntEnum):
    ONE = 1


class Table(dict[str, int]):
    pass


PLAIN = [
    "text",
    b"bytes",
    1,
    1 << 100,
    1.5,
    True,
    None,
    [],
    {"a": ["b", {"c": (1, None)}]},
    [[[["deep"]]]],
]

LOOP: list[object] = []
LOOP.append(LOOP)

NOT_PLAIN = {
    "a string of a class of its own": Text("text"),
    "a key": {Text("text"): 1},
    "a value": {"a": [Number.ONE]},
    "an enum": Number.ONE,
    "a dict of a class of its own": [Table()],
    "a bytearray": bytearray(b"x"),
    "a view": (memoryview(b"x"),),
    "a set": {1},
    "an object": [object()],
    "what contains itself": LOOP,
    "too many parts": ["part"] * 2000,
}


@pytest.mark.parametrize("thing", PLAIN, ids=repr)
def test_what_is_plain_comes_back_as_it_was(thing):
    assert is_plain(thing)
    assert thing == marshal.loads(marshal.dumps(thing))


@pytest.mark.parametrize("thing", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_what_would_change_on_the_way_is_not_plain(thing):
    assert not is_plain(thing)


def test_a_form_is_found_by_its_kind_and_by_its_name():
    class Kind:
        pass

    form = Form("of a test", str, int)
    register_form(Kind, form)

    assert form is form_of(Kind)
    assert form is form_named("of a test")


def test_what_cannot_be_hashed_has_no_form():
    class Callable:
        def __eq__(self, other):
            return True

        def __call__(self):
            return 1

    assert form_of(Callable()) is None
