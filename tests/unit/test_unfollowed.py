"""What the scan could not follow: of that a verb is not proved to share nothing."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import loading
from txloop.errors import TxConfigurationError
from txloop.loop.options import Options
from txloop.scan import FindingKind, scan_handler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.scan_programs.loading import Load

LOST = {
    "a name made at run time": ("getattr(self, 'do_' + name)()", "getattr"),
    "an attribute that is not there": ("Tools.absent()", "Tools.absent"),
    "code in text": ("exec(name)", "exec"),
    "one of several functions": ("TABLE[name]()", "TABLE[name]"),
    "several objects": ("for each in PLUGINS: each.run()", "PLUGINS"),
    "an own object in a list": ("found = [Tools()]; found[0].run()", "found[0].run"),
    "the same, put in later": (
        "found = []; found.append(Tools()); found[0].run()",
        "found[0].run",
    ),
    "the element of a copy": ("list(OBJECTS)[0].run()", "list(OBJECTS)[0].run"),
    "an attribute of such": ("list(OBJECTS)[0].size = 1", "list(OBJECTS)[0].size"),
    "what is not assigned": ("self.later.run()", "self.later.run"),
    "a function that is called later": (
        "threading.Thread(target=TABLE_SIZE)",
        "threading.Thread",
    ),
    "what other processes answer otherwise": ("os.getpid()", "os.getpid"),
    "what each thread has for itself": ("LOCAL.size = 1", "LOCAL.size"),
    "what other threads do": ("threading.current_thread()", "threading.current"),
}

FOLLOWED = [
    "self.items.append(name); self.write({'items': self.items})",
    "Tools().run()",
    "self.write(str(name).upper().strip())",
    "self.write(json.dumps(sorted(SIZES)))",
    "for key, size in SIZES.items(): self.write(key.upper())",
    "self.write(str(max(SIZES.values())))",
]

PROGRAM = """
import json, os, threading
from tornado.web import RequestHandler
SIZES = {{"a": 1}}
def TABLE_SIZE():
    return len(TABLE)
class Tools:
    def run(self):
        return 1
class Others:
    def run(self):
        return 2
TABLE = {{"a": TABLE_SIZE, "b": Tools}}
PLUGINS = (Tools(), Others())
OBJECTS = (Tools(),)
LOCAL = threading.local()
class Handler(RequestHandler):
    def initialize(self):
        self.items = []
    def on_finish(self):
        self.later = Tools()
    def get(self, name):
        {line}
"""


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    with loading(tmp_path) as load_module:
        yield load_module


def lost(load: Load, line: str) -> list[str]:
    """Return what could not be followed in a handler with that line."""
    module = load(textwrap.dedent(PROGRAM).format(line=line))
    found = scan_handler(module.Handler, "get", unfollowed=True)
    assert all(one.kind is FindingKind.NOT_FOLLOWED for one in found), found
    return [one.name for one in found]


@pytest.mark.parametrize(("line", "expression"), LOST.values(), ids=LOST)
def test_what_is_lost_is_named(line: str, expression: str, load: Load) -> None:
    assert any(one.startswith(expression) for one in lost(load, line))


@pytest.mark.parametrize("line", FOLLOWED)
def test_what_is_followed_is_not_lost(line: str, load: Load) -> None:
    assert [] == lost(load, line)


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


def test_it_is_told_only_who_asks(load: Load) -> None:
    module = load(textwrap.dedent(PROGRAM).format(line="exec(name)"))

    assert () == scan_handler(module.Handler, "get")


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
