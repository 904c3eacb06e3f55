"""Trial: `tr.add` over a dict of work, as PyPy's documentation shows it.

Each piece computes for about a millisecond and stores its result in a shared dict. A
plain loop does the same to a plain dict.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.machine import available_cores
from bench.trials.trial import Column, Contender, Figures, Trial

if TYPE_CHECKING:
    import argparse
    from collections.abc import MutableMapping


def compute(number: int) -> int:
    """Keep the processor busy for a time that is proportional to `number`."""
    total = 0
    for each in range(number):
        total += each
    return total


def store(results: MutableMapping[int, int], key: int, number: int) -> None:
    """Do one piece of the work."""
    results[key] = compute(number)


def calibrate(milliseconds: float) -> int:
    """Return the number for which `compute` takes so long, at its fastest."""
    trial = 20_000
    best = min(_timed(compute, trial) for _ in range(20))
    return max(1, round(trial * milliseconds / 1000 / best))


def _timed(function: object, *args: object) -> float:
    start = time.perf_counter()
    function(*args)  # type: ignore[operator] # a function of this module
    return time.perf_counter() - start


def take_plain(pieces: int, number: int) -> Figures:
    """Do all pieces in a plain loop."""
    results: dict[int, int] = {}
    start = time.perf_counter()
    for key in range(pieces):
        store(results, key, number)
    return {"seconds": time.perf_counter() - start}


def take_processes(processes: int, pieces: int, number: int) -> Figures:
    """Do it in plain loops, each in a process of its own that keeps its results."""
    start = time.perf_counter()
    children = []
    for first in range(processes):
        child = os.fork()
        if not child:
            take_plain(len(range(first, pieces, processes)), number)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return {"seconds": time.perf_counter() - start}


def take_queue(executor: str, workers: int, pieces: int, number: int) -> Figures:
    """Add all pieces to a queue, and run it."""
    from txloop.transaction import TransactionQueue, stmdict

    results: stmdict[int, int] = stmdict()
    start = time.perf_counter()
    queue = TransactionQueue(executor=executor)
    for key in range(pieces):
        queue.add(store, results, key, number)
    queue.run(workers)
    seconds = time.perf_counter() - start
    assert len(results) == pieces == queue.number_of_transactions_executed()
    return {"seconds": seconds}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the work, and who does it."""
    add = parser.add_argument
    add("--pieces", type=positive, default=2000, help="of work (default: 2000)")
    add("--microseconds", type=positive, default=1000, help="each (default: 1000)")
    cores = available_cores()
    add("--workers", type=positive, default=cores, help=f"at most (default: {cores})")
    add("--executor", default="auto", help="of txloop (default: auto)")


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the plain loop, and queues with one worker, two, ..."""
    number = calibrate(options.microseconds / 1000)
    size = {"pieces": options.pieces, "number": number}
    queues = [
        Contender(
            f"TransactionQueue, {workers} worker{'s' if workers > 1 else ''}",
            partial(take_queue, options.executor, workers, **size),
        )
        for workers in range(1, options.workers + 1)
    ]
    return [
        Contender("a plain loop", partial(take_plain, **size)),
        *queues,
        Contender(
            f"{options.workers} forks that share nothing",
            partial(take_processes, options.workers, **size),
        ),
    ]


def columns(_: argparse.Namespace) -> list[Column]:
    """Return the time, and how many times as fast as the plain loop that is."""
    return [
        Column("seconds", "seconds", digits=3),
        Column("ratio", "seconds", relative=True),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    from txloop.executors.protocol import resolve_name

    return [
        f"{options.pieces} pieces of about {options.microseconds} us; executor:"
        f" {resolve_name(options.executor)}, started and ended within the time",
    ]


TRIAL = Trial(
    "transaction",
    "`TransactionQueue.add` over a dict of work, and `run`",
    add_options,
    contenders,
    columns,
    notes,
)
