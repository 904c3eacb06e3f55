"""What the example programs share: their options, and serving until told to stop."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, NoReturn

import tornado.httpserver
import tornado.netutil

import txloop
from conflict_log.web import ConflictLogHandler

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from tornado.web import Application

__all__ = ["OneLineParser", "make_parser", "run"]

# What clients may send at once; the examples expect less than a hundredth of it.
_LARGEST_BODY = 100_000


class OneLineParser(argparse.ArgumentParser):
    """An argument parser that reports a bad option in one line, without usage."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def make_parser(description: str | None) -> OneLineParser:
    """Return a parser with the options that every example has."""
    parser = OneLineParser(description=description)
    parser.add_argument(
        "workers", nargs="?", type=int, help="how many processes (default: the cores)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8888,
        help="0 takes a free one (default: %(default)s)",
    )
    parser.add_argument("--address", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument(
        "--executor", help="auto, serial, processes, threads or dask (default: auto)"
    )
    return parser


def run(
    name: str,
    parser: OneLineParser,
    options: argparse.Namespace,
    make_application: Callable[[], Application],
) -> None:
    """Wire txloop in and serve until the program is told to end.

    Args:
        name: What the server is called.
        parser: Says what is wrong with the options.
        options: Those of `make_parser`.
        make_application: Called once, before the loop starts.
    """
    if not 0 <= options.port <= 65535:
        parser.error(f"port must be 0..65535, not {options.port}")
    try:
        txloop.install(executor=options.executor, workers=options.workers)
        sockets = tornado.netutil.bind_sockets(options.port, options.address)
    except txloop.TxConfigurationError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"cannot listen on {options.address}:{options.port}: {error}")
    application = make_application()
    # What the conflicts cost. Whoever can reach an example may look.
    application.add_handlers(".*", [("/_txloop/", ConflictLogHandler)])
    asyncio.run(_serve(name, application, sockets, options.address))


async def _serve(
    name: str,
    application: Application,
    sockets: list[socket.socket],
    address: str,
) -> None:
    """Serve until the loop stops; SIGTERM and Ctrl-C stop it, after what runs."""
    server = tornado.httpserver.HTTPServer(application, max_body_size=_LARGEST_BODY)
    server.add_sockets(sockets)
    port = sockets[0].getsockname()[1]
    stats = txloop.stats()
    workers = "1 worker" if stats.workers == 1 else f"{stats.workers} workers"
    print(
        f"{name} server on http://{address}:{port}"
        f"  (executor {stats.executor}, {workers})",
        flush=True,
    )
    await asyncio.Event().wait()
