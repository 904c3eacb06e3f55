"""The same for classes, messages, closures, modules, registries and trees."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import ClassVar

from tornado.web import RequestHandler

from tests.shapes.ordinary import clock
from tests.shapes.shape import burn, reads


class Prices:
    current = 100
    history: ClassVar[list[int]] = []


@reads(lambda: setattr(Prices, "current", Prices.current + 1), "periodic")
class ReadsClassAttribute(RequestHandler):
    def get(self):
        burn()
        self.write(str(Prices.current))


@reads(lambda: Prices.history.append(1), "coroutine")
class ReadsClassList(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(Prices.history)))


class Stock:
    amount = 10
    _instance = None

    @classmethod
    def instance(cls):
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance


Stock.instance()


def change_singleton():
    Stock.instance().amount += 1


@reads(change_singleton, "later")
class ReadsSingleton(RequestHandler):
    def get(self):
        burn()
        self.write(str(Stock.instance().amount))


@dataclass
class Weather:
    degrees: int = 0
    stations: dict[str, int] = field(default_factory=dict)


weather = Weather()


def change_weather():
    weather.degrees += 1
    weather.stations[f"s{weather.degrees}"] = weather.degrees


@reads(change_weather, "coroutine")
class ReadsDataclass(RequestHandler):
    def get(self):
        burn()
        self.write(str(weather.degrees))


@reads(lambda: change_weather_stations(), "websocket")
class ReadsDataclassDict(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(other_weather.stations)))


other_weather = Weather()


def change_weather_stations():
    other_weather.stations[f"s{len(other_weather.stations)}"] = 1


messages = []


@reads(lambda: messages.append({"body": "hello"}), "websocket")
class ReadsMessages(RequestHandler):
    def get(self):
        burn()
        self.write({"messages": list(messages)})


clients = set()


@reads(lambda: clients.add(object()), "websocket")
class ReadsClients(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(clients)))


def make_state():
    value = 0

    def change():
        nonlocal value
        value += 1

    def read():
        return value

    return change, read


change_closure, read_closure = make_state()


@reads(change_closure)
class ReadsClosure(RequestHandler):
    def get(self):
        burn()
        self.write(str(read_closure()))


@reads(clock.beat, "callback")
class ReadsOtherModule(RequestHandler):
    def get(self):
        burn()
        self.write(str(clock.beats()))


def change_days():
    clock.months += 1


@reads(change_days)
class ReadsAttributeOfModule(RequestHandler):
    def get(self):
        burn()
        self.write(str(clock.months))


def rate():
    return rate.value


rate.value = 1


def change_rate():
    rate.value += 1


@reads(change_rate)
class ReadsFunctionAttribute(RequestHandler):
    def get(self):
        burn()
        self.write(str(rate()))


def greeting():
    return "hello"


def change_greeting():
    global greeting
    before = greeting()
    greeting = lambda: before + "!"


@reads(change_greeting)
class ReadsReplacedFunction(RequestHandler):
    def get(self):
        burn()
        self.write(greeting())


routes = {}


def change_routes():
    routes[f"r{len(routes)}"] = lambda: "x"


@reads(change_routes)
class ReadsRegistry(RequestHandler):
    def get(self):
        burn()
        self.write(" ".join(sorted(routes)))


frozen = (1, 2)


def change_frozen():
    global frozen
    frozen = (*frozen, len(frozen))


@reads(change_frozen, "periodic")
class ReadsTuple(RequestHandler):
    def get(self):
        burn()
        self.write(str(frozen))


ids = itertools.count()
last_id = [0]


def change_last_id():
    last_id[0] = next(ids)


@reads(change_last_id)
class ReadsLastId(RequestHandler):
    def get(self):
        burn()
        self.write(str(last_id[0]))


scores = {"ann": 1, "bob": 2}


def change_scores():
    scores["ann"], scores["bob"] = scores["bob"], scores["ann"] + 2


@reads(change_scores, "on_finish")
class ReadsSwapped(RequestHandler):
    def get(self):
        burn()
        self.write(max(scores, key=scores.__getitem__) + str(scores))


ranking = [3, 1, 2, 5, 4, 7, 6, 9, 8]


def change_ranking():
    ranking.append(ranking.pop(0))


@reads(change_ranking)
class ReadsOrderOfList(RequestHandler):
    def get(self):
        burn()
        self.write(str(ranking))


packed = bytearray(4)


def change_packed():
    packed[2] += 1


@reads(change_packed, "prepare")
class ReadsBytearray(RequestHandler):
    def get(self):
        burn()
        self.write(bytes(packed).hex())


class Node:
    def __init__(self, value, parent=None):
        self.value = value
        self.children = []
        self.parent = parent
        if parent is not None:
            parent.children.append(self)

    def total(self):
        return self.value + sum(child.total() for child in self.children)


root = Node(1)
leaf = Node(2, Node(3, root))
trunk = Node(1)


def change_leaf():
    leaf.value += 1


def change_tree():
    Node(1, trunk)


@reads(change_leaf)
class ReadsTreeLeaf(RequestHandler):
    def get(self):
        burn()
        self.write(str(root.total()))


@reads(change_tree, "async")
class ReadsTreeGrowing(RequestHandler):
    def get(self):
        burn()
        self.write(f"{trunk.total()} {len(trunk.children)}")


class Slotted:
    __slots__ = ("v",)

    def __init__(self):
        self.v = 0


slotted = Slotted()


def change_slotted():
    slotted.v += 1


@reads(change_slotted, "callback")
class ReadsSlots(RequestHandler):
    def get(self):
        burn()
        self.write(str(slotted.v))


class Cache:
    def __init__(self):
        self._computed = None
        self.version = 0

    @property
    def computed(self):
        return f"computed {self.version}"


cache = Cache()


def change_cache():
    cache.version += 1


@reads(change_cache, "executor")
class ReadsProperty(RequestHandler):
    def get(self):
        burn()
        self.write(cache.computed)
