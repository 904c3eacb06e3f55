"""What the trial `handoff` runs: python -m bench.trials.pair KIND BUSY SECONDS.

A producer hands items to a consumer, one at a time, beside so many others who compute.
The number of hand-offs in a second is printed.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["KINDS", "compute"]

CHUNK_SECONDS = 0.1
"""How long the others compute in one go, as a heavy handler does."""


def compute(seconds: float) -> int:
    """Keep the processor busy for so long."""
    end, number = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        number += sum(range(1000))
    return number


class Slot:
    """Holds one item, for two threads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._full = False

    def turn(self, full: bool) -> None:
        """Fill it as soon as it is empty, or empty it as soon as it is full."""
        with self._condition:
            self._condition.wait_for(lambda: self._full is not full)
            self._full = full
            self._condition.notify()


def pair_of_threads(busy: int, seconds: float) -> int:
    """Hand over between two threads by a `threading.Condition`."""
    slot, end = Slot(), time.perf_counter() + seconds
    over = threading.Event()
    counts = []

    def others() -> None:
        while not over.is_set():
            compute(CHUNK_SECONDS)

    def produce() -> None:
        count = 0
        while time.perf_counter() < end:
            slot.turn(full=True)
            count += 1
        over.set()
        counts.append(count)

    def consume() -> None:
        while not over.is_set():
            slot.turn(full=False)

    bodies = [*[others] * busy, produce, consume]
    threads = [threading.Thread(target=one, daemon=True) for one in bodies]
    for thread in threads:
        thread.start()
    over.wait()
    threads[busy].join()
    return counts[0]


def pair_of_tasks(busy: int, seconds: float) -> int:
    """Hand over between two tasks by an `asyncio.Queue`; the others are callbacks."""

    async def run() -> int:
        queue: asyncio.Queue[int] = asyncio.Queue(1)

        async def others() -> None:
            while True:
                compute(CHUNK_SECONDS)
                await asyncio.sleep(0)

        return await _count(queue.put, queue.get, others, busy, seconds)

    return asyncio.run(run())


def pair_of_transactions(busy: int, seconds: float) -> int:
    """Hand over by a `txloop.Channel`; the others are transactions, too."""
    import txloop

    txloop.install()

    async def run() -> int:
        channel: txloop.Channel[int] = txloop.Channel(1)

        async def others() -> None:
            while True:
                await txloop.atomically(compute, CHUNK_SECONDS)

        def put(item: int) -> Awaitable[None]:
            return txloop.atomically(channel.put, item)

        def get() -> Awaitable[int]:
            return txloop.atomically(channel.get)

        return await _count(put, get, others, busy, seconds)

    return asyncio.run(run())


async def _count(
    put: Callable[[int], Awaitable[None]],
    get: Callable[[], Awaitable[int]],
    others: Callable[[], Awaitable[None]],
    busy: int,
    seconds: float,
) -> int:
    tasks = [asyncio.ensure_future(others()) for _ in range(busy)]
    count = 0

    async def consume() -> None:
        nonlocal count
        while True:
            assert await get() == count
            count += 1

    async def produce() -> None:
        item = 0
        while True:
            await put(item)
            item += 1

    tasks += [asyncio.ensure_future(one()) for one in (consume, produce)]
    while not count:  # noqa: ASYNC110 # until workers are there
        await asyncio.sleep(CHUNK_SECONDS)
    before, start = count, time.perf_counter()
    await asyncio.sleep(seconds)
    handed, elapsed = count - before, time.perf_counter() - start
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return round(handed * seconds / elapsed)


KINDS = {
    "threads": pair_of_threads,
    "asyncio": pair_of_tasks,
    "txloop": pair_of_transactions,
}


def main(kind: str, busy: str, seconds: str) -> None:
    """Print the number of hand-offs in a second."""
    print(KINDS[kind](int(busy), float(seconds)) / float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
