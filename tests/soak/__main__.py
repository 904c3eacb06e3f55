"""Soak tests: ``python -m tests.soak [NAME ...] [--seconds 600] [--seed N]``.

The servers have two fronts; ``TXLOOP_FRONTS=0`` leaves them out. Without the GIL the
bank's workers and fronts are threads, and nothing is killed.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.cluster import DASK
from tests.soak import bank, dask_bank, game
from txloop.stm.threads import gil_enabled

if TYPE_CHECKING:
    from collections.abc import Callable


def _run_bank(seconds: float, seed: int, log: Path) -> bank.Report:
    executor = "processes" if gil_enabled() else "threads"
    return bank.run(seconds, seed, log, executor=executor)


SOAKS: dict[str, Callable[[float, int, Path], bank.Report]] = {
    "bank": _run_bank,
    "game": game.run,
    **({"dask-bank": dask_bank.run} if DASK else {}),
}
"""What there is, by name: runs for so many seconds with a seed, and logs to a file."""


def main() -> int:
    """Run what is named, or all, and return how many went wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {[*SOAKS]}")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    os.environ.setdefault("TXLOOP_FRONTS", "2")
    unknown = [name for name in options.names if name not in SOAKS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are: {', '.join(SOAKS)}")
    seed = random.randrange(10**6) if options.seed is None else options.seed
    return sum(_run(name, options.seconds, seed) for name in options.names or SOAKS)


def _run(name: str, seconds: float, seed: int) -> bool:
    _say(f"{name}: {seconds:g} s, --seed {seed} ...")
    with TemporaryDirectory() as folder:
        log = Path(folder, "log")
        report = SOAKS[name](seconds, seed, log)
        if report.wrong:
            _say("\n".join(log.read_text().splitlines()[-200:]))
    _say(str(report))
    _say(f"{name}: {'WRONG' if report.wrong else 'as it should be'}")
    return bool(report.wrong)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
