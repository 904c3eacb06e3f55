"""ARCHITECTURE.md and CONTRIBUTING.md: the rooms are these, what they name exists."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
PAGES = [ARCHITECTURE, ROOT / "CONTRIBUTING.md"]

_FOLDERS = "txloop|conflict_log|tests|docs|handlers|examples|bench"
_PATH = re.compile(rf"`((?:{_FOLDERS})/[\w/.-]+)(?:::(\w+))?`")


def quoted(text):
    return re.findall(r"`([\w/]+)`", text)


def told_arrows():
    """Return the table of the rooms: room -> the rooms that it may import."""
    section = ARCHITECTURE.read_text().split("## Rooms")[1].split("\n## ")[0]
    arrows: dict[str, set[str]] = {}
    for names, what in re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.MULTILINE):
        below = set()
        for name in quoted(what.partition(";")[0]):
            below.add(name)
            if "and what that may import" in what:
                below |= arrows[name]
        arrows.update(dict.fromkeys(quoted(names), below))
    return arrows


def checked_arrows():
    """Return the same, as import-linter checks it."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = config["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one["id"] == "rooms")
    forbidden = {
        (room.removeprefix("txloop."), other.removeprefix("txloop."))
        for contract in contracts
        if contract["type"] == "forbidden"
        for room in contract["source_modules"]
        for other in contract["forbidden_modules"]
    }
    arrows: dict[str, set[str]] = {}
    for layer in reversed(layers):
        below = set(arrows)
        for room in layer.split(" | "):
            arrows[room] = {one for one in below if (room, one) not in forbidden}
    return arrows


ROOMS = [
    file
    for file in sorted(ROOT.glob("txloop/**/__init__.py"))
    if file.parent.name != "txloop"
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda file: file.parent.name)
def test_each_room_lists_its_modules(room):
    """The docstring says in a line what each module is, in an order to read them."""
    page = ast.get_docstring(ast.parse(room.read_text())) or ""
    listed = re.findall(r"^    (\w+) +\S", page, re.MULTILINE)

    modules = {file.stem for file in room.parent.glob("*.py")} - {"__init__"}
    folders = {file.parent.name for file in room.parent.glob("*/__init__.py")}
    assert sorted(modules | folders) == sorted(listed)


def test_the_rooms_and_their_arrows_are_those_of_the_contracts():
    assert checked_arrows() == told_arrows()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_names_exists(page):
    named = _PATH.findall(page.read_text())

    assert named
    for name, function in named:
        path = ROOT / name
        assert path.exists(), name
        if function:
            nodes = ast.walk(ast.parse(path.read_text()))
            names = {one.name for one in nodes if isinstance(one, ast.FunctionDef)}
            assert function in names, (name, function)
