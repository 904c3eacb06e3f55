"""Trial: requests that do next to nothing, on one process and on several.

They are too short to be sent to a worker. What several processes may gain is the rest
of a request: to accept, to read, to route and to answer. Stock Tornado forks for that,
and then nothing is shared; txloop has fronts (``TXLOOP_FRONTS``), which validate with
the process that owns the cells. Its processor time is what all of them have to share.

A turn of a request drives each server in its time, fresh and warm; the next turn begins
with another one. What was added is compared with what was answered.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bench import processes
from bench.command_line import positive
from bench.errors import LoadError, WrongAnswerError
from bench.load import Load
from bench.machine import available_cores, pinned
from bench.measure import run_load
from bench.server import Server
from bench.trials.tally import CELLS, HELLO, SAME, TOTAL
from bench.trials.trial import OTHER_CORES, Column, Contender, Figures, Trial
from bench.wrk import Wrk, find_wrk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_WARM_UP_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: one of the paths at random.

    Attributes:
        name: What the table calls it.
        paths: All that may be asked for.
        adds: Whether each adds one, so that no answer may be without its addition.
        keep_alive: Whether a connection serves for more than one.
    """

    name: str
    paths: tuple[str, ...]
    adds: bool = False
    keep_alive: bool = True


REQUESTS = {
    request.name: request
    for request in (
        Request("read", tuple(f"/read/{key}" for key in range(CELLS))),
        Request("add", tuple(f"/add/{key}" for key in range(CELLS)), adds=True),
        Request("same", (SAME,), adds=True),
        Request("unmarked", (HELLO,)),
        Request("unmarked-new", (HELLO,), keep_alive=False),
    )
}


@dataclass(frozen=True, slots=True)
class Side:
    """A server that takes part.

    Attributes:
        name: What figures and errors call it.
        command: Runs it.
        environment: What is in its environment besides.
        shares: Whether a total says what all of its processes have added.
    """

    name: str
    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    shares: bool = True


def make_sides(workers: int, fronts: int, executor: str) -> list[Side]:
    """Return the servers; the last one is the first once more, as a control."""

    def command(kind: str, application: str, *options: str) -> list[str]:
        return [
            *pinned(range(max(workers, fronts))),
            *(sys.executable, "-m", f"bench.servers.{kind}", f"tally:{application}"),
            *("--port", "0", "--workers", str(workers), *options),
        ]

    stock = command("stock", "plain")
    txloop = command("txloop", "transactional", "--executor", executor)
    return [
        Side("stock", stock),
        Side("prefork", command("prefork", "plain", "--reuse-port"), shares=False),
        Side("no fronts", txloop, {"TXLOOP_FRONTS": "0"}),
        Side("fronts", txloop, {"TXLOOP_FRONTS": str(fronts)}),
        Side("control", stock),
    ]


def drive(
    side: Side, request: Request, wrk: Wrk, connections: int, seconds: int, turn: int
) -> Figures:
    """Return what a fresh server answered in a second, and what that took of its owner.

    Raises:
        BenchmarkError: server or load failed, or something that was added was lost.
    """
    with Server(side.name, side.command, HELLO, side.environment) as server:
        load = Load(server.url, request.paths, connections, seconds, server.pid, turn)
        return measure(server, load, wrk, checked=request.adds and side.shares)


def measure(server: Server, load: Load, wrk: Wrk, checked: bool) -> Figures:
    """Return what the server answered in a second after one to warm up.

    Args:
        server: Serves the cells, and is at rest.
        load: What is asked for.
        wrk: Asks.
        checked: Whether each answer must have added one.

    Raises:
        BenchmarkError: server or load failed, or something that was added was lost.
    """
    wrk.run(replace(load, seconds=_WARM_UP_SECONDS))
    before = _total_at_rest(server) if checked else 0
    owner = processes.own_seconds(server.pid)
    found, usage = run_load(server, load, wrk)
    owner = processes.own_seconds(server.pid) - owner
    if checked:
        added = _total_at_rest(server) - before
        check_added(added, found.transactions, load.clients)
    return {
        "rate": found.rate,
        "owner": owner / found.transactions,
        "all": usage.server_seconds / found.transactions,
        "client": found.client_cpu_seconds / found.elapsed_seconds,
        OTHER_CORES: usage.other_seconds / found.spent_seconds,
    }


def check_added(added: int, answered: int, connections: int) -> None:
    """Refuse a server that has not added exactly what it has answered.

    Up to one request for each connection was under way when wrk left.

    Raises:
        WrongAnswerError: additions were lost, or were there more than once.
    """
    if added < answered:
        raise WrongAnswerError(
            f"lost: {answered - added} of {answered} answered additions are not there"
        )
    if added > answered + connections:
        raise WrongAnswerError(
            f"repeated: {added} additions for {answered} answers on"
            f" {connections} connections"
        )


