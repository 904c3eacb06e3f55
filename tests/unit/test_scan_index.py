"""What the index looks at again: for other applications, handlers, and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tornado.web import Application

from tests.unit.scan_programs.loading import loading
from txloop.scan.index import Program, Served
from txloop.scan.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.scan_programs.loading import Load

PLAIN = """
from tornado.web import RequestHandler

class Plain(RequestHandler):
    seen = []

    def get(self):
        kept(self.seen)

def kept(rows):
    rows.append(1)
"""

ASKING = """
from tornado.web import RequestHandler

class Asking(RequestHandler):
    def rows(self):
        return self.application.rows

    def get(self):
        {rows}.append(1)

def of(asked):
    return asked()
"""

WAYS = ("self.application.rows", "self.rows()", "of(self.rows)")

GIVEN = """
from tornado.web import RequestHandler

class Given(RequestHandler):
    def initialize(self, rows=()):
        self.rows = rows

    def get(self):
        self.rows.append(1)
"""


class App(Application):
    """It has a list."""

    def __init__(self) -> None:
        super().__init__([])
        self.rows: list[int] = []


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    with loading(tmp_path) as one:
        yield one


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what gets the names of functions whose code is walked through."""
    names: list[str] = []
    walk_definition = Walk.walk_definition

    def noting(self, definition, *args):
        names.append(definition.qualname)
        return walk_definition(self, definition, *args)

    monkeypatch.setattr(Walk, "walk_definition", noting)
    return names


def index_of(*served: Served) -> tuple[Program, list[Served]]:
    """Return an index, and the list of what is mounted, which may be changed."""
    program, mounted = Program(), [*served]
    program.add_served(lambda: mounted)
    return program, mounted


def test_for_another_application_only_what_depends_on_it_is_looked_at(load, walked):
    plain = load(PLAIN).Plain
    load(ASKING.format(rows="self.rows()"), "asking")
    program, mounted = index_of(Served(plain, {}, App()))
    program.writes()
    first = {*walked}

    walked.clear()
    mounted[:] = [Served(plain, {}, App())]
    program.writes()

    assert {"Plain.get", "kept"} <= first
    assert {"Asking.get", "Asking.rows", "of"} == {*walked}


@pytest.mark.parametrize("rows", WAYS)
def test_what_depends_on_it_is_about_the_new_one(load, rows):
    asking = load(ASKING.format(rows=rows)).Asking
    apps = App(), App()
    program, mounted = index_of(Served(asking, {}, apps[0]))
    before = {*program.writes().things}

    mounted[:] = [Served(asking, {}, apps[1])]
    after = {*program.writes().things}

    assert id(apps[0].rows) in before
    assert id(apps[1].rows) in after


def test_arguments_count_whatever_is_known_of_the_handler(load):
    given, rows = load(GIVEN).Given, list[int]()
    program, mounted = index_of(Served(given, {}, App()))
    program.writes()

    mounted.append(Served(given, {"rows": rows}, mounted[0].application))

    assert id(rows) in program.writes().things


def test_after_a_new_module_handlers_are_looked_at_again(load, walked):
    program, _ = index_of(Served(load(PLAIN).Plain, {}, App()))
    program.writes()
    walked.clear()

    load("def other():\n    pass\n", "other")
    program.writes()

    assert {"Plain.get", "kept", "other"} == {*walked}


@pytest.mark.parametrize("rows", WAYS)
def test_of_two_applications_each_counts(load, rows):
    asking = load(ASKING.format(rows=rows)).Asking
    apps = App(), App()
    program, _ = index_of(*(Served(asking, {}, one) for one in apps))

    assert {id(one.rows) for one in apps} <= {*program.writes().things}
