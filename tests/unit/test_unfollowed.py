"""What the scan could not follow: of that a verb is not proved to share nothing."""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import CONTAINERS, scan_handler
from txloop.errors import TxConfigurationError
from txloop.loop.options import Options
from txloop.scan import FindingKind

if TYPE_CHECKING:
    from tests.unit.scan_programs.loading import Load

NUMPY = "import numpy; NUMBERS = numpy.zeros((2, 2))" if find_spec("numpy") else ""

LOST = {
    "a name made at run time": ("getattr(self, 'do_' + name)()", "getattr"),
    "a method of a list by such a name": ("getattr(ROWS, 'app' + name)(1)", "getattr"),
    "an attribute that is not there": ("Tools.absent()", "Tools.absent"),
    "code in text": ("exec(name)", "exec"),
    "what is not assigned": ("self.later.run()", "self.later.run"),
    "a function that is called later": (
        "threading.Thread(target=TABLE_SIZE)",
        "threading.Thread",
    ),
    "what other processes answer otherwise": ("os.getpid()", "os.getpid"),
    "what each thread has for itself": ("LOCAL.size = 1", "LOCAL.size"),
    "what a function that is made of another may change": (
        "functools.partial(list.append, ROWS)(1)",
        "functools.partial(list.append, ROWS)",
    ),
    "attributes of another's": ("Borg().size = 1", "self.__dict__"),
    "what stands for the connection": (
        "type(self.request.connection)",
        "self.request.connection",
    ),
    "its class": (
        "self.request.connection.__class__",
        "self.request.connection",
    ),
    "what a branch has bound, after it": (
        "if name: name = Tools\n        else: self.write(name)\n        name.lower()",
        "name.lower",
    ),
    "what the first branch has bound, after another one": (
        "if name: one = Tools\n        else: one = name\n        one.lower()",
        "one.lower",
    ),
    "what a branch has bound, in one that may follow": (
        "if name: name = Tools\n        if not name: name.lower()",
        "name.lower",
    ),
    "what a function in this one has by default": (
        "def f(p=Tools): p.add(1)\n        f()",
        "p.add",
    ),
    "what one that is passed on is given": (
        "def f(p): p.add(1)\n        f({1}); self.later = [f]",
        "p.add",
    ),
    "what a decorator may give one": (
        "@write\n        def f(p): p.add(1)\n        f({1})",
        "p.add",
    ),
    "what one that calls itself for ever is given": (
        "def f(p): p.add(1); f([p, self])\n        f({1})",
        "p.add",
    ),
    "what other threads do": ("threading.current_thread()", "threading.current"),
    **({"a part of an array": ("NUMBERS[0][1] = 1", "NUMBERS[0][1]")} if NUMPY else {}),
}

FOLLOWED = [
    "if name: name = TABLE_SIZE\n        else: name = name.lower()",
    "def f(p): return p.get('a')\n        self.write(f({'a': name}).upper())",
    "def f(p): return all(one is None for one in p.values())\n        f({'a': name})",
    "def f(p, n=1, *q, **r): return p.upper(), q[0].upper()\n        f(name, 1, name)",
    "def f(p):\n            p.sort()\n            return p\n        f([1]).append(1)",
    "def f(p): return p.upper() and f(p[1:])\n        f(name)",
    "async def f(p): yield p.upper()\n        f(name)",
    *(
        [
            "self.write(str(numpy.array(ROWS).sum()))",
            "self.write(str(NUMBERS[0].sum() + NUMBERS.sum()))",
            "for row in NUMBERS: self.write(str(float(row[0])))",
        ]
        if NUMPY
        else []
    ),
    "self.write(str(Kind(name).value))",
    "self.items.append(name); self.write({'items': self.items})",
    "Tools().run()",
    "self.write(str(self.request.connection.context))",
    "self.write(str(name).upper().strip())",
    "self.write(self.__class__.__name__.replace('Handler', '').lower())",
    "self.write(type(self).__qualname__.lower() + Tools.__name__.upper())",
    "self.write(json.dumps(sorted(SIZES)))",
    "for key, size in SIZES.items(): self.write(key.upper())",
    "self.write(str(max(SIZES.values())))",
    "TABLE[name]()",
    "(TABLE.get(name) or Tools)()",
    "for each in PLUGINS: each.run()",
    "for n, each in enumerate(PLUGINS): each.run()",
    "for kind, n in ((Tools, 1), (Others, 2)): kind().run()",
    "found = [Tools()]; found[0].run()",
    "found = []; found.append(Tools()); found[0].run()",
    "[each.run() for each in [Tools() for _ in name]]",
    "list(OBJECTS)[0].run()",
    "(PLUGINS[0] if name else Tools()).run()",
    "found = [{'a': name}]; found.sort(key=lambda one: one.get('a', ''))",
    "self.items.sort(key=by_length)",
    "SCORES.sort(key=by_length)",
    "SCORES.sort(key=lambda one: one.get('a', ''))",
]

