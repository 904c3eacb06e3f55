"""Imports go one way, along the arrows of the design; every other arrow fails here.

A new module of txloop needs a line in ALLOWED that says what it may know.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

# What any room may know: plain values, errors, and how long things take.
VALUES = {"types", "errors", "timing", "container", "versions", "weak", "origin"}
DISPATCHING = {*VALUES, "events", "executors.base", "commit", "store", "attempt"}
DISPATCHING |= {
    "faults",
    "owner",
    "scan",
    "marks",
    "profile",
    "effects",
    "journal",
    "pending",
    "turns",
    "contention",
    "waiting",
    "heat",
    "naming",
    "flights",
    "outside",
    "placement",
    "plea",
    "rounds",
    "running",
    "holds",
}
LOOPING = {
    *DISPATCHING,
    "dispatch",
    "functions",
    "logs",
    "options",
    "refusing",
    "reloading",
    "shutdown",
    "stmlog",
}

# Room -> the rooms that its modules may import, beside one another. A room is a module
# of txloop or a package with all that lies in it; the longest name that fits decides.
ALLOWED: dict[str, set[str]] = {
    "arithmetic": set(),
    "counting": set(),
    "threadlocals": set(),
    "variables": {"arithmetic"},
    "errors": set(),
    "forms": set(),
    "container": {"types", "errors", "versions"},
    "versions": {"types"},
    "contents": {"types", "versions", "container"},
    "owner": {*VALUES, "store"},
    "timing": set(),
    "weak": set(),
    "origin": {"errors"},
    "program": {"origin"},
    "profile": {*VALUES, "executors.base", "scan", "heat", "naming"},
    "heat": VALUES,
    "naming": {*VALUES, "store"},
    "stmlog": {*VALUES, "events", "store", "naming", "tracing", "executors.base"},
    "contention": {*VALUES, "pending"},
    "flights": {
        *VALUES,
        "executors.base",
        "contention",
        "journal",
        "pending",
        "profile",
    },
    "placement": {*VALUES, "executors.base", "flights", "profile"},
    "types": {"errors", "variables"},
    "marks": VALUES,
    "events": VALUES,
    "store": {*VALUES, "contents", "counting"},
    "writes": {*VALUES, "store"},
    "attempt": {*VALUES, "store", "writes", "variables"},
    "running": {*VALUES, "arithmetic", "store", "attempt"},
    "refusing": {*VALUES, "attempt"},
    "tracing": {*VALUES, "attempt", "running"},
    "acts": set(),
    "plea": {"types", "attempt"},
    "outside": {*VALUES, "acts", "attempt", "tracing", "scan"},
    "body": {*VALUES, "attempt"},
    "logs": {*VALUES, "attempt", "variables"},
    "cells": {*VALUES, "cells.kinds", "contents", "store", "attempt", "body"},
    "cells.kinds": VALUES,
    "commit": {*VALUES, "store"},
    "pending": {*VALUES, "profile", "watch"},
    "journal": {*VALUES, "events", "pending", "naming"},
    "turns": {*VALUES, "pending"},
    "rounds": {*VALUES, "pending", "waiting"},
    "watches": {*VALUES, "store"},
    "waiting": {*VALUES, "store", "pending", "watches"},
    "faults": {*VALUES, "store"},
    "effects": {*VALUES, "faults", "logs", "variables"},
    "executors": {
        *VALUES,
        "store",
        "arithmetic",
        "attempt",
        "running",
        "executors.base",
        "executors.by_value",
        "faults",
        "forms",
        "naming",
        "outside",
        "refusing",
        "plea",
        "watch",
        "variables",
    },
    "executors.base": {*VALUES, "events", "plea", "watch"},
    "executors.by_value": set(),
    "options": {*VALUES, "executors.base", "marks", "stmlog"},
    "scan": VALUES,
    "watch": {*VALUES, "scan", "threadlocals", "cells.kinds"},
    "holds": {
        *VALUES,
        "executors.base",
        "journal",
        "pending",
        "profile",
        "waiting",
        "watch",
    },
    "dispatch": DISPATCHING,
    "functions": {*DISPATCHING, "dispatch"},
    "listening": set(),
    "reloading": {"executors.base", "stmlog"},
    "connections": set(),
    "shutdown": {*VALUES, "dispatch", "listening", "connections"},
    "loop": LOOPING,
    "web": {*LOOPING, "loop", "forms", "variables", "watch", "executors.by_value"},
    "check": {*LOOPING, "loop", "web", "program", "watch"},
    "yieldable": {*LOOPING, "loop"},
    "transaction": {*LOOPING, "cells", "body", "executors", "watch"},
    "setup": {*LOOPING, "loop", "web", "executors"},
}

# These two see everything: the public face and the command line.
FACES = {"__init__", "__main__"}

# Package from elsewhere -> the rooms that may import it. The standard library is free.
ELSEWHERE = {
    "tornado": {"loop", "reloading", "web", "setup", "yieldable", "__main__", "check"},
    "cloudpickle": {"executors.by_value"},
    "dask": {"executors.dask"},
    "distributed": {"executors.dask"},
}

# The demo's handlers are written as a user's are.
HANDLERS_MAY_IMPORT = {"handlers", "tornado", "txloop"}


class Arrow(NamedTuple):
    """One import: where it stands, and the full name of what is imported."""

    line: int
    target: str


def modules(package: str) -> list[Path]:
    """Return the modules of a package of this repository."""
    return sorted((ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the name under which a file is imported, `__init__` kept."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def is_module(name: str) -> bool:
    """Tell whether a dotted name is a module or package of this repository."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def arrows(path: Path) -> Iterator[Arrow]:
    """Yield every import of a file, those inside functions too."""
    package = name_of(path).split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Arrow(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield Arrow(node.lineno, inner if is_module(inner) else source)


def room_of(module: str) -> str | None:
    """Return the room that a module of txloop belongs to, None where none is listed."""
    inner = module.removeprefix("txloop").removeprefix(".") or "__init__"
    parts = inner.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in ALLOWED or name in FACES:
            return name
    return None


def mistakes(path: Path) -> Iterator[str]:
    """Yield a line for each arrow of a module of txloop that the table lacks."""
    room = room_of(name_of(path))
    assert room is not None, f"{name_of(path)} has no line in ALLOWED of {__file__}"

    for line, target in arrows(path):
        top = target.partition(".")[0]
        if top in sys.stdlib_module_names:
            continue
        if top != "txloop":
            rooms = ELSEWHERE.get(top, set())
            fits = room in rooms or room.partition(".")[0] in rooms
        else:
            there = room_of(target)
            fits = room in FACES or there == room or there in ALLOWED.get(room, ())
        if not fits:
            yield f"{path.relative_to(ROOT)}:{line}: {room} may not import {target}"


@pytest.mark.parametrize("path", modules("txloop"), ids=name_of)
def test_txloop_imports_along_the_arrows(path: Path) -> None:
    wrong = list(mistakes(path))

    assert [] == wrong


@pytest.mark.parametrize("path", modules("handlers"), ids=name_of)
def test_handlers_know_only_the_public_face(path: Path) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {target}"
        for line, target in arrows(path)
        if target.partition(".")[0] not in sys.stdlib_module_names
        and (
            target.partition(".")[0] not in HANDLERS_MAY_IMPORT
            or target.startswith("txloop.")
        )
    ]

    assert [] == wrong


def test_the_table_names_only_rooms() -> None:
    """A room that went away must leave the table, or it allows what nobody checks."""
    named = set(ALLOWED).union(*ALLOWED.values(), FACES)

    assert [] == sorted(room for room in named if not is_module(f"txloop.{room}"))


def test_the_table_has_no_circle() -> None:
    def reaches(room: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        for other in ALLOWED[room]:
            yield other
            if other not in seen:
                yield from reaches(other, seen | {other})

    assert [] == [room for room in ALLOWED if room in set(reaches(room))]
