"""Our own load: raw keep-alive connections on one asyncio loop, no HTTP library.

It runs as a program, so that its processor time is its own and its loop is not
disturbed: `python -m bench.client open --rate 100 ...` prints one JSON object.

open    sends at intended times, whatever the server does, and measures each latency
        from the intended time. A server that stalls for a second is charged for every
        request that should have been sent meanwhile, as its users would see it.
closed  each connection sends when its last answer is there: the stand-in for siege.
counted the same, but for so many requests instead of so many seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import selectors
import time
import urllib.parse
from collections import deque
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from bench.connection import Connection, connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

_LEAD_SECONDS = 0.02
_GRACE_SECONDS = 60.0
_OK, _REFUSED = 200, 503


@dataclass(frozen=True, slots=True)
class Result:
    """What a load found.

    `latencies_seconds` are those of an open load, in the order of completion;
    `failed` counts answers other than 200 and requests without an answer. Of an open
    load that may be refused, `refused` counts the answers 503, which are no failures
    then. `in_time` counts those with 200 that came before the last one was sent.
    """

    completed: int
    failed: int
    elapsed_seconds: float
    cpu_seconds: float
    latencies_seconds: tuple[float, ...] = ()
    refused: int = 0
    in_time: int = 0


class OpenLoad:
    """Requests at a constant rate over a fixed set of connections.

    A request whose time has come while all connections are busy waits for one, and its
    clock runs.
    """

    def __init__(
        self,
        connections: Sequence[Connection],
        requests: list[bytes],
        refusable: bool = False,
    ) -> None:
        self._free = deque(connections)
        self._requests = itertools.cycle(requests)
        self._refusable = refusable
        self._waiting: deque[float] = deque()
        self._latencies: list[float] = []
        self._failed = 0
        self._refused = 0
        self._unanswered = 0
        self._all_answered = asyncio.Event()

    async def run(self, rate: float, seconds: float) -> Result:
        """Send `rate * seconds` requests; return when all are answered."""
        start = time.perf_counter() + _LEAD_SECONDS
        cpu_start = time.process_time()
        self._unanswered = count = max(1, round(rate * seconds))
        for index in range(count):
            intended = start + index / rate
            # Also when it is late: the answers must be read between two requests.
            await asyncio.sleep(max(0.0, intended - time.perf_counter()))
            self._waiting.append(intended)
            self._send()
        in_time = len(self._latencies)
        try:
            await asyncio.wait_for(self._all_answered.wait(), _GRACE_SECONDS)
        except TimeoutError:
            self._failed += self._unanswered
        return Result(
            completed=len(self._latencies),
            failed=self._failed,
            elapsed_seconds=time.perf_counter() - start,
            cpu_seconds=time.process_time() - cpu_start,
            latencies_seconds=tuple(self._latencies),
            refused=self._refused,
            in_time=in_time,
        )

    def _send(self) -> None:
        while self._waiting and self._free:
            # The connection that rested longest: the load spreads over all of them.
            connection = self._free.popleft()
            intended = self._waiting.popleft()
            connection.send(
                next(self._requests),
                partial(self._answered, connection, intended),
            )

    def _answered(
        self, connection: Connection, intended: float, status: int, _body: bytes
    ) -> None:
        self._unanswered -= 1
        if status == _OK:
            self._latencies.append(time.perf_counter() - intended)
        elif status == _REFUSED and self._refusable:
            self._refused += 1
        else:
            self._failed += 1
        if not connection.closed:
            self._free.append(connection)
        self._send()
        if not self._unanswered:
            self._all_answered.set()


class ClosedLoad:
    """As many requests as the server answers, one at a time on each connection.

    A user whose connection was lost opens another one with `reopen`, or leaves.
    """

    def __init__(
        self,
        connections: Sequence[Connection],
        requests: list[bytes],
        reopen: Callable[[], Awaitable[Connection]] | None = None,
    ) -> None:
        self._connections = connections
        self._requests = itertools.cycle(requests)
        self._reopen = reopen
        self._reopening: set[asyncio.Future[Connection]] = set()
        self._completed = 0
        self._failed = 0
        self._unsent = math.inf
        self._users = len(connections)
        self._all_left = asyncio.Event()

    async def run(self, seconds: float) -> Result:
        """Send for so long; answers that come later do not count."""
        return await self._run(asyncio.sleep(seconds))

    async def run_counted(self, count: int) -> Result:
        """Send so many requests; return when all are answered."""
        self._unsent = count
        return await self._run(self._all_left.wait())

    async def _run(self, end: Awaitable[object]) -> Result:
        start = time.perf_counter()
        cpu_start = time.process_time()
        for connection in self._connections:
            self._send(connection)
        await end
        for opening in self._reopening:
            opening.cancel()
        return Result(
            completed=self._completed,
            failed=self._failed,
            elapsed_seconds=time.perf_counter() - start,
            cpu_seconds=time.process_time() - cpu_start,
        )

    def _send(self, connection: Connection) -> None:
        if self._unsent:
            self._unsent -= 1
            connection.send(next(self._requests), partial(self._answered, connection))
        else:
            self._leave()

    def _answered(self, connection: Connection, status: int, _body: bytes) -> None:
        if status == _OK:
            self._completed += 1
        else:
            self._failed += 1
        if not connection.closed:
            self._send(connection)
        elif self._reopen is None or not self._unsent:
            self._leave()
        else:
            opening = asyncio.ensure_future(self._reopen())
            self._reopening.add(opening)
            opening.add_done_callback(self._reopened)

    def _reopened(self, opening: asyncio.Future[Connection]) -> None:
        self._reopening.discard(opening)
        if opening.cancelled() or opening.exception() is not None:
            self._leave()
        else:
            self._send(opening.result())

    def _leave(self) -> None:
        self._users -= 1
        if not self._users:
            self._all_left.set()


async def run_load(options: argparse.Namespace) -> Result:
    """Connect and run the load that the options describe."""
    address = urllib.parse.urlsplit(options.url)
    host, port = address.hostname or "", address.port or 80
    requests = [
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
        for path in options.paths
    ]
    connections = await connect(host, port, options.clients)
    try:
        if options.kind == "open":
            load = OpenLoad(connections, requests, options.refusable)
            return await load.run(options.rate, options.seconds)
        reopen = partial(_connect_one, host, port) if options.reopen else None
        closed = ClosedLoad(connections, requests, reopen)
        if options.kind == "counted":
            return await closed.run_counted(options.count)
        return await closed.run(options.seconds)
    finally:
        for connection in connections:
            connection.close()


async def _connect_one(host: str, port: int) -> Connection:
    (connection,) = await connect(host, port, 1)
    return connection


def main() -> None:
    """Run the load that the command line describes and print the result as JSON."""
    parser = argparse.ArgumentParser(description="Load a server; print what it did.")
    parser.add_argument("kind", choices=["open", "closed", "counted"])
    parser.add_argument("url", help="http://HOST:PORT")
    parser.add_argument("paths", nargs="+", help="asked for in turn")
    parser.add_argument("--clients", type=int, default=50, help="connections")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=1.0, help="of an open load")
    parser.add_argument("--count", type=int, default=1, help="of a counted load")
    parser.add_argument(
        "--refusable", action="store_true", help="503 is no failure of an open load"
    )
    parser.add_argument(
        "--reopen", action="store_true", help="connections that a closed load has lost"
    )
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=_precise_loop) as runner:
        print(json.dumps(asdict(runner.run(run_load(options)))))


def _precise_loop() -> asyncio.AbstractEventLoop:
    # epoll sleeps whole milliseconds, and each request would be late by up to one;
    # select sleeps as long as it is told to.
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    main()