WRITING = [
    "for each in (Tools(), Writer()): each.run()",
    "for each in WRITERS: each.run()",
    "for n, each in enumerate(WRITERS): each.run()",
    "for n, each in enumerate([Tools(), Writer()], 1): each.run()",
    "for kind, n in ((Tools, 1), (Writer, 2)): kind().run()",
    "for key, each in {1: Tools(), 2: Writer()}.items(): each.run()",
    "for each in reversed(sorted([Tools(), Writer()])): each.run()",
    "CHOICES[name]()",
    "CHOICES.get(name)()",
    "chosen = CHOICES[name]; chosen()",
    "chosen = self.chosen = CHOICES[name]; self.chosen()",
    "call(CHOICES[name])",
    "call(TABLE_SIZE); call(write)",
    "getattr(WRITERS[len(name)], 'run')()",
    "max(WRITERS).run()",
    "next(iter([Writer()])).run()",
    "(name and Tools() or Writer()).run()",
    "(Tools() if name else Writer()).run()",
    "made(name).run()",
    "for each in making(): each.run()",
    "for each in passing_on(): each.run()",
    "found = []; found.append(Writer()); found.pop().run()",
    "found = []; found.extend([Tools(), Writer()]); found[1].run()",
    "found = []; found += [Writer()]; found[0].run()",
    "found = [Tools()]; found += [Writer()]; found[0].run()",
    "found = {}; found[name] = Writer(); found[name].run()",
    "found = {}; found.setdefault(name, []).append(Writer()); found[name][0].run()",
    "found = [Tools(), Writer()]; found[1:][0].run()",
    "found = [Tools(), Writer()].copy(); found[0].run()",
    "first, *rest = [Tools(), Writer()]; rest[0].run()",
    "[Tools()].sort(key=lambda one: Writer().run())",
    "[Tools()].sort(key=by_writing)",
    "SCORES.sort(key=by_writing)",
    "SCORES.sort(key=lambda one: Writer().run())",
    "SCORES.sort(key=WRITERS[1].run)",
    "[Writer() for _ in name][0].run()",
    "found = [each for each in WRITERS]; found[0].run()",
    "list(WRITERS)[1].run()",
    "found = {}; found[name] = []; found[name].append(Writer()); found[name][0].run()",
    "found = {1: [Tools()]}; found[name].append(Writer()); found[name][0].run()",
    "Keeper(Writer()).kept[0].run()",
    "setattr(SHARED[len(name)], 'size', 1)",
    "SHARED[len(name)].size = 1",
]
"""Each changes `NOTES` or `SHARED`, by way of one of several objects or functions."""

PROGRAM = """
import enum, functools, json, os, threading, txloop
{numpy}
from tornado.web import RequestHandler
ROWS = [1, 2, 3]
class Borg:
    shared = {{}}
    def __init__(self):
        self.__dict__ = self.shared
Kind = enum.Enum("Kind", "A B")
SIZES = {{"a": 1}}
NOTES = {{}}
def TABLE_SIZE():
    return len(TABLE)
class Tools:
    def run(self):
        return 1
class Shared:
    size = 0
class Others:
    def run(self):
        return 2
TABLE = {{"a": TABLE_SIZE, "b": Tools}}
PLUGINS = (Tools(), Others())
OBJECTS = (Tools(),)
class Writer(Tools):
    def run(self):
        NOTES["b"] = 2
def write():
    NOTES["b"] = 2
def by_length(one):
    return len(one.get("a", ""))
SCORES = txloop.TList([{{"a": "b"}}])
def by_writing(one):
    NOTES["b"] = 2
def call(function):
    function()
def made(name):
    if name:
        return Tools()
    return Writer()
def making():
    yield Tools()
    yield Writer()
def passing_on():
    yield from [Tools(), Writer()]
class Keeper:
    def __init__(self, one):
        self.kept = [Tools()]
        self.kept.append(one)
WRITERS = [Tools(), Writer()]
SHARED = [Shared(), Shared(), Others()]
CHOICES = {{"a": TABLE_SIZE, "b": write}}
LOCAL = threading.local()
class Handler(RequestHandler):
    def initialize(self):
        self.items = []
    def on_finish(self):
        self.later = Tools()
    def get(self, name):
        {line}
"""


def lost(load: Load, line: str) -> list[str]:
    """Return what could not be followed in a handler with that line."""
    module = load(textwrap.dedent(PROGRAM).format(line=line, numpy=NUMPY))
    found = scan_handler(module.Handler, "get", unfollowed=True)
    assert all(one.kind is FindingKind.NOT_FOLLOWED for one in found), found
    return [one.name for one in found]


@pytest.mark.parametrize(("line", "expression"), LOST.values(), ids=LOST)
def test_what_is_lost_is_named(line: str, expression: str, load: Load) -> None:
    assert any(one.startswith(expression) for one in lost(load, line))


@pytest.mark.parametrize("line", FOLLOWED)
def test_what_is_followed_is_not_lost(line: str, load: Load) -> None:
    assert [] == lost(load, line)


