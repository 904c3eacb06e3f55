"""State on classes: attributes, inherited ones, registries, singletons."""

from __future__ import annotations

import enum
import importlib.util
import itertools
from abc import ABC
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Generic, TypedDict, TypeVar

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


class Stats:
    hits = 0
    rows: ClassVar[list[int]] = []
    by_name: ClassVar[dict[str, int]] = {"n": 0}
    nested = ([0], {"deep": [0]})
    ids = itertools.count(1)


class MoreStats(Stats):
    pass


@writes(total=lambda: Stats.hits)
class ClassAttribute(RequestHandler):
    def get(self):
        burn()
        Stats.hits += 1
        self.write(str(Stats.hits))


@writes()
class ClassList(RequestHandler):
    def get(self):
        burn()
        Stats.rows.append(1)
        self.write(str(len(Stats.rows)))


@writes()
class ClassDictInherited(RequestHandler):
    def get(self):
        burn()
        MoreStats.by_name["n"] += 1
        self.write(str(Stats.by_name["n"]))


@writes()
class ClassTupleOfDictOfList(RequestHandler):
    def get(self):
        burn()
        Stats.nested[1]["deep"][0] += 1
        self.write(str(Stats.nested))


@writes()
class ClassIds(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(Stats.ids)))


@writes()
class HandlerAttribute(RequestHandler):
    hits = 0

    def get(self):
        burn()
        HandlerAttribute.hits += 1
        self.write(str(self.hits))


@writes()
class TypeOfSelf(RequestHandler):
    hits = 0

    def get(self):
        burn()
        type(self).hits += 1
        self.write(str(self.hits))


@writes()
class ClassOfSelf(RequestHandler):
    hits = 0

    def get(self):
        before = self.__class__.hits
        burn()
        self.__class__.hits = before + 1
        self.write(str(self.hits))


@writes()
class HandlerCache(RequestHandler):
    cache: ClassVar[dict[int, str]] = {}

    def get(self):
        burn()
        self.cache[len(self.cache)] = "x"
        self.write(str(len(self.cache)))


@writes()
class HandlerClassmethod(RequestHandler):
    hits = 0

    @classmethod
    def hit(cls):
        cls.hits += 1
        return cls.hits

    def get(self):
        burn()
        self.write(str(self.hit()))


@writes()
class HandlerSetattr(RequestHandler):
    hits = 0

    def get(self):
        burn()
        HandlerSetattr.hits = HandlerSetattr.hits + 1
        self.write(str(self.hits))


class CountingHandler(RequestHandler):
    served: ClassVar[list[str]] = []

    def prepare(self):
        self.served.append(self.request.path)


@writes(total=lambda: len(CountingHandler.served))
class BaseHandlerState(CountingHandler):
    def get(self):
        burn()
        self.write(str(len(self.served)))


class VisitsMixin:
    visits: ClassVar[dict[str, int]] = {}

    def visit(self, name):
        self.visits[name] = self.visits.get(name, 0) + 1
        return self.visits[name]


@writes()
class Mixin(VisitsMixin, RequestHandler):
    def get(self):
        burn()
        self.write(str(self.visit("me")))


class Registered(type):
    made: ClassVar[list[str]] = []
    calls = 0

    def __call__(cls, *args, **kwargs):
        Registered.calls += 1
        return super().__call__(*args, **kwargs)


class Thing(metaclass=Registered):
    pass


@writes()
class MetaclassCounts(RequestHandler):
    def get(self):
        burn()
        Thing()
        self.write(str(Registered.calls))


class Plugin:
    known: ClassVar[list[str]] = []

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Plugin.known.append(cls.__name__)


@writes()
class SubclassAtRunTime(RequestHandler):
    def get(self):
        burn()
        type("Made", (Plugin,), {})
        self.write(str(len(Plugin.known)))


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"

    def __init__(self, label):
        self.label = label
        self.votes = []


@writes()
class EnumMember(RequestHandler):
    def get(self):
        burn()
        Color.RED.votes.append(1)
        self.write(str(len(Color["RED"].votes)))


class Basket(enum.Enum):
    FRUIT = ["apple"]  # noqa: RUF012


@writes()
class EnumValue(RequestHandler):
    def get(self):
        burn()
        Basket.FRUIT.value.append("pear")
        self.write(str(len(Basket.FRUIT.value)))


@dataclass
class Inventory:
    items: dict[str, int] = field(default_factory=dict)
    last: str = ""


inventory = Inventory()


@writes()
class DataclassField(RequestHandler):
    def get(self):
        burn()
        inventory.last = f"item {len(inventory.items)}"
        inventory.items[inventory.last] = 1
        self.write(inventory.last)


@dataclass(frozen=True)
class Frozen:
    rows: list[int] = field(default_factory=list)


frozen = Frozen()


@writes()
class FrozenDataclassField(RequestHandler):
    def get(self):
        burn()
        frozen.rows.append(1)
        self.write(str(len(frozen.rows)))


class Profile(TypedDict):
    visits: int


profile: Profile = {"visits": 0}


@writes()
class TypedDictItem(RequestHandler):
    def get(self):
        burn()
        profile["visits"] += 1
        self.write(str(profile["visits"]))


T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self):
        self._items: list[T] = []

    def push(self, item: T) -> int:
        self._items.append(item)
        return len(self._items)


stack: Stack[int] = Stack()


@writes()
class GenericClass(RequestHandler):
    def get(self):
        burn()
        self.write(str(stack.push(1)))


class Tracked(ABC):
    alive: ClassVar[list[Tracked]] = []

    def __init__(self):
        Tracked.alive.append(self)


class TrackedUser(Tracked):
    pass


@writes()
class RegistersItself(RequestHandler):
    def get(self):
        burn()
        TrackedUser()
        self.write(str(len(Tracked.alive)))


class Report:
    def __init__(self):
        self.runs = []

    @cached_property
    def summary(self):
        return {"runs": 0}


report = Report()


@writes()
class CachedPropertyDict(RequestHandler):
    def get(self):
        runs = report.summary["runs"]
        burn()
        report.summary["runs"] = runs + 1
        self.write(str(report.summary["runs"]))


class Limits:
    __slots__ = ("used",)
    maximum = 3

    def __init__(self):
        self.used = 0


limits = Limits()


@writes()
class Slots(RequestHandler):
    def get(self):
        burn()
        limits.used += 1
        self.write(str(limits.used))


class Secret:
    __count = 0

    @staticmethod
    def next():
        Secret.__count += 1
        return Secret.__count


@writes()
class MangledName(RequestHandler):
    def get(self):
        burn()
        self.write(str(Secret.next()))


made_of_text: dict[str, type] = {}
exec(  # in a namespace that is no module's
    """class OfText:
    hits = 0
    rows = []

    def hit(self):
        OfText.hits += 1
        self.rows.append(1)
        return f"{OfText.hits} {len(self.rows)}"
""",
    made_of_text,
)
of_text = made_of_text["OfText"]()


@writes()
class ClassOfText(RequestHandler):
    def get(self):
        burn()
        self.write(of_text.hit())


PLUGIN = Path(__file__).parent / "shop" / "plugin.py"
specification = importlib.util.spec_from_file_location("a_plugin", PLUGIN)
assert specification is not None
assert specification.loader is not None
plugin = importlib.util.module_from_spec(specification)
specification.loader.exec_module(plugin)  # as a loader of plugins that keeps no list


@writes()
class UnlistedModule(plugin.Plugin):
    def get(self):
        burn()
        self.write(self.hit())
