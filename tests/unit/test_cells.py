"""TVar and TDict without a loop: plain values, whose contents may be shared."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import pickle
import re
import typing
import uuid
import zoneinfo
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping
from typing import Any

import pytest

from txloop import TDict, TVar, TxValueError
from txloop.attempt import run_attempt
from txloop.store import committed
from txloop.types import Call, Outcome

# TVar


def test_a_variable_holds_a_value():
    # GIVEN
    variable = TVar(1)

    # WHEN
    variable.set(variable.get() + 1)
    variable.value += 1

    # THEN
    assert (3, 3) == (variable.get(), variable.value)
    assert "TVar(3)" == repr(variable)


def test_variables_compare_by_identity():
    variable = TVar(1)

    assert variable != TVar(1)
    assert {variable} == {variable, variable}


def test_a_variable_can_be_a_subclass():
    class Counter(TVar[int]):
        def add(self):
            self.value += 1

    counter = Counter(1)
    counter.add()

    assert "Counter(2)" == repr(counter)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_refers_to_the_same_state(copied):
    variable = TVar(1)

    assert variable is copied(variable)


# TDict beside dict

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


def in_a_transaction(script, shared):
    """Run a script on shared state as a transaction that commits."""
    call = Call(script, (shared,), commits_on=(Exception,))
    outcome = run_attempt(call, speculative=True)
    assert isinstance(outcome, Outcome)
    committed.install(outcome.writes)  # type: ignore[arg-type] # containers
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def directly(script, shared):
    """Run a script on shared state outside a transaction."""
    return script(shared)


def told(run, script, mapping):
    """Return a script's result, or its exception's type, and the contents after it."""
    try:
        result = run(script, mapping)
    except Exception as error:
        result = type(error), error.args if isinstance(error, KeyError) else ()
    if result is mapping:
        result = "itself"
    return result, list(mapping.items())


@pytest.mark.parametrize("run", [directly, in_a_transaction])
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


# Rule 8: values


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Point:
    x: object
    y: object = 0


class Pair(typing.NamedTuple):
    first: object
    second: object = 0


class Special(tuple[object, ...]):
    __slots__ = ()


IMMUTABLE: list[object] = [
    None,
    True,
    1,
    1.5,
    1j,
    "text",
    b"bytes",
    range(3),
    ...,
    NotImplemented,
    (),
    (1, ("nested", frozenset({2}))),
    frozenset({(1, 2)}),
    Colour.RED,
    Point(1, (2, 3)),
    Pair(1, Point(2)),
    Special((1, 2)),
    datetime.date(2014, 1, 1),
    datetime.datetime(2014, 1, 1, tzinfo=datetime.UTC),
    datetime.time(12),
    datetime.timedelta(1),
    zoneinfo.ZoneInfo("UTC"),
    decimal.Decimal("1.5"),
    fractions.Fraction(1, 3),
    uuid.UUID(int=1),
    re.compile("a+"),
    pathlib.PurePosixPath("a/b"),
    pathlib.Path("a"),
    ipaddress.ip_address("127.0.0.1"),
    ipaddress.ip_network("10.0.0.0/8"),
    ipaddress.ip_address("::1"),
    ipaddress.ip_network("::/8"),
    int,
    Point,
    len,
    told,
    lambda: None,
    TVar(1),
    TDict(a=1),
    (TVar(1), TDict()),
    Point(TDict()),
]


@pytest.mark.parametrize("value", IMMUTABLE, ids=repr)
def test_what_cannot_change_is_stored_as_it_is(value):
    assert value is TVar(value).get()
    assert value is TDict(k=value)["k"]


@dataclasses.dataclass
class Open:
    x: object = 0


class Plain:
    def method(self):
        pass


MUTABLE = {
    "list": ([1, 2], r"^list \[1, 2\] is mutable .* store a tuple$"),
    "set": ({1}, r"^set \{1\} is mutable .* store a frozenset$"),
    "bytearray": (bytearray(b"x"), "^bytearray .* store bytes$"),
    "object": (Plain(), "^Plain .* a frozen dataclass or a txloop container$"),
    "dataclass": (Open(), r"^Open Open\(x=0\) .* a frozen dataclass"),
    "subclass of dict": (OrderedDict(a=1), "^OrderedDict .* is mutable"),
    "bound method": (Plain().method, "^method .* is mutable"),
    "generator": ((x for x in "ab"), "^generator "),
    "in a tuple": ((1, [2]), r"^list \[2\] is mutable"),
    "in a named tuple": (Pair([2]), r"^list \[2\] is mutable"),
    "in a frozenset": (frozenset({Plain()}), "^Plain .* is mutable"),
    "in a dict": ({"a": {"b": [1]}}, r"^list \[1\] is mutable"),
    "in a frozen dataclass": (Point([1]), r"^list \[1\] is mutable"),
    "dict in a frozen dataclass": (
        Point({"a": 1}),
        r"^field 'x' of Point Point\(x={'a': 1}, y=0\) holds a plain dict; give it a ",
    ),
    "dict in a special tuple": (
        Special(({},)),
        r"^Special \({},\) holds a plain dict; make it a txloop.TDict$",
    ),
    "long": ([0] * 100, r"^list (\[0, .{53})\.\.\. is mutable"),
}


@pytest.mark.parametrize(("value", "message"), MUTABLE.values(), ids=MUTABLE)
def test_what_can_change_is_refused_with_advice(value, message):
    # GIVEN
    variable, shared = TVar(0), TDict(a=0)

    # THEN
    for store in (
        TVar,
        variable.set,
        lambda new: shared.__setitem__("b", new),
        lambda new: shared.update(a=1, b=new),
        lambda new: shared.setdefault("b", new),
        lambda new: TDict(b=new),
    ):
        with pytest.raises(TxValueError, match=message):
            store(value)
    assert 0 == variable.get()
    assert {"a": 0} == shared


def test_the_refusal_is_a_type_error():
    with pytest.raises(TypeError):
        TVar([])


def test_plain_dicts_become_containers_deeply():
    # GIVEN
    inner: dict[str, object] = {"c": ({"d": 1}, 2)}

    # WHEN
    shared: TDict[str, Any] = TDict(a=inner, p=Pair({"e": 1}))
    inner["c"] = ()

    # THEN
    assert isinstance(shared["a"], TDict)
    assert isinstance(shared["a"]["c"][0], TDict)
    assert isinstance(shared["p"], Pair)
    assert isinstance(shared["p"].first, TDict)
    assert {"a": {"c": ({"d": 1}, 2)}, "p": Pair({"e": 1})} == shared
    assert {"k": 1} == TVar({"k": 1}).get()


def test_a_default_that_was_set_is_the_one_returned():
    # GIVEN
    shared: TDict[str, Any] = TDict()

    # WHEN
    shared.setdefault("a", {})["b"] = 1

    # THEN
    assert {"a": {"b": 1}} == shared


# Types


def test_they_are_generic():
    variable: TVar[int] = TVar[int](1)
    shared: TDict[str, tuple[int, ...]] = TDict[str, tuple[int, ...]]({"a": (1,)})

    assert TVar[int] == typing.get_type_hints(typed)["variable"]
    assert 1 == typed(variable, shared)


def typed(variable: TVar[int], shared: TDict[str, tuple[int, ...]]) -> int:
    """Use the containers' types, which mypy checks."""
    total: int = variable.get() + variable.value
    for key, numbers in shared.items():
        text: str = key
        total += sum(numbers) - len(text)
    inferred = TDict(a=1)
    number: int = inferred["a"]
    return total - number + int(bool(shared.get("missing")))