@pytest.mark.parametrize("line", WRITING)
def test_what_one_of_several_writes_is_found(line: str, load: Load) -> None:
    module = load(textwrap.dedent(PROGRAM).format(line=line, numpy=NUMPY))

    found = scan_handler(module.Handler, "get", unfollowed=True)

    changes = [one.name for one in found if one.kind is not FindingKind.NOT_FOLLOWED]
    assert changes in (["app.NOTES"], ["app.SHARED.size"]), found


UNBOUND = """
import sys
from tornado.web import RequestHandler
class Handler(RequestHandler):
    def get(self):
        missing.run(1)
        self.write(missing("a"))
def later(name):
    {line}
"""

BINDING = {
    "as a global": "global missing; missing = open",
    "as an attribute": "sys.missing = open",
    "by its name": "setattr(sys, 'missing', open)",
    "by another's": "setattr(sys, name, open)",
    "in a table": "return ['app.missing']",
    "as a key": "globals()[name] = open",
    "with all that a module has": "sys.modules[__name__].__dict__[name] = open",
    "in text": "exec(name)",
}


def test_a_name_that_nothing_has_is_an_error_and_runs_nothing(load: Load) -> None:
    module = load(UNBOUND.format(line="missing.run(2)"))

    assert () == scan_handler(module.Handler, "get", unfollowed=True)


@pytest.mark.parametrize("name", ["time.clock", "urllib.quote", "string.letters.join"])
def test_so_is_what_a_module_of_python_has_no_more(name: str, load: Load) -> None:
    lines = UNBOUND.replace("missing", name).format(line="return 0")
    module = load(f"import string, time, urllib{lines}")

    assert () == scan_handler(module.Handler, "get", unfollowed=True)


def test_a_part_of_a_package_may_come_later(load: Load) -> None:
    lines = UNBOUND.replace("missing", "concurrent.futures.Anything")
    module = load(f"import concurrent{lines.format(line='return 0')}")

    assert scan_handler(module.Handler, "get", unfollowed=True)


@pytest.mark.parametrize("line", BINDING.values(), ids=BINDING)
def test_a_name_that_something_may_get_is_not_followed(line: str, load: Load) -> None:
    module = load(UNBOUND.format(line=line))

    assert scan_handler(module.Handler, "get", unfollowed=True)


OUT_OF_CONTAINERS = """
from tornado.web import RequestHandler
from txloop.fake import TDict, TObject
class Player({base}):
    def __init__(self):
        self.score = 0
    def win(self):
        self.score += 1
class Game(TObject):
    def __init__(self):
        self.first, self.others = Player(), {{}}
    def join(self, player):
        self.players.append(player)
    def win(self, name):
        self.others[name] = Player()
        self.first.win(self.others[name])
    def size(self):
        return len(self.players)
games = TDict()
class Handler(RequestHandler):
    def get(self, name):
        {line}
"""

GIVEN_TO_WHAT_COMES_OUT = {
    "a new object": "game = games[name]; game.join(Player()); game.size()",
    "new objects": "game = games[name]; game.join([Player()]); game.size()",
    "an object of its own": "games[name].win('a')",
}


@pytest.mark.parametrize("line", GIVEN_TO_WHAT_COMES_OUT.values())
@pytest.mark.parametrize(
    ("base", "is_followed"), [("TObject", True), ("object", False)]
)
def test_an_object_in_cells_may_be_given_to_one_out_of_a_container(
    base: str, is_followed: bool, line: str, load: Load
) -> None:
    load(CONTAINERS, "txloop.fake")
    module = load(OUT_OF_CONTAINERS.format(base=base, line=line))

    found = scan_handler(module.Handler, "get", unfollowed=True)

    assert is_followed is (not found), found


ENVIRONMENT = "os.environ, which the program changes"


@pytest.mark.parametrize(
    ("read", "change", "told"),
    [
        ("os.environ.get('A')", "os.environ['A'] = '1'", [ENVIRONMENT]),
        ("os.getenv('A')", "os.environ.update(A='1')", [ENVIRONMENT]),
        ("os.getenv('A', os.environ['B'])", "pass", []),
    ],
)
def test_the_environment_is_lost_if_the_program_changes_it(
    read: str, change: str, told: list[str], load: Load
) -> None:
    # GIVEN
    module = load(f"""
    import os
    class Handler:
        def get(self):
            {read}
        def post(self):
            {change}
    """)

    # WHEN
    found = {
        verb: [one.name for one in scan_handler(module.Handler, verb, unfollowed=True)]
        for verb in ("get", "post")
    }

    # THEN
    assert {"get": told, "post": told} == found


def test_a_default_value_that_is_changed_is_found(load: Load) -> None:
    module = load("""
    class Handler:
        def get(self, rows=[]):
            rows.append(1)
    """)

    (found,) = scan_handler(module.Handler, "get")

    assert "Handler.get(rows)" == found.name


def test_auto_is_said_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TXLOOP_AUTO", "1")
    assert Options.split({})[0].auto
    assert not Options.split({"auto": False})[0].auto
    monkeypatch.setenv("TXLOOP_AUTO", "often")
    with pytest.raises(TxConfigurationError, match="must be 1 or 0, not 'often'"):
        Options.split({})
