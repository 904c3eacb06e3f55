"""The command line: run an unchanged program on the loop, check or share one.

::

    python -m txloop [options] app.py [arguments]
    python -m txloop [options] -m package.module [arguments]
    python -m txloop check [--json] [options] app.py [arguments]
    python -m txloop share [--write] [--marks] [options] app.py [arguments]
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import os
import sys
import textwrap
from typing import TYPE_CHECKING, NoReturn

import txloop
from txloop.check import EXIT_CODES, check
from txloop.engine.marks import Mark
from txloop.executors.protocol import unknown
from txloop.loop.options import (
    Options,
    give_by_command,
    parse_fronts,
    switch_given,
    words_given,
)
from txloop.loop.program import find_module, prepare, run_file, run_module
from txloop.sharing import EXIT_CODES as SHARE_EXIT_CODES
from txloop.sharing import Wanted, run_shared, share_program
from txloop.stm.log_capture import spare_the_program
from txloop.web import mark_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

USAGE = """python -m txloop [options] app.py [arguments]
       python -m txloop [options] -m package.module [arguments]
       python -m txloop check [--json] [options] app.py | -m package.module
       python -m txloop share [--write] [options] app.py | -m package.module"""


EXAMPLES = """\
examples:
  python -m txloop app.py --port=8000      run a program, with an option of its own
  python -m txloop check app.py            show which handlers would run in parallel
  python -m txloop share app.py            print a diff that lets more of them
  python -m txloop --auto --share app.py   run with that diff, and change no file
  python -m txloop --transactional '*' app.py
                                           run all handlers as transactions
  python -m txloop --debug app.py          breakpoint() opens pdb in this terminal
  TXLOOP_WORKERS=4 python -m txloop --log stm.log -m shop.server
                                           set an option by a variable

The command txloop is short for python -m txloop. An option that is not given is
taken from the variable of that name, if it is set: TXLOOP_MAX_QUEUE=100,
TXLOOP_SIGNALS=0, TXLOOP_TRANSACTIONAL='Main app.*', TXLOOP_DEBUG=1."""


_COMMANDS = ("check", "share")
_ON_ERROR = ("commit", "rollback")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _, _, unrecognized = message.partition("unrecognized arguments: ")
        word = unrecognized.partition("=")[0].partition(" ")[0]
        hint = _meant(word, self._option_string_actions)
        print(f"txloop: {message}{hint} (--help lists the options)", file=sys.stderr)
        raise SystemExit(2)


def _meant(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, known, n=1) if word else []
    return f"; did you mean {found[0]}?" if found else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given[0] if given and given[0] in _COMMANDS else ""
    parser = _parser()
    options = parser.parse_args(given[1:] if command else given)
    _fill_in(options, parser)
    is_module = options.module is not None
    program = options.module if is_module else options.program
    _check_options(parser, options, command, program, is_module=is_module)
    for one in _misplaced(command, program[1:]):
        what = f"goes to {program[0]}; options of {command} stand before that"
        print(f"txloop: {one} {what}", file=sys.stderr)
    prepare(program, is_module=is_module)
    spare_the_program()
    _give(parser, options, command)

    def install() -> None:
        mark_named(options.transactional, Mark(options.on_error, vouched=False))
        txloop.install()

    def rehearse() -> None:
        give_by_command({"log": ""})  # in a child, which writes none
        install()

    if command == "share":
        wanted = Wanted(options.write, options.force, options.marks)
        return share_program(
            program[0], is_module=is_module, prepare=rehearse, wanted=wanted
        )
    if options.share:
        run_shared(program[0], is_module=is_module, prepare=rehearse)
    install()
    if command == "check":
        check(program[0], is_module=is_module, json=options.json)
    if is_module:
        _check_module(parser, program[0])
        run_module(program[0])
    else:
        run_file(program[0])
    return 0


def _give(
    parser: argparse.ArgumentParser, options: argparse.Namespace, command: str
) -> None:
    """Let the loop's options count in the program; end with a message about a bad one.

    A command that only looks at the program writes no log.
    """
    try:
        fronts = options.fronts and parse_fronts(options.fronts, "--fronts")
        log = "" if command else options.log
        own = {"fronts": fronts, "log": log, "auto": options.auto or None}
        names = (field.name for field in dataclasses.fields(Options))
        give_by_command({name: getattr(options, name) for name in names} | own)
        Options.split({})
    except txloop.TxConfigurationError as error:
        parser.error(str(error))


def _check_options(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    command: str,
    program: Sequence[str],
    *,
    is_module: bool,
) -> None:
    """End with a message where options do not go together."""
    if not program:
        parser.error("which program? Name a file, or a module with -m")
    if not is_module and not os.path.isfile(program[0]):
        hint = _meant(program[0], _COMMANDS)
        parser.error(f"there is no file {program[0]}{hint}")
    if options.json and command != "check":
        parser.error("--json is an option of check")
    for name in ("write", "force", "marks"):
        if getattr(options, name) and command != "share":
            parser.error(f"--{name} is an option of share")
    if options.debug:
        if options.executor not in (None, "serial"):
            parser.error("--debug runs everything serially; leave --executor out")
        options.executor, options.fronts, options.local = "serial", "0", 0


def _misplaced(command: str, arguments: Sequence[str]) -> list[str]:
    """Return the program's arguments that look like options of a command."""
    its = {"check": ("--json",), "share": ("--write", "--force", "--marks")}
    return [one for one in arguments if one in its.get(command, ())]


