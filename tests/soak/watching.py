"""Those who watch a game server from outside while others play on it.

Each has a coroutine that goes on until it is cancelled, and raises `WatchError` when it
sees what must not be.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tornado.websocket import websocket_connect

from bench.astar.client import make_request
from bench.connection import connect
from tests.flags import until
from tests.processes import children_of

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

    from bench.connection import Connection

__all__ = [
    "Kills",
    "Memory",
    "Pages",
    "Pushes",
    "WatchError",
    "load",
    "until_same",
]

MEMORY_EVERY_SECONDS = 0.2
LEAST_SAMPLES = 5
GROWN_SECONDS = 0.3  # who is killed: too many that die at their start are an error
OLD_VICTIMS = 0.2  # of the kills hit anyone, the others the youngest
ASKED_AGAIN = 0.03  # of the pages

Event = dict[str, Any]


class WatchError(AssertionError):
    """The server did what it must not do."""


class Kills:
    """Ends workers at random moments.

    Mostly the younger ones, so that some grow old, but none that has just begun. It
    spares fronts, whose clients would notice.

    Attributes:
        victims: Who was killed.
    """

    def __init__(self, pid: int, chance: random.Random, every_seconds: float) -> None:
        """Take the server's process number and how long the pauses are on average."""
        self.victims: list[int] = []
        self._seen_at: dict[int, float] = {}
        self._pid = pid
        self._chance = chance
        self._every_seconds = every_seconds

    async def go_on(self) -> None:
        """Kill."""
        while True:
            pause = self._chance.uniform(0, 2) * self._every_seconds
            await asyncio.sleep(pause)
            workers, _ = _workers_and_fronts(self._pid)  # the oldest first
            if not workers:
                continue
            victim = workers[-1]
            if self._chance.random() < OLD_VICTIMS:
                victim = self._chance.choice(workers)
            now = time.monotonic()
            self._seen_at = {pid: self._seen_at.get(pid, now) for pid in workers}
            grown = now - self._seen_at[victim] >= GROWN_SECONDS
            if grown and victim not in self.victims:
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    self.victims.append(victim)


def _workers_and_fronts(pid: int) -> tuple[list[int], list[int]]:
    """Return a server's workers, and its fronts: they are as nice as it is."""
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    workers: list[int] = []
    fronts: list[int] = []
    for spawner in children_of(pid):
        for child in children_of(spawner):
            with suppress(ProcessLookupError):
                as_nice = os.getpriority(os.PRIO_PROCESS, child) == nice
                (fronts if as_nice else workers).append(child)
    return workers, fronts


class Memory:
    """Measures what the server, its largest spawner, worker and front occupy.

    Attributes:
        samples: Bytes, by whose they are, in the order of time.
    """

    def __init__(self, pid: int) -> None:
        """Take the server's process number."""
        self.samples: dict[str, list[int]] = defaultdict(list)
        self._pid = pid

    async def go_on(self) -> None:
        """Measure now and then."""
        while True:
            await asyncio.sleep(MEMORY_EVERY_SECONDS)
            workers, fronts = _workers_and_fronts(self._pid)
            self._note("server", [self._pid])
            self._note("spawner", children_of(self._pid))
            self._note("worker", workers)
            self._note("front", fronts)

    def growth(self, whose: str) -> tuple[int, int]:
        """Return the median around the middle and that at the end."""
        samples = self.samples[whose]
        fifth = len(samples) // 5
        middle, end = samples[2 * fifth : 3 * fifth], samples[-fifth:]
        return int(median(middle)), int(median(end))

    def figures(self) -> dict[str, object]:
        """Return that in MiB, of all that was measured often enough."""
        return {
            f"{whose} MiB": [round(one / (1 << 20), 1) for one in self.growth(whose)]
            for whose, samples in self.samples.items()
            if len(samples) >= LEAST_SAMPLES
        }

    def _note(self, whose: str, pids: Iterable[int]) -> None:
        occupied = max(map(_bytes_of, pids), default=0)
        if occupied:
            self.samples[whose].append(occupied)


class Pages:
    """Reads the event log page after page, and now and then an older page again.

    Attributes:
        events: All so far.
        pages: How many answers that took.
        again: How many older events came a second time.
    """

    def __init__(self, connection: Connection, chance: random.Random, kept: int):
        """Begin with the first event of a log that keeps so many."""
        self.events: list[Event] = []
        self.pages = 0
        self.again = 0
        self._connection = connection
        self._chance = chance
        self._kept = kept

    @property
    def version(self) -> int:
        """The number of the newest event."""
        return len(self.events)

    async def go_on(self) -> None:
        """Read."""
        while True:
            page = await self._page(self.version)
            self.pages += 1
            self.events += page
            if self._chance.random() < ASKED_AGAIN:
                since = max(0, self.version - self._chance.randrange(self._kept // 2))
                page = await self._page(since)
                known = self.events[since:]
                if known != page[: len(known)]:
                    raise WatchError(f"the events since {since} have changed")
                self.again += len(known)

    async def _page(self, since: int) -> list[Event]:
        request = make_request("GET", f"/events?since={since}")
        status, body = await self._connection.ask(request)
        if status != 200:
            raise WatchError(f"/events?since={since}: {status} {body!r}")
        page: list[Event] = json.loads(body)["events"]
        numbers = [event["version"] for event in page]
        if numbers != [*range(since + 1, since + 1 + len(page))]:
            raise WatchError(f"/events?since={since} gave these: {numbers}")
        return page


class Pushes:
    """Listens on the WebSocket.

    Attributes:
        events: All so far.
    """

    def __init__(self, url: str) -> None:
        """Take the server's address."""
        self.events: list[Event] = []
        self._url = url.replace("http:", "ws:", 1)

    async def go_on(self) -> None:
        """Listen."""
        socket = await websocket_connect(f"{self._url}/live?since=0")
        try:
            while (message := await socket.read_message()) is not None:
                self.events += json.loads(message)["events"]
            raise WatchError(f"/live was closed: {socket.close_reason}")
        finally:
            socket.close()


def _bytes_of(pid: int) -> int:
    """Return how much memory a process occupies; 0 if it is gone."""
    with suppress(OSError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


async def until_same(pages: Pages, pushes: Pushes, version: int) -> None:
    """Wait until both have come so far; they have to agree."""
    await until(lambda: min(pages.version, len(pushes.events)) >= version)
    if pages.events != pushes.events:
        raise WatchError("/live told other events than /events")


async def load(host: str, port: int, path: str) -> tuple[int, Mapping[str, Any]]:
    """Return the status and the JSON at a path."""
    (connection,) = await connect(host, port, 1)
    try:
        status, body = await connection.ask(make_request("GET", path))
        return status, json.loads(body)
    finally:
        connection.close()
