"""Gives containers to what programs give lists, dicts, sets and deques to."""

from __future__ import annotations

import array
import bisect
import collections
import collections.abc
import copy
import csv
import dataclasses
import datetime
import enum
import functools
import html
import io
import itertools
import json
import logging
import operator
import pprint
import random
import reprlib
import statistics
import string
import struct
import textwrap
import types
import urllib.parse
import xml.sax.saxutils
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
)
from typing import TYPE_CHECKING, Any

import tornado.escape
import tornado.template
import tornado.util

import txloop
from tests.unit.alike.objects import PYPY, said, shown
from txloop.stm.run import run_attempt
from txloop.stm.types import Call, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Point(collections.namedtuple("Point", "x y z")):
    __slots__ = ()


@dataclasses.dataclass
class Box:
    name: str
    parts: Any = None


MAKERS: dict[str, Callable[[], Any]] = {
    "numbers": lambda: [3, 1, 2],
    "words": lambda: ["b", "a", "c"],
    "rows": lambda: [[1, "x"], [2, "y"]],
    "pairs": lambda: [("a", 1), ("b", 2)],
    "nothing": list,
    "queue": lambda: deque([3, 1, 2]),
    "last words": lambda: deque(["b", "a"], 5),
    "ages": lambda: {"ann": 3, "bob": 5},
    "nested": lambda: {"a": [1, {"b": (2, [3])}], "c": {4}, "d": deque([5])},
    "by number": lambda: {1: "x", 2: "y"},
    "empty": dict,
    "set of numbers": lambda: {3, 1, 2},
    "none": set,
    "lists": lambda: defaultdict(list, a=[1], b=[2, 3]),
    "in order": lambda: OrderedDict(b=1, a=2),
    "counts": lambda: Counter("banana"),
    "boxes": lambda: [Box("a", [1, Box("b")]), Box("c", {"d": Box("e")})],
    "people": lambda: [{"name": "ann", "age": 3}, {"name": "bob", "age": 5}],
}


def gathered(*given: Any, **named: Any) -> Any:
    return given, named


def matched(one: Any) -> Any:
    match one:
        case [] | {}:
            return "empty or a mapping" if isinstance(one, dict) else "empty"
        case [[first, *_], *rest]:
            return "rows", first, rest
        case ["b", *words]:
            return "words", words
        case [int() as first, *_, int() as last]:
            return "numbers", first, last
        case [{"name": name, **more}, *others]:
            return "people", name, more, others
        case {"ann": age, **others_of_it}:
            return "ages", age, others_of_it
        case {1: found}:
            return "by number", found
        case dict(keys=_):
            return "dict"
        case set():
            return "set"
    return "nothing"


def written(one: Any) -> str:
    file = io.StringIO()
    csv.writer(file).writerow(one)
    return file.getvalue()


def all_written(one: Any) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=";").writerows(one)
    return file.getvalue()


def written_by_name(one: Any) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=["ann", "bob"])
    writer.writeheader()
    writer.writerow(one)
    return file.getvalue()


def logged(template: str, *given: Any) -> str:
    return logging.LogRecord("x", 1, "x", 1, template, given, None).getMessage()


