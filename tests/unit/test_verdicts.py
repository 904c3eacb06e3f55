"""Why a verb runs on the loop thread: judged with all its class is mounted with."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import pytest
import tornado.web

from tests.unit.scan_programs.loading import loading
from txloop.engine.marks import Mark
from txloop.stm import origin
from txloop.web import eligible
from txloop.web.verdicts import held_because, judge_all

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.scan_programs.loading import Load

GAMES = """
import tornado.web

class State:
    def __init__(self, application):
        self.application = application
        self._state = {"games": {}}
    def new_game(self, code):
        self.add_game(code)
    def add_game(self, code):
        self._state["games"][code] = []
    def remove_game(self, code):
        del self._state["games"][code]
    def get_game(self, code):
        return self._state["games"].get(code)

class New(tornado.web.RequestHandler):
    def get(self):
        self.application.state.new_game("a")

class Game(tornado.web.RequestHandler):
    def get(self):
        self.write({"game": self.application.state.get_game("a")})

class Main(tornado.web.RequestHandler):
    def get(self):
        self.write("hello")

class Application(tornado.web.Application):
    def __init__(self):
        super().__init__([("/", Main), ("/new", New), ("/game", Game)])
        self.state = State(self)
"""

ARGUMENTS = """
import tornado.web

class Keep(tornado.web.RequestHandler):
    def initialize(self, store):
        self.store = store
    def get(self):
        self.write(str(self.store.get("a")))
    def post(self):
        self.store["a"] = 1

class Look(tornado.web.RequestHandler):
    def initialize(self, table):
        self.table = table
    def get(self):
        self.write(str(self.table.get("a")))
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    monkeypatch.setattr(eligible, "_matchers", [lambda _: Mark()])
    eligible._plans.clear()
    with loading(tmp_path) as load_module:
        yield load_module
    eligible._plans.clear()


def held(module: types.ModuleType, *names: str) -> list[list[str]]:
    """Return the names of what keeps ``get`` of the handlers on the loop thread."""
    return [
        sorted({one.name for one in held_because(getattr(module, name), "GET")})
        for name in names
    ]


def test_what_another_handler_fills_is_known_while_it_is_empty(load: Load) -> None:
    module = load(GAMES)
    application = module.Application()

    judge_all(application)

    state = "application.state._state"
    assert [[], [state], [state]] == held(module, "Main", "New", "Game")


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("names", [("New", "Game"), ("Game", "New")])
def test_the_order_of_requests_makes_no_difference(
    load: Load, filled: bool, names: tuple[str, str]
) -> None:
    module = load(GAMES)
    application = module.Application()
    if filled:
        application.state.new_game("a")

    found = held(module, *names)

    assert [["application.state._state"]] * 2 == found


def test_a_verb_is_judged_with_all_its_routes(load: Load) -> None:
    """The first has a container, or nothing; the second has what is not shared."""
    module = load(ARGUMENTS)
    table: dict[str, int] = {}
    application = tornado.web.Application(
        [
            ("/1", module.Look, {"table": ()}),
            ("/2", module.Look, {"table": table}),
            ("/3", module.Keep, {"store": table}),
        ]
    )

    judge_all(application)

    assert [["initialize(table)"]] == held(module, "Look")


def test_what_only_the_others_have_does_not_matter(load: Load) -> None:
    module = load(ARGUMENTS)
    application = tornado.web.Application(
        [("/1", module.Look, {"table": {}}), ("/3", module.Keep, {"store": {}})]
    )

    judge_all(application)

    assert [[]] == held(module, "Look")


def test_a_method_that_nothing_calls_holds_nothing(load: Load) -> None:
    module = load(GAMES.replace("self.add_game(code)", "return code"))
    application = module.Application()

    judge_all(application)

    assert [[], []] == held(module, "New", "Game")


@pytest.mark.usefixtures("load")
def test_a_program_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages" / "pkg"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "store.py").write_text(
        "tasks = {}\ndef add(name):\n    tasks[name] = 1\n"
    )
    (folder / "server.py").write_text(
        "import tornado.web\n"
        "from pkg import store\n"
        "class Add(tornado.web.RequestHandler):\n"
        "    def get(self):\n"
        "        store.add('a')\n"
        "class Tasks(tornado.web.RequestHandler):\n"
        "    def get(self):\n"
        "        self.write(store.tasks)\n"
    )
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(origin, "_claimed", frozenset())
    origin._owners.clear()
    server = importlib.import_module("pkg.server")
    application = tornado.web.Application(
        [("/add", server.Add), ("/tasks", server.Tasks)]
    )

    judge_all(application)

    assert [["pkg.store.tasks"], ["pkg.store.tasks"]] == held(server, "Add", "Tasks")
    origin._owners.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "pkg"]:
        del sys.modules[name]
