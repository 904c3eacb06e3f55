"""The grain of conflicts: which operation conflicts with which commit beside it.

One transaction does an operation and sets an unrelated variable, so that it has to hold
at its commit. After its body has run, another one commits. The operations stand with
the commits that they conflict with.
"""

from __future__ import annotations

import pytest

from tests.contract.overlaps import beside, conflicting
from tests.engine import on
from txloop import TDict, TVar

pytestmark = on("scripted")

COMMITS = {
    "set a": lambda d: d.update(a=10),
    "set a to the same": lambda d: d.update(a=1),
    "set b": lambda d: d.update(b=20),
    "insert x": lambda d: d.update(x=30),
    "insert y": lambda d: d.update(y=40),
    "delete a": lambda d: d.pop("a"),
    "delete b": lambda d: d.pop("b"),
    "replace a": lambda d: [d.pop("a"), d.update(a=10)],
    "insert and delete x": lambda d: [d.update(x=1), d.pop("x")],
    "clear": lambda d: d.clear(),
}

SET_A = {"set a", "set a to the same"}
GONE_A = {"delete a", "replace a", "clear"}
KEYS = {"insert x", "insert y", "delete a", "delete b", "replace a", "clear"}

OPERATIONS = {
    "get a": (lambda d: d["a"], SET_A | GONE_A),
    "get a with default": (lambda d: d.get("a"), SET_A | GONE_A),
    "get missing x": (lambda d: d.get("x"), {"insert x"}),
    "a in": (lambda d: "a" in d, GONE_A),
    "missing x in": (lambda d: "x" in d, {"insert x"}),
    "a in keys": (lambda d: "a" in d.keys(), GONE_A),  # noqa: SIM118
    "len": (len, KEYS),
    "bool": (bool, KEYS),
    "iterate": (list, KEYS),
    "reversed": (lambda d: list(reversed(d)), KEYS),
    "values": (lambda d: list(d.values()), KEYS | SET_A | {"set b"}),
    "items": (lambda d: list(d.items()), KEYS | SET_A | {"set b"}),
    "copy": (lambda d: d.copy(), KEYS | SET_A | {"set b"}),
    "compare": (lambda d: d == {"a": 1}, KEYS | SET_A | {"set b"}),
    "set a": (lambda d: d.update(a=5), set()),
    "insert x": (lambda d: d.update(x=5), set()),
    "set a and get it": (lambda d: [d.update(a=5), d["a"]], set()),
    "set a and find it": (lambda d: [d.update(a=5), "a" in d], set()),
    "insert x and len": (lambda d: [d.update(x=5), len(d)], KEYS),
    "insert x and iterate": (lambda d: [d.update(x=5), list(d)], KEYS),
    "delete a": (lambda d: d.__delitem__("a"), GONE_A),
    "delete a and set it": (lambda d: [d.__delitem__("a"), d.update(a=1)], GONE_A),
    "pop a": (lambda d: d.pop("a"), SET_A | GONE_A),
    "pop missing x": (lambda d: d.pop("x", None), {"insert x"}),
    "popitem": (lambda d: d.popitem(), KEYS | {"set b"}),
    "setdefault a": (lambda d: d.setdefault("a", 5), SET_A | GONE_A),
    "setdefault x": (lambda d: d.setdefault("x", 5), {"insert x"}),
    "clear": (lambda d: d.clear(), set()),
    "clear and look": (
        lambda d: [d.clear(), d.get("a"), "b" in d, len(d), list(d), d.copy()],
        set(),
    ),
    "clear, set and look": (
        lambda d: [d.clear(), d.update(b=1), d["b"], list(d.items()), d.popitem()],
        set(),
    ),
    "nothing": (lambda d: None, set()),
}


@pytest.mark.parametrize(("operation", "expected"), OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_conflicts_where_its_answer_may_change(
    engine, operation, expected
):
    def make():
        return TDict(a=1, b=2)

    assert expected == conflicting(engine, make, operation, COMMITS)


def test_the_later_of_two_blind_sets_stays(engine):
    # GIVEN
    shared = TDict(a=1)

    # WHEN
    beside(engine, shared, COMMITS["set b"], COMMITS["set a"])
    beside(engine, shared, lambda d: d.update(a=7), COMMITS["set a"])

    # THEN
    assert [("a", 7), ("b", 20)] == list(shared.items())
    assert 0 == engine.aborts


VARIABLES = {
    "get and set": (lambda d: d["v"].value, lambda d: d["v"].set(5), 1),
    "set and set": (lambda d: d["v"].set(1), lambda d: d["v"].set(5), 0),
    "set, get and set": (
        lambda d: [d["v"].set(1), d["v"].get()],
        lambda d: d["v"].set(5),
        0,
    ),
    "get and get": (lambda d: d["v"].value, lambda d: d["v"].value, 0),
    "get and set of another": (lambda d: d["v"].value, lambda d: d["w"].set(5), 0),
}

NESTED = {
    "other keys of one": (lambda d: d["n"]["x"], lambda d: d["n"].update(y=5), 0),
    "the same key": (lambda d: d["n"]["x"], lambda d: d["n"].update(x=5), 1),
    "outer keys": (lambda d: d["n"]["x"], lambda d: d.update(z=5), 0),
    "another in its place": (lambda d: d["n"]["x"], lambda d: d.update(n={"x": 1}), 1),
    "len inside": (lambda d: len(d["n"]), lambda d: d["m"].update(new=5), 0),
    "set inside one that is replaced": (
        lambda d: d["n"].update(x=5),
        lambda d: d.update(n={}),
        1,
    ),
}


@pytest.mark.parametrize(
    ("operation", "commit", "expected"),
    [*VARIABLES.values(), *NESTED.values()],
    ids=[*VARIABLES, *NESTED],
)
def test_each_container_and_key_is_on_its_own(engine, operation, commit, expected):
    # GIVEN
    shared = TDict(v=TVar(0), w=TVar(0), n={"x": 1}, m={})

    # THEN
    assert expected == beside(engine, shared, operation, commit)


class Refused(Exception):
    pass


def refuse_if(shared, key):
    if key in shared:
        raise Refused
    return "fine"


def test_an_error_from_stale_reads_is_not_shown(engine):
    # GIVEN
    shared = TDict(a=1)
    result, number = engine.send(refuse_if, shared, "a")
    answer = engine.scripted.begin(number)

    # WHEN
    del shared["a"]
    engine.scripted.finish(number)
    engine.wait(result)

    # THEN
    assert isinstance(answer.error, Refused)
    assert ("fine", 1) == (result.value, engine.aborts)
