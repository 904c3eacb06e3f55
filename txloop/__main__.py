"""The command line: run an unchanged program on the loop, or check one.

::

    python -m txloop [options] app.py [arguments]
    python -m txloop [options] -m package.module [arguments]
    python -m txloop check app.py
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import runpy
import sys
from typing import TYPE_CHECKING, NoReturn

import txloop
from txloop.check import check
from txloop.marks import Mark, mark_of
from txloop.web import mark_matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tornado.web import RequestHandler

USAGE = """python -m txloop [options] app.py [arguments]
       python -m txloop [options] -m package.module [arguments]
       python -m txloop check app.py | -m package.module"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"txloop: {message} (--help lists the options)", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    checks = given[:1] == ["check"]
    parser = _parser()
    options = parser.parse_args(given[1:] if checks else given)
    program = options.program
    if options.module is not None:
        program = [options.module, *program]
    if not program:
        parser.error("which program? Name a file, or a module with -m")
    if options.module is None and not os.path.isfile(program[0]):
        parser.error(f"there is no file {program[0]}")
    _mark(options.transactional)
    _prepare(program, is_module=options.module is not None)
    if checks:
        return check(program[0], is_module=options.module is not None)
    try:
        txloop.install(
            options.executor,
            options.workers,
            order=options.order,
            rounds=options.rounds,
            max_queue=options.max_queue,
            timeout=options.timeout,
            max_calls=options.max_calls,
            log=options.log,
        )
    except txloop.TxConfigurationError as error:
        parser.error(str(error))
    if options.module is not None:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program[0], run_name="__main__")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m txloop",
        usage=USAGE,
        description="Run a Tornado program with its IOLoop made transactional.",
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module")
    parser.add_argument("--executor", help="auto, processes, threads or serial")
    parser.add_argument("--log", metavar="FILE", help="log what conflicts cost")
    parser.add_argument("--workers", type=int, help="default: one per core")
    parser.add_argument(
        "--order", default="completion", help="completion, or arrival for all commits"
    )
    parser.add_argument(
        "--rounds", default="overlapping", help="overlapping, or barrier between them"
    )
    parser.add_argument(
        "--max-queue", type=int, help="calls that may wait for a worker; then 503"
    )
    parser.add_argument(
        "--timeout", type=float, help="seconds that a transaction may run in a worker"
    )
    parser.add_argument(
        "--max-calls", type=int, help="calls after which a worker is replaced"
    )
    parser.add_argument(
        "--transactional",
        action="append",
        default=[],
        metavar="PATTERN",
        help="treat handler classes of that name as marked: Main, app.*, '*' ...",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _mark(patterns: Sequence[str]) -> None:
    def matcher(handler_class: type[RequestHandler]) -> Mark | None:
        name = handler_class.__qualname__
        names = (name, f"{handler_class.__module__}.{name}")
        if any(fnmatch.fnmatchcase(one, p) for one in names for p in patterns):
            return mark_of(handler_class) or Mark()
        return None

    if patterns:
        mark_matching(matcher)


def _prepare(program: Sequence[str], *, is_module: bool) -> None:
    """Make the program see the arguments and the path that Python would give it."""
    sys.argv[:] = program
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(program[0]) or "."


if __name__ == "__main__":
    sys.exit(main())
