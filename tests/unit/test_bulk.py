"""Many values at once: the same as one by one, without a call for each."""

from __future__ import annotations

import dataclasses
import enum
import gc
import os
import pathlib
import sys
import typing
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import txloop
from tests.comparing import RUNS, attempted, contents, in_a_transaction
from txloop import TDict, TList, TSet, TVar, TxValueError, share
from txloop.cells.bulk import are_constant
from txloop.cells.kinds import check_key
from txloop.cells.shareable import shareable
from txloop.stm.store import committed
from txloop.stm.types import Key

OURS = os.path.dirname(txloop.__file__)
MANY = 100  # more than are written one by one


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(typing.NamedTuple):
    one: Any
    other: Any = 0


class Backwards(tuple[Any, ...]):
    """Shows its parts otherwise than a tuple does."""

    __slots__ = ()

    def __iter__(self) -> Any:
        return reversed([[part] for part in self[::]])


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 0


@dataclasses.dataclass(frozen=True)
class Nothing:
    pass


@dataclasses.dataclass(frozen=True, eq=False)
class Lone:
    x: Any


class Name(str):
    __slots__ = ()


class Open:
    pass


PARTS = st.one_of(
    st.integers(0, 3),
    st.text(max_size=2),
    st.none(),
    st.sampled_from(
        [Colour.RED, pathlib.PurePath("a"), int, Name("x"), Nothing(), TVar(1), Open()]
    ),
)
VALUES = st.recursive(
    PARTS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(tuple),
        st.lists(parts, max_size=3),
        st.lists(parts, max_size=2).map(Backwards),
        st.dictionaries(st.integers(0, 2), parts, max_size=2),
        st.builds(Pair, parts, parts),
        st.builds(Point, parts, parts),
        st.builds(Lone, parts),
        st.frozensets(PARTS.filter(lambda part: not isinstance(part, Open))),
    ),
    max_leaves=8,
)


def alone(convert: Any, value: Any) -> Any:
    """Return whether a value stays as it is when it is asked about alone."""
    try:
        converted = convert(value)
    except TxValueError:
        return False
    return converted is value or converted is None


@given(st.lists(VALUES, min_size=1, max_size=4))
@example([(1, [2])])
@example([((((((((1,),),),),),),),)])
@example([Point(Point(Point([1])))])
@example([Lone(1)])
@example([Backwards((1,))])
def test_what_is_constant_together_is_so_alone(values):
    if are_constant(values):
        assert [] == [one for one in values if not alone(shareable, one)]
        assert [] == [one for one in values if not alone(check_key, one)]


CONSTANT: dict[str, Any] = {
    "texts": str,
    "tuples": lambda number: (number, "a"),
    "tuples in tuples": lambda number: ((number, (1, 2)), None),
    "named tuples": Pair,
    "frozen dataclasses": lambda number: Point(number, (1, 2)),
    "of several kinds": lambda number: (number, 1) if number % 2 else Point(number),
    "frozen sets": lambda number: frozenset({number}),
    "members of enums": lambda number: (Colour.RED, Colour.BLUE)[number % 2],
}


