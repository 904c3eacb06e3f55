"""The sub-commands of the trials: python -m bench NAME [options]."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from bench import processes
from bench.command_line import output_file, positive
from bench.machine import describe_machine
from bench.trials import (
    channels,
    cores,
    handoff,
    light,
    memory,
    records,
    scale,
    sum_server,
    transaction,
)

if TYPE_CHECKING:
    import argparse

    from bench.trials.trial import Trial

TRIALS = (
    transaction.TRIAL,
    sum_server.TRIAL,
    channels.TRIAL,
    memory.TRIAL,
    handoff.TRIAL,
    light.TRIAL,
    cores.TRIAL,
    records.TRIAL,
    scale.TRIAL,
)


def add_options(parser: argparse.ArgumentParser, trial: Trial) -> None:
    """Add what the sub-command of a trial understands."""
    add = parser.add_argument
    add("--repeat", type=positive, default=5, help="turns of each (default: 5)")
    add("--json", type=output_file, metavar="FILE", help="write all figures")
    if trial.draw is not None:
        add("--plot", type=output_file, metavar="FILE", help="draw it: .svg or .png")
    trial.add_options(parser)


def run_trial(trial: Trial, options: argparse.Namespace, words: str) -> None:
    """Collect, make rows, render."""
    # Not above: rich may lack.
    from bench.progress import show_progress
    from bench.trials.report import TrialRun, make_json, make_text
    from bench.trials.trial import OTHER_CORES, collect

    contenders = trial.contenders(options)
    machine = describe_machine()
    before, own_before = processes.machine_seconds(), _own_seconds()
    start = time.monotonic()
    with show_progress(len(contenders) * options.repeat) as progress:
        rows = collect(contenders, options.repeat, progress)
    elapsed = time.monotonic() - start
    own = _own_seconds() - own_before
    other = max(0.0, processes.machine_seconds() - before - own)
    of_turns = [each for row in rows for each in row.figures.get(OTHER_CORES, ())]
    run = TrialRun(
        title=f"{trial.name}: {trial.summary}",
        machine=machine,
        command=f"python -m bench {words}",
        repeat=options.repeat,
        other_cpu_cores=max(of_turns, default=other / elapsed),
        columns=trial.columns(options),
        notes=trial.notes(options),
        rows=rows,
    )
    print(make_text(run), end="")
    if options.json:
        options.json.write_text(make_json(run))
    if trial.draw is not None and options.plot:
        trial.draw(run, options.plot)


def _own_seconds() -> float:
    """Return the processor time of this process and of its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
