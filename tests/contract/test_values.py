"""Values and keys on their way: they come back equal, and of the same class."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import pytest

from txloop import TDict, TSet, TxValueError


class Name(str):
    __slots__ = ()


class Tagged(str):
    tag: object


class Count(int):
    pass


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Topic:
    name: str


@dataclasses.dataclass(frozen=True, eq=False)
class LonelyTopic:
    name: str


@dataclasses.dataclass(frozen=True, eq=False)
class KnownTopic:
    """Compares by identity, and is found by its name."""

    name: str

    def __reduce__(self):
        return find_known, (self.name,)


def find_known(name):
    return KNOWN[name]


KNOWN = {name: KnownTopic(name) for name in ("news", "sport")}


def tagged(text, tag):
    made = Tagged(text)
    made.tag = tag
    return made


def described(value):
    return type(value).__name__, value, getattr(value, "tag", None)


VALUES = {
    "text": Name("text"),
    "text with an attribute": tagged("text", ("a", 1)),
    "number": Count(5),
    "in a tuple": (Name("a"), (Count(1),)),
}


def put_and_get(shared, value):
    """Return what is there, and what is there then."""
    before = [described(one) for one in shared.values()]
    shared["there"] = value
    return before, described(shared["there"])


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_what_is_derived_from_text_and_numbers_stays_what_it_is(engine, value):
    # GIVEN
    shared = TDict(here=value)

    # WHEN
    found: Any = engine.run(put_and_get, shared, value)

    # THEN
    assert ([described(value)], described(value)) == found
    assert [described(value)] * 2 == [described(one) for one in shared.values()]


def count(hits, seen, key):
    hits[key] = hits.get(key, 0) + 1
    seen.add(key)


KEYS: dict[str, object] = {
    "dataclass": Topic("news"),
    "member of an enum": Colour.RED,
    "class": Topic,
    "function": count,
    "known by name": KNOWN["news"],
    "text": Name("text"),
    "tuple": (Colour.RED, Topic("news")),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_is_the_same_wherever_it_is_used(engine, key):
    hits: Any = TDict()
    seen: Any = TSet()

    for _ in range(3):
        engine.run(count, hits, seen, key)

    assert ({key: 3}, {key}) == (hits, seen)


def count_lonely(hits, seen):
    count(hits, seen, LonelyTopic("news"))


def test_a_key_that_would_be_another_one_is_refused(engine):
    # GIVEN
    hits: Any = TDict(a=0)
    seen: Any = TSet()

    # THEN
    with pytest.raises(TxValueError, match=r"equal only to itself .* as a key"):
        engine.run(count_lonely, hits, seen)
    assert ({"a": 0}, 0) == (hits, len(seen))