def calls_in(function: Any) -> int:
    """Return how many functions of txloop's a call has called."""
    count = 0

    def profile(frame: Any, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(OURS)

    before = sys.getprofile()
    gc.disable()  # collections are timed, by a function
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


MAKERS: dict[str, Any] = {
    "TDict": lambda parts: TDict(dict.fromkeys(parts, 0)),
    "TDict of values": lambda parts: TDict(enumerate(parts)),
    "TDict of a TDict": TDict,
    "update": lambda parts: TDict[Any, Any]().update(enumerate(parts)),
    "TSet": TSet,
    "TSet update": lambda parts: TSet().update(parts),
    "TList": TList,
    "extend": lambda parts: TList().extend(parts),
    "slice": lambda parts: TList().__setitem__(slice(0, 0), parts),
    "share": lambda parts: share({"all": parts}),
}


@pytest.mark.parametrize("make_one", CONSTANT.values(), ids=CONSTANT)
@pytest.mark.parametrize("name", MAKERS)
def test_no_function_is_called_for_each_item(make_one, name):
    """Whatever is constant: the calls do not grow with the number of items."""
    # GIVEN
    few: Any
    many: Any
    few, many = [[make_one(number) for number in range(count)] for count in (10, 30)]
    if name == "TDict of a TDict":
        few, many = [TDict(dict.fromkeys(one, 0)) for one in (few, many)]
    make = MAKERS[name]
    calls_in(lambda: make(few))

    # THEN
    assert calls_in(lambda: make(few)) == calls_in(lambda: make(many))


def test_what_is_asked_about_alone_is_called_for():
    assert 20 <= calls_in(lambda: TList([[1]] * 30)) - calls_in(lambda: TList([[1]]))


def test_what_is_reached_on_many_ways_is_gone_through_once():
    # GIVEN
    value: Any = (Colour.RED,) * 1000
    for _ in range(4):
        value = (value,) * 1000

    # THEN it ends
    assert are_constant([value, value])
    assert value is TList([value])[0]


def test_what_contains_itself_is_no_endless_way():
    # GIVEN
    inside: list[Any] = []
    point = Point(inside)
    object.__setattr__(point, "x", (point,))

    # THEN
    assert not are_constant([point])


def test_a_field_without_a_value_is_asked_about_alone():
    # GIVEN
    point = Point(1)
    object.__delattr__(point, "x")

    # THEN
    assert not are_constant([point])
    assert point is TList([point])[0]


# What cannot be shared, or fails, in the middle


def failing():
    yield ("new", 1)
    raise OSError("half way")


FAILURES: dict[str, Any] = {
    "TDict": lambda d, s, r: d.update({1: 1, 2: 2, "bad": Open(), 3: 3}),
    "TDict, deep": lambda d, s, r: d.update({1: (1, (2,)), 2: (1, (Open(),))}),
    "TDict, a key": lambda d, s, r: d.update({1: 1, (1, Open()): 1, 2: 2}),
    "TDict, a generator": lambda d, s, r: d.update(failing()),
    "TDict, |=": lambda d, s, r: d.__ior__({1: 1, 2: bytearray()}),
    "TSet": lambda d, s, r: s.update([1, 2], [3, Open()]),
    "TSet, a generator": lambda d, s, r: s.update([1], failing()),
    "TList": lambda d, s, r: r.extend([1, (Open(),), 3]),
    "TList, a generator": lambda d, s, r: r.extend(failing()),
    "TList, a slice": lambda d, s, r: r.__setitem__(slice(0, 1), [1, Open()]),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("change", FAILURES.values(), ids=FAILURES)
def test_what_fails_half_way_has_written_nothing(change, run):
    # GIVEN
    shared: list[Any] = [TDict(a=1), TSet("ab"), TList("ab")]

    # WHEN
    with pytest.raises((TxValueError, OSError)):
        run(change, *shared)

    # THEN
    assert [{"a": 1}, {"a", "b"}, ["a", "b"]] == shared


def test_the_error_names_the_value_among_many():
    values: dict[Any, Any] = {number: (number,) for number in range(MANY)}
    values[50] = (1, {"deep": Open()})

    with pytest.raises(TxValueError, match=r"Open object .* may be mutable"):
        TDict(values)


# Updates, in whatever way they are given

GIVEN: dict[str, Any] = {
    "a dict": dict,
    "pairs": lambda items: [(key, value) for key, value in items],
    "a generator": iter,
    "a TDict": TDict,
    "names": lambda items: {f"k{key}": value for key, value in items},
}


class Operations:
    """Changes of a dict, shared or plain, by steps."""

    def __init__(self, steps: list[tuple[Any, ...]]) -> None:
        self.steps = steps

    def __call__(self, target: Any) -> None:
        for name, *arguments in self.steps:
            getattr(self, name)(target, *arguments)

    def update(self, target, way, first, count, value):
        items = [(first + number, (value, number)) for number in range(count)]
        changes = GIVEN[way](items + items[:2])
        if way == "names":
            target.update(**changes)
        else:
            target.update(changes)

    def delete(self, target, key):
        target.pop(key, None)

    def put(self, target, key, value):
        target[key] = value

    def clear(self, target):
        target.clear()

    def by_itself(self, target):
        target.update(target)


KEYS = st.sampled_from([True, 1, 1.0, 2, 5, 40, 60, "k5"])
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("update"),
            st.sampled_from(sorted(GIVEN)),
            st.integers(0, 40),
            st.sampled_from([0, 3, 50]),
            st.integers(0, 3),
        ),
        st.tuples(st.just("delete"), KEYS),
        st.tuples(st.just("put"), KEYS, st.integers(0, 3)),
        st.tuples(st.just("clear")),
        st.tuples(st.just("by_itself")),
    ),
    max_size=5,
)
DELETED_AND_BACK = [
    ("update", "a dict", 0, 50, 1),
    ("delete", 1),
    ("delete", 5),
    ("put", True, 2),
    ("update", "a TDict", 5, 50, 3),
]


