"""What may be a key of a container, or an element of a set."""

from __future__ import annotations

import pickle
import zoneinfo
from typing import Any

import pytest

from tests.naming import shown
from tests.unit.test_values import Colour, Lone, Name, Pair, Plain, Point, Topic
from txloop import TDict, TObject, TSet, TVar, TxValueError, share
from txloop.cells.shareable import shareable

KEYS: list[object] = [
    "text",
    (1, ("nested", frozenset({2}))),
    Colour.RED,
    Point(1, (2, 3)),
    Pair(1, Point(2)),
    Name("text"),
    Lone("first"),
    Plain,
    int,
    len,
    shareable,
    Plain.made,
    None,
    ...,
    zoneinfo.ZoneInfo("UTC"),
    (Plain, shareable),
]


@pytest.mark.parametrize("key", KEYS, ids=shown)
def test_what_is_equal_to_its_copies_can_be_a_key(key):
    assert 1 == TDict({key: 1})[key]
    assert key in TSet([key])
    copied = pickle.loads(pickle.dumps(key))
    assert 1 == TDict({key: 1})[copied]


class Card(TObject, dataclass=False):
    """Is equal to cards of its number, which may change."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Card) and self.number == other.number

    def __hash__(self) -> int:  # type: ignore[override] # others have none
        return hash(self.number)


class Stuck:
    def __reduce__(self) -> str:
        raise TypeError("it does not pickle")


LOST = {
    "does not pickle": (Stuck(), "^Stuck .* is equal only to itself"),
    "object": (object(), "^object .* as a key: .* or a member of an Enum$"),
    "of a class": (Plain(), "^Plain .* is equal only to itself and may not be shared"),
    "dataclass": (Topic("news"), "leave eq=False out of its dataclass, or make it an "),
    "in a tuple": ((1, Topic("news")), "^Topic .* as a key"),
    "in a frozenset": (frozenset({Topic("news")}), "^Topic .* as a key"),
    "in a dataclass": (Point(Topic("news")), "^Topic .* as a key"),
    "in a named tuple": (Pair(1, Topic("news")), "^Topic .* as a key"),
    "lambda": (lambda: None, "^function .* as a key: .* define it with def at the top"),
    "a hash of cells": (Card(7), "^Card .* as a key: its hash is made of attributes"),
    "bound method": (Plain().method, "^method .* its object, a Plain, would be copied"),
}


@pytest.mark.parametrize(("key", "message"), LOST.values(), ids=LOST)
def test_what_is_equal_only_to_itself_is_refused_as_a_key(key, message):
    # GIVEN
    shared: Any = TDict(a=1)

    # THEN
    for store in (
        lambda: shared.__setitem__(key, 1),
        lambda: shared.update({"b": 1, key: 1}),
        lambda: shared.setdefault(key, 1),
        lambda: TDict({key: 1}),
        lambda: TVar({key: 1}),
        lambda: share({key: 1}),
    ):
        with pytest.raises(TxValueError, match=message):
            store()
    assert {"a": 1} == shared
    assert key not in shared


@pytest.mark.parametrize("element", [key for key, _ in LOST.values()], ids=LOST)
def test_nor_can_it_be_an_element(element):
    shared: TSet[object] = TSet("a")

    for store in (
        lambda: shared.add(element),
        lambda: shared.update(["b", element]),
        lambda: TSet([element]),
        lambda: TVar({element}),
    ):
        with pytest.raises(TxValueError):
            store()
    assert {"a"} == shared
