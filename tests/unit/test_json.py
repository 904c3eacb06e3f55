"""Containers as JSON: as what they stand for."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
import tornado.escape

from tests.comparing import RUNS
from txloop import TCounter, TDict, TList, TObject, TSet, TVar, share
from txloop.stm.store import committed


class Player(TObject):
    name: str
    at: TList[int] = dataclasses.field(default_factory=TList)


@dataclasses.dataclass
class Stop:
    name: str


CONTAINERS: dict[str, tuple[Any, Any]] = {
    "list": (TList([1, "a", None, 2.5]), [1, "a", None, 2.5]),
    "empty list": (TList(), []),
    "dict": (TDict(a=1, b=[2]), {"a": 1, "b": [2]}),
    "other keys": (TDict({1: "a", None: "b", 2.5: "c"}), {1: "a", None: "b", 2.5: "c"}),
    "set": (TSet("ba"), ["b", "a"]),
    "object": (Player("ann", TList([1, 2])), {"name": "ann", "at": [1, 2]}),
    "dataclass": (share(Stop("a")), {"name": "a"}),
    "counter": (TCounter(5), 5),
    "variable": (TVar({"a": (1, 2)}), {"a": (1, 2)}),
    "nested": (
        share({"grid": [[0, 1], [{"x": {1}}]], "n": (TCounter(1), TVar([]))}),
        {"grid": [[0, 1], [{"x": [1]}]], "n": [1, []]},
    ),
    "dicts in a list": (
        share([{"b": 1, "a": [{"c": {}}, {}]}, {}, {"d": "x"}]),
        [{"b": 1, "a": [{"c": {}}, {}]}, {}, {"d": "x"}],
    ),
    "dicts in a dict": (
        share({"b": {"c": [1]}, 2: {}, "a": {"b": {"x": 1}}}),
        {"b": {"c": [1]}, 2: {}, "a": {"b": {"x": 1}}},
    ),
    "in plain": ([{"a": TList([TSet([1])])}], [{"a": [[1]]}]),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("shared", "plain"), CONTAINERS.values(), ids=CONTAINERS)
def test_a_container_is_encoded_as_what_it_stands_for(run, shared, plain):
    assert json.dumps(plain) == run(json.dumps, shared)
    assert tornado.escape.json_encode(plain) == run(tornado.escape.json_encode, shared)
    # The encoder in Python, which `indent` asks for:
    assert json.dumps(plain, indent=1) == json.dumps(shared, indent=1)


@pytest.mark.parametrize("run", RUNS)
def test_what_was_changed_and_is_kept_for_others_is_encoded_as_it_is_now(run):
    shared = share([{"a": 1, "b": 2}, {"a": 3}])
    snapshot = committed.open_snapshot()
    del shared[0]["a"]
    shared[0]["a"] = 4
    shared[1]["c"] = {}

    assert '[{"b": 2, "a": 4}, {"a": 3, "c": {}}]' == run(json.dumps, shared)
    committed.close_snapshot(snapshot)
    assert '[{"b": 2, "a": 4}, {"a": 3, "c": {}}]' == run(json.dumps, shared)


def test_options_hold_for_what_is_inside():
    shared = TDict(b=TDict(d=1, c=2), a=1)

    assert '{"a": 1, "b": {"c": 2, "d": 1}}' == json.dumps(shared, sort_keys=True)


class Custom(json.JSONEncoder):
    def default(self, value: object) -> object:
        return "custom" if value is ... else super().default(value)


def test_encoders_with_a_default_of_their_own_may_pass_it_on():
    assert '["custom", [1]]' == json.dumps([..., TList([1])], cls=Custom)
    assert '"shown"' == json.dumps(TList(), default=lambda value: "shown")


REFUSED = {
    "a key that is no string": (share({(1, 2): 3}), TypeError, "keys must be str, int"),
    "a value": (TList([b"bytes"]), TypeError, "type bytes is not JSON serializable"),
    "what has nothing to do with it": (object(), TypeError, "object is not JSON"),
}


@pytest.mark.parametrize(("value", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_encoded_is_refused_as_ever(value, kind, text):
    with pytest.raises(kind, match=text):
        json.dumps(value)


def test_what_contains_itself_is_refused():
    # GIVEN
    shared: TList[Any] = TList()
    shared.append([shared])

    # THEN
    with pytest.raises(ValueError, match="Circular reference"):
        json.dumps(shared)
