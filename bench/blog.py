"""The two tables of the experiment of 2014, on the interpreters of today.

`python -m bench blog` serves primes and the A* game on each interpreter that it finds:
stock Tornado, and txloop with one worker, two, ...: threads where there is no GIL, else
processes. The tables have the shape of those of the blog post, and the primes go up to
its 10000.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench.case import Case, Competitor, load_case
from bench.command_line import output_file, positive
from bench.generators import choose_generator
from bench.interpreters import Interpreter, Unusable, find_interpreters
from bench.machine import available_cores, describe_machine
from bench.measure import Settings, collect
from bench.rows import make_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from bench.report import Run
    from bench.rows import Row

__all__ = ["SUMMARY", "add_options", "competitors", "make_table", "run_blog"]

SUMMARY = "the tables of 2014: primes and the A* game on every interpreter found"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `bench blog` understands."""
    add = parser.add_argument
    add(
        "--python",
        action="append",
        default=[],
        metavar="PATH",
        help="an interpreter to serve with, beside those on the path",
    )
    cores = available_cores()
    add("--workers", type=positive, default=cores, help=f"at most (default: {cores})")
    add("--seconds", type=positive, default=5, help="of load per turn (default: 5)")
    add("--repeat", type=positive, default=3, help="turns of each (default: 3)")
    add("--number", type=positive, default=10000, help="of primes (default: 10000)")
    add("--plot", type=output_file, metavar="FILE", help="draw both: .svg or .png")


def competitors(
    interpreters: Sequence[Interpreter], workers: int
) -> tuple[Competitor, ...]:
    """Return the rows of a table: stock Tornado, then txloop, on each interpreter."""
    found = []
    for one in interpreters:
        seconds = one.warm_up_seconds
        stock = Competitor(
            f"{one}, stock",
            "stock",
            "plain",
            (),
            one.command,
            1,
            warm_up_seconds=seconds,
        )
        kind = "processes" if one.gil else "threads"
        transactional = Competitor(
            "", "txloop", "transactional", ("--executor", kind), one.command
        )
        found.append(stock)
        found += [
            replace(
                transactional,
                name=f"{one}, txloop, {number} {_counted(kind, number)}",
                workers=number,
                warm_up_seconds=seconds,
            )
            for number in range(1, workers + 1)
        ]
    return tuple(found)


def make_table(rows: Sequence[Row], rate: Callable[[Row], str]) -> str:
    """Return a table as the blog post has them."""
    cells = [("Impl.", "req/s"), *((row.name, rate(row)) for row in rows)]
    left, right = (max(len(one[side]) for one in cells) for side in (0, 1))
    thick, thin = (f"{sign * left}  {sign * right}" for sign in "=-")
    lines = [f"{name:<{left}}  {value:>{right}}" for name, value in cells]
    body = f"\n{thin}\n".join(lines[1:])
    return f"{thick}\n{lines[0]}\n{thick}\n{body}\n{thick}\n"


def run_blog(options: argparse.Namespace, words: str) -> None:
    """Measure both cases and print both tables."""
    interpreters, unusable = find_interpreters(options.python)
    chosen = competitors(interpreters, options.workers)
    primes = _run("primes", chosen, options, words, number=options.number)
    astar = _run("astar", chosen, options, words)
    print(_section(primes, lambda row: f"{row.rate_median:.1f}"))
    print(_section(astar, lambda row: f"{row.rate_min:.1f} .. {row.rate_max:.1f}"))
    print("\n".join(_notes(primes, interpreters, unusable)))
    if options.plot:
        from bench.plot import write_plot

        for run in (primes, astar):
            name = f"{options.plot.stem}-{run.case.name}{options.plot.suffix}"
            write_plot(run, options.plot.with_name(name))


def _run(
    name: str,
    chosen: tuple[Competitor, ...],
    options: argparse.Namespace,
    words: str,
    **values: int,
) -> Run:
    from bench.progress import show_progress
    from bench.report import Run

    case: Case = replace(load_case(name), competitors=chosen, baseline=chosen[0].name)
    defaults = {one.name: one.default for one in case.parameters}
    settings = Settings(
        seconds=options.seconds,
        clients=case.clients,
        repeat=options.repeat,
        workers=options.workers,
        latency_seconds=0,
        latency_share=0.0,
        values={**defaults, **values},
    )
    machine = describe_machine()
    generator, load = choose_generator(case, "auto", settings)
    with show_progress(len(chosen) * options.repeat) as progress:
        measurements = collect(case, chosen, settings, generator, progress)
    rows = make_rows(measurements, [one.name for one in chosen], case)
    command = f"python -m bench {words}"
    return Run(case, settings, machine, load, command, measurements, rows)


def _section(run: Run, rate: Callable[[Row], str]) -> str:
    return f"{run.case.name}: {run.case.summary}\n\n{make_table(run.rows, rate)}"


def _notes(
    run: Run, interpreters: Sequence[Interpreter], unusable: Sequence[Unusable]
) -> list[str]:
    machine, settings = run.machine, run.settings
    other = max(one.other_cpu_cores for one in run.measurements)
    lines = [
        f"{machine.date[:10]}, {machine.cpu}, {machine.cores} cores, commit"
        f" {machine.commit}; {settings.repeat} interleaved repeats of"
        f" {settings.seconds} s; primes: median, game: least .. most",
    ]
    lines += [
        f"{one}: started with {' '.join(one.options)}, loaded for"
        f" {one.warm_up_seconds} s before"
        for one in interpreters
        if one.options
    ]
    lines += [f"left out: {one.path}: {one.reason}" for one in unusable]
    if other > 0.1:
        lines.append(f"NOT ALONE: others used up to {other:.0%} of a core")
    return lines


def _counted(kind: str, number: int) -> str:
    singular = {"processes": "process", "threads": "thread"}
    return singular[kind] if number == 1 else kind
