"""What may be stored in a container: rule 8 of the design."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import logging
import pathlib
import re
import typing
import uuid
import zoneinfo
from typing import Any

import pytest

from tests.naming import shown
from txloop import TDict, TList, TSet, TVar, TxValueError
from txloop.cells.shareable import shareable


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


class Name(str):
    __slots__ = ()


class Settings(dict[str, int]):
    pass


class Tagged(str):
    tag: object


def tagged(tag):
    """Return a text with an attribute."""
    text = Tagged("text")
    text.tag = tag
    return text


class Different(str):
    __slots__ = ()

    def __reduce__(self):
        return Different, (self + "!",)


class Count(int):
    pass


class Moment(datetime.datetime):
    pass


@dataclasses.dataclass(frozen=True, eq=False)
class Topic:
    name: str


@dataclasses.dataclass(frozen=True, eq=False)
class Lone:
    """Compares by identity, and is one object by name wherever it is."""

    name: str

    def __new__(cls, name):
        return LONE.setdefault(name, object.__new__(cls))

    def __reduce__(self):
        return Lone, (self.name,)


LONE: dict[str, Lone] = {}
CACHE: dict[str, int] = {}
LIMIT = 10

log = logging.getLogger(__name__)


class Plain:
    def method(self):
        pass

    @classmethod
    def made(cls):
        return cls()


def counting():
    seen: list[int] = []
    return lambda: seen.append(1)


def bounded(limit):
    return lambda value: value < limit


def through(inner):
    return lambda: inner()


def recursive():
    def factorial(n):
        return n * factorial(n - 1) if n else 1

    return factorial


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
    shareable,
    lambda: None,
    lambda: (LIMIT, len, Point, shareable, re.compile, log.name, Plain),
    lambda thing: thing.CACHE,
    bounded(10),
    recursive(),
    Plain.made,
    dict.fromkeys,
    Name("text"),
    tagged((1, "a")),
    Count(1),
    Moment(2014, 1, 1),
    Lone("first"),
    TVar(1),
    TDict(a=1),
    (TVar(1), TDict()),
    Point(TDict()),
]


@pytest.mark.parametrize("value", IMMUTABLE, ids=shown)
def test_what_cannot_change_is_stored_as_it_is(value):
    assert value is TVar(value).get()
    assert value is TDict(k=value)["k"]


@dataclasses.dataclass
class Open:
    x: object = 0


class Many(list[int]):
    pass


MUTABLE = {
    "bytearray": (bytearray(b"x"), "^bytearray .* store bytes$"),
    "object": (Plain(), "^Plain .* a frozen dataclass or a txloop container; or, if"),
    "dataclass": (
        Open(),
        r"^Open Open\(x=0\) .* derive its class from txloop.TObject, freeze it, or "
        r"txloop.share\(\) it$",
    ),
    "subclass of list": (Many([1]), r"^Many \[1\] .* convert it to a plain list, "),
    "subclass of dict": (Settings(a=1), "^Settings .* convert it to a plain "),
    "bound method": (
        Plain().method,
        r"^method <bound method .* its object, a Plain, would be copied with it; store "
        r"the object, if it may be shared, and the method's name$",
    ),
    "method of a list": ([].append, r"^\w+ <.*: its object, a list, would be copied"),
    "closure": (
        counting(),
        r"^function <function .* refers to 'seen', which can change and would be "
        r"copied with it; define it with def at the top of a module, or give it what",
    ),
    "lambda": (lambda: CACHE, "^function .* refers to 'CACHE', which can change"),
    "inner lambda": (lambda: lambda: CACHE, "^function .* refers to 'CACHE'"),
    "default": (lambda x, y=[]: y, "^function .* refers to 'y'"),  # the case
    "keyword default": (lambda *, y={}: y, "^function .* refers to 'y'"),  # likewise
    "through another": (through(lambda: CACHE), "^function .* refers to 'CACHE'"),
    "identity": (
        Topic("news"),
        r"^Topic .* is equal only to itself and may not be shared as a value: in a "
        r"worker it is another one; leave eq=False out of its dataclass, or make it an",
    ),
    "identity in a tuple": ((1, Topic("news")), "^Topic .* as a value"),
    "text with a list": (
        tagged([]),
        "^Tagged 'text' has attributes that can change, and may not be shared; store a "
        "plain str$",
    ),
    "text that differs": (
        Different("text"),
        "^Different 'text' is not equal to its copies, or has none by pickle, and may ",
    ),
    "generator": ((x for x in "ab"), "^generator "),
    "in a tuple": ((1, Plain()), "^Plain .* may be mutable"),
    "in a named tuple": (Pair(Plain()), "^Plain .* may be mutable"),
    "in a frozenset": (frozenset({Plain()}), "^Plain .* may be mutable"),
    "in a list": ([1, [Plain()]], "^Plain .* may be mutable"),
    "in a dict": ({"a": {"b": [Plain()]}}, "^Plain .* may be mutable"),
    "in a set": ({Plain()}, "^Plain .* may be mutable"),
    "in a frozen dataclass": (Point(Plain()), "^Plain .* may be mutable"),
    "list in a frozen dataclass": (
        Point([1]),
        r"^field 'x' of Point Point\(x=\[1\], y=0\) holds a plain list; give it a ",
    ),
    "dict in a special tuple": (
        Special(({},)),
        r"^Special \({},\) holds a plain list, dict or set; make it a container$",
    ),
    "long": (bytearray(100), r"^(bytearray bytearray\(b'.{45})\.\.\. is mutable"),
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
        TVar(Plain())


def test_plain_parts_become_containers_deeply():
    # GIVEN
    inner: dict[str, object] = {"c": ({"d": [1]}, {2})}

    # WHEN
    shared: TDict[str, Any] = TDict(a=inner, p=Pair({"e": 1}))
    inner["c"] = ()

    # THEN
    assert isinstance(shared["a"], TDict)
    assert isinstance(shared["a"]["c"][0], TDict)
    assert isinstance(shared["a"]["c"][0]["d"], TList)
    assert isinstance(shared["a"]["c"][1], TSet)
    assert isinstance(shared["p"], Pair)
    assert isinstance(shared["p"].first, TDict)
    assert {"a": {"c": ({"d": [1]}, {2})}, "p": Pair({"e": 1})} == shared
    assert {"k": 1} == TVar({"k": 1}).get()


def test_what_contains_itself_becomes_what_contains_itself():
    # GIVEN
    loop: list[Any] = [1]
    loop.append((loop, {"up": loop}))

    # WHEN
    shared: Any = TVar(loop).get()

    # THEN
    assert isinstance(shared, TList)
    assert shared[1][0] is shared
    assert shared[1][1]["up"] is shared
