"""Lines that ask what a class is made of, which would show that it is another one."""

from __future__ import annotations

import pytest

from tests.sharing.commanding import program, run
from tests.sharing.rounds import left, shared

SOURCE = """
import inspect
class Room:
    def __init__(self, name): self.name = name
    @classmethod
    def all(cls): return {cls}
class Large(Room):
    pass
class Other:
    pass
rooms = []
def add(name): rooms.append(Room(name))
def rename(name): rooms[0].name = name
def show(it): return {shown}
"""

SHOWN = {
    "its bases": "Large.__bases__",
    "its first base": "type(rooms[0]).__base__",
    "the order of its bases": "[one.__name__ for one in it.__class__.__mro__]",
    "a call for that": "Room.mro()",
    "a function for that": "inspect.getmro(Room)",
    "what an object has": "dir(rooms[0])",
    "the same with values": "inspect.getmembers(rooms[0])",
    "its constructor's defaults": "Room.__init__.__defaults__",
    "its constructor's code": "type(it).__init__.__code__.co_varnames",
    "all classes": "[one.__name__ for one in object.__subclasses__()]",
    "its namespace": "Room.__dict__",
    "that of a derived class": "vars(Large)",
    "that of an object's class": "type(it).__dict__['all']",
    "that of each class": "[vars(one) for one in (Room, Other)]",
}

UNSHOWN = {
    "what another class is made of": "Other.__mro__, Other.mro(), dir(Other())",
    "that of another object's": "dir(Other()), type(Other()).__bases__",
    "the namespace of an object": "vars(rooms[0]) | rooms[0].__dict__",
    "that of a new one": "[vars(one) for one in [Room('a')]]",
    "that of another class": "Other.__dict__",
    "what a module has": "dir(inspect), inspect.getmembers(inspect)",
    "names of a scope": "dir()",
    "what a method has": "Room.all.__code__, Room.__init__.__doc__",
    "what is derived from it": "[one.__name__ for one in Room.__subclasses__()]",
}


def _source(shown, of_class="cls()"):
    return SOURCE.replace("{cls}", of_class).replace("{shown}", shown)


@pytest.mark.parametrize("case", SHOWN)
def test_what_shows_how_a_class_is_made_leaves_it_alone(case):
    source = _source(SHOWN[case])

    assert "txloop.TObject" not in shared(source, "rooms")
    assert "app, line " in left(source, "rooms")


def test_a_class_may_ask_for_its_own_namespace():
    source = _source("it", "vars(cls)")

    assert "txloop.TObject" not in shared(source, "rooms")


@pytest.mark.parametrize("case", UNSHOWN)
def test_what_shows_nothing_of_a_class_is_no_reason(case):
    assert "class Room(txloop.TObject, " in shared(_source(UNSHOWN[case]), "rooms")


IN_A_HANDLER = """
import inspect
import tornado.web

class Base(tornado.web.RequestHandler):
    def prepare(self):
        self.names = [name for name, _ in inspect.getmembers(self)] + dir(self)
        self.above = [one.__name__ for one in type(self).__mro__]

class Room:
    def __init__(self, name): self.name = name

rooms = []
def add(name): rooms.append(Room(name))
def rename(name): rooms[0].name = name
"""


def test_what_a_handler_asks_of_itself_says_nothing_of_other_classes():
    assert "class Room(txloop.TObject, " in shared(IN_A_HANDLER, "rooms")


COUNTED = """
import tornado.ioloop
import tornado.web

class Stats:
    hits = 0

class Main(tornado.web.RequestHandler):
    def get(self):
        Stats.hits += 1
        self.write(str({}))

app = tornado.web.Application([("/", Main)])
tornado.ioloop.IOLoop.current().start()
"""


@pytest.mark.parametrize(
    ("shown", "became"),
    [
        ("Stats.hits", True),
        ("Stats.__dict__['hits']", False),
        ("{**vars(Stats)}", False),
        ("vars(self)", True),
    ],
)
def test_an_attribute_stays_plain_if_a_line_finds_it_in_its_class(
    tmp_path, shown, became
):
    program(tmp_path, COUNTED.format(shown))

    printed = run(tmp_path, "share", "app.py")[1]

    assert became == ("Stats.hits becomes" in printed or "TVar(0)" in printed)