def _check_module(parser: argparse.ArgumentParser, name: str) -> None:
    """End with a message where there is no such module.

    Not sooner: it imports packages, and `run_shared` is to have a look at them first.
    """
    try:
        find_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m txloop",
        usage=USAGE,
        description="Run a Tornado program with its IOLoop made transactional, check\n"
        "how each of its handlers would run, or share what keeps them on one core.",
        epilog=f"{EXAMPLES}\n\n{textwrap.fill(f'{EXIT_CODES} {SHARE_EXIT_CODES}', 79)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"txloop {txloop.__version__}",
        help="print the version",
    )
    parser.add_argument("--json", action="store_true", help="with check: print JSON")
    parser.add_argument(
        "--write", action="store_true", help="with share: change the files"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="with --write: also change files that are not committed to git",
    )
    parser.add_argument(
        "--marks",
        action="store_true",
        help="with share: also mark the verbs that would then run in parallel",
    )
    # All that follows is the module's own, as with Python's `-m`.
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="run a module",
    )
    parser.add_argument(
        "--executor",
        metavar="NAME",
        help="auto (default), processes, threads, serial or dask",
    )
    parser.add_argument(
        "--log", metavar="FILE", help="write the conflict log to FILE (default: no log)"
    )
    parser.add_argument(
        "--log-bytes",
        type=int,
        metavar="N",
        help="begin a new log file after N bytes (default: 256 MiB)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="transactions that run at once (default: one per core)",
    )
    parser.add_argument(
        "--local",
        type=int,
        metavar="N",
        help="with dask: workers forked here, beside those of the cluster (default: 0)",
    )
    parser.add_argument(
        "--fronts",
        metavar="N",
        help="processes that take requests in and run short ones, or auto (default)",
    )
    parser.add_argument(
        "--order",
        metavar="NAME",
        help="completion (default), or arrival: commit in the order of arrival",
    )
    parser.add_argument(
        "--rounds",
        metavar="NAME",
        help="overlapping (default), or barrier: begin a round when the one before it "
        "has ended",
    )
    parser.add_argument(
        "--no-signals",
        dest="signals",
        action="store_false",
        default=None,
        help="leave SIGTERM and Ctrl-C to the program (default: finish the running "
        "requests, then exit)",
    )
    parser.add_argument(
        "--drain-seconds",
        type=float,
        metavar="SECONDS",
        help="how long running requests may take after SIGTERM (default: 10)",
    )
    parser.add_argument(
        "--max-queue",
        type=int,
        metavar="N",
        help="maximum queued calls; further requests get 503 (default: any number)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="maximum time of a transaction in a worker (default: no limit)",
    )
    parser.add_argument(
        "--max-calls",
        type=int,
        metavar="N",
        help="replace a worker process after N calls (default: never)",
    )
    parser.add_argument(
        "--transactional",
        action="append",
        default=[],
        metavar="PATTERN",
        help="mark the handler classes of that name: Main, app.*, '*' ...",
    )
    parser.add_argument(
        "--auto",
        action="store_true",
        help="mark each verb that is proved to share nothing",
    )
    parser.add_argument(
        "--share",
        action="store_true",
        help="put what handlers share into containers, as share would, in memory only",
    )
    parser.add_argument(
        "--on-error",
        choices=_ON_ERROR,
        help="after an exception in a handler that PATTERN has marked: commit its "
        "writes, as stock Tornado does (default), or undo them",
    )
    parser.add_argument(
        "--debug",
        action="store_true",
        help="run everything on the loop thread in this terminal, for breakpoint()",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _fill_in(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Take what the command's own options leave open from the environment.

    `txloop.install` does so for those that it has, too.
    """
    options.transactional = options.transactional or words_given("TXLOOP_TRANSACTIONAL")
    on_error = options.on_error or os.environ.get("TXLOOP_ON_ERROR") or _ON_ERROR[0]
    if on_error not in _ON_ERROR:
        parser.error(unknown("TXLOOP_ON_ERROR", on_error, _ON_ERROR))
    options.on_error = on_error
    try:
        options.debug = options.debug or switch_given("TXLOOP_DEBUG")
    except txloop.TxConfigurationError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
