"""What the watch sees of plain objects: names, the walk, and its budget."""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import os
import queue
import sqlite3
import sys
import threading
import types
from typing import ClassVar

import pytest
import tornado.options
from tornado.websocket import WebSocketHandler

from tests.reached import pictured, reach_from, reached, subject_of
from txloop import TDict, on_commit
from txloop.watch import Subject, limits
from txloop.watch.limits import FIRST_RUNS
from txloop.watch.names import names_of
from txloop.watch.places import Reach, Roots, Watched
from txloop.watch.reach import census

# Names

tail: list[object] = []
rows: list[object] = []


def write_down(*things):
    tail.extend(things)


def asks_for_effects():
    on_commit(write_down, rows)


def asks_for_its_own_effect():
    def effect():
        tail.append(1)

    on_commit(effect)
    return rows


def asks_for_a_partial():
    on_commit(functools.partial(write_down, rows))


def asks_and_does():
    on_commit(write_down, rows)
    write_down(1)


@pytest.mark.parametrize(
    "function", [asks_for_effects, asks_for_its_own_effect, asks_for_a_partial]
)
def test_what_only_effects_use_is_not_followed(function):
    names = names_of(function)

    assert "rows" in names
    assert not {"write_down", "tail"} & names
    assert id(rows) in reached(subject_of(function).reach)
    assert id(tail) not in reached(subject_of(function).reach)


def test_what_is_used_besides_its_effect_is_followed():
    assert isinstance(asks_and_does, types.FunctionType)
    assert {"rows", "write_down"} <= names_of(asks_and_does)
    assert id(tail) in reached(subject_of(asks_and_does).reach)


# The walk


class Box:
    used: list[int]
    unused: list[int]


box = Box()
box.used, box.unused = [], []


def use_one():
    return box.used


def use_any(name):
    return getattr(box, name)


def use_within():
    return [box.unused for _ in range(1)]


def test_attributes_that_no_code_names_are_not_followed():
    found = reached(subject_of(use_one).reach)

    assert id(box.used) in found
    assert id(box.unused) not in found


@pytest.mark.parametrize("function", [use_any, use_within])
def test_attributes_that_code_may_use_are_followed(function):
    assert id(box.unused) in reached(subject_of(function).reach)


def test_attributes_are_followed_where_code_names_them_that_is_reached_later():
    def both():
        return box, use_within()

    assert id(box.unused) in reached(subject_of(both).reach)


asked: list[str] = []


class Sockets(WebSocketHandler):
    cache: ClassVar[list[str]] = []
    waiters: ClassVar[set[object]] = set()

    def open(self):
        self.waiters.add(self)


class Visitor(ast.NodeVisitor):
    cache: ClassVar[list[str]] = []
    waiters: ClassVar[list[object]] = []

    def visit_Name(self, node):
        self.waiters.append(node)


def read_sockets():
    return Sockets.cache


def read_visitor():
    return Visitor.cache


@pytest.mark.parametrize(
    ("function", "cls", "called"),
    [(read_sockets, Sockets, False), (read_visitor, Visitor, True)],
)
def test_methods_that_no_code_names_are_followed_where_a_library_calls_them(
    function, cls, called
):
    found = reached(subject_of(function).reach)

    assert id(cls.cache) in found
    assert called == (id(cls.waiters) in found)


class Proud:
    """Notes down what is asked of it."""

    def __init__(self):
        self.part = [1]

    def __eq__(self, other):
        asked.append("eq")
        return self is other

    def __hash__(self):
        asked.append("hash")
        return 1

    def __bool__(self):
        asked.append("bool")
        return True

    def __len__(self):
        asked.append("len")
        return 1

    def __iter__(self):
        asked.append("iter")
        return iter([1])

    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)

    def __instancecheck__(self, other):
        asked.append("instancecheck")
        return False


proud: dict[object, object] = {"one": Proud(), Proud(): 2}
prouder: tuple[object, ...] = ([Proud()], {Proud()}, collections.deque([Proud()]))


def use_proud():
    return proud, prouder


def test_objects_are_never_asked():
    # GIVEN
    asked.clear()

    # WHEN
    subject = subject_of(use_proud)
    subject.look_at_all()
    census([("proud", proud), ("prouder", prouder)], {})
    subject.begin_anew()
    change = subject.look_at_all()
    seen = list(asked)

    # THEN
    assert [] == seen
    assert change is None


class Wrapped:
    """As TensorFlow's and wrapt's: its `__dict__` is that of another class."""

    __dict__ = vars(Box)["__dict__"]
    __slots__ = ("part",)

    def __init__(self):
        self.part = [1]


wrapped = Wrapped()


def use_wrapped():
    return wrapped.part


def test_an_object_that_has_no_attributes_of_its_own_is_looked_at():
    if sys.implementation.name == "cpython":  # the others are not asked that way
        with pytest.raises((TypeError, AttributeError)):
            object.__getattribute__(wrapped, "__dict__")

    assert id(wrapped.part) in reached(subject_of(use_wrapped).reach)


def test_what_a_mapping_proxy_shows_is_looked_at():
    # GIVEN
    class Prices:
        apple = 1

    prices = {"apple": 1}
    reach = reach_from(types.MappingProxyType(prices), vars(Prices))
    things = [(one.thing, one.names) for one in reach.watched]
    before = [thing.difference(names) for thing, names in things]

    # WHEN
    prices["apple"] = 2
    Prices.apple = 2

    # THEN
    found = {thing.difference(names) for thing, names in things}
    assert ({None}, {None, "['apple']", ".apple"}) == (set(before), found)


