"""The program that the trial `channels` runs: python -m bench.trials.tasklets KIND ...

Tasklets that wait, a ring through which a token goes, and a pipeline, once over
`txloop.Channel` and once over `asyncio.Queue`. Each runs in a process of its own, so
that memory is counted from the same start. The figures are printed as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    import txloop

C = TypeVar("C")

RING = 1000
"""Tasklets in the ring."""

STAGES = 100
"""Tasklets in the pipeline."""

_PAGE_BYTES = 4096


class Kind(ABC, Generic[C]):
    """One way to have tasklets and channels."""

    @abstractmethod
    def make(self) -> C:
        """Return a new channel."""

    @abstractmethod
    def put(self, channel: C, item: int) -> None:
        """Put something into it, from outside of all tasklets."""

    @abstractmethod
    def get(self, channel: C) -> Awaitable[int]:
        """Begin to wait for something from it."""

    @abstractmethod
    async def all_wait(self, number: int) -> None:
        """Return when so many wait."""

    @abstractmethod
    def pass_on(
        self, source: C, target: C, change: Callable[[int], int]
    ) -> Awaitable[int]:
        """Take something from one channel, and put what becomes of it in another."""


class TxloopKind(Kind["txloop.Channel[int]"]):
    """Waiting transactions over `txloop.Channel`."""

    def __init__(self) -> None:
        import txloop

        self._txloop = txloop

    def make(self) -> txloop.Channel[int]:
        """Return a new channel."""
        return self._txloop.Channel()

    def put(self, channel: txloop.Channel[int], item: int) -> None:
        """Put something into it, without a transaction."""
        channel.put(item)

    def get(self, channel: txloop.Channel[int]) -> Awaitable[int]:
        """Begin a transaction that waits."""
        return self._txloop.atomically(channel.get)

    async def all_wait(self, number: int) -> None:
        """Return when so many transactions wait."""
        while self._txloop.stats().waiting < number:  # noqa: ASYNC110 # no event tells
            await asyncio.sleep(0)

    def pass_on(
        self,
        source: txloop.Channel[int],
        target: txloop.Channel[int],
        change: Callable[[int], int],
    ) -> Awaitable[int]:
        """Do both in one transaction."""
        return self._txloop.atomically(_pass_on, source, target, change)


def _pass_on(
    source: txloop.Channel[int],
    target: txloop.Channel[int],
    change: Callable[[int], int],
) -> int:
    item = source.get()
    target.put(change(item))
    return item


class AsyncioKind(Kind["asyncio.Queue[int]"]):
    """Tasks over `asyncio.Queue`."""

    def make(self) -> asyncio.Queue[int]:
        """Return a new queue."""
        return asyncio.Queue()

    def put(self, channel: asyncio.Queue[int], item: int) -> None:
        """Put something into it."""
        channel.put_nowait(item)

    def get(self, channel: asyncio.Queue[int]) -> Awaitable[int]:
        """Begin a task that waits."""
        return asyncio.create_task(channel.get())

    async def all_wait(self, number: int) -> None:
        """Return when each task has run up to where it waits."""
        await asyncio.sleep(0)

    async def pass_on(
        self,
        source: asyncio.Queue[int],
        target: asyncio.Queue[int],
        change: Callable[[int], int],
    ) -> int:
        """Do one, then the other."""
        item = await source.get()
        target.put_nowait(change(item))
        return item


def decrement(token: int) -> int:
    """Count what is left of the way."""
    return token - 1


async def wait(kind: Kind[C], number: int) -> dict[str, float]:
    """Let tasklets wait at one channel, and wake them one by one."""
    channel = kind.make()
    kind.put(channel, 0)
    await kind.get(channel)  # what is imported and compiled is none of theirs
    memory, start = _memory(), time.perf_counter()
    waiting = [kind.get(channel) for _ in range(number)]
    await kind.all_wait(number)
    asleep, begun = _memory(), time.perf_counter()
    for item in range(number):
        kind.put(channel, item)
        if not item % 100:
            await asyncio.sleep(0)
    found = await asyncio.gather(*waiting)
    assert list(range(number)) == found
    return {
        "wait": (begun - start) / number,
        "bytes": (asleep - memory) / number,
        "wake": (time.perf_counter() - begun) / number,
    }


async def go_round(kind: Kind[C], hops: int) -> dict[str, float]:
    """Let a token go round in a ring of tasklets; it counts how far."""
    channels = [kind.make() for _ in range(RING)]
    done = asyncio.Event()

    async def member(position: int) -> None:
        target = channels[(position + 1) % RING]
        while await kind.pass_on(channels[position], target, decrement):
            pass
        done.set()

    seconds = await _timed(kind, channels, member, done, [hops])
    return {"hop": seconds / hops}


async def run_pipeline(kind: Kind[C], items: int) -> dict[str, float]:
    """Send items through a row of tasklets, each of which changes them."""
    channels = [kind.make() for _ in range(STAGES + 1)]
    done = asyncio.Event()

    async def stage(position: int) -> None:
        for _ in range(items):
            await kind.pass_on(channels[position], channels[position + 1], decrement)
        if position == STAGES - 1:
            done.set()

    inputs = range(STAGES, STAGES + items)
    seconds = await _timed(kind, channels[:-1], stage, done, inputs)
    found = [await kind.get(channels[-1]) for _ in inputs]
    assert list(range(items)) == found
    return {"step": seconds / (items * STAGES)}


async def _timed(
    kind: Kind[C],
    channels: Sequence[C],
    body: Callable[[int], Coroutine[None, None, None]],
    done: asyncio.Event,
    inputs: Sequence[int],
) -> float:
    """Start a tasklet at each channel, put the inputs into the first, and wait."""
    tasks = [asyncio.create_task(body(each)) for each in range(len(channels))]
    for _ in range(3):  # so that all of them wait
        await asyncio.sleep(0)
    start = time.perf_counter()
    for item in inputs:
        kind.put(channels[0], item)
    await done.wait()
    seconds = time.perf_counter() - start
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return seconds


def _memory() -> int:
    """Return the memory that this process has, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


async def run(kind: Kind[C], number: int, steps: int) -> dict[str, float]:
    """Return all figures of one kind."""
    return {
        **await wait(kind, number),
        **await go_round(kind, steps),
        **await run_pipeline(kind, max(1, steps // STAGES)),
    }


def main(name: str, executor: str, number: str, steps: str) -> None:
    """Print the figures of one kind.

    Args:
        name: ``asyncio`` or ``txloop``.
        executor: As in `txloop.install`.
        number: How many tasklets wait.
        steps: How far the token goes, and how often stages have something to do.
    """
    size = int(number), int(steps)
    if name == "txloop":
        import txloop

        txloop.install(executor=executor)  # type: ignore[arg-type] # it is checked there
        figures = asyncio.run(run(TxloopKind(), *size))
    else:
        figures = asyncio.run(run(AsyncioKind(), *size))
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
