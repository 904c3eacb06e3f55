"""Trial: tasklets and channels, as Stackless Python had them.

Waiting transactions over `txloop.Channel` beside asyncio's tasks over `asyncio.Queue`,
whose steps are no transactions: what the promise costs where nothing is computed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.errors import BenchmarkError
from bench.trials.tasklets import RING, STAGES
from bench.trials.trial import Column, Contender, Figures, Trial

if TYPE_CHECKING:
    import argparse

_ROOT = Path(__file__).parents[2]


def take(kind: str, executor: str, number: int, steps: int) -> Figures:
    """Run one kind in a process of its own.

    Raises:
        BenchmarkError: it failed.
    """
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "bench.trials.tasklets"),
            *(kind, executor, str(number), str(steps)),
        ],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        last = ended.stderr.strip().rpartition("\n")[2]
        raise BenchmarkError(f"tasklets over {kind} failed: {last}")
    figures: Figures = json.loads(ended.stdout)
    return figures


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many tasklets, how far they go, and where txloop runs them."""
    add = parser.add_argument
    default = 100_000
    add("--tasklets", type=positive, default=default, help=f"(default: {default})")
    add("--steps", type=positive, default=20_000, help="(default: 20000)")
    add("--executor", default="serial", help="of txloop (default: serial)")


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the tasks of asyncio and the transactions of txloop."""
    size = (options.executor, options.tasklets, options.steps)
    return [
        Contender("asyncio: tasks, asyncio.Queue", partial(take, "asyncio", *size)),
        Contender(
            f"txloop: transactions, Channel ({options.executor})",
            partial(take, "txloop", *size),
        ),
    ]


def columns(_: argparse.Namespace) -> list[Column]:
    """Return time and memory of each tasklet, and the time of each step."""
    return [
        Column("to wait, us", "wait", digits=1, scale=1e6),
        Column("bytes", "bytes", digits=0),
        Column("to wake, us", "wake", digits=1, scale=1e6),
        Column("ring, us/hop", "hop", digits=1, scale=1e6),
        Column("pipeline, us/step", "step", digits=1, scale=1e6),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    return [
        f"{options.tasklets} tasklets wait at one channel and are woken one by one;"
        f" a token makes {options.steps}",
        f"hops in a ring of {RING}; {max(1, options.steps // STAGES)} items go"
        f" through {STAGES} stages",
    ]


TRIAL = Trial(
    "channels",
    "many tasklets that wait, a ring and a pipeline",
    add_options,
    contenders,
    columns,
    notes,
)