def use_given():
    return given_to_all["apple"], given_number  # type: ignore[name-defined] # noqa: F821 # builtins


def test_what_the_program_has_put_into_builtins_is_looked_at(monkeypatch):
    # GIVEN
    given = {"apple": 1}
    monkeypatch.setattr(builtins, "given_to_all", given, raising=False)
    monkeypatch.setattr(builtins, "given_number", 1, raising=False)
    reach = subject_of(use_given).reach
    things = [(one.thing, one.names) for one in reach.watched]

    # WHEN
    given["apple"] = 2
    monkeypatch.setattr(builtins, "given_number", 2)

    # THEN
    found = {thing.difference(names) for thing, names in things}
    assert {None, "['apple']", ".given_number"} == found


def use_option():
    return tornado.options.options.limit


def test_options_are_looked_at(monkeypatch):
    # GIVEN
    parser = tornado.options.OptionParser()
    parser.define("limit", default=1)
    monkeypatch.setattr(tornado.options, "options", parser)
    reach = subject_of(use_option).reach
    things = [(one.thing, one.names) for one in reach.watched]

    # WHEN
    parser.limit = 2

    # THEN
    found = {thing.difference(names) for thing, names in things}
    assert {None, ".limit"} == found


def test_containers_are_not_gone_into():
    assert [] == reached(reach_from(TDict(inside=(1, 2))))


# What is held


def numbers():
    yield 1


@pytest.fixture(params=["lock", "queue", "generator", "file", "database"])
def held(request):
    """Give something of which a copy is of no use, and whether it is so anywhere."""
    match request.param:
        case "lock":
            yield threading.Lock(), False
        case "queue":
            yield queue.Queue(), False
        case "generator":
            yield numbers(), False
        case "file":
            with open(os.devnull, encoding="utf-8") as file:
                yield file, False
        case "database":
            connection = sqlite3.connect(":memory:")
            yield connection, True
            connection.close()


def test_what_the_program_has_is_held(held):
    thing, _ = held

    found = reach_from({"a": [thing]}).held

    assert found is not None
    assert found.identity == id(thing)
    assert "thing['a'][0]" == found.name


def test_of_what_a_library_has_only_some_is_held(held):
    thing, anywhere = held

    found = reach_from(types.SimpleNamespace(inner=thing)).held

    assert anywhere == (found is not None)


def test_a_file_that_is_closed_is_not_held():
    with open(os.devnull, encoding="utf-8") as file:
        pass

    assert reach_from([file]).held is None
    assert reach_from([sys.stdout]).held is None


# Limits


def of_lists(count):
    """Return a subject that reaches so many lists of one item each, and these."""
    lists = [[number] for number in range(count)]
    found = Reach([Watched(pictured(one)) for one in lists])
    return Subject(Roots("key", ()), found), lists


def after_first_runs(count):
    subject, lists = of_lists(count)
    for _ in range(FIRST_RUNS):
        assert subject.look(0.0) is None
    subject._seconds_a_part = 1.0  # a list of one item has two
    return subject, lists


def test_the_walk_ends_after_so_many_things_the_nearest_first(monkeypatch):
    # GIVEN
    monkeypatch.setattr(limits, "MOST_THINGS", 3)
    deep: list[object] = [[[["deep"]]]]
    near: list[object] = []

    # WHEN
    found = reach_from(deep, near)

    # THEN
    assert not found.complete
    assert [id(deep), id(near), id(deep[0])] == reached(found)
    assert reach_from(near).complete


def test_all_is_looked_at_in_the_first_runs_whatever_it_takes():
    # GIVEN
    subject, lists = of_lists(3)
    subject._seconds_a_part = 1.0

    # WHEN
    before = [subject.look(0.0) for _ in range(FIRST_RUNS - 1)]
    lists[2].append(1)

    # THEN
    assert [None] * (FIRST_RUNS - 1) == before
    assert subject.look(0.0) is not None


def test_later_looks_go_on_where_the_last_one_stopped():
    # GIVEN
    subject, lists = after_first_runs(3)
    lists[2].append(1)

    # THEN each look pays for one of the lists
    assert [None, None] == [subject.look(2.0), subject.look(2.0)]
    assert subject.look(2.0) is not None


def test_a_look_without_credit_looks_at_nothing_and_credit_adds_up():
    # GIVEN
    subject, lists = after_first_runs(3)
    lists[0].append(1)

    # THEN
    assert [None, None] == [subject.look(0.0), subject.look(1.0)]
    assert subject.look(1.0) is not None


def test_a_look_with_credit_for_all_looks_at_all():
    # GIVEN
    subject, lists = after_first_runs(3)
    lists[2].append(1)

    # THEN
    assert subject.look(6.0) is not None


def test_credit_is_not_saved_up_without_end():
    # GIVEN
    subject, _ = after_first_runs(2)
    subject.look(1e6)

    # WHEN
    looks = 0
    while subject._credit >= 4.0:
        subject.look(0.0)
        looks += 1

    # THEN
    assert 10 == looks


def test_counting_begins_anew():
    # GIVEN
    subject, lists = after_first_runs(3)

    # WHEN
    subject.begin_anew()
    assert subject.look(0.0) is None
    lists[0].append(1)

    # THEN
    assert subject.look(0.0) is not None
