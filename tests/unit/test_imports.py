"""Imports go one way, along the arrows of the design; every other arrow fails here.

BELOW has the rooms. A new module of `stm` or `engine` needs a line in ALLOWED that says
what it may know; one of another room needs it where it may know more than that room.
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

# The arrows of the design: room -> the rooms below it, which its modules may know.
STM = {"errors", "stm"}
EXECUTORS = {*STM, "scan", "watch", "executors", "cells"}
LOOP = {*EXECUTORS, "engine", "stmlog", "loop"}
BELOW: dict[str, set[str]] = {
    "errors": set(),
    "stm": STM - {"stm"},
    "scan": STM,  # beside stm: nothing of stm knows it
    "watch": {*STM, "scan"},  # the other net of rule 9, on the same floor
    "cells": STM,
    "executors": EXECUTORS - {"executors", "cells"},
    "engine": EXECUTORS,
    "stmlog": {*EXECUTORS, "engine"},
    "loop": LOOP - {"loop"},
    "web": LOOP,
    "transaction": LOOP,
    "check": {*LOOP, "web"},  # a command, which no room knows
}

# Arrows that the design does not have, and that are still there: none.
UPWARD: set[tuple[str, str]] = set()

# What any room may know: plain values, errors, and how long things take.
VALUES = {
    "errors",
    "stm.callables",
    "stm.container",
    "stm.counting",
    "stm.immutability",
    "stm.measuring",
    "stm.origin",
    "stm.types",
    "stm.versions",
}
DISPATCHING = {
    *VALUES,
    "engine.contention",
    "engine.effects",
    "engine.events",
    "engine.flights",
    "engine.holds",
    "engine.marks",
    "engine.placement",
    "engine.profile",
    "engine.reporting",
    "engine.rounds",
    "engine.transaction",
    "engine.turns",
    "engine.waiting",
    "executors.faults",
    "executors.plea",
    "executors.protocol",
    "scan",
    "stm.attempt",
    "stm.cell_names",
    "stm.ownership",
    "stm.run",
    "stm.store",
    "stm.validation",
    "watch.outside",
}
LOOPING = {
    *DISPATCHING,
    "engine.calls",
    "engine.dispatcher",
    "executors.refusing",
    "loop.autoreload",
    "loop.options",
    "loop.patches",
    "loop.shutdown",
    "loop.tornado_private",
    "stm.log_capture",
    "stmlog",
}

# The same, finer: a room or a module -> what it may import, beside what is under the
# same name. The longest name that fits a module decides.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    # Versioned cells, snapshots and one attempt.
    "stm": set(),
    "stm.arithmetic": set(),
    "stm.attempt": {
        *VALUES,
        "stm.closed",
        "stm.store",
        "stm.variables",
        "stm.write_set",
    },
    "stm.callables": set(),
    "stm.cell_names": {*VALUES, "stm.store"},
    "stm.closed": {"errors", "stm.types"},
    "stm.container": {"errors", "stm.types", "stm.versions"},
    "stm.contents": {"stm.container", "stm.types", "stm.versions"},
    "stm.counting": set(),
    "stm.immutability": {"stm.container"},
    "stm.log_capture": {*VALUES, "stm.attempt", "stm.variables"},
    "stm.measuring": set(),
    "stm.origin": {"errors"},
    "stm.ownership": VALUES,
    "stm.primitives": {*VALUES, "stm.attempt"},
    "stm.run": {
        *VALUES,
        "stm.arithmetic",
        "stm.attempt",
        "stm.store",
        "stm.traced",
    },
    "stm.store": {*VALUES, "stm.contents", "stm.ownership"},
    "stm.traced": {*VALUES, "stm.attempt"},
    "stm.types": {"errors", "stm.variables"},
    "stm.validation": {*VALUES, "stm.store"},
    "stm.variables": {"stm.arithmetic"},
    "stm.versions": {"stm.types"},
    "stm.write_set": {*VALUES, "stm.store"},
    # The two nets of rule 9.
    "scan": VALUES,
    "watch": {*VALUES, "scan"},
    "watch.acts": set(),
    "watch.outside": {*VALUES, "scan", "stm.attempt", "stm.traced", "watch.acts"},
    # The containers.
    "cells": {
        *VALUES,
        "cells.kinds",
        "stm.attempt",
        "stm.contents",
        "stm.primitives",
        "stm.store",
    },
    "cells.encoding": {"stm.container"},
    "cells.kinds": VALUES,
    # Where attempts run.
    "executors": {
        *VALUES,
        "executors.codec.by_value",
        "executors.codec.plain_forms",
        "executors.faults",
        "executors.plea",
        "executors.protocol",
        "executors.refusing",
        "stm.arithmetic",
        "stm.attempt",
        "stm.cell_names",
        "stm.run",
        "stm.store",
        "stm.variables",
        "watch",
        "watch.outside",
    },
    "executors.codec.by_value": set(),
    "executors.codec.plain_forms": VALUES,
    "executors.faults": {*VALUES, "stm.store"},
    "executors.plea": {"stm.attempt", "stm.types"},
    "executors.protocol": {*VALUES, "executors.plea", "watch"},
    "executors.refusing": {*VALUES, "stm.attempt"},
    # Which transaction runs when and where, and what becomes of its answer.
    "engine": set(),
    "engine.calls": {*DISPATCHING, "engine.dispatcher"},
    "engine.contention": {*VALUES, "engine.transaction"},
    "engine.dispatcher": DISPATCHING,
    "engine.effects": {*VALUES, "executors.faults", "stm.log_capture", "stm.variables"},
    "engine.events": VALUES,
    "engine.flights": {
        *VALUES,
        "engine.contention",
        "engine.profile",
        "engine.reporting",
        "engine.transaction",
        "executors.protocol",
    },
    "engine.holds": {
        *VALUES,
        "engine.profile",
        "engine.reporting",
        "engine.transaction",
        "engine.waiting",
        "executors.protocol",
        "watch",
    },
    "engine.marks": VALUES,
    "engine.placement": {
        *VALUES,
        "engine.flights",
        "engine.profile",
        "executors.protocol",
    },
    "engine.profile": {
        *VALUES,
        "executors.protocol",
        "scan",
        "stm.cell_names",
    },
    "engine.reporting": {
        *VALUES,
        "engine.events",
        "engine.transaction",
        "stm.cell_names",
    },
    "engine.rounds": {*VALUES, "engine.transaction", "engine.waiting"},
    "engine.transaction": {*VALUES, "engine.profile", "watch"},
    "engine.turns": {*VALUES, "engine.transaction"},
    "engine.waiting": {*VALUES, "engine.transaction", "engine.wake_index", "stm.store"},
    "engine.wake_index": {*VALUES, "stm.store"},
    # The log.
    "stmlog": {
        *VALUES,
        "engine.events",
        "executors.protocol",
        "stm.cell_names",
        "stm.store",
        "stm.traced",
    },
    # Tornado's loop made transactional, and what sets it up.
    "loop": LOOPING,
    "loop.autoreload": {"executors.protocol", "stmlog"},
    "loop.connections": set(),
    "loop.options": {*VALUES, "engine.marks", "executors.protocol", "stmlog"},
    "loop.patches": {"errors"},
    "loop.ports": set(),
    "loop.program": {"stm.origin"},
    "loop.setup": {*LOOPING, "executors", "loop"},
    "loop.tornado_private": set(),
    "loop.shutdown": {*VALUES, "engine.dispatcher", "loop.connections", "loop.ports"},
    "loop.yieldable": {*LOOPING, "loop"},
    # Requests, PyPy's module, and a command.
    "web": {
        *LOOPING,
        "cells.encoding",
        "executors.codec.by_value",
        "executors.codec.plain_forms",
        "loop",
        "stm.variables",
        "watch",
    },
    "transaction": {*LOOPING, "cells", "executors", "stm.primitives", "watch"},
    "check": {*LOOPING, "loop", "loop.program", "watch", "web"},
}

# These two see everything: the public face and the command line.
FACES = {"__init__", "__main__"}

# Package from elsewhere -> the rooms that may import it. The standard library is free.
ELSEWHERE = {
    "tornado": {"loop", "web", "check", "__main__"},
    "cloudpickle": {"executors.codec.by_value"},
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


def room_at(name: str) -> str:
    """Return the room that a name of the table lies in."""
    return name.partition(".")[0]


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
    named = set(ALLOWED).union(*ALLOWED.values(), FACES, BELOW, *UPWARD)

    assert [] == sorted(room for room in named if not is_module(f"txloop.{room}"))


def test_the_table_keeps_to_the_arrows_of_the_design() -> None:
    """And an arrow that points upward no longer must leave its list."""
    wrong = {
        (name, other)
        for name, others in ALLOWED.items()
        for other in others
        if room_at(other) not in {room_at(name), *BELOW[room_at(name)]}
    }

    assert wrong == UPWARD


def test_every_package_and_module_is_a_room_or_in_one() -> None:
    entries = {path.stem for path in (ROOT / "txloop").glob("[!_]*.py")}
    entries |= {path.parent.name for path in (ROOT / "txloop").glob("*/__init__.py")}

    assert entries == set(BELOW)


def test_the_table_has_no_circle() -> None:
    def reaches(room: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        for other in ALLOWED[room]:
            yield other
            if other not in seen:
                yield from reaches(other, seen | {other})

    assert [] == [room for room in ALLOWED if room in set(reaches(room))]
