"""Sum whole numbers for clients, a thread for each: python examples/sumserver.py 4.

David Beazley's server of 2010: a client sends a number n, gets the sum of the first n,
and is gone. Threads do the I/O, blocking; the sums are computed where --apply says.
Try it: echo 25000 | nc 127.0.0.1 10000
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pathlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import tornado.netutil

# The examples are not installed; they lie in the root of the repository.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import txloop
from examples.program import make_parser

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Generator, Iterator

KINDS = ("plain", "exclusive", "pool", "txloop")

_PATIENCE_SECONDS = 30.0  # with a client that says nothing


def sumn(n: int) -> int:
    """Return the sum of the first n numbers, computed the hard way."""
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def serve_client(connection: socket.socket) -> Generator[object, int, None]:
    """Answer one client. What is yielded is computed elsewhere."""
    with connection:
        connection.settimeout(_PATIENCE_SECONDS)
        n = int(connection.recv(16))
        result = yield sumn, (n,)
        connection.sendall(str(result).encode("ascii"))


@contextmanager
def applying(kind: str, workers: int | None) -> Iterator[Callable[..., object] | None]:
    """Give what runs the sums; its processes are made before there are threads."""
    if kind == "pool":
        with multiprocessing.Pool(workers) as pool:
            yield pool.apply
    elif kind == "txloop":
        txloop.start_workers()
        yield txloop.apply
    else:
        yield txloop.exclusive_apply if kind == "exclusive" else None


async def serve(listening: socket.socket, apply: Callable[..., object] | None) -> None:
    """Start a thread for each client, until the loop stops."""

    def accept(connection: socket.socket, _: object) -> None:
        connection.setblocking(True)
        thread = txloop.YieldableThread(
            serve_client, (connection,), cpu_apply=apply, daemon=True
        )
        thread.start()

    tornado.netutil.add_accept_handler(listening, accept)
    host, port = listening.getsockname()[:2]
    print(f"sum server on {host} port {port}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Parse the options and serve."""
    parser = make_parser((__doc__ or "").partition("\n")[0])
    parser.set_defaults(port=10000)
    parser.add_argument(
        "--apply", choices=KINDS, default="txloop", help="default: txloop"
    )
    options = parser.parse_args()
    try:
        txloop.install(executor=options.executor, workers=options.workers)
        (listening,) = tornado.netutil.bind_sockets(options.port, options.address)
    except txloop.TxConfigurationError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"cannot listen on {options.address}:{options.port}: {error}")
    with applying(options.apply, options.workers) as apply:
        asyncio.run(serve(listening, apply))


if __name__ == "__main__":
    main()
