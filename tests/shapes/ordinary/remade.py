"""Functions and classes that are changed in place while the program runs."""

from __future__ import annotations

import functools
from typing import ClassVar

from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads, writes


def greet():
    return "hello"


def greet_back():
    return "welcome"


def turn_greeting():
    greet.__code__, greet_back.__code__ = greet_back.__code__, greet.__code__


@reads(turn_greeting)
class CallsFunctionWithNewCode(RequestHandler):
    def get(self):
        burn()
        self.write(greet())


def price(amount=1):
    return amount


def raise_price():
    price.__defaults__ = (price.__defaults__[0] + 1,)


@reads(raise_price, "coroutine")
class CallsFunctionWithNewDefaults(RequestHandler):
    def get(self):
        burn()
        self.write(str(price()))


def discount(*, percent=1):
    return percent


def raise_discount():
    discount.__kwdefaults__ = {"percent": discount.__kwdefaults__["percent"] + 1}


@reads(raise_discount, "callback")
class CallsFunctionWithNewKeywordDefaults(RequestHandler):
    def get(self):
        burn()
        self.write(str(discount()))


def rebate(*, percent=1):
    return percent


def raise_rebate():
    rebate.__kwdefaults__["percent"] += 1


@reads(raise_rebate)
class CallsFunctionWithChangedKeywordDefaults(RequestHandler):
    def get(self):
        burn()
        self.write(str(rebate()))


def tax():
    try:
        return tax.rate
    except AttributeError:
        return 0


def raise_tax():
    vars(tax).update(rate=tax() + 1)


@reads(raise_tax)
class ReadsNewFunctionAttribute(RequestHandler):
    def get(self):
        burn()
        self.write(str(tax()))


class Shop:
    def name(self, prefix="a"):
        return prefix

    @staticmethod
    def city(prefix="a"):
        return prefix

    @classmethod
    def street(cls, prefix="a"):
        return prefix

    @property
    def owner(self):
        return "ann"


shop = Shop()


def longer(function):
    function.__defaults__ = (function.__defaults__[0] + "a",)


@reads(lambda: longer(Shop.name), "later")
class CallsMethodWithNewDefaults(RequestHandler):
    def get(self):
        burn()
        self.write(shop.name())


@reads(lambda: longer(Shop.city))
class CallsStaticMethodWithNewDefaults(RequestHandler):
    def get(self):
        burn()
        self.write(shop.city())


@reads(lambda: longer(Shop.street.__func__))
class CallsClassMethodWithNewDefaults(RequestHandler):
    def get(self):
        burn()
        self.write(shop.street())


def owned_by_bob(self):
    return "bob"


def sell():
    function = Shop.owner.fget
    function.__code__, owned_by_bob.__code__ = (
        *(owned_by_bob.__code__, function.__code__),
    )


@reads(sell)
class ReadsPropertyWithNewCode(RequestHandler):
    def get(self):
        burn()
        self.write(shop.owner)


def make_pair():
    def inner(word="a"):
        return word

    def outer():
        return inner()

    return outer, inner


call_inner, inner = make_pair()


@reads(lambda: longer(inner))
class CallsFunctionInClosure(RequestHandler):
    def get(self):
        burn()
        self.write(call_inner())


def shout(word, mark="!"):
    return word + mark


say = functools.partial(shout, "hello")


@reads(lambda: longer(shout))
class CallsPartialOfChangedFunction(RequestHandler):
    def get(self):
        burn()
        self.write(say())


table = {"greet": lambda word="a": word}


@reads(lambda: longer(table["greet"]))
class CallsFunctionInTable(RequestHandler):
    def get(self):
        burn()
        self.write(table["greet"]())


def decorated(function):
    @functools.wraps(function)
    def around():
        return function() + "."

    return around


@decorated
def told(word="a"):
    return word


@reads(lambda: longer(told.__wrapped__))
class CallsDecoratedFunction(RequestHandler):
    def get(self):
        burn()
        self.write(told())


class VerbWithNewDefaults(RequestHandler):
    def get(self, word="a"):
        burn()
        self.write(word)


reads(lambda: longer(VerbWithNewDefaults.get))(VerbWithNewDefaults)


class Quiet:
    def speak(self):
        return "psst"


class Loud:
    def speak(self):
        return "hey"


class Speaker(Quiet):
    def talk(self):
        return self.speak()


speaker = Speaker()


def raise_voice():
    Speaker.__bases__ = (Loud,) if Speaker.__bases__ == (Quiet,) else (Quiet,)


@reads(raise_voice)
class CallsMethodOfNewBase(RequestHandler):
    def get(self):
        burn()
        self.write(speaker.talk())


class Model:
    fields: ClassVar[list[str]] = ["id"]

    def __repr__(self):
        return "model"


model = Model()


def rename_model():
    longer_name = f"{Model.__repr__(model)}."
    Model.__repr__ = lambda self: longer_name


@reads(rename_model)
class ShowsByNewMethod(RequestHandler):
    def get(self):
        burn()
        self.write(repr(model))


def add_field():
    name = f"field_{len(vars(Model))}"
    setattr(Model, name, 1)


@reads(add_field)
class ListsAttributesOfClass(RequestHandler):
    def get(self):
        burn()
        self.write(str(sum(name.startswith("field_") for name in vars(Model))))


class Kept:
    total = 1


def raise_total():
    name = "tot" + "al".lower()
    setattr(Kept, name, getattr(Kept, name) + 1)


@reads(raise_total)
class ReadsClassAttributeSetByName(RequestHandler):
    def get(self):
        burn()
        self.write(str(Kept.total))


def fee(amount=0):
    return amount


@writes()
class SetsDefaults(RequestHandler):
    def get(self):
        amount = fee() + 1
        burn()
        vars(type(fee))["__defaults__"].__set__(fee, (amount,))
        self.write(str(fee()))


def visit():
    return "hello"


def count(function, name):
    visits = getattr(function, name, 0) + 1
    burn()
    setattr(function, name, visits)
    return visits


@writes()
class SetsFunctionAttributeByName(RequestHandler):
    def get(self):
        self.write(f"{visit()} {count(visit, 'visits')}")


class Plain:
    level = 1


class Stair(Plain):
    """Derived from what comes next."""


@writes()
class SetsBases(RequestHandler):
    def get(self):
        burn()
        following = type("Plain", (), {"level": Stair.level + 1})
        vars(type)["__bases__"].__set__(Stair, (following,))
        self.write(str(Stair.level))
