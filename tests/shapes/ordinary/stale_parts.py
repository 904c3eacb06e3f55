"""Parts of objects that are read without a name, or changed without an assignment."""

from __future__ import annotations

import ctypes
import operator
import types
import weakref
from dataclasses import dataclass

from tornado.template import DictLoader, Template
from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads


class Open:
    def word(self):
        return "open"


class Closed(Open):
    def word(self):
        return "closed"


door = Open()


def turn():
    door.__class__ = Closed if type(door) is Open else Open


@reads(turn, "coroutine")
class ReadsState(RequestHandler):
    def get(self):
        burn()
        self.write(door.word())


@dataclass
class Version:
    major: int
    minor: int


version, wanted = Version(1, 0), Version(1, 1)


def flip():
    version.minor = 1 - version.minor


@reads(flip, "handler")
class ComparesDataclasses(RequestHandler):
    def get(self):
        burn()
        self.write(str(version == wanted))


shown = Version(1, 0)


def release():
    shown.minor += 1


@reads(release, "later")
class ShowsDataclass(RequestHandler):
    def get(self):
        burn()
        self.write(f"{shown}")


class Point:
    def __init__(self):
        self.val = 0


point, got, printed = Point(), Point(), Point()


def move():
    point.val += 1


@reads(move, "handler")
class MatchesClass(RequestHandler):
    def get(self):
        burn()
        match (point, 1):
            case (Point(val=found), 1):
                self.write(str(found))


get_value = operator.attrgetter("val")


def move_got():
    got.val += 1


@reads(move_got, "coroutine")
class AsksGetter(RequestHandler):
    def get(self):
        burn()
        self.write(str(get_value(got)))


show = "{0.val}".format


def move_printed():
    printed.val += 1


@reads(move_printed, "callback")
class AsksFormat(RequestHandler):
    def get(self):
        burn()
        self.write(show(printed))


settings = types.ModuleType("settings")
vars(settings)["rate"] = 1


@reads(lambda: setattr(settings, "rate", settings.rate + 1), "handler")
class ReadsModuleObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(settings.rate))


class Member:
    pass


members = [Member(), Member(), Member(), *(Member() for _ in range(30))]
awake = weakref.WeakSet(members)


def leave():
    awake.discard(members[len(members) - len(awake)])


@reads(leave, "handler")
class CountsLivingMembers(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(awake)))


class Guest:
    pass


guests = [Guest() for _ in range(33)]
present = weakref.WeakSet(guests)


@reads(guests.pop, "handler")
class CountsThoseThatAreKept(RequestHandler):
    def get(self):
        burn()
        self.write(f"{len(present)} of {len(guests)}")


let_go = []


class Lamp:
    def __del__(self):
        let_go.append("out")


lamps = [Lamp() for _ in range(33)]


@reads(lamps.pop, "coroutine")
class CountsFinalizers(RequestHandler):
    def get(self):
        burn()
        self.write(f"{len(let_go)}, {len(lamps)}")


class Size(ctypes.Structure):
    _fields_ = (("width", ctypes.c_int),)


prices = {"n": 0}
price_list = types.MappingProxyType(prices)


def raise_price():
    prices["n"] += 1


@reads(raise_price, "handler")
class ReadsThroughProxy(RequestHandler):
    def get(self):
        burn()
        self.write(str(price_list["n"]))


size = Size()


def widen():
    size.width += 1


@reads(widen, "coroutine")
class ReadsStructure(RequestHandler):
    def get(self):
        burn()
        self.write(str(size.width))


given = {"n": 0}
page = Template("{{ given['n'] }}", autoescape=None)
page.namespace["given"] = given


def give():
    given["n"] += 1


@reads(give, "handler")
class ReadsNamespaceOfTemplate(RequestHandler):
    def get(self):
        burn()
        self.write(page.generate())


pages = DictLoader({"page": "0"})


def write_page():
    pages.dict["page"] = str(int(pages.dict["page"]) + 1)
    pages.reset()


@reads(write_page, "handler")
class LoadsFromDict(RequestHandler):
    def get(self):
        burn()
        self.write(pages.load("page").generate())
