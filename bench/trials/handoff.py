"""Trial: hand-offs between a producer and a consumer, alone and beside CPU work.

It is what PythonPlus set out to improve: two threads that wait for one another get slow
when others compute. Tornado's answer is that nothing else runs while one computes;
txloop's, that what computes does so elsewhere.
"""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.errors import BenchmarkError
from bench.interpreters import find_interpreters
from bench.machine import available_cores
from bench.trials.trial import Column, Contender, Figures, Trial

if TYPE_CHECKING:
    import argparse

_ROOT = Path(__file__).parents[2]

_NAMES = {
    "threads": "two threads, threading.Condition",
    "asyncio": "two tasks, asyncio.Queue",
    "txloop": "transactions, txloop.Channel",
}


def take(python: str, kind: str, busy: int, seconds: int) -> Figures:
    """Count alone, then beside others who compute."""
    alone = count(python, kind, 0, seconds)
    beside = count(python, kind, busy, seconds)
    return {"alone": alone, "beside": beside, "share": beside / alone}


def count(python: str, kind: str, busy: int, seconds: float) -> float:
    """Return the hand-offs in a second, on some interpreter.

    Raises:
        BenchmarkError: it failed.
    """
    program = [python, "-m", "bench.trials.pair", kind, str(busy), str(seconds)]
    ended = subprocess.run(
        program, cwd=_ROOT, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        last = ended.stderr.strip().rpartition("\n")[2]
        raise BenchmarkError(f"hand-offs over {kind} failed: {last}")
    return float(ended.stdout)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add who computes meanwhile, and for how long."""
    add = parser.add_argument
    cores = available_cores()
    add("--busy", type=positive, default=cores, help=f"others (default: {cores})")
    add("--seconds", type=positive, default=3, help="of each count (default: 3)")
    add(
        "--python",
        action="append",
        default=[],
        metavar="PATH",
        help="an interpreter, beside those on the path",
    )


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the three ways, on each interpreter found."""
    size = {"busy": options.busy, "seconds": options.seconds}
    interpreters, _ = find_interpreters(options.python)
    return [
        Contender(f"{one}: {name}", partial(take, one.path, kind, **size))
        for one in interpreters
        for kind, name in _NAMES.items()
    ]


def columns(_: argparse.Namespace) -> list[Column]:
    """Return both counts, and what is left of the first."""
    return [
        Column("alone, per second", "alone", 0),
        Column("beside CPU work", "beside", 0),
        Column("share", "share"),
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    _, unusable = find_interpreters(options.python)
    return [
        f"hand-offs of one item; CPU work: {options.busy} others that compute, 100 ms "
        "at a time",
        *(f"left out: {one.path}: {one.reason}" for one in unusable),
    ]


TRIAL = Trial(
    "handoff",
    "a producer and a consumer, beside CPU work",
    add_options,
    contenders,
    columns,
    notes,
)
