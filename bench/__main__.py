"""The command line: python -m bench CASE [options]."""

from __future__ import annotations

import importlib.util
import shlex
import signal
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bench import blog
from bench.case import Case, case_names, load_case
from bench.cells.command import SUMMARY, add_options, run_cells
from bench.command_line import OneLineParser, output_file, percent, positive
from bench.errors import BenchmarkError, UsageError
from bench.generators import choose_generator
from bench.interpreters import find_interpreter
from bench.machine import available_cores, describe_machine
from bench.measure import Settings, collect
from bench.rows import make_rows
from bench.trials.command import TRIALS, run_trial
from bench.trials.command import add_options as add_trial_options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bench.case import Values
    from bench.report import Run


def make_parser() -> OneLineParser:
    """Return the parser: a sub-command for each case, each trial, and cells."""
    parser = OneLineParser(
        prog="bench", description="Compare ways to serve the same requests."
    )
    cases = parser.add_subparsers(dest="case", metavar="CASE", required=True)
    for name in case_names():
        case = load_case(name)
        one = cases.add_parser(name, help=case.summary, description=case.summary)
        _add_options(one, case)
        one.set_defaults(run=partial(run_case, case))
    for trial in TRIALS:
        one = cases.add_parser(trial.name, help=trial.summary)
        add_trial_options(one, trial)
        one.set_defaults(run=partial(run_trial, trial), plot=None)
    cells = cases.add_parser("cells", help=SUMMARY, description=SUMMARY)
    add_options(cells)
    cells.set_defaults(run=run_cells, plot=None)
    every = cases.add_parser("blog", help=blog.SUMMARY, description=blog.SUMMARY)
    blog.add_options(every)
    every.set_defaults(run=blog.run_blog)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark that the arguments ask for and return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = make_parser()
    options = parser.parse_args(words)
    try:
        _require("rich", "bench")
        if options.plot:
            _require("matplotlib", "plots")
        options.run(options, shlex.join(words))
    except UsageError as error:
        parser.error(str(error))
    except BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def run_case(case: Case, options: argparse.Namespace, words: str) -> None:
    """Collect, make rows, render."""
    # Not above: they need a package, whose absence has to be reported in one line.
    from bench.report import make_json, make_text

    fronts = getattr(options, "fronts", None)
    if fronts:
        case = case.with_fronts(fronts)
    runs = [
        _measured(case, options, words, values) for values in _all_values(case, options)
    ]
    if len(runs) > 1:
        _render_sweep(runs, options)
        return
    print(make_text(runs[0]), end="")
    if options.json:
        options.json.write_text(make_json(runs[0]))
    if options.plot:
        from bench.plot import write_plot

        write_plot(runs[0], options.plot)


def _render_sweep(runs: Sequence[Run], options: argparse.Namespace) -> None:
    from bench.sweep import make_sweep_json, make_sweep_text

    print(make_sweep_text(runs), end="")
    if options.json:
        options.json.write_text(make_sweep_json(runs))
    if options.plot:
        from bench.plot import write_sweep_plot

        write_sweep_plot(runs, options.plot)


def _measured(
    case: Case, options: argparse.Namespace, words: str, values: Values
) -> Run:
    from bench.progress import show_progress
    from bench.report import Run

    settings = _settings(case, options, values)
    case.load(settings.values)  # refuses bad values before any server starts
    serving = find_interpreter(options.python)
    competitors = tuple(
        replace(one, python=serving.command, warm_up_seconds=serving.warm_up_seconds)
        for one in case.select(options.only, serving.gil)
    )
    interpreter = " ".join((str(serving), *serving.options))
    machine = replace(describe_machine(), interpreter=interpreter, gil=serving.gil)
    choice = getattr(options, "load", "auto")
    generator, load = choose_generator(case, choice, settings)
    with show_progress(len(competitors) * settings.repeat) as progress:
        measurements = collect(case, competitors, settings, generator, progress)
    names = [competitor.name for competitor in competitors]
    return Run(
        case=case,
        settings=settings,
        machine=machine,
        load=load,
        command=f"python -m bench {words}",
        measurements=measurements,
        rows=make_rows(measurements, names, case),
    )


def _add_options(parser: argparse.ArgumentParser, case: Case) -> None:
    names = ", ".join(competitor.name for competitor in case.competitors)
    add = parser.add_argument
    add("--seconds", type=positive, default=5, help="of load per turn (default: 5)")
    users = case.clients
    add("--clients", type=positive, default=users, help=f"at once (default: {users})")
    add("--repeat", type=positive, default=5, help="turns of each (default: 5)")
    add(
        "--workers",
        type=positive,
        default=case.workers or available_cores(),
        help=f"processes of servers with several (default: {case.workers or 'cores'})",
    )
    add("--python", metavar="PATH", help="what serves (default: what runs this)")
    if case.fronts:
        add("--fronts", type=positive, help="serve with so many of txloop, too")
    add("--only", metavar="NAME,NAME", help=f"leave out the others of: {names}")
    if case.generator is None:
        _add_load_options(parser)
    add("--json", type=output_file, metavar="FILE", help="write all figures")
    add("--plot", type=output_file, metavar="FILE", help="draw req/s: .svg or .png")
    for parameter in case.parameters:
        add(
            f"--{parameter.name}",
            type=int,
            default=None if case.sweep else parameter.default,
            help=f"{parameter.help} (default: {parameter.default})",
        )


def _add_load_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--load", choices=["auto", "siege", "builtin"], default="auto")
    add(
        "--latency-seconds",
        type=positive,
        default=3,
        help="of open-loop load per turn (default: 3)",
    )
    add(
        "--latency-percent",
        type=percent,
        default=70,
        help="of the measured req/s that the open loop sends (default: 70)",
    )
    add("--no-latency", action="store_true", help="leave p50 and p99 out")


def _all_values(case: Case, options: argparse.Namespace) -> list[Values]:
    """Return what the case is to be measured with: more than one where it sweeps."""
    asked = {one.name: getattr(options, one.name) for one in case.parameters}
    if None not in asked.values():
        return [asked]
    return [dict.fromkeys(asked, value) for value in case.sweep]


def _settings(case: Case, options: argparse.Namespace, values: Values) -> Settings:
    # What a case with a load of its own has no open loop for.
    latency = not (case.generator or case.sweep or options.no_latency)
    return Settings(
        seconds=options.seconds,
        clients=options.clients,
        repeat=options.repeat,
        workers=options.workers,
        latency_seconds=options.latency_seconds if latency else 0,
        latency_share=options.latency_percent / 100 if latency else 0.0,
        values=values,
    )


def _require(module: str, needed: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise UsageError(
            f"{module} is missing: pip install -r requirements/{needed}.txt"
        )


if __name__ == "__main__":
    # As an exception, so that the server under test is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
