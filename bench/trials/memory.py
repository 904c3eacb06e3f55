"""Trial: what one more worker costs in memory, beside one big data set.

Each server is started with one worker and with several, is asked for all parts of the
data set, and then its processes' memory is added up; what processes share counts once
(PSS). The difference is what the further workers cost.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from bench import processes
from bench.builtin_load import warm_up
from bench.command_line import positive
from bench.load import Load
from bench.server import Server
from bench.trials.timeline import MODULES
from bench.trials.trial import Column, Contender, Figures, Trial

_PATHS = tuple(f"/module{number}" for number in range(MODULES))
_CLIENTS_PER_WORKER = 4


def server_of(kind: str, application: str, *options: str) -> list[str]:
    """Return the command of a server that serves the timeline."""
    spec = f"timeline:{application}"
    return [
        sys.executable,
        "-m",
        f"bench.servers.{kind}",
        spec,
        "--port",
        "0",
        *options,
    ]


STOCK = server_of("stock", "plain")

SERVERS = {
    "stock prefork": server_of("prefork", "plain", "--early"),
    "prefork after gc.freeze": server_of("prefork", "plain", "--early", "--freeze"),
    "txloop processes": server_of("txloop", "transactional"),
    "txloop threads": server_of("txloop", "transactional", "--executor", "threads"),
}


def memory_bytes(command: list[str], workers: int, records: int, seconds: int) -> int:
    """Return the memory of a server that has answered for so long."""
    sized = [*command, "--workers", str(workers), f"--set=records={records}"]
    with Server("memory", sized, _PATHS[0]) as server:
        clients = workers * _CLIENTS_PER_WORKER
        warm_up(Load(server.url, _PATHS, clients, seconds, server.pid))
        server.wait_until_idle()
        return processes.memory_bytes(server.pid)


def take(command: list[str], workers: int, records: int, seconds: int) -> Figures:
    """Return the size of the data set, and what each further worker cost."""
    data = memory_bytes(STOCK, 1, records, seconds) - memory_bytes(STOCK, 1, 0, 1)
    one = memory_bytes(command, 1, records, seconds)
    several = memory_bytes(command, workers, records, seconds)
    more = (several - one) / (workers - 1)
    return {"data": data, "one": one, "more": more, "share": more / data}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the data set, and how many workers there are."""
    add = parser.add_argument
    add("--records", type=positive, default=500_000, help="(default: 500000)")
    add("--workers", type=_several, default=3, help="beside one (default: 3)")
    add("--seconds", type=positive, default=5, help="of load (default: 5)")


def _several(text: str) -> int:
    number = positive(text)
    if number < 2:
        raise argparse.ArgumentTypeError("must be at least 2: it is set against one")
    return number


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the ways to have workers."""
    size = {
        "workers": options.workers,
        "records": options.records,
        "seconds": options.seconds,
    }
    return [
        Contender(name, partial(take, command, **size))
        for name, command in SERVERS.items()
    ]


def columns(_: argparse.Namespace) -> list[Column]:
    """Return the memory, and the share of the data set."""
    megabyte = 1 / 2**20
    return [
        Column("data set, MB", "data", 0, scale=megabyte),
        Column("with one worker, MB", "one", 0, scale=megabyte),
        Column("each further worker, MB", "more", 1, scale=megabyte),
        Column("of the data set", "share"),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was measured."""
    return [
        f"proportional memory (PSS) of all processes after {options.seconds} s of load;"
        f" {options.workers} workers against one; {options.records} records",
    ]


TRIAL = Trial(
    "memory",
    "what a worker costs beside one big data set",
    add_options,
    contenders,
    columns,
    notes,
)