@pytest.mark.parametrize("run", RUNS)
@given(before=STEPS, steps=STEPS)
@example(before=DELETED_AND_BACK[:1], steps=DELETED_AND_BACK)
@example(before=[], steps=DELETED_AND_BACK)
@example(before=[], steps=[("put", 1, 0), ("delete", 1), *DELETED_AND_BACK[:1]])
def test_updates_do_what_those_of_a_dict_do(run, before, steps):
    # GIVEN
    plain: dict[Any, Any] = {}
    shared: TDict[Any, Any] = TDict()
    Operations(before)(plain)
    Operations(before)(shared)
    as_before = contents(dict(plain))
    snapshot = committed.open_snapshot()

    # WHEN
    Operations(steps)(plain)
    run(Operations(steps), shared)

    # THEN
    found = committed.contents_at(shared, snapshot)
    committed.close_snapshot(snapshot)
    assert contents(plain) == contents(shared)
    assert as_before == contents(found)
    assert contents(plain) == contents(shared)  # when the old values have gone


@given(steps=STEPS, meanwhile=STEPS)
@example(steps=DELETED_AND_BACK, meanwhile=[("update", "a dict", 3, 50, 9)])
@example(steps=DELETED_AND_BACK, meanwhile=[("put", 1, 0), ("put", 99, 9)])
def test_blind_updates_are_made_to_what_is_there_at_the_commit(steps, meanwhile):
    """What reads nothing does not conflict; it comes after what came first."""
    # GIVEN
    steps = [step for step in steps if step[0] in {"update", "put", "clear"}]
    shared: TDict[Any, Any] = TDict(dict.fromkeys(range(10), 0))
    plain: dict[Any, Any] = shared.copy()
    outcome = attempted(lambda: Operations(steps)(shared))

    # WHEN
    Operations(meanwhile)(shared)
    committed.install(outcome.writes)  # type: ignore[arg-type] # containers

    # THEN
    Operations(meanwhile)(plain)
    Operations(steps)(plain)
    read = {number for number, _ in outcome.values | outcome.presences}
    assert shared._tx_number not in read
    assert contents(plain) == contents(shared)


def test_many_writes_are_one_though_some_keys_went():
    # GIVEN
    shared = TDict(dict.fromkeys(range(MANY), 0))

    def change():
        del shared[3], shared[4]
        shared.update(dict.fromkeys(range(4, MANY), 1))

    # THEN
    assert 3 == len(attempted(change).writes)
    in_a_transaction(change)
    assert [0, 1, 2, *range(5, MANY), 4] == list(shared)


def test_reading_another_dict_whole_is_one_read():
    # GIVEN
    given_one = TDict(dict.fromkeys(range(MANY), 0))
    given_number = given_one._tx_number

    # THEN
    reads: list[Any] = [TDict, lambda one: TDict() | one, TDict().update]
    for read in reads:
        outcome = attempted(lambda read=read: [read(given_one)])  # type: ignore[misc]
        read_of_it = {key for number, key in outcome.values if number == given_number}
        assert {Key.ALL} == read_of_it