def compare(found: Mapping[str, Figures]) -> Figures:
    """Return the figures of a turn: what each side did, and its ratio to others."""
    rates = {side: figures["rate"] for side, figures in found.items()}
    stock = rates["stock"]
    owner = found["fronts"]["owner"] / found["stock"]["owner"]
    return {
        "fronts to stock": rates["fronts"] / stock,
        "fronts to prefork": rates["fronts"] / rates["prefork"],
        "no fronts to stock": rates["no fronts"] / stock,
        "prefork to stock": rates["prefork"] / stock,
        "control": rates["control"] / stock,
        "owner share": owner,
        OTHER_CORES: max(figures[OTHER_CORES] for figures in found.values()),
        **{
            f"{side}: {name}": value
            for side, figures in found.items()
            for name, value in figures.items()
            if name != OTHER_CORES
        },
    }


class Turns:
    """The turns of one request, each of which begins with another side."""

    def __init__(
        self,
        request: Request,
        sides: Sequence[Side],
        wrk: Wrk,
        connections: int,
        seconds: int,
    ) -> None:
        """Keep what is asked for, of whom, and for how long."""
        self._request = request
        self._sides = sides
        self._load = (wrk, connections, seconds)
        self._numbers: Iterator[int] = itertools.count()

    def take(self) -> Figures:
        """Drive all sides, one after the other."""
        number = next(self._numbers)

        def drive_one(side: Side) -> Figures:
            return drive(side, self._request, *self._load, number)

        return compare(drive_all(self._sides, number, self._request.name, drive_one))


def drive_all(
    sides: Sequence[Side], turn: int, what: str, drive_one: Callable[[Side], Figures]
) -> dict[str, Figures]:
    """Drive all sides, one after the other; each turn begins with another one.

    Raises:
        BenchmarkError: one failed; it says which, and at what.
    """
    shift = turn % len(sides)
    found = {}
    for side in (*sides[shift:], *sides[:shift]):
        try:
            found[side.name] = drive_one(side)
        except (LoadError, WrongAnswerError) as error:
            raise type(error)(f"{side.name}, {what}: {error}") from None
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what is asked for, how, and of how many processes."""
    add = parser.add_argument
    add("--seconds", type=positive, default=3, help="of load each (default: 3)")
    add("--connections", type=positive, default=20, help="at once (default: 20)")
    cores = available_cores()
    add("--workers", type=positive, default=cores, help=f"of prefork, txloop ({cores})")
    add("--fronts", type=positive, default=cores, help=f"of txloop (default: {cores})")
    add("--executor", default="processes", help="of txloop (default: processes)")
    names = ",".join(REQUESTS)
    add(
        "--requests",
        type=_requests,
        default=list(REQUESTS.values()),
        metavar="NAME,NAME",
        help=f"leave out the others of {names}",
    )


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the requests: a row has what all sides did with one.

    Raises:
        LoadError: wrk is not installed.
    """
    sides = make_sides(options.workers, options.fronts, options.executor)
    used = max(options.workers, options.fronts)
    size = (options.connections, options.seconds)
    return [
        Contender(
            one.name, Turns(one, sides, find_wrk(used, one.keep_alive), *size).take
        )
        for one in options.requests
    ]


def columns(options: argparse.Namespace) -> list[Column]:
    """Return the ratios, and what is left of stock Tornado's work for the owner."""
    fronts = f"fronts {options.fronts}"
    return [
        Column("stock, req/s", "stock: rate", 0),
        Column(f"{fronts} / stock", "fronts to stock", spread=True),
        Column(f"{fronts} / prefork", "fronts to prefork", spread=True),
        Column("fronts 0 / stock", "no fronts to stock", spread=True),
        Column("prefork / stock", "prefork to stock", spread=True),
        Column("control", "control", spread=True),
        Column("owner CPU", "owner share", spread=True),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    return [
        f"{find_wrk(0).title}: one thread, {options.connections} connections,"
        f" {options.seconds} s each, after {_WARM_UP_SECONDS} s to warm up;"
        f" one of {CELLS} keys at random",
        f"prefork: {options.workers} processes that share nothing, SO_REUSEPORT;"
        f" txloop: executor {options.executor}, {options.workers} workers",
        "ratios of req/s, median of each turn's own; control: stock to stock",
        f"owner CPU: of the main process of fronts {options.fronts}, per request,"
        " to that of stock",
    ]


def _total_at_rest(server: Server) -> int:
    server.wait_until_idle()
    status, body = server.get(TOTAL)
    if status != 200:
        raise WrongAnswerError(f"wrong answer to {TOTAL}: {status}")
    return int(json.loads(body)["total"])


def _requests(text: str) -> list[Request]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in REQUESTS:
            known = ", ".join(REQUESTS)
            raise argparse.ArgumentTypeError(f"no request {name!r}, only: {known}")
    return [REQUESTS[name] for name in dict.fromkeys(names)]


TRIAL = Trial(
    "light",
    "requests that do next to nothing: stock, prefork, fronts",
    add_options,
    contenders,
    columns,
    notes,
)
