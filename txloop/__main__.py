"""The command line: run an unchanged program on the loop, or check one.

::

    python -m txloop [options] app.py [arguments]
    python -m txloop [options] -m package.module [arguments]
    python -m txloop check [--json] [options] app.py [arguments]
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
from typing import TYPE_CHECKING, Literal, NoReturn

import txloop
from txloop.check import EXIT_CODES, check
from txloop.engine.marks import Mark
from txloop.loop.program import prepare, run_file, run_module
from txloop.web import mark_matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tornado.web import RequestHandler

USAGE = """python -m txloop [options] app.py [arguments]
       python -m txloop [options] -m package.module [arguments]
       python -m txloop check [--json] [options] app.py | -m package.module"""


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
    is_module = options.module is not None
    program = options.module if is_module else options.program
    if not program:
        parser.error("which program? Name a file, or a module with -m")
    if not is_module and not os.path.isfile(program[0]):
        parser.error(f"there is no file {program[0]}")
    _mark(options.transactional, options.on_error)
    prepare(program, is_module=is_module)
    try:
        txloop.install(
            options.executor,
            options.workers,
            order=options.order,
            rounds=options.rounds,
            max_queue=options.max_queue,
            timeout=options.timeout,
            max_calls=options.max_calls,
            log="" if checks else options.log,
        )
    except txloop.TxConfigurationError as error:
        parser.error(str(error))
    if options.json and not checks:
        parser.error("--json goes with check")
    if checks:
        check(program[0], is_module=is_module, json=options.json)
    if is_module:
        run_module(program[0])
    else:
        run_file(program[0])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m txloop",
        usage=USAGE,
        description="Run a Tornado program with its IOLoop made transactional, or "
        "check how each of its handlers would run.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--json", action="store_true", help="with check: print JSON")
    # All that follows is the module's own, as with Python's `-m`.
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="run a module",
    )
    parser.add_argument(
        "--executor", help="auto (default), processes, threads or serial"
    )
    parser.add_argument("--log", metavar="FILE", help="log what conflicts cost")
    parser.add_argument("--workers", type=int, help="default: one per core")
    parser.add_argument(
        "--order",
        default="completion",
        help="completion (default), or arrival: all commit in the order of arrival",
    )
    parser.add_argument(
        "--rounds",
        default="overlapping",
        help="overlapping (default), or barrier: each begins when the one before it "
        "has ended",
    )
    parser.add_argument(
        "--max-queue",
        type=int,
        help="calls that may wait for a worker; more are rejected, requests with 503",
    )
    parser.add_argument(
        "--timeout", type=float, help="seconds that a transaction may run in a worker"
    )
    parser.add_argument(
        "--max-calls", type=int, help="calls after which a worker process is replaced"
    )
    parser.add_argument(
        "--transactional",
        action="append",
        default=[],
        metavar="PATTERN",
        help="treat handler classes of that name as marked: Main, app.*, '*' ...",
    )
    parser.add_argument(
        "--on-error",
        choices=("commit", "rollback"),
        default="commit",
        help="what an exception does to the writes before it, where PATTERN has marked "
        "the handler: they stay, as in stock Tornado (default), or are undone",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _mark(patterns: Sequence[str], on_error: Literal["rollback", "commit"]) -> None:
    mark = Mark(on_error, vouched=False)

    def matcher(handler_class: type[RequestHandler]) -> Mark | None:
        name = handler_class.__qualname__
        names = (name, f"{handler_class.__module__}.{name}")
        if any(fnmatch.fnmatchcase(one, p) for one in names for p in patterns):
            return mark
        return None

    if patterns:
        mark_matching(matcher)


if __name__ == "__main__":
    sys.exit(main())
