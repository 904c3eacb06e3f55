"""The sub-command: python -m bench cells [options]."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench import processes
from bench.command_line import output_file, positive
from bench.machine import describe_machine

if TYPE_CHECKING:
    import argparse

SUMMARY = "operations and sizes of the containers beside those of plain objects"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the sub-command understands."""
    add = parser.add_argument
    add("--repeat", type=positive, default=5, help="times each (default: 5)")
    add("--json", type=output_file, metavar="FILE", help="write all figures")


def run_cells(options: argparse.Namespace, words: str) -> None:
    """Collect, make rows, render."""
    # Not above: a server that must not import txloop comes by here, and rich may lack.
    from bench.cells.large import large_operations
    from bench.cells.operations import operations
    from bench.cells.report import CellsRun, make_json, make_text
    from bench.cells.sizes import sizes, weigh
    from bench.cells.timing import SAMPLE_SECONDS, collect
    from bench.progress import show_progress

    machine = describe_machine()
    before, own_before = processes.machine_seconds(), time.process_time()
    start = time.monotonic()
    with show_progress(1 + options.repeat) as progress:
        timed = (*operations(), *large_operations())
        rows = collect(timed, options.repeat, SAMPLE_SECONDS, progress)
    elapsed = time.monotonic() - start
    own = time.process_time() - own_before
    other = max(0.0, processes.machine_seconds() - before - own)
    run = CellsRun(
        machine=machine,
        command=f"python -m bench {words}",
        repeat=options.repeat,
        other_cpu_cores=other / elapsed,
        rows=rows,
        sizes=weigh(sizes()),
    )
    print(make_text(run), end="")
    if options.json:
        options.json.write_text(make_json(run))
