"""Trial: requests that go through a list of dicts, of several lengths.

What a container costs shows where a handler reads thousands of them. The program is one
of stock Tornado's; txloop runs it by ``--auto --share``, with fronts. A turn of a
request drives each server in its time, fresh and warm.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.load import Load
from bench.machine import available_cores, pinned
from bench.server import Server
from bench.trials.light import Side, drive_all, measure
from bench.trials.trial import OTHER_CORES, Column, Contender, Figures, Trial
from bench.wrk import Wrk, find_wrk

if TYPE_CHECKING:
    from collections.abc import Iterator

VERBS = {
    "find": "the dict of a number",
    "sum": "two items of each dict",
    "dump": "all as JSON",
    "swap": "find, remove and append",
    "mark": "find, and set an item",
    "field": "set an item of the one at an index",
    "edit": "find, and put a changed copy in its place",
    "front": "pop, and insert in front",
    "keep": "all but one in a new list, and append",
    "copy": "a deep copy of ten",
}
"""What is measured, and what each does."""
SIZES = (10, 100, 1000)

_MOST_ASKED = 100  # numbers, all over the list

_ROOT = str(Path(__file__).parents[2])
_PROGRAM = str(Path(__file__).with_name("record_program.py"))


def make_sides(size: int, fronts: int) -> list[Side]:
    """Return the servers; the last one is the first once more, as a control."""
    cores = pinned(range(fronts))
    stock = [*cores, sys.executable, _PROGRAM, str(size)]
    options = ["--auto", "--share", "--fronts", str(fronts)]
    shared = [*cores, sys.executable, "-m", "txloop", *options, _PROGRAM, str(size)]
    environment = {"PYTHONPATH": _ROOT}
    return [
        Side("stock", stock, environment),
        Side("txloop", shared, environment),
        Side("control", stock, environment),
    ]


def paths_of(verb: str, size: int) -> tuple[str, ...]:
    """Return what is asked for: numbers from all parts of the list."""
    step = max(1, size // _MOST_ASKED)
    return tuple(f"/{verb}/{number}" for number in range(0, size, step))


class Turns:
    """The turns of one verb and size, each of which begins with another side."""

    def __init__(
        self, verb: str, size: int, wrk: Wrk, options: argparse.Namespace
    ) -> None:
        """Keep what is asked for, of whom, and for how long."""
        self._what = f"{verb}, {size}"
        self._paths = paths_of(verb, size)
        self._sides = make_sides(size, options.fronts)
        self._load = (options.connections, options.seconds)
        self._wrk = wrk
        self._numbers: Iterator[int] = itertools.count()

    def take(self) -> Figures:
        """Drive all sides, one after the other."""
        number = next(self._numbers)

        def drive_one(side: Side) -> Figures:
            return self._drive(side, number)

        return compare(drive_all(self._sides, number, self._what, drive_one))

    def _drive(self, side: Side, turn: int) -> Figures:
        with Server(
            side.name, side.command, self._paths[0], side.environment
        ) as server:
            load = Load(server.url, self._paths, *self._load, server.pid, turn)
            return measure(server, load, self._wrk, checked=False)


def compare(found: dict[str, Figures]) -> Figures:
    """Return the figures of a turn: what each side did, and its ratio to stock."""
    stock = found["stock"]["rate"]
    return {
        "stock": stock,
        "txloop to stock": found["txloop"]["rate"] / stock,
        "control": found["control"]["rate"] / stock,
        "cpu": found["txloop"]["all"] / found["stock"]["all"],
        OTHER_CORES: max(figures[OTHER_CORES] for figures in found.values()),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how it is asked, and of how many processes."""
    add = parser.add_argument
    add("--seconds", type=positive, default=2, help="of load each (default: 2)")
    add("--connections", type=positive, default=20, help="at once (default: 20)")
    cores = available_cores()
    add("--fronts", type=positive, default=cores, help=f"of txloop (default: {cores})")
    sizes = ",".join(map(str, SIZES))
    add("--verbs", type=_verbs, default=list(VERBS), help="(default: all)")
    add("--sizes", type=_sizes, default=list(SIZES), help=f"default: {sizes}")


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the verbs and sizes: a row has what all sides did with one.

    Raises:
        LoadError: wrk is not installed.
    """
    wrk = find_wrk(options.fronts)
    return [
        Contender(f"{verb}, {size}", Turns(verb, size, wrk, options).take)
        for verb in options.verbs
        for size in options.sizes
    ]


def columns(options: argparse.Namespace) -> list[Column]:
    """Return the ratios."""
    return [
        Column("stock, req/s", "stock", 0),
        Column(f"fronts {options.fronts} / stock", "txloop to stock", spread=True),
        Column("control", "control", spread=True),
        Column("CPU of a request / stock's", "cpu", spread=True),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    return [
        f"{find_wrk(0).title}: one thread, {options.connections} connections,"
        f" {options.seconds} s each, after a second to warm up",
        "; ".join(f"{verb}: {VERBS[verb]}" for verb in options.verbs),
        "python -m txloop --auto --share; ratios of req/s, median of each turn's own;"
        " control: stock to stock",
    ]


def _verbs(text: str) -> list[str]:
    verbs = text.split(",")
    for verb in verbs:
        if verb not in VERBS:
            raise argparse.ArgumentTypeError(f"{verb} is none of {', '.join(VERBS)}")
    return verbs


def _sizes(text: str) -> list[int]:
    return [positive(size) for size in text.split(",")]


TRIAL = Trial(
    "records",
    "requests that go through a list of dicts: stock, fronts",
    add_options,
    contenders,
    columns,
    notes,
)
