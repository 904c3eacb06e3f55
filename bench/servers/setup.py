"""What every server program does: parse, bind, announce, leave with its parent."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING

import tornado.httpserver
import tornado.netutil
import tornado.web

from bench.case import load_application
from bench.command_line import OneLineParser

if TYPE_CHECKING:
    import socket

ADDRESS = "127.0.0.1"
_PR_SET_PDEATHSIG = 1


def make_parser(description: str | None) -> OneLineParser:
    """Return a parser with the options that every server has."""
    parser = OneLineParser(description=description)
    parser.add_argument("application", help="CASE:FUNCTION, for example primes:plain")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a parameter of the case",
    )
    return parser


def make_application(options: argparse.Namespace) -> tornado.web.Application:
    """Return the application that the command line names, with its parameters."""
    factory = load_application(options.application)
    return factory(options.workers, dict(options.set))


def follow_parent(parent: int = 0) -> None:
    """Make this process end when the one that started it does. Linux only.

    So neither a killed benchmark nor a killed server leaves processes behind.

    Args:
        parent: Its number, where it may have ended by now.
    """
    if sys.platform == "linux":
        parent = parent or os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it was gone before the call above
            sys.exit("the parent has left")


def bind(port: int, reuse_port: bool = False) -> list[socket.socket]:
    """Listen on the port and print the address, which `bench.server` waits for."""
    sockets = tornado.netutil.bind_sockets(port, ADDRESS, reuse_port=reuse_port)
    print(f"http://{ADDRESS}:{sockets[0].getsockname()[1]}", flush=True)
    return sockets


def listen_beside(sockets: list[socket.socket]) -> list[socket.socket]:
    """Close this process's copies of the sockets and listen on their port itself."""
    port = sockets[0].getsockname()[1]
    for one in sockets:
        one.close()
    return tornado.netutil.bind_sockets(port, ADDRESS, reuse_port=True)


def _setting(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=NUMBER, not {text}")
    return name, int(number)


async def serve(
    application: tornado.web.Application, sockets: list[socket.socket]
) -> None:
    """Serve until the process is told to end."""
    server = tornado.httpserver.HTTPServer(application)
    server.add_sockets(sockets)
    await asyncio.Event().wait()
