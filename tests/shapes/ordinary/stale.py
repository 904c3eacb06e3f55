"""Marked handlers that read what unmarked code of the program changes."""

from __future__ import annotations

import array
import collections
import io
import types
from typing import NamedTuple

from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads

config = {"v": 0}


def change_config():
    config["v"] += 1


@reads(change_config)
class ReadsDict(RequestHandler):
    def get(self):
        burn()
        self.write(str(config["v"]))


rows = [{"v": 0}]


def change_rows():
    for row in list(rows):
        row["v"] += 1


@reads(change_rows)
class ReadsRows(RequestHandler):
    def get(self):
        burn()
        self.write(str(rows[0]["v"]))


space = types.SimpleNamespace(v=0)


def change_space():
    vars(space)["v"] += 1


@reads(change_space)
class ReadsNamespace(RequestHandler):
    def get(self):
        burn()
        self.write(str(space.v))


numbers = array.array("l", [0])


def change_numbers():
    numbers[0] += 1


@reads(change_numbers)
class ReadsArray(RequestHandler):
    def get(self):
        burn()
        self.write(str(numbers[0]))


nested = {"a": {"v": 0}}


def change_nested():
    for inner in list(nested.values()):
        inner["v"] += 1


@reads(change_nested)
class ReadsNested(RequestHandler):
    def get(self):
        burn()
        self.write(str(nested["a"]["v"]))


current = [0]


def change_current():
    current[:] = [current[0] + 1]


@reads(change_current)
class ReadsListItem(RequestHandler):
    def get(self):
        burn()
        self.write(str(current[0]))


class Config:
    v = 0

    def set(self, v):
        self.v = v


own = Config()
owned = {"x": Config()}


@reads(lambda: own.set(own.v + 1))
class ReadsObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(own.v))


@reads(lambda: owned["x"].set(owned["x"].v + 1))
class ReadsObjectInDict(RequestHandler):
    def get(self):
        burn()
        self.write(str(owned["x"].v))


flags = set()


@reads(lambda: flags.add(len(flags)))
class ReadsSet(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(flags)))


number = 0


def change_number():
    global number
    number += 1


@reads(change_number)
class ReadsGlobal(RequestHandler):
    def get(self):
        burn()
        self.write(str(number))


text = io.StringIO()


@reads(lambda: text.write("x"))
class ReadsTextBuffer(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(text.getvalue())))


class Named(NamedTuple):
    d: dict[str, int]


named = Named({"v": 0})


@reads(lambda: named.d.update(v=named.d["v"] + 1))
class ReadsNamedTuple(RequestHandler):
    def get(self):
        burn()
        self.write(str(named.d["v"]))


queue = collections.deque()


@reads(lambda: queue.append(1), "callback")
class ReadsDeque(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(queue)))


tally = collections.Counter()


@reads(lambda: tally.update("a"), "periodic")
class ReadsCounter(RequestHandler):
    def get(self):
        burn()
        self.write(str(tally["a"]))


groups = collections.defaultdict(list)


@reads(lambda: groups["x"].append(1), "coroutine")
class ReadsDefaultdict(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(groups["x"])))
