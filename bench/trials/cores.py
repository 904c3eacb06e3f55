"""Trial: short and longer handlers on one core, on two, four and more.

Each server has so many cores, and as many processes: stock Tornado forks, and its
processes then share nothing; txloop has fronts and workers, which share a thousand
cells by way of the process that owns them. wrk has the other cores, where there are any
left. What was added is compared with what was answered.

Where the line of txloop bends shows what one owner can validate and commit.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.errors import LoadError, WrongAnswerError
from bench.load import Load
from bench.machine import available_cores, pinned
from bench.server import Server
from bench.trials.light import REQUESTS, Request, Side, measure
from bench.trials.tally import HELLO
from bench.trials.trial import OTHER_CORES, Column, Contender, Figures, Trial, middle
from bench.wrk import Wrk, find_wrk

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.trials.report import TrialRun

_ASKED = (
    REQUESTS["read"],
    REQUESTS["add"],
    REQUESTS["same"],
    Request("1 ms", ("/burn/1000",)),
    Request("10 ms", ("/burn/10000",)),
)


def make_side(kind: str, cores: int, executor: str) -> Side:
    """Return a server on so many cores: `stock`, `prefork` or `txloop`."""
    options, environment, application = [], {}, "plain"
    if kind == "prefork":
        options = ["--reuse-port"]
    elif kind == "txloop":
        application = "transactional"
        options = ["--executor", executor]
        # One core has none, and asking for one is a warning.
        environment = {"TXLOOP_FRONTS": str(cores)} if cores > 1 else {}
    command = [
        *pinned(range(cores)),
        *(sys.executable, "-m", f"bench.servers.{kind}", f"tally:{application}"),
        *("--port", "0", "--workers", str(cores), *options),
    ]
    return Side(f"{kind} {cores}", command, environment, kind != "prefork")


class Turns:
    """The turns of one server: each is a fresh one, which is asked for everything."""

    def __init__(self, side: Side, wrk: Wrk, connections: int, seconds: int) -> None:
        """Keep what serves, and what asks for how long."""
        self._side = side
        self._wrk = wrk
        self._size = (connections, seconds)
        self._numbers: Iterator[int] = itertools.count()

    def take(self) -> Figures:
        """Ask for one kind of request after the other.

        Raises:
            BenchmarkError: server or load failed, or something was not added right.
        """
        found: Figures = {OTHER_CORES: 0.0}
        turn, side = next(self._numbers), self._side
        with Server(side.name, side.command, HELLO, side.environment) as server:
            for asked in _ASKED:
                load = Load(server.url, asked.paths, *self._size, server.pid, turn)
                checked = asked.adds and side.shares
                try:
                    figures = measure(server, load, self._wrk, checked)
                except (LoadError, WrongAnswerError) as error:
                    what = f"{side.name}, {asked.name}"
                    raise type(error)(f"{what}: {error}") from None
                found |= condense(asked.name, figures)
                others = figures[OTHER_CORES]
                found[OTHER_CORES] = max(others, found[OTHER_CORES])
        return found


def condense(name: str, figures: Figures) -> Figures:
    """Return what is kept of a request's figures, by names that tell its own."""
    return {
        name: 1 / figures["rate"],
        f"{name}: rate": figures["rate"],
        f"{name}: owner cores": figures["owner"] * figures["rate"],
        f"{name}: cores": figures["all"] * figures["rate"],
        f"{name}: client cores": figures["client"],
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add on how many cores, for how long, and how it is asked."""
    add = parser.add_argument
    cores = available_cores()
    steps = [2**power for power in range(cores.bit_length()) if 2**power <= cores]
    add(
        "--cores",
        type=_numbers,
        default=steps,
        metavar="N,N",
        help=f"of a server (default: {','.join(map(str, steps))})",
    )
    add("--seconds", type=positive, default=3, help="of load each (default: 3)")
    add("--connections", type=positive, default=64, help="at once (default: 64)")
    threads = max(1, cores // 4)
    add("--threads", type=positive, default=threads, help=f"of wrk ({threads})")
    add("--executor", default="processes", help="of txloop (default: processes)")
    add("--plain", action="store_true", help="leave prefork out")


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return stock Tornado twice, the second as a control, and the others by cores.

    Raises:
        LoadError: wrk is not installed.
    """
    sides = [make_side("stock", 1, options.executor)] * 2
    for kind in ("txloop",) if options.plain else ("prefork", "txloop"):
        sides += [make_side(kind, cores, options.executor) for cores in options.cores]
    names = ["stock", "control", *(side.name for side in sides[2:])]
    size = (options.connections, options.seconds)
    return [
        Contender(name, Turns(side, _wrk(side, options.threads), *size).take)
        for name, side in zip(names, sides, strict=True)
    ]


def columns(_: argparse.Namespace) -> list[Column]:
    """Return the ratio to stock for each request, and what adding costs the owner."""
    ratios = [Column(one.name, one.name, relative=True) for one in _ASKED]
    return [*ratios, Column("add: owner, cores", "add: owner cores")]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    return [
        f"{find_wrk(0).title}: {options.threads} threads, {options.connections}"
        f" connections, {options.seconds} s each, after one to warm up",
        "a server has as many cores, processes and fronts as its row says; prefork's"
        " share nothing",
        "requests/s to those of stock, median and range of each turn's own;"
        " add, same: one of 1000 cells, all the same one",
    ]


def draw(run: TrialRun, path: Path) -> None:
    """Draw, by the number of cores, what txloop makes of each request."""
    from bench.plot import Line, write_lines

    stock = run.rows[0]
    rows = [row for row in run.rows if row.name.startswith("txloop")]

    def line(name: str) -> Line:
        base = middle(stock, name) or 0.0
        return Line(
            f"txloop, {name}", [base / (middle(row, name) or base) for row in rows]
        )

    lines = [line(one.name) for one in _ASKED]
    cores = [row.name.rpartition(" ")[2] for row in rows]
    write_lines(
        cores,
        [*lines, Line("ideal", list(map(float, cores)))],
        labels=("cores", "requests per second, to stock Tornado"),
        title=run.title,
        machine=run.machine,
        path=path,
    )


def _wrk(side: Side, threads: int) -> Wrk:
    cores = int(side.name.rpartition(" ")[2])
    return find_wrk(cores, threads=threads)


def _numbers(text: str) -> Sequence[int]:
    return sorted({positive(one) for one in text.split(",")})


TRIAL = Trial(
    "cores",
    "short and longer handlers on one core and on more",
    add_options,
    contenders,
    columns,
    notes,
    draw,
)
