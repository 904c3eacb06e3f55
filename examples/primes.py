"""Serve primes on all cores: python examples/primes.py 4, then open the page."""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import sys
from typing import TYPE_CHECKING, NoReturn

# The handlers are not installed; they lie in the root of the repository.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import tornado.httpserver
import tornado.netutil

import txloop
from handlers.primes import make_application

if TYPE_CHECKING:
    import socket


class OneLineParser(argparse.ArgumentParser):
    """An argument parser that reports a bad option in one line, without usage."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def make_parser() -> OneLineParser:
    """Return the parser of the command line."""
    parser = OneLineParser(description=__doc__)
    parser.add_argument(
        "workers", nargs="?", type=int, help="how many processes (default: the cores)"
    )
    parser.add_argument(
        "--port", type=int, default=8888, help="0 takes a free one (default: 8888)"
    )
    parser.add_argument("--address", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--executor", help="auto, serial or processes (default: auto)")
    return parser


async def serve(sockets: list[socket.socket], address: str) -> None:
    """Serve until the loop stops; SIGTERM and Ctrl-C stop it, after what runs."""
    server = tornado.httpserver.HTTPServer(make_application())
    server.add_sockets(sockets)
    port = sockets[0].getsockname()[1]
    stats = txloop.stats()
    workers = "1 worker" if stats.workers == 1 else f"{stats.workers} workers"
    print(
        f"primes server on http://{address}:{port}"
        f"  (executor {stats.executor}, {workers})",
        flush=True,
    )
    await asyncio.Event().wait()


def main() -> None:
    """Parse the options, wire txloop in, serve."""
    parser = make_parser()
    options = parser.parse_args()
    if not 0 <= options.port <= 65535:
        parser.error(f"port must be 0..65535, not {options.port}")
    try:
        txloop.install(executor=options.executor, workers=options.workers)
        sockets = tornado.netutil.bind_sockets(options.port, options.address)
    except txloop.errors.TxConfigurationError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"cannot listen on {options.address}:{options.port}: {error}")
    asyncio.run(serve(sockets, options.address))


if __name__ == "__main__":
    main()
