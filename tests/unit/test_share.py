"""share() and plain(): whole structures, there and back."""

from __future__ import annotations

import dataclasses
import pickle
import typing
from typing import Any

import pytest

from tests.comparing import RUNS
from tests.naming import shown
from txloop import (
    TCounter,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
    TxValueError,
    plain,
    share,
)


@dataclasses.dataclass
class Stop:
    name: str
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Route(Stop):
    stops: list[Stop] = dataclasses.field(default_factory=list)
    length: int = dataclasses.field(default=0, init=False)
    limit: typing.ClassVar[int] = 9

    def add(self, name: str) -> None:
        self.stops.append(share(Stop(name)))
        self.length += 1

    @property
    def names(self) -> list[str]:
        return [stop.name for stop in self.stops]


@dataclasses.dataclass(frozen=True)
class Fixed:
    parts: Any
    size: int = dataclasses.field(default=0, init=False)
    start: dataclasses.InitVar[int] = 0

    def __post_init__(self, start: int) -> None:
        object.__setattr__(self, "size", start + len(self.parts))


@dataclasses.dataclass(frozen=True, slots=True)
class Slim:
    parts: Any


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int = 0


@dataclasses.dataclass
class Spoken:
    word: str

    def __repr__(self) -> str:
        return f"<{self.word}>"


class Pair(typing.NamedTuple):
    one: Any
    other: Any = None


class Temporary:
    """A field that is another list each time, as a descriptor may have it."""

    def __get__(self, one: Any, kind: type) -> list[str]:
        if one is None:
            raise AttributeError  # no default
        return list(one.__dict__["items"])

    def __set__(self, one: Any, items: list[str]) -> None:
        one.__dict__["items"] = items


@dataclasses.dataclass
class Fresh:
    first: list[str] = Temporary()  # type: ignore[assignment] # as it reads
    second: list[int] = dataclasses.field(default_factory=list)


# Containers


@pytest.mark.parametrize("run", RUNS)
def test_it_makes_containers_of_everything_in_it(run):
    # GIVEN
    original = {"board": [[0, 0], [0]], "seen": {1}, "pair": ({"a": [1]}, "b")}

    # WHEN
    shared = run(share, original)
    original["board"][0][0] = 5  # type: ignore[index] # lists of lists

    # THEN
    assert {"board": [[0, 0], [0]], "seen": {1}, "pair": ({"a": [1]}, "b")} == shared
    found = [shared, shared["board"], shared["board"][1], shared["seen"]]
    assert [TDict, TList, TList, TSet] == list(map(type, found))
    assert (TDict, TList) == (type(shared["pair"][0]), type(shared["pair"][0]["a"]))


@pytest.mark.parametrize(
    "value",
    [1, "text", (1, 2), Pair(1), Fixed((1,)), TVar(1), TList([1]), (TDict(), 1), None],
    ids=shown,
)
def test_what_may_be_shared_already_is_returned(value):
    assert value is share(value)
    assert share(share([value]))[0] is value


def test_sharing_twice_is_sharing_once():
    shared = share({"a": [1]})

    assert shared is share(shared)
    assert shared["a"] is share([shared["a"]])[0]


def test_one_object_stays_one():
    # GIVEN
    row = [0]
    fixed, pair = Fixed(row), (row, 1)

    # WHEN
    shared = share([row, row, {"row": row}, pair, pair, fixed, fixed, Stop("x", row)])  # type: ignore[arg-type]
    shared[0].append(1)

    # THEN
    assert [0, 1] == shared[1] == shared[2]["row"] == shared[5].parts == shared[7].tags
    assert shared[3] is shared[4]
    assert shared[5] is shared[6]


def test_what_contains_itself_may_be_shared():
    # GIVEN
    loop: dict[str, Any] = {"list": []}
    fixed = Fixed(loop["list"])
    loop["list"] += [loop, (loop,), fixed]
    loop["stop"] = Stop("x", [loop])  # type: ignore[list-item] # whatever

    # WHEN
    shared = share(loop)

    # THEN
    assert shared["list"][0] is shared
    assert shared["list"][1] == (shared,)
    assert shared["list"][2].parts is shared["list"]
    assert shared["stop"].tags[0] is shared
    again = plain(shared)
    assert again["list"][0] is again
    assert again["list"][1][0] is again
    assert again["list"][2].parts is again["list"]
    assert again["stop"].tags[0] is again
    assert (dict, list, Stop) == (type(again), type(again["list"]), type(again["stop"]))


