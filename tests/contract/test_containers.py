"""Containers of each kind on every executor: made, changed, undone and forgotten."""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, deque
from typing import Any

import pytest

from tests.engine import bury_the_dead, on
from tests.homebound import Homebound
from txloop import (
    TCount,
    TCounter,
    TCounterDict,
    TDefaultDict,
    TDeque,
    TDict,
    TList,
    TObject,
    TOrderedDict,
    TSet,
    TVar,
    TxForgottenError,
    plain,
    share,
)
from txloop.executors.processes import replication
from txloop.stm.store import committed


class Player(TObject):
    name: str
    score: int = 0
    items: TList[str] = dataclasses.field(default_factory=TList)


class Room(TObject, dataclass=False):
    """As a class that was there before it was shared."""

    limit = 3

    def __init__(self, name: str) -> None:
        self.name = name
        self.guests: list[str] = []

    def enter(self, name: str) -> None:
        self.guests.append(name)
        self.limit -= 1

    def as_plain(self) -> object:
        return self.name, self.limit, list(self.guests)


@dataclasses.dataclass
class Stop:
    name: str
    tags: list[str]


@dataclasses.dataclass(frozen=True)
class Fixed:
    parts: Any


MADE = {
    "list": lambda: TList([1, [2], {"a": 3}]),
    "whole list": lambda: TList(range(600), whole=True),
    "dict": lambda: TDict(a=1, b={"c": [1]}),
    "default dict": lambda: TDefaultDict(list, {"a": [1]}),
    "empty default dict": lambda: TDefaultDict(int),
    "ordered dict": lambda: share(OrderedDict(b=1, a=[2])),
    "counter dict": lambda: TCounterDict("banana"),
    "deque": lambda: TDeque([1, [2]]),
    "deque with maxlen": lambda: share(deque(range(9), 3)),
    "set": lambda: TSet("abc"),
    "object": lambda: Player("ann", 1, TList(["hat"])),
    "ordinary object": lambda: entered(Room("hall"), "ann"),
    "dataclass": lambda: share(Stop("a", ["x"])),
    "counter": lambda: TCounter(5),
    "count": lambda: TCount(5, 2),
    "variable": lambda: TVar([1]),
    "frozen": lambda: share(Fixed([Stop("a", [])])),
    "nested": lambda: share({"grid": [[0] * 3 for _ in range(3)], "t": ({1}, [2])}),
    "list that was changed": lambda: changed(TList(range(300))),
}


def entered(room, name):
    room.enter(name)
    return room


def changed(row):
    row[7] = [7]
    del row[3:5]
    row.insert(0, "first")
    row.append("last")
    return row


def store(shared, make):
    shared["made"] = make()
    shared["list"].append(shared["made"])
    return len(shared["list"])


def look(shared):
    made = shared["made"]
    return plain(made), type(made).__name__, shared["list"][-1] is made


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_a_transaction_makes_and_stores_arrives_with_its_contents(
    engine, tmp_path, make
):
    # GIVEN
    shared: TDict[str, Any] = TDict(list=[])
    engine.run(look, TDict(made=1, list=[1]))  # workers are running
    expected = plain(make()), type(make()).__name__, True

    # WHEN
    count = engine.run(store, shared, make)

    # THEN
    assert 1 == count
    assert expected == look(shared)
    assert [expected] * 3 == [engine.run(look, shared) for _ in range(3)]


def play(shared, number):
    """Change one container of each kind, in every way that they have."""
    shared["list"].append([number])
    shared["list"][0] = number
    shared["list"][-1].append(shared["list"][0])
    shared["list"].insert(1, "x")
    shared["list"].pop(2)
    shared["dict"][number] = {"n": number}
    shared["dict"].pop(number - 2, None)
    shared["default dict"][number % 3].append(number)
    shared["ordered dict"][number] = number
    shared["ordered dict"].move_to_end(min(shared["ordered dict"]))
    shared["counter dict"].update([number % 2])
    shared["deque"].append(number)
    shared["deque"].appendleft(number)
    shared["deque"].rotate()
    shared["bounded deque"].extend([number, [number]])
    shared["bounded deque"].appendleft(shared["bounded deque"].popleft())
    shared["set"].add(number)
    shared["set"].discard(number - 2)
    shared["object"].score += number
    shared["object"].items.append(str(number))
    shared["room"].enter(str(number))
    shared["counter"].add(number)
    shared["list"].append(next(shared["count"]))
    return plain(shared)


