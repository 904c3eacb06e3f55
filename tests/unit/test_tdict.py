"""TDict without a loop: it does what a dict does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, MutableMapping
from typing import Any

import pytest

from tests.comparing import RUNS, directly, told
from txloop import TDict

SCRIPTS = {
    "get item": lambda d: d["b"],
    "get missing item": lambda d: d["x"],
    "get": lambda d: [d.get("b"), d.get("x"), d.get("x", 5)],
    "set": lambda d: d.__setitem__("b", 20),
    "set new": lambda d: d.__setitem__("x", 20),
    "delete": lambda d: d.__delitem__("b"),
    "delete missing": lambda d: d.__delitem__("x"),
    "delete and set": lambda d: [d.__delitem__("a"), d.__setitem__("a", 5)],
    "in": lambda d: ["b" in d, "x" in d],
    "len": len,
    "bool": bool,
    "iterate": list,
    "reversed": lambda d: list(reversed(d)),
    "keys": lambda d: [list(d.keys()), "b" in d.keys(), len(d.keys())],  # noqa: SIM118
    "values": lambda d: [list(d.values()), 2 in d.values()],
    "items": lambda d: [list(d.items()), ("b", 2) in d.items()],
    "set of keys": lambda d: [d.keys() & {"b", "x"}, d.keys() - {"b"}],
    "pop": lambda d: [d.pop("b"), d.pop("x", 7)],
    "pop missing": lambda d: d.pop("x"),
    "popitem": lambda d: [d.popitem(), d.popitem()],
    "popitem of none": lambda d: [d.clear(), d.popitem()],
    "setdefault": lambda d: [d.setdefault("b", 9), d.setdefault("x", 9)],
    "setdefault None": lambda d: d.setdefault("x"),
    "clear": lambda d: d.clear(),
    "update": lambda d: d.update({"b": 5, "x": 6}),
    "update with pairs": lambda d: d.update([("b", 5)], x=6),
    "update with names": lambda d: d.update(b=5, items=6, self=7),
    "update with nothing": lambda d: d.update(),
    "update badly": lambda d: d.update(5),
    "copy": lambda d: d.copy(),
    "or": lambda d: d | {"b": 5, "x": 6},
    "or from the left": lambda d: {"b": 5, "x": 6} | d,
    "or something else": lambda d: d | [("x", 6)],
    "or something else from the left": lambda d: [("x", 6)] | d,
    "or in place": lambda d: d.__ior__({"b": 5, "x": 6}),
    "or in place with pairs": lambda d: d.__ior__([("b", 5)]),
    "equal": lambda d: [d == {"c": 3, "a": 1, "b": 2}, d == {"a": 1}, d == 5],
    "equal to itself": lambda d: d == d,
    "equal from the left": lambda d: {"a": 1, "b": 2, "c": 3} == d,
    "unequal": lambda d: [d != {"a": 1}, d != {"a": 1, "b": 2, "c": 3}],
    "unhashable": hash,
    "unhashable key": lambda d: d.__setitem__([], 1),
    "unhashable key to find": lambda d: [] in d,
    "equal keys": lambda d: [d.update({1: "int"}), d.update({True: "bool"}), list(d)],
    "match": lambda d: _matched(d),
    "unpack": lambda d: {**d},
}


def _matched(mapping):
    match mapping:
        case {"a": 1, **rest}:
            return rest
    return None


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_it_does_what_a_dict_does(script, run):
    # GIVEN
    contents = {"a": 1, "b": 2, "c": 3}
    plain, shared = dict(contents), TDict(contents)

    # THEN
    assert told(directly, script, plain) == told(run, script, shared)


def test_it_is_a_mapping():
    shared = TDict(a=1)

    assert isinstance(shared, MutableMapping)
    assert isinstance(shared, Mapping)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), {}),
        (({"a": 1},), {"b": 2}),
        (([("a", 1), ("b", 2), ("a", 3)],), {}),
        ((), {"self": 1, "items": 2}),
        (("ab",), {}),
        ((1,), {}),
        (({}, {}), {}),
    ],
)
def test_it_is_made_as_a_dict_is(arguments, names):
    assert made(dict, arguments, names) == made(TDict, arguments, names)


def made(kind, arguments, names):
    try:
        return dict(kind(*arguments, **names))
    except Exception as error:
        return type(error)


def test_iteration_is_not_disturbed_by_changes():
    # GIVEN
    shared = TDict(a=1, b=2)

    # WHEN
    for key in shared:
        shared[key + key] = 0
        shared.pop("b", None)

    # THEN
    assert ["a", "aa", "bb"] == list(shared)


def test_it_shows_its_contents_and_class():
    class Stock(TDict[str, int]):
        pass

    assert "TDict({'a': TDict({})})" == repr(TDict(a={}))
    assert "Stock({'a': 1})" == repr(Stock(a=1))


def test_it_pickles_as_a_reference():
    shared = TDict(a=1)

    assert shared is pickle.loads(pickle.dumps(shared))


def test_a_default_that_was_set_is_the_one_returned():
    # GIVEN
    shared: TDict[str, Any] = TDict()

    # WHEN
    shared.setdefault("a", {})["b"] = 1

    # THEN
    assert {"a": {"b": 1}} == shared


def test_a_deep_copy_is_a_container_of_its_own():
    # GIVEN
    shared: TDict[str, Any] = TDict(a={"b": 1})
    shared["self"] = shared

    # WHEN
    shallow, deep = copy.copy(shared), copy.deepcopy(shared)
    shared["a"]["b"] = 2

    # THEN
    assert isinstance(deep, TDict)
    assert isinstance(shallow, TDict)
    assert ({"b": 2}, {"b": 1}) == (shallow["a"], deep["a"])
    assert deep["self"] is deep


def typed(shared: TDict[str, tuple[int, ...]]) -> int:
    """Use its types, which mypy checks."""
    total = 0
    for key, numbers in shared.items():
        text: str = key
        total += sum(numbers) - len(text)
    inferred = TDict(a=1)
    number: int = inferred["a"]
    return total - number + int(bool(shared.get("missing")))


def test_it_is_generic():
    shared = TDict[str, tuple[int, ...]]({"a": (3,)})

    assert 1 == typed(shared)
