"""A flag in shared memory, with which a test and its workers wait for each other.

Those of `multiprocessing` are undone by the death of a process that waits.
"""

from __future__ import annotations

import asyncio
import mmap
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Flag", "until"]

WAIT_SECONDS = 30.0
"""What never comes fails the test."""

_POLL_SECONDS = 0.0005


class Flag:
    """Set or not, in this process and in all that are forked from it later."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        """Let all who wait go on."""
        self._memory[0] = 1

    def clear(self) -> None:
        """Let those who come from now on wait."""
        self._memory[0] = 0

    def is_set(self) -> bool:
        """Tell whether nobody has to wait."""
        return self._memory[0] == 1

    def wait(self) -> None:
        """Wait, holding up the thread."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not self.is_set():
            if time.monotonic() > deadline:
                raise TimeoutError("nobody has set the flag")
            time.sleep(_POLL_SECONDS)

    async def reached(self) -> None:
        """Wait without holding up the loop."""
        await until(self.is_set)


async def until(done: Callable[[], object]) -> None:
    """Let the loop run until `done` returns something true."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not done():  # noqa: ASYNC110 # other processes may be the ones who do
            await asyncio.sleep(_POLL_SECONDS)