def make_game():
    return {
        "list": TList([0, 1, 2]),
        "dict": TDict(),
        "default dict": TDefaultDict(list),
        "ordered dict": TOrderedDict(),
        "counter dict": TCounterDict(),
        "deque": TDeque(),
        "bounded deque": TDeque(maxlen=3),
        "set": TSet(),
        "object": Player("ann"),
        "room": Room("hall"),
        "counter": TCounter(),
        "count": TCount(1, 2),
    }


def test_changes_follow_each_other_wherever_they_run(engine):
    # GIVEN
    shared, single = TDict(make_game()), TDict(make_game())

    # WHEN
    found = [engine.run(play, shared, number) for number in range(6)]

    # THEN
    assert [play(single, number) for number in range(6)] == found
    assert plain(single) == plain(shared)


def look_up(shared, room):
    return shared[room], room in shared, [*shared] == [room], room == Room("hall")


def test_an_object_that_is_equal_to_itself_only_is_itself_everywhere(engine):
    # GIVEN
    room = Room("hall")
    shared = TDict({room: 1})

    # THEN
    assert (1, True, True, False) == engine.run(look_up, shared, room)


def fill_by_default(shared, key):
    shared[key].append(key)
    return shared.default_factory, list(shared)


def test_a_factory_travels_and_can_be_replaced(engine):
    # GIVEN
    shared: TDefaultDict[str, Any] = TDefaultDict(list)
    first = engine.run(fill_by_default, shared, "a")

    # WHEN
    engine.run(setattr, shared, "default_factory", lambda: [0])
    engine.run(fill_by_default, shared, "b")
    shared.default_factory = None
    result = engine.submit(fill_by_default, shared, "c")
    engine.wait(result)

    # THEN
    assert (list, ["a"]) == first
    assert {"a": ["a"], "b": [0, "b"]} == shared
    assert KeyError is type(result.error)


class Undone(Exception):
    pass


def play_and_fail(shared):
    play(shared, 1)
    shared["new"] = TList([1])
    raise Undone


def test_an_undone_transaction_leaves_no_trace(engine):
    # GIVEN
    shared = TDict(make_game())
    before = plain(shared)

    # WHEN
    result = engine.submit(play_and_fail, shared)
    engine.wait(result)

    # THEN
    assert isinstance(result.error, Undone)
    assert before == plain(shared)


KEPT: list[Any] = []


def keep_and_fail(make):
    KEPT.append(make())
    raise Undone


def look_at_kept():
    kept = KEPT.pop()
    return plain(kept)


@on("serial", "rehearsal", "scripted")
@pytest.mark.parametrize(
    ("make", "expected"),
    [(MADE["list"], []), (MADE["dict"], {}), (MADE["set"], set())],
)
def test_what_an_undone_transaction_made_is_empty(engine, make, expected):
    # GIVEN
    KEPT.clear()
    engine.wait(engine.submit(keep_and_fail, make))

    # THEN
    assert expected == engine.run(look_at_kept)


@on("serial", "rehearsal", "scripted")
@pytest.mark.parametrize("make", [MADE["counter"], MADE["variable"]])
def test_what_has_no_value_then_says_so(engine, make):
    # GIVEN
    KEPT.clear()
    engine.wait(engine.submit(keep_and_fail, make))

    # WHEN
    result = engine.submit(look_at_kept)
    engine.wait(result)

    # THEN
    assert isinstance(result.error, TxForgottenError)


def store_lock_and_number(shared):
    shared[5:6] = [Homebound("locked")]
    shared[6] = 66


def look_around(shared):
    return shared[4], shared[6], len(shared)


def look_at_lock(shared):
    return shared[5].name, shared[4]


@on("processes")
def test_an_item_that_does_not_pickle_stays_home_alone(engine):
    # GIVEN
    shared: TList[Any] = TList(range(10))
    engine.run(len, shared)

    # WHEN the loop's process stores it
    store_lock_and_number(shared)
    around = engine.run(look_around, shared)
    result = engine.submit(look_at_lock, shared)
    engine.wait(result)

    # THEN
    assert (4, 66, 10) == around
    assert ("locked", 4) == result.value


