"""The same containers, reached in a roundabout way: found, sorted, zipped, matched."""

from __future__ import annotations

import copy
import itertools
import operator
from typing import NamedTuple

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


def users():
    return [{"name": "bob", "hits": 0}, {"name": "ann", "hits": 0}]


grid = [[0], [0]]
zipped = [[0], [0]]
rooms = {"a": []}
ranked = users()
chosen = users()
searched = users()
filtered = users()
backwards = users()
largest = users()
keyed = {"ann": {"hits": 0}}
items = {"ann": {"hits": 0}}
mapped = [[], []]
chained = [[0], [0]]
starred = []
matched = {"xs": []}
tupled = ([0], 1)
halves = [[0], [1], [2]]
conditional = {"yes": [0], "no": [0]}
shallow = {"inner": [0]}
default = [0]
walrus = {"rows": []}
gotten = {"obj": [0]}
sideways = []
anyone = []
pushed = []
returned = {"deep": {"deeper": []}}
grouped = users()
mirrored = [[0]]
alias = mirrored
product = [[0], [0]]
sliced = [[0], [0], [0]]
yielded = {"a": [0]}
unpacked = {"left": [0], "right": [0]}


@writes()
class Enumerate(RequestHandler):
    def get(self):
        burn()
        for index, row in enumerate(grid):
            row[0] += index + 1
        self.write(str(grid))


@writes()
class Zip(RequestHandler):
    def get(self):
        for row, by in zip(zipped, (1, 2), strict=True):
            before = row[0]
            burn()
            row[0] = before + by
        self.write(str(zipped))


@writes()
class ListOfValues(RequestHandler):
    def get(self):
        burn()
        for room in list(rooms.values()):
            room.append(1)
        self.write(str(len(rooms["a"])))


@writes()
class Sorted(RequestHandler):
    def get(self):
        user = sorted(ranked, key=lambda user: user["name"])[0]
        hits = user["hits"]
        burn()
        user["hits"] = hits + 1
        self.write(str(user))


@writes()
class Comprehension(RequestHandler):
    def get(self):
        burn()
        [user] = [user for user in chosen if user["name"] == "ann"]
        user["hits"] += 1
        self.write(str(user))


@writes()
class NextOfGenerator(RequestHandler):
    def get(self):
        burn()
        user = next(user for user in searched if user["name"] == "ann")
        user["hits"] += 1
        self.write(str(user))


@writes()
class Filter(RequestHandler):
    def get(self):
        burn()
        for user in filter(lambda user: user["name"] == "ann", filtered):
            user["hits"] += 1
        self.write(str(filtered))


@writes()
class Reversed(RequestHandler):
    def get(self):
        burn()
        for user in reversed(backwards):
            user["hits"] += 1
        self.write(str(backwards))


@writes()
class Max(RequestHandler):
    def get(self):
        user = max(largest, key=operator.itemgetter("name"))
        hits = user["hits"]
        burn()
        user["hits"] = hits + 1
        self.write(str(user))


@writes()
class DictGet(RequestHandler):
    def get(self):
        burn()
        user = keyed.get("ann")
        if user is not None:
            user["hits"] += 1
        self.write(str(user))


@writes()
class DictItems(RequestHandler):
    def get(self):
        burn()
        for _name, user in sorted(items.items()):
            user["hits"] += 1
        self.write(str(items))


@writes()
class MapWithLambda(RequestHandler):
    def get(self):
        burn()
        list(map(lambda row: row.append(1), mapped))
        self.write(str(len(mapped[1])))


@writes()
class Chain(RequestHandler):
    def get(self):
        burn()
        for row in itertools.chain(chained[:1], chained[1:]):
            row[0] += 1
        self.write(str(chained))


def add_all(*lists):
    lists[0].append(1)


def add_named(**lists):
    lists["rows"].append(1)


@writes()
class StarArguments(RequestHandler):
    def get(self):
        burn()
        add_all(starred)
        self.write(str(len(starred)))


@writes()
class NamedArguments(RequestHandler):
    def get(self):
        burn()
        add_named(**walrus)
        self.write(str(len(walrus["rows"])))


@writes()
class Match(RequestHandler):
    def get(self):
        burn()
        match matched:
            case {"xs": xs}:
                xs.append(1)
        self.write(str(len(matched["xs"])))


@writes()
class InTuple(RequestHandler):
    def get(self):
        burn()
        tupled[0][0] += 1
        self.write(str(tupled))


@writes()
class StarredTarget(RequestHandler):
    def get(self):
        _first, *rest = halves
        before = rest[-1][0]
        burn()
        rest[-1][0] = before + 1
        self.write(str(halves))


@writes()
class Conditional(RequestHandler):
    def get(self):
        burn()
        row = conditional["yes"] if self.get_argument("no", None) is None else [0]
        row[0] += 1
        self.write(str(row))


@writes()
class ShallowCopy(RequestHandler):
    def get(self):
        burn()
        mine = copy.copy(shallow)
        mine["inner"][0] += 1
        self.write(str(shallow))


@writes()
class OrDefault(RequestHandler):
    def get(self):
        burn()
        row = self.get_arguments("row") or default
        row[0] += 1
        self.write(str(row))


@writes()
class GetattrByName(RequestHandler):
    def get(self):
        burn()
        getattr(gotten["obj"], "append")(1)
        self.write(str(len(gotten["obj"])))


@writes()
class SideEffectInComprehension(RequestHandler):
    def get(self):
        burn()
        [sideways.append(n) for n in range(2)]
        self.write(str(len(sideways)))


@writes()
class SideEffectInAny(RequestHandler):
    def get(self):
        burn()
        any(anyone.append(n) for n in range(2))
        self.write(str(len(anyone)))


@writes()
class ShortCircuit(RequestHandler):
    def get(self):
        burn()
        self.get_argument("quiet", None) or pushed.append(1)
        self.write(str(len(pushed)))


def deepest(where):
    return where["deep"]["deeper"]


@writes()
class ReturnedByFunction(RequestHandler):
    def get(self):
        burn()
        deepest(returned).append(1)
        self.write(str(len(returned["deep"]["deeper"])))


@writes()
class GroupBy(RequestHandler):
    def get(self):
        burn()
        for _, group in itertools.groupby(grouped, operator.itemgetter("name")):
            for user in group:
                user["hits"] += 1
        self.write(str(grouped))


@writes()
class Alias(RequestHandler):
    def get(self):
        burn()
        alias[0][0] += 1
        self.write(str(mirrored))


@writes()
class Product(RequestHandler):
    def get(self):
        burn()
        for row, by in itertools.product(product, (1, 2)):
            row[0] += by
        self.write(str(product))


@writes()
class Islice(RequestHandler):
    def get(self):
        burn()
        for row in itertools.islice(sliced, 1, None):
            row[0] += 1
        self.write(str(sliced))


def each_row():
    yield from yielded.values()


@writes()
class YieldedByGenerator(RequestHandler):
    def get(self):
        burn()
        for row in each_row():
            row[0] += 1
        self.write(str(yielded))


@writes()
class ItemgetterPair(RequestHandler):
    def get(self):
        burn()
        left, right = operator.itemgetter("left", "right")(unpacked)
        left[0] += 1
        right.append(left[0])
        self.write(str(len(right)))


class Row(NamedTuple):
    tags: list[int]


row = Row([])


@writes()
class NamedTupleField(RequestHandler):
    def get(self):
        burn()
        row.tags.append(1)
        self.write(str(len(row.tags)))