# Dataclasses


def test_a_dataclass_becomes_an_object_of_its_class():
    # GIVEN
    route = Route("r", stops=[Stop("a", ["x"])])

    # WHEN
    shared = share(route)
    shared.add("b")
    shared.stops[0].tags.append("y")

    # THEN
    assert isinstance(shared, Route)
    assert isinstance(shared, TObject)
    assert isinstance(shared.stops[0], Stop)
    assert (["a", "b"], 1, ["x", "y"], 9) == (
        shared.names,
        shared.length,
        shared.stops[0].tags,
        shared.limit,
    )
    assert Route("r", stops=[Stop("a", ["x"])]) == route
    with pytest.raises(AttributeError, match="no shared attribute 'color'"):
        shared.color = "red"  # type: ignore[attr-defined]


def test_it_compares_and_prints_as_the_dataclass():
    # GIVEN
    shared = share(Stop("a", ["x"]))

    # THEN
    assert shared == Stop("a", ["x"])
    assert Stop("a", ["x"]) == shared
    assert shared != Stop("b", ["x"])
    assert "Stop(name='a', tags=TList(['x']))" == repr(shared)
    assert "<hello>" == repr(share(Spoken("hello")))
    assert shared is pickle.loads(pickle.dumps(shared))


def test_a_frozen_dataclass_is_rebuilt_if_a_part_of_it_changes():
    # GIVEN
    fixed = Fixed([[1], 2], 3)

    # WHEN
    shared = share(fixed)
    shared.parts[0].append(5)

    # THEN
    assert type(shared) is Fixed
    assert [[1, 5], 2] == shared.parts
    assert 5 == shared.size
    assert [[1], 2] == fixed.parts
    assert {"a": [1]} == share(Slim({"a": [1]})).parts


def test_parts_that_are_made_on_the_way_are_not_mistaken_for_others():
    # GIVEN
    fresh = Fresh(["a"], [1])

    # WHEN
    shared = share([fresh, fresh, [2], [3], [4]])

    # THEN
    assert (["a"], [1]) == (shared[0].first, shared[0].second)
    assert [[2], [3], [4]] == shared[2:]


REFUSED = {
    "slots": (
        Slotted(),
        r"^the dataclass Slotted cannot be shared .*: it has slots; derive it from ",
    ),
    "bytearray": ([{"a": bytearray(b"x")}], r"^bytearray bytearray\(b'x'\) .* bytes$"),
    "in a dataclass": (Stop("x", [object()]), r"^object <object .* store its parts"),  # type: ignore[list-item]
    "in a frozen one": (Fixed([object()]), r"^object <object .* store its parts"),
}


@pytest.mark.parametrize(("value", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_shared_is_named_with_advice(value, message):
    with pytest.raises(TxValueError, match=message):
        share(value)


# Back


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, {2}, ({"b": []}, None)]},
        [Route("r", ["t"], stops=[Stop("a", ["x"])]), Fixed([Slim([1])])],
        (Pair([1], {"a": Pair({2})}), [Pair(1)]),
        "text",
        frozenset({1}),
    ],
    ids=shown,
)
@pytest.mark.parametrize("run", RUNS)
def test_plain_is_the_opposite(run, value):
    # WHEN
    found = run(plain, share(value))

    # THEN
    assert value == found
    assert kinds(value) == kinds(found)


def kinds(value: Any) -> object:
    """Return the classes of a value and of its parts."""
    parts = value
    if dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, dict):
        parts = list(value.values())
    elif not isinstance(value, list | tuple | set | frozenset):
        return type(value)
    return type(value), [kinds(part) for part in parts]


def test_variables_and_counters_become_their_values():
    shared = TDict(a=TVar([1]), c=TCounter(2), d=TVar(TVar(3)))

    assert {"a": [1], "c": 2, "d": 3} == plain(shared)


def test_a_plain_copy_is_a_copy():
    # GIVEN
    shared = share([[1]])
    row = shared[0]
    shared.append(row)

    # WHEN
    copied = plain(shared)
    copied[0].append(2)

    # THEN
    assert [[1, 2], [1, 2]] == copied
    assert [[1], [1]] == shared


@pytest.mark.parametrize(
    "put",
    [
        lambda made, row: made.update(a=row, b=row),
        lambda made, row: made.update({"a": row, "b": row}),
    ],
)
def test_what_is_put_in_twice_at_once_stays_one(put):
    made: TDict[str, Any] = TDict()

    put(made, [0])

    assert made["a"] is made["b"]