HOARD: list[Any] = []


KEYED = {
    "dict": (lambda: TDict(a=1), lambda x, key: x.update({key: 1})),
    "set": (lambda: TSet("a"), lambda x, key: x.add(key)),
}


def look_at_a(shared):
    return "a" in shared, "b" in shared, len(shared)


def look_at_keys(shared):
    return [key if isinstance(key, str) else key.name for key in shared]


@on("processes")
@pytest.mark.parametrize("lag", [False, True])
@pytest.mark.parametrize(("make", "put"), KEYED.values(), ids=KEYED)
def test_a_key_that_does_not_pickle_stays_home_alone(
    engine, tmp_path, monkeypatch, make, put, lag
):
    # GIVEN
    if lag:
        monkeypatch.setattr(replication, "_LONGEST_LOG", 1)
    shared = make()
    engine.ask_all_workers(int, tmp_path)

    # WHEN the loop's process stores two and deletes one
    keys = [Homebound("first"), Homebound("second")]
    for key in keys:
        put(shared, key)
    (shared.pop if isinstance(shared, TDict) else shared.remove)(keys[0])

    # THEN
    assert (True, False, 2) == engine.run(look_at_a, shared)
    asked = engine.ask_all_workers(functools.partial(look_at_a, shared), tmp_path)
    assert [(True, False, 2)] * 2 == asked
    assert ["a", "second"] == engine.run(look_at_keys, shared)


USES = {
    "list: get": (MADE["list"], lambda x: x[0]),
    "list: get last": (MADE["list"], lambda x: x[-1]),
    "list: slice": (MADE["list"], lambda x: x[0:1]),
    "list: long slice": (MADE["whole list"], lambda x: x[10:20]),
    "list: middle": (lambda: TList(range(600)), lambda x: x[10:50]),
    "list: len": (MADE["list"], len),
    "list: bool": (MADE["list"], bool),
    "list: iterate": (MADE["list"], list),
    "list: set": (MADE["list"], lambda x: x.__setitem__(0, 1)),
    "list: append": (MADE["list"], lambda x: x.append(1)),
    "list: clear": (MADE["list"], lambda x: x.clear()),
    "set: in": (MADE["set"], lambda x: "a" in x),
    "set: len": (MADE["set"], len),
    "set: iterate": (MADE["set"], list),
    "set: add": (MADE["set"], lambda x: x.add("x")),
    "object: get": (MADE["object"], lambda x: x.score),
    "object: set": (MADE["object"], lambda x: setattr(x, "score", 1)),
    "counter: get": (MADE["counter"], lambda x: x.value),
    "counter: add": (MADE["counter"], lambda x: x.add()),
    "counter: set": (MADE["counter"], lambda x: setattr(x, "value", 1)),
}


def use_all_hoarded(uses):
    """Use what was hoarded, one after another; tell what did not refuse."""
    return [name for name, use in uses.items() if not refuses(name, use)]


def refuses(name, use):
    try:
        use(HOARD[0][name])
    except TxForgottenError:
        return True
    return False


def hoard_all(shared):
    HOARD.append(dict(shared["new"].copy()))


@on("processes")
def test_what_a_worker_kept_of_the_dead_is_not_used(engine, tmp_path):
    """Stale replicas of containers that died would be stale reads and lost writes."""
    # GIVEN workers that keep containers which nothing else refers to
    shared: TDict[str, Any] = TDict()
    engine.ask_all_workers(int, tmp_path)
    shared["new"] = {name: make() for name, (make, _) in USES.items()}
    numbers = [one._tx_number for one in shared["new"].values()]
    engine.ask_all_workers(functools.partial(hoard_all, shared), tmp_path)
    del shared["new"]
    for _ in range(3):
        bury_the_dead()
        # The last commit that a worker has not seen still refers to them.
        engine.ask_all_workers(int, tmp_path)

    # WHEN
    uses = {name: use for name, (_, use) in USES.items()}
    answers = engine.ask_all_workers(functools.partial(use_all_hoarded, uses), tmp_path)

    # THEN
    assert [None] * len(numbers) == [committed.find(number) for number in numbers]
    assert [[], []] == answers
