"""What changes shared state at some runs only: caches, lazy values, limits."""

from __future__ import annotations

import functools
from typing import ClassVar

from tornado import template
from tornado.web import RequestHandler

from tests.shapes.shape import burn, settles, sometimes

_grammar = None
_parts: dict[str, object] = {}


def grammar():
    global _grammar
    if _grammar is None:
        _grammar = {"rule": ["a", "b"]}
    return _grammar


@sometimes()
class LazyGlobal(RequestHandler):
    def get(self):
        burn()
        self.write(str(grammar()["rule"]))


@sometimes()
class FilledDict(RequestHandler):
    def get(self):
        burn()
        if "model" not in _parts:
            _parts["model"] = [1, 2, 3]
        self.write(str(_parts["model"]))


class Model:
    _weights = None

    @property
    def weights(self):
        if self._weights is None:
            self._weights = [0.1, 0.2]
        return self._weights

    @functools.cached_property
    def size(self):
        return len(self.weights)


model = Model()
other = Model()


@sometimes()
class LazyAttribute(RequestHandler):
    def get(self):
        burn()
        self.write(str(model.weights))


@sometimes()
class CachedProperty(RequestHandler):
    def get(self):
        burn()
        self.write(str(other.size))


loader = template.DictLoader({"page.html": "{% for n in range(3) %}{{ n }}{% end %}"})


@settles()
class TemplateLoader(RequestHandler):
    def get(self):
        burn()
        self.write(loader.load("page.html").generate())


@settles()
class ImportsLazily(RequestHandler):
    def get(self):
        burn()
        import colorsys

        self.write(str(colorsys.rgb_to_hsv(0.5, 0.5, 0.5)))


class Lazy:
    instance = None

    @classmethod
    def get(cls):
        if cls.instance is None:
            cls.instance = cls()
        return cls.instance


@sometimes()
class LazySingleton(RequestHandler):
    def get(self):
        burn()
        self.write(type(Lazy.get()).__name__)


squares: dict[int, int] = {}


@sometimes()
class MemoDict(RequestHandler):
    def get(self):
        burn()
        total = 0
        for n in range(5):
            if n not in squares:
                squares[n] = n * n
            total += squares[n]
        self.write(str(total))


def parsed(text, known={}):
    if text not in known:
        known[text] = text.split()
    return known[text]


@sometimes()
class DefaultArgumentCache(RequestHandler):
    def get(self):
        burn()
        self.write(parsed("a b c")[1])


remember = functools.partial(dict.setdefault, remembered := {})


@sometimes()
class PartialSetdefault(RequestHandler):
    def get(self):
        burn()
        self.write(str(remember("size", 3) + len(remembered)))


# What settles, where the code does not show that anything changes


slots = [[0], [0]]


@settles()
class ZippedFill(RequestHandler):
    def get(self):
        burn()
        for slot, value in zip(slots, (1, 2), strict=True):
            if slot[0] != value:
                slot[0] = value
        self.write(str(slots))


# What changes it again and again, but not at each run


visits = {"n": 0}
sold = []
asked = {"n": 0}


@sometimes(total=lambda: visits["n"])
class EveryFourth(RequestHandler):
    def get(self):
        burn()
        number = int(self.get_argument("number"))
        if number % 4 == 0:
            visits["n"] += 1
        self.write("ok")


@sometimes(total=lambda: len(sold))
class SoldOut(RequestHandler):
    def get(self):
        burn()
        if len(sold) < 5:
            sold.append("x")
        self.write("ok")


class Fibonacci(RequestHandler):
    known: ClassVar[list[int]] = [0, 1]

    def number(self, n):
        while len(self.known) <= n:
            self.known.append(self.known[-1] + self.known[-2])
        return self.known[n]


@sometimes(total=lambda: len(Fibonacci.known))
class GrowingCache(Fibonacci):
    def get(self):
        burn()
        self.write(str(self.number(int(self.get_argument("number")))))


@sometimes(total=lambda: sorted(seen))
class Distinct(RequestHandler):
    def get(self):
        burn()
        seen.add(int(self.get_argument("number")) // 3)
        self.write("ok")


seen: set[int] = set()
highest = {"score": 0}


@sometimes(total=lambda: highest["score"])
class Highscore(RequestHandler):
    def get(self):
        burn()
        number = int(self.get_argument("number"))
        if number > highest["score"]:
            highest["score"] = number
        self.write("ok")


late = []


@sometimes(total=lambda: late)
class OnlyTheLast(RequestHandler):
    def get(self):
        burn()
        if self.get_argument("number") == "7":
            late.append("x")
        self.write("ok")