def changed(do: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what becomes of a copy, and what is done with the thing itself."""

    def act(one: Any) -> Any:
        answer = do(one)
        return answer, one, list(one)

    return act


def rendered(text: str) -> Callable[[Any], Any]:
    return lambda one: tornado.template.Template(text).generate(one=one)


def shuffled(one: Any) -> Any:
    random.Random(3).shuffle(one)
    return list(one)


def bound(one: Any) -> Any:
    first, *rest = one
    return first, rest


def looped(one: Any) -> Any:
    return [(number, part) for number, part in enumerate(one) if part != 1]


def deleted(one: Any) -> Any:
    del one[0]
    return list(one)


def not_sorted(one: Any) -> Any:
    first = next(iter(one.items()))
    one.clear()
    one.update([("zoe", 1), first])
    return pprint.saferepr(one)


def within_itself(one: Any) -> Any:
    one.append(one)
    texts = repr(one), pprint.pformat(one), pprint.pformat([one], width=5)
    one.pop()
    return texts


def popped(one: Any) -> Any:
    return one.pop("ann", None) if isinstance(one, dict) else one.pop()


def put(one: Any) -> Any:
    one[1:1] = "xy"
    return list(one)


def in_dataclass(one: Any) -> Any:
    box = Box("box", one)
    other = dataclasses.replace(box, name="other")
    fields = [field.name for field in dataclasses.fields(box)]
    return repr(box), dataclasses.asdict(box), dataclasses.astuple(other), fields


def set_up(one: Any) -> Any:
    made = UserDict(one)
    made["new"] = 1
    return made.data


@functools.singledispatch
def dispatched(one: Any) -> str:
    return "object"


@dispatched.register(list)
def _(one: list[Any]) -> str:
    return "list"


@dispatched.register(dict)
def _(one: dict[Any, Any]) -> str:
    return "dict"


@dispatched.register(collections.abc.Set)
def _(one: collections.abc.Set[Any]) -> str:
    return "set"


KINDS: tuple[str, ...] = (
    "Container",
    "Sized",
    "Iterable",
    "Reversible",
    "Collection",
    "Sequence",
)
KINDS += ("MutableSequence", "Set", "MutableSet", "Mapping", "MutableMapping")
KINDS += ("Hashable", "Callable", "Iterator")

USES: dict[str, Callable[[Any], Any]] = {
    # As text
    "repr": repr,
    "str": str,
    "f-string": lambda one: f"{one} {one!r} {one!s:>40}",
    "format": format,
    "format with a width": lambda one: format(one, "30"),
    "str.format item": lambda one: "{0[0]}".format(one),  # noqa: UP030, UP032 # that
    "str.format key": lambda one: "{o[ann]}".format(o=one),  # noqa: UP032 # that
    "format_map": lambda one: "{ann} {bob}".format_map(one),
    "%s": lambda one: "%s" % (one,),  # noqa: UP031 # that
    "%r in a tuple": lambda one: "%r and %s" % (one, 1),  # noqa: UP031 # that
    "%(name)s": lambda one: "%(ann)s" % one,  # noqa: UP031 # that
    "ascii": ascii,
    "reprlib": reprlib.repr,
    "pprint": pprint.pformat,
    "pprint, narrow": lambda one: pprint.pformat(one, width=5),
    "repr within itself": within_itself,
    "pprint, saferepr": pprint.saferepr,
    "pprint, saferepr of what is not sorted": not_sorted,
    "join": lambda one: ", ".join(one),
    "join of texts": lambda one: ", ".join(map(str, one)),
    "Template": lambda one: string.Template("$ann, $bob").substitute(one),
    "safe_substitute": lambda one: string.Template("$ann, $x").safe_substitute(one),
    "textwrap": lambda one: textwrap.fill(str(one), 10),
    "html": lambda one: html.escape(str(one)),
    "quoted": lambda one: xml.sax.saxutils.quoteattr(str(one)),
    "escaped": lambda one: xml.sax.saxutils.escape("<ann>", one),
    "translate": lambda one: "abc".translate(one),
    "urlencode": urllib.parse.urlencode,
    "urlencode, doseq": lambda one: urllib.parse.urlencode(one, doseq=True),
    "log %s": lambda one: logged("%s", one),
    "log two": lambda one: logged("%s %r", one, one),
    "log %(ann)s": lambda one: logged("%(ann)s", one),
    # As data
    "json": json.dumps,
    "json default": lambda one: json.dumps(one, default=str),
    "json sorted": lambda one: json.dumps(one, sort_keys=True, default=sorted),
    "json indent": lambda one: json.dumps(one, indent=2, default=repr),
    "json skipkeys": lambda one: json.dumps(one, skipkeys=True, default=repr),
    "json separators": lambda one: json.dumps(one, separators=(",", ":"), default=repr),
    "json inside": lambda one: json.dumps({"a": [one, (one,)]}, default=repr),
    "json again": lambda one: json.loads(json.dumps(one, default=list)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "copy method": lambda one: one.copy(),
    "bytes": bytes,
    "bytearray": bytearray,
    "array": lambda one: array.array("l", one),
    "struct": lambda one: struct.pack("3i", *one),
    "csv": written,
    "csv rows": all_written,
    "csv by name": written_by_name,
    "json_encode": tornado.escape.json_encode,
    "recursive_unicode": tornado.escape.recursive_unicode,
    "xhtml_escape": lambda one: tornado.escape.xhtml_escape(str(one)),
    "template for": rendered("{% for part in one %}{{ part }};{% end %}"),
    "template items": rendered("{% for k, v in one.items() %}{{k}}={{v}};{% end %}"),
    "template expression": rendered("{{ one }} {% raw one %}"),
    "template if": rendered("{% if one %}some{% else %}none{% end %}"),
    "template set": rendered("{% set x = list(one) %}{{ x }} {{ len(one) }}"),
    "ObjectDict": lambda one: tornado.util.ObjectDict(one).ann,
    # Made into others
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "dict and more": lambda one: dict(one, new=1),
    "deque": deque,
    "deque of two": lambda one: deque(one, 2),
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "defaultdict": lambda one: defaultdict(list, one),
    "UserList": lambda one: UserList(one).data,
    "UserDict": set_up,
    "ChainMap": lambda one: dict(ChainMap(one, {"z": 1})),
    "fromkeys": dict.fromkeys,
    "mapping proxy": lambda one: sorted(types.MappingProxyType(one)),
    "namespace": lambda one: types.SimpleNamespace(**one),
    "a namedtuple": lambda one: Point(*one),
    "_make": Point._make,
    "date": lambda one: datetime.date(2000 + one[0], *one[1:]),
    "timedelta": lambda one: datetime.timedelta(*one),
    "time by name": lambda one: datetime.timedelta(**one),
    # Unpacked
    "[*x]": lambda one: [*one],
    "(*x,)": lambda one: (*one,),
    "{*x}": lambda one: {*one},
    "{**x}": lambda one: {**one},
    "f(*x)": lambda one: gathered(*one),
    "f(**x)": lambda one: gathered(**one),
    "f(1, *x, y=2)": lambda one: gathered(1, *one, y=2),
    "first, *rest": bound,
    "match": matched,
    "dict | x": lambda one: {"z": 1} | one,
    "dict.update": lambda one: operator.ior({"z": 1}, one),
    "list.extend": lambda one: operator.iadd([0], one),
    "list slice": lambda one: operator.setitem([1, 2], slice(0, 1), one),
    "set.update": lambda one: operator.ior({9}, one),
    "set.union": lambda one: {9}.union(one),
    "set.intersection": lambda one: {1, "a"}.intersection(one),
    "set.difference": lambda one: {1, "a", 9}.difference(one),
    "set.issubset": lambda one: {1}.issubset(one),
    "set.isdisjoint": lambda one: {9}.isdisjoint(one),
    # Gone over
    "sorted": sorted,
    "sorted by": lambda one: sorted(one, key=str, reverse=True),
    "reversed": lambda one: list(reversed(one)),
    "zip(*x)": lambda one: list(zip(*one)),  # noqa: B905 # as programs have it
    "zip": lambda one: list(zip(one, one, strict=True)),
    "zip strict": lambda one: list(zip(one, [1], strict=True)),
    "enumerate": looped,
    "map": lambda one: list(map(str, one)),
    "filter": lambda one: list(filter(None, one)),
    "sum": sum,
    "sum of lists": lambda one: sum(one, []),  # noqa: RUF017 # as programs have it
    "min": min,
    "max": lambda one: max(one, key=str),
    "any": any,
    "all": all,
    "len": len,
    "bool": bool,
    "not": operator.not_,
    "iter": lambda one: next(iter(one), None),
    "length_hint": operator.length_hint,
    "hash": hash,
    "in": lambda one: (1 in one, "a" in one, [1] in [one], one in [one]),
    "reduce": lambda one: functools.reduce(operator.add, one),
    "chain": lambda one: list(itertools.chain(one, one)),
    "chain.from_iterable": lambda one: list(itertools.chain.from_iterable(one)),
    "islice": lambda one: list(itertools.islice(one, 1, 3)),
    "product": lambda one: list(itertools.product(one, repeat=2)),
    "combinations": lambda one: list(itertools.combinations(one, 2)),
    "permutations": lambda one: list(itertools.permutations(one)),
    "accumulate": lambda one: list(itertools.accumulate(one)),
    "groupby": lambda one: [key for key, _ in itertools.groupby(one, str)],
    "starmap": lambda one: list(itertools.starmap(gathered, one)),
    "zip_longest": lambda one: list(itertools.zip_longest(one, "ab")),
    "cycle": lambda one: [*itertools.islice(itertools.cycle(one), 5)],
    "compress": lambda one: list(itertools.compress("abc", one)),
    "pairwise": lambda one: list(itertools.pairwise(one)),
    "tee": lambda one: [list(part) for part in itertools.tee(one)],
    "itemgetter": lambda one: operator.itemgetter(0, 1)(one),
    "itemgetter of a key": lambda one: operator.itemgetter("ann")(one),
    "methodcaller": lambda one: operator.methodcaller("copy")(one),
    "countOf": lambda one: operator.countOf(one, 1),
    "indexOf": lambda one: operator.indexOf(one, 1),
    "mean": statistics.mean,
    "median": statistics.median,
    "mode": statistics.mode,
    "stdev": statistics.stdev,
    "fmean": statistics.fmean,
    "choice": lambda one: random.Random(3).choice(one),
    "choices": lambda one: random.Random(3).choices(one, k=4),
    "choices by weight": lambda one: random.Random(3).choices("abc", one, k=4),
    "sample": lambda one: random.Random(3).sample(one, 2),
    "shuffle": shuffled,
    "bisect": lambda one: bisect.bisect(one, 2),
    "insort": changed(lambda one: bisect.insort(one, 2)),
    "merge": lambda one: list(__import__("heapq").merge(one, [2])),
    "nlargest": lambda one: __import__("heapq").nlargest(2, one),
    # Asked and changed
    "isinstance": lambda one: [
        isinstance(one, getattr(collections.abc, kind)) for kind in KINDS
    ],
    "isinstance of plain": lambda one: [
        isinstance(one, kind) for kind in (list, dict, set, deque, tuple, Counter)
    ],
    "callable": callable,
    "class": lambda one: one.__class__.__name__,
    "type name": lambda one: type(one).__name__,
    "public names": lambda one: [name for name in dir(one) if name[0] != "_"],
    "== itself": lambda one: (one == one, one != one),  # that
    "== a copy": lambda one: (one == copy.copy(one), copy.deepcopy(one) == one),
    "x[0]": lambda one: one[0],
    "x['ann']": lambda one: one["ann"],
    "x[0:2]": lambda one: one[0:2],
    "x[::-1]": lambda one: one[::-1],
    "del x[0]": changed(deleted),
    "x[1:1] =": changed(put),
    "pop": changed(popped),
    "popitem": changed(lambda one: one.popitem()),
    "setdefault": changed(lambda one: one.setdefault("new", []).append(1)),
    "append": changed(lambda one: one.append([1])),
    "add": changed(lambda one: one.add((1,))),
    "sort": changed(lambda one: one.sort()),
    "sort by": changed(lambda one: one.sort(key=str, reverse=True)),
    "reverse": changed(lambda one: one.reverse()),
    "rotate": changed(lambda one: one.rotate()),
    "most_common": lambda one: one.most_common(2),
    "elements": lambda one: list(one.elements()),
    "keys": lambda one: (repr(one.keys()), list(one.keys()), len(one.keys())),
    "keys as a set": lambda one: (one.keys() & {"a", "ann"}, one.keys() | {1}),
    "items": lambda one: (repr(one.items()), list(one.items())),
    "items as a set": lambda one: one.items() & {("ann", 3)},
    "values": lambda one: (repr(one.values()), sorted(map(str, one.values()))),
    "reversed keys": lambda one: list(reversed(one.keys())),
    "in a dataclass": in_dataclass,
    "with members": lambda one: repr([Colour.RED, {Colour.BLUE: one}]),
    "walrus": lambda one: [size for _ in range(1) if (size := len(one))],
    "eval": lambda one: eval("len(one) + 1", {"one": one}),
    "int": int,
    "float": float,
    "index": operator.index,
    "await": lambda one: one.__await__,
    "with": lambda one: one.__enter__,
    "open": open,
    "isinstance by union": lambda one: isinstance(one, list | dict),
    "singledispatch": lambda one: dispatched(one),
    "type in a dict": lambda one: {list: 1, dict: 2}.get(one.__class__),
    "getattr": lambda one: getattr(one, "missing", "none"),
}


def used(act: Callable[[Any], Any], one: Any) -> Any:
    """Return what comes of a use, and what is in the container then."""
    return said(act, one), shown(one)


def in_an_attempt(act: Callable[[Any], Any], one: Any) -> Any:
    """Do the same in a transaction."""
    outcome = run_attempt(Call(used, (act, one)), speculative=False)
    assert isinstance(outcome, Outcome)
    return outcome.value if outcome.error is None else outcome.error


def is_known(use: str, kind: str) -> bool:
    """Tell whether it is known not to be alike.

    In C, what has a `__getitem__` in Python is a mapping and a sequence, if it is not
    one of the plain types; so these uses fail later, or not at all.
    """
    is_mapping = isinstance(MAKERS[kind](), dict)
    if use == "mapping proxy" or (PYPY and use == "{**x}"):
        return not is_mapping
    if PYPY and use == "items as a set":
        return kind in ("nested", "lists")
    if PYPY and use == "== a copy":
        return kind == "in order"  # an OrderedDict asks dict, which knows plain ones
    if use == "%(name)s":
        return isinstance(MAKERS[kind](), deque)
    if use == "pprint, saferepr":
        return kind == "people"  # whose keys it sorts in plain dicts only
    return use in ("bisect", "insort") and is_mapping


def main() -> None:
    """Compare, and print what differs."""
    for use, act in USES.items():
        for kind, make in MAKERS.items():
            if is_known(use, kind):
                continue
            plain = make()
            wanted = said(act, plain), shown(plain)
            outside = txloop.share(make())
            inside = txloop.share(make())
            found = {
                "outside": (said(act, outside), shown(outside)),
                "inside": in_an_attempt(act, inside),
            }
            for where, its in found.items():
                if its != wanted:
                    print(f"{use} of {kind}, {where}", wanted, its, sep="\n    ")


if __name__ == "__main__":
    txloop.like_plain()
    main()
