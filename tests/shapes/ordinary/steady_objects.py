"""Models, settings and containers that are fine to read in parallel."""

from __future__ import annotations

import collections
import contextlib
import decimal
import enum
import logging
import math
import string
import types
from dataclasses import dataclass, replace
from typing import NamedTuple

from tornado.web import HTTPError, RequestHandler

import txloop
from tests.shapes.shape import burn, steady


class Model:
    """What was trained before the program began, and is only asked."""

    def __init__(self, weights):
        self.weights = weights
        self.bias = 0.5

    def predict(self, features):
        products = (w * f for w, f in zip(self.weights, features, strict=True))
        return self.bias + sum(products)

    @property
    def size(self):
        return len(self.weights)

    def __call__(self, features):
        return self.predict(features)


model = Model([0.1, 0.2, 0.3])
models = {"linear": model}
predict = model.predict


@steady()
class AsksModel(RequestHandler):
    def get(self):
        burn()
        self.write(f"{model.predict([1, 2, 3]):.2f} {model.size}")


@steady()
class AsksModelInDict(RequestHandler):
    def get(self):
        burn()
        self.write(f"{models['linear']([3, 2, 1]):.2f} {predict([0, 0, 0])}")


@dataclass(frozen=True)
class Settings:
    colour: str = "red"
    size: int = 3


settings = Settings()


@steady()
class FrozenDataclass(RequestHandler):
    def get(self):
        burn()
        self.write(f"{settings.colour} {replace(settings, size=4).size}")


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Pair(NamedTuple):
    left: int
    right: int


pair = Pair(1, 2)


@steady()
class EnumAndNamedTuple(RequestHandler):
    def get(self):
        burn()
        self.write(f"{Colour['RED'].value} {Colour(2).name} {pair._replace(left=5)}")


@steady()
class OwnAttributes(RequestHandler):
    def initialize(self):
        self.rows = []

    def prepare(self):
        self.started = True

    def get(self):
        burn()
        self.rows.append(1)
        self.request.note = "x"
        self.write(f"{len(self.rows)} {self.started}")


@steady()
class CookieUser(RequestHandler):
    def get_current_user(self):
        return self.get_cookie("user", "nobody")

    def get(self):
        burn()
        self.set_cookie("seen", "1")
        self.set_header("X-User", self.current_user)
        self.write(self.current_user)


@steady(kwargs={"names": ["ann"], "options": {"most": 3}, "model": model})
class ReadsArguments(RequestHandler):
    def initialize(self, names, options, model):
        self.names, self.options, self.model = names, options, model

    def get(self):
        burn()
        self.write(f"{self.names[0]} {self.options['most']} {self.model.size}")


def prepare(application):
    """Give an application what these shapes read."""
    application.title = "Shop"
    application.model = Model([1.0])
    application.theme = {"colour": "red"}


@steady()
class ReadsApplication(RequestHandler):
    def get(self):
        burn()
        app = self.application
        self.write(f"{app.title} {app.model.size} {app.theme['colour']}")


class Area:
    def area(self, side):
        return side**2


class Labelled(Area):
    label = "area"

    @classmethod
    def make(cls):
        return cls()

    @staticmethod
    def half(n):
        return n / 2


class PureMixin:
    def shown(self, n):
        return f"{n:.1f}"


@steady()
class PureMethods(PureMixin, RequestHandler):
    def get(self):
        burn()
        shape = Labelled.make()
        self.write(shape.label + self.shown(shape.half(shape.area(3))))


@steady()
class RaisesHTTPError(RequestHandler):
    def get(self):
        burn()
        try:
            raise KeyError("missing")
        except KeyError:
            with contextlib.suppress(ValueError):
                int("x")
        raise HTTPError(404, reason="Not There")


@steady()
class LocalDecimalContext(RequestHandler):
    def get(self):
        burn()
        with decimal.localcontext() as context:
            context.prec = 4
            self.write(str(decimal.Decimal(1) / 3))


@steady()
class MatchStatement(RequestHandler):
    def get(self):
        burn()
        match {"kind": "circle", "radius": [1, 2]}:
            case {"kind": "circle", "radius": [first, *_]} if twice := first * 2:
                self.write(f"{twice} {math.pi:.2f}")


log = logging.getLogger("shapes.steady")


@steady()
class LogsALine(RequestHandler):
    def get(self):
        burn()
        log.debug("asked %s", self.request.path)
        self.write("logged")


@steady()
class StringTemplate(RequestHandler):
    def get(self):
        burn()
        self.write(string.Template("$who likes $what").substitute(who="a", what="b"))


@steady()
def counts_letters():
    burn()
    letters = collections.Counter("mississippi")
    return letters.most_common(1)[0][1]


rows = txloop.TDict({"n": 0})
counter = txloop.TCounter()
names = txloop.TList(["ann"])
members = txloop.TSet({1, 2})
single = txloop.TVar(("a", 1))


@steady()
class WritesTDict(RequestHandler):
    def get(self):
        burn()
        rows["n"] += 1
        self.write(str(rows["n"]))


@steady()
class WritesTCounter(RequestHandler):
    def get(self):
        burn()
        counter.add(1)
        self.write("added")


@steady()
class ReadsContainers(RequestHandler):
    def get(self):
        burn()
        self.write(f"{names[0]} {len(members)} {single.get()}")


holder = types.SimpleNamespace(rows=txloop.TList(), title="rows")


@steady()
class ContainerInObject(RequestHandler):
    def get(self):
        burn()
        holder.rows.append(1)
        self.write(holder.title)
