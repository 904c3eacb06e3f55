"""Trial: more and more Dask workers, until the process that owns the state is full.

Calls only wait, so cores for them are no limit, and two suffice to have hundreds of
workers: threads of few Dask workers. Each call passes through the owner, which packs
and sends it, reads its answer and commits. What that costs of a core says how many
workers one owner can keep busy, here and on machines with more cores.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.errors import BenchmarkError, UsageError
from bench.trials.trial import OTHER_CORES, Column, Contender, Figures, Trial, middle

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bench.trials.report import TrialRun
    from bench.trials.trial import Row

_ROOT = Path(__file__).parents[2]


def take(workers: int, processes: int, milliseconds: int, seconds: int) -> Figures:
    """Run a program on a cluster of its own, and return what it has measured.

    Raises:
        BenchmarkError: it failed.
    """
    # Not above: Dask may lack.
    from txloop.executors.dask.local import LocalProcess

    processes = min(processes, workers)
    cluster = LocalProcess(processes, threads=-(-workers // processes))
    try:
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "bench.trials.waiters"),
                *map(str, (workers, milliseconds, seconds)),
            ],
            cwd=_ROOT,
            env={**os.environ, "DASK_SCHEDULER_ADDRESS": cluster.address},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        cluster.close()
    if ended.returncode:
        last = ended.stderr.strip().rpartition("\n")[2]
        raise BenchmarkError(f"{workers} workers failed: {last}")
    found: Figures = json.loads(ended.stdout)
    return condense(found, workers, milliseconds)


def condense(found: Figures, workers: int, milliseconds: int) -> Figures:
    """Return the figures of a turn.

    Args:
        found: How many ``calls`` there were in how many ``seconds``, and for how many
            the ``owner``, ``all`` of the trial and the ``machine`` were busy meanwhile.
        workers: How many there were.
        milliseconds: How long each call has waited.
    """
    rate = found["calls"] / found["seconds"]
    ideal = workers * 1000 / milliseconds
    owner = found["owner"] / found["calls"]
    return {
        "rate": rate,
        "ideal": ideal,
        "efficiency": rate / ideal,
        "owner": owner,
        "owner cores": found["owner"] / found["seconds"],
        "all cores": found["all"] / found["seconds"],
        OTHER_CORES: max(0.0, found["machine"] - found["all"]) / found["seconds"],
        "end": milliseconds / 1000 / owner,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many workers, in how many processes of Dask's, and how long they wait."""
    add = parser.add_argument
    add(
        "--workers",
        type=_numbers,
        default=[4, 16, 64, 256],
        metavar="N,N",
        help="threads of Dask workers (default: 4,16,64,256)",
    )
    add("--processes", type=positive, default=2, help="Dask workers (default: 2)")
    add("--milliseconds", type=positive, default=50, help="of each call (default: 50)")
    add("--seconds", type=positive, default=5, help="of load each (default: 5)")


def _numbers(text: str) -> list[int]:
    return sorted({positive(one) for one in text.split(",")})


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return a run for each number of workers.

    Raises:
        UsageError: Dask is not installed.
    """
    if not is_installed():
        raise UsageError("Dask is missing: pip install 'txloop[dask]'")
    size = (options.processes, options.milliseconds, options.seconds)
    return [
        Contender(f"{workers} workers", partial(take, workers, *size))
        for workers in options.workers
    ]


def is_installed() -> bool:
    """Tell whether Dask is there."""
    return importlib.util.find_spec("distributed") is not None


def columns(_: argparse.Namespace) -> list[Column]:
    """Return how near it comes to the ideal, and what the owner pays for that."""
    return [
        Column("calls/s", "rate", 0),
        Column("ideal", "ideal", 0),
        Column("efficiency", "efficiency", spread=True),
        Column("owner, us a call", "owner", 0, scale=1e6, spread=True),
        Column("owner, cores", "owner cores"),
        Column("all, cores", "all cores"),
        Column("ends at, workers", "end", 0),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    return [
        f"each call waits {options.milliseconds} ms; twice as many are asked for at"
        f" once as there are workers; {options.processes} Dask workers at most",
        "ends at: so many workers keep the owner busy, at what a call costs it",
    ]


def draw(run: TrialRun, path: Path) -> None:
    """Draw the calls per second by the number of workers, and where that ends."""
    from bench.plot import Line, write_lines

    def line(name: str, figure: str) -> Line:
        return Line(name, [middle(row, figure) or 0.0 for row in run.rows])

    write_lines(
        [row.name.removesuffix(" workers") for row in run.rows],
        [
            line("txloop, dask", "rate"),
            line("ideal", "ideal"),
            Line("the owner's limit", [limit(run.rows)] * len(run.rows)),
        ],
        labels=("Dask workers", "calls per second"),
        title=run.title,
        machine=run.machine,
        path=path,
    )


def limit(rows: Sequence[Row]) -> float:
    """Return how many calls per second keep the owner busy, where most were made."""
    owner = middle(rows[-1], "owner")
    return 1 / owner if owner else 0.0


TRIAL = Trial(
    "scale",
    "more and more Dask workers, whose calls wait",
    add_options,
    contenders,
    columns,
    notes,
    draw,
)
